#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernel/bpf/drain_ring.h"
#include "kernel/bpf/map.h"
#include "kernel/bpf/mapping.h"

namespace gpufs {

// The consumer of a BPF ring buffer map (Linux 5.8): one ring for all CPUs, with records in the
// order in which programs reserved them. Only one consumer at a time. When the ring is full, only
// the program learns of it and must count the loss.
//
// Memory order: a program publishes a record by clearing the busy bit of its length with an xchg,
// and reserves space by storing the producer position with release semantics, so both are loaded
// with acquire; space is given back by storing the consumer position with release, which pairs with
// the acquire load in the kernel's reserve. A compiler barrier alone is a bug on arm64.
class RingBuffer {
public:
    // Maps the ring of `map`, which must outlive this object. Throws SysError.
    explicit RingBuffer(const BpfMap& map);

    // Readable (poll(2), epoll(7)) while a record is unread. The kernel checks when polled, so no
    // wake-up is missed between reading the last record and waiting.
    int fd() const noexcept { return fd_; }

    // The oldest record not yet taken; absent when there is none, or when the oldest is still being
    // written. Skips records that a program discarded. The span points into the ring and is valid
    // until release().
    std::optional<std::span<const std::byte>> next();
    // Gives the space of all taken records back to the programs.
    void release();
    // The same, but only if more than an eighth of the ring is taken.
    void release_if_full() {
        if (taken_ - released_ > data_bytes_ / 8) release();
    }
    // Passes all records to `on_record`; returns their number.
    template <class OnRecord>
    std::size_t drain(OnRecord&& on_record) {
        return drain_ring(*this, on_record);
    }

    std::size_t size() const noexcept { return data_bytes_; }

private:
    int fd_;
    std::size_t data_bytes_;
    Mapping consumer_;  // one page: the consumer position
    Mapping producer_;  // one page: how far they have reserved; then the data, twice, so that no
                        // record wraps
    std::uint64_t taken_ = 0, released_ = 0;
    std::uint64_t reserved_ =
        0;  // the producer position as last loaded; reloaded only when all up to it is taken
};

}  // namespace gpufs
