#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "kernel/bpf/mapping.h"

namespace gpufs {

// The pages in which the kernel hands out the records of one perf event, for one reader.
//
// Memory order: the kernel publishes records by storing data_head behind a write barrier, so it is
// loaded with acquire; space goes back by storing data_tail with release, which pairs with the
// control dependency on data_tail in the kernel's perf_output_begin(). A compiler barrier alone is
// a bug on arm64.
class PerfPages {
public:
    // Takes an event over, disabled as it may be. `data_bytes`: a power of 2, a page at least.
    // Throws SysError.
    PerfPages(Fd event, std::size_t data_bytes);

    // Readable when there is enough to wake for.
    int fd() const noexcept { return event_.get(); }
    // Lets the event begin. Throws SysError.
    void enable();

    // The oldest record not yet taken, its perf_event_header in front. Good until release().
    // Records in which the kernel counts what did not fit are taken on the way and added to
    // lost().
    std::optional<std::span<const std::byte>> next();
    // Gives the space of all records taken back to the kernel.
    void release();
    // The same where much of the space is taken.
    void release_if_full() {
        if (taken_ - released_ > data_bytes_ / 8) release();
    }

    std::size_t size() const noexcept { return data_bytes_; }
    // Records that did not fit. The kernel tells with the next record that does.
    std::uint64_t lost() const noexcept { return lost_; }

private:
    std::span<const std::byte> at(std::uint64_t position);

    std::size_t data_bytes_;
    Fd event_;
    Mapping pages_;  // one page of positions, then the data
    std::uint64_t taken_ = 0, released_ = 0;
    std::uint64_t head_ = 0;  // as last seen: looked up again only when all of it is taken
    std::uint64_t lost_ = 0;
    std::vector<std::byte> scratch_;
};

// `offset` bytes into a record. Throws Error where it does not fit the record: a damaged ring.
template <class T>
T perf_field(std::span<const std::byte> record, std::size_t offset) {
    if (record.size() < offset + sizeof(T)) throw Error("a perf ring is damaged: record too short");
    T value;
    std::memcpy(&value, record.data() + offset, sizeof value);
    return value;
}

}  // namespace gpufs
