#include "kernel/bpf/ring_buffer.h"

#include <linux/bpf.h>
#include <sys/mman.h>

#include <atomic>

namespace gpufs {
namespace {

std::uint64_t load_acquire(std::byte* at) {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at)).load(std::memory_order_acquire);
}

}  // namespace

RingBuffer::RingBuffer(const BpfMap& map)
    : fd_(map.fd()),
      data_bytes_(map.spec().max_entries),
      consumer_(map.fd(), page_bytes(), PROT_READ | PROT_WRITE, 0, "a ring buffer"),
      producer_(map.fd(), page_bytes() + 2 * data_bytes_, PROT_READ,
                static_cast<off_t>(page_bytes()), "a ring buffer") {
    // Only readers write this position, and there is no other reader now.
    taken_ = released_ = reserved_ = load_acquire(consumer_.data());
}

std::optional<std::span<const std::byte>> RingBuffer::next() {
    for (;;) {
        if (taken_ == reserved_) reserved_ = load_acquire(producer_.data());
        if (taken_ == reserved_) return std::nullopt;
        std::byte* record = producer_.data() + page_bytes() + (taken_ & (data_bytes_ - 1));
        // The first 4 bytes are the length with its two flags; the next 4 are internal to the
        // kernel.
        const std::uint32_t header = std::atomic_ref(*reinterpret_cast<std::uint32_t*>(record))
                                         .load(std::memory_order_acquire);
        if (header & BPF_RINGBUF_BUSY_BIT) return std::nullopt;
        const std::uint32_t length = header & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
        taken_ += (std::uint64_t{length} + BPF_RINGBUF_HDR_SZ + 7) & ~std::uint64_t{7};
        if (header & BPF_RINGBUF_DISCARD_BIT) continue;
        return std::span<const std::byte>(record + BPF_RINGBUF_HDR_SZ, length);
    }
}

void RingBuffer::release() {
    if (released_ == taken_) return;
    std::atomic_ref(*reinterpret_cast<std::uint64_t*>(consumer_.data()))
        .store(taken_, std::memory_order_release);
    released_ = taken_;
}

}  // namespace gpufs
