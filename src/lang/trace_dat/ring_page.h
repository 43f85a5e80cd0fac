#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lang/event/field_value.h"

namespace gpufs {

// The shape of one sub-buffer of a tracefs ring buffer, from events/header_page.
struct PageLayout {
    std::size_t commit_offset = 8;
    std::size_t commit_size = 8;  // 4 where the kernel has 32-bit longs
    std::size_t data_offset = 16;
    std::size_t page_bytes = 4096;  // header and data: what one read of trace_pipe_raw returns
};
// Throws Error when the text is not a header_page file.
PageLayout parse_page_layout(std::string_view header_page);

// One event as it lies in a sub-buffer.
struct RingRecord {
    std::uint64_t timestamp = 0;  // in units of the buffer's trace_clock
    RecordBytes bytes;
};

// Events were lost, and the kernel does not say how many.
inline constexpr std::uint64_t kLostUnknown = ~std::uint64_t{0};

// Walks the records of one sub-buffer, in time order, copying nothing: records point into `page`,
// which must outlive them. Lengths in the page are not trusted; no byte outside it is read.
class RingPage {
public:
    RingPage() = default;
    RingPage(std::span<const std::byte> page, const PageLayout& layout);

    // Moves to the next record. False at the end of the page and where the page is damaged.
    bool next(RingRecord& record);

    // Events lost between the page before and this one: a number, or kLostUnknown.
    std::uint64_t lost_before() const { return lost_; }
    // For a reader that knows of a gap in front of this page.
    void mark_lost() { lost_ = kLostUnknown; }
    // What is wrong with the page and at which byte; empty while nothing is.
    const std::string& damage() const { return damage_; }
    // Bytes of data walked so far, as the kernel counts what was read of a sub-buffer.
    std::size_t position() const { return at_; }
    // The time the page starts at.
    std::uint64_t first_timestamp() const { return first_timestamp_; }
    bool empty() const { return data_.empty(); }

private:
    bool damaged(std::string_view what);

    RecordBytes data_;
    std::size_t data_offset_ = 0;
    std::size_t at_ = 0;
    std::uint64_t timestamp_ = 0;
    std::uint64_t first_timestamp_ = 0;
    std::uint64_t lost_ = 0;
    std::string damage_;
};

}  // namespace gpufs
