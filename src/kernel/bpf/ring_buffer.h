#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernel/bpf/drain_ring.h"
#include "kernel/bpf/map.h"
#include "kernel/bpf/mapping.h"

namespace gpufs {

// The reading end of a BPF ring buffer map (Linux 5.8): one ring for all CPUs, records in the order
// in which programs reserved them. One reader at a time. What did not fit the kernel only tells the
// program, which must count it.
//
// Memory order: a program publishes a record by clearing the busy bit of its length with an xchg,
// and makes room by storing the producer position with release semantics, so both are loaded with
// acquire; space goes back by storing the consumer position with release, which pairs with the
// acquire load in the kernel's reserve. A compiler barrier alone is a bug on arm64.
class RingBuffer {
public:
    // Maps the ring of `map`, which is borrowed and must outlive this. Throws SysError.
    explicit RingBuffer(const BpfMap& map);

    // To wait for: readable (poll(2), epoll(7)) while a record is unread. The kernel looks again
    // when asked, so no wake-up is missed between reading the last record and waiting.
    int fd() const noexcept { return fd_; }

    // The oldest record not yet taken; absent when there is none, or when the oldest is still being
    // written. What a program discarded is skipped. The span is the kernel's memory and good until
    // release().
    std::optional<std::span<const std::byte>> next();
    // Gives the space of all records taken back to the programs.
    void release();
    // The same where much of the space is taken.
    void release_if_full() {
        if (taken_ - released_ > data_bytes_ / 8) release();
    }
    // All of them.
    template <class OnRecord>
    std::size_t drain(OnRecord&& on_record) {
        return drain_ring(*this, on_record);
    }

    std::size_t size() const noexcept { return data_bytes_; }
    // What programs have reserved and we have not taken, in bytes with headers.
    std::size_t unread_bytes() const;

private:
    int fd_;
    std::size_t data_bytes_;
    Mapping consumer_;  // one page: how far we have read
    Mapping producer_;  // one page: how far they have reserved; then the data, twice, so that no
                        // record wraps
    std::uint64_t taken_ = 0, released_ = 0;
    std::uint64_t reserved_ = 0;  // as last seen: looked up again only when all of it is taken
};

}  // namespace gpufs
