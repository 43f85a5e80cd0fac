#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/loss.h"
#include "lang/event/field_value.h"

namespace gpufs {

// The shape of one sub-buffer of a tracefs ring buffer, from events/header_page.
struct PageLayout {
    std::size_t commit_offset = 8;
    std::size_t commit_size = 8;  // 4 on 32-bit kernels
    std::size_t data_offset = 16;
    std::size_t page_bytes = 4096;  // header and data: the size of one read of trace_pipe_raw
};
// Parses events/header_page. Throws Error when the text is not such a file.
PageLayout parse_page_layout(std::string_view header_page);

// Takes from a sub-buffer that events were lost before it. `head`: its first bytes, data_offset of
// them or more.
void clear_lost(std::span<std::byte> head, const PageLayout& layout);

// One event in a sub-buffer.
struct RingRecord {
    std::uint64_t timestamp = 0;  // in units of the buffer's trace_clock
    RecordBytes bytes;
};

// Iterates over the records of one sub-buffer, in time order, without copying: records point into
// `page`, which must outlive them. Lengths in the page are not trusted: nothing outside it is read.
class RingPage {
public:
    RingPage() = default;
    RingPage(std::span<const std::byte> page, const PageLayout& layout);

    // Moves to the next record. False at the end of the page and where the page is damaged.
    bool next(RingRecord& record);

    // The events lost between the previous page and this one.
    const Loss& lost_before() const { return lost_; }
    // For a reader that detected a gap before this page: an unknown number was lost there.
    void mark_lost() { lost_ = Loss::at_least(1); }
    // The damage found and its offset in bytes; empty if none so far.
    const std::string& damage() const { return damage_; }
    // Bytes of data consumed so far, as in the kernel's `read` position of a sub-buffer.
    std::size_t position() const { return at_; }
    // The time stamp in the page's header.
    std::uint64_t first_timestamp() const { return first_timestamp_; }
    bool empty() const { return data_.empty(); }

private:
    bool damaged(std::string_view what);

    RecordBytes data_;
    std::size_t data_offset_ = 0;
    std::size_t at_ = 0;
    std::uint64_t timestamp_ = 0;
    std::uint64_t first_timestamp_ = 0;
    Loss lost_;
    std::string damage_;
};

}  // namespace gpufs
