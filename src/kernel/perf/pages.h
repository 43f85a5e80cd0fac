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

// The mmapped ring in which the kernel delivers the records of one perf event, for one reader.
//
// Memory order: the kernel publishes records by storing data_head after a write barrier, so it is
// loaded with acquire; space is given back by storing data_tail with release, which pairs with the
// control dependency on data_tail in the kernel's perf_output_begin(). A compiler barrier alone is
// a bug on arm64.
class PerfPages {
public:
    // Takes ownership of an event, which may be disabled. `data_bytes`: a power of 2, at least a
    // page. Throws SysError.
    PerfPages(Fd event, std::size_t data_bytes);

    // Readable when the wake-up threshold of the event is reached.
    int fd() const noexcept { return event_.get(); }
    // Enables the event. Throws SysError.
    void enable();

    // The oldest record not yet taken, starting with its perf_event_header. Valid until release().
    // PERF_RECORD_LOST records are consumed here and added to lost().
    std::optional<std::span<const std::byte>> next();
    // Gives the space of all taken records back to the kernel.
    void release();
    // The same, but only if more than an eighth of the ring is taken.
    void release_if_full() {
        if (taken_ - released_ > data_bytes_ / 8) release();
    }

    std::size_t size() const noexcept { return data_bytes_; }
    // Records that did not fit. The kernel reports them before the next record that fits.
    std::uint64_t lost() const noexcept { return lost_; }

private:
    std::span<const std::byte> at(std::uint64_t position);

    std::size_t data_bytes_;
    Fd event_;
    Mapping pages_;  // one page of positions, then the data
    std::uint64_t taken_ = 0, released_ = 0;
    std::uint64_t head_ = 0;  // data_head as last loaded; reloaded only when all up to it is taken
    std::uint64_t lost_ = 0;
    std::vector<std::byte> scratch_;
};

// The value `offset` bytes into a record. Throws Error if it exceeds the record: a damaged ring.
template <class T>
T perf_field(std::span<const std::byte> record, std::size_t offset) {
    if (record.size() < offset + sizeof(T)) throw Error("a perf ring is damaged: record too short");
    T value;
    std::memcpy(&value, record.data() + offset, sizeof value);
    return value;
}

}  // namespace gpufs
