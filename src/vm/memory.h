#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/kernel_abi.h"

namespace gpufs {

// The memory of interpreted programs: regions at synthetic addresses. The addresses are in a range
// that neither a kernel nor a process uses, so that no pointer from a recording is mistaken for
// one, and so far apart that an overrun of a region does not reach another.
class VmMemory {
public:
    enum class Kind {
        context,   // a program's context: read-only, aligned accesses
        constant,  // read-only
        data,      // map values
        stack,     // aligned accesses; bytes must be written before they are loaded
        kernel,    // readable with probe_read_kernel and similar helpers only
        user,      // readable with probe_read_user and similar helpers only
    };

    // Adds a region and returns its address, a multiple of 8. `bytes` must stay valid until
    // remove().
    std::uint64_t add(Kind kind, std::span<std::byte> bytes);
    // The same for kinds that programs cannot write to.
    std::uint64_t add_read_only(Kind kind, std::span<const std::byte> bytes);
    // Replaces a region's bytes, keeping its address: the next record, the next run's frame.
    void rebind(std::uint64_t address, std::span<const std::byte> bytes);
    void remove(std::uint64_t address);

    // Reserves addresses for the values of a map: `slots` slots of `copies` values of `bytes`
    // bytes, of Kind::data. Memory is allocated on demand. Returns a handle for the calls below.
    // Throws Error when there are not enough addresses.
    std::size_t add_slots(std::size_t bytes, std::size_t copies, std::size_t slots);
    // All copies of a slot, each padded to a multiple of 8; initially zero.
    std::span<std::byte> slot(std::size_t slots, std::size_t index);
    // The address of one copy. There is a gap between copies, so an overrun does not reach another.
    std::uint64_t slot_address(std::size_t slots, std::size_t index, std::size_t copy) const;

    // For helpers: translate an address; null when the program may not access all of the bytes.
    // Stack bytes never written read as zeros: kernels since 6.3 allow such reads.
    const std::byte* find_readable(std::uint64_t address, std::size_t bytes);
    std::byte* find_writable(std::uint64_t address, std::size_t bytes);
    // The same for one load or store, which must be aligned in a stack and in a context.
    const std::byte* find_for_load(std::uint64_t address, std::size_t bytes) const;
    std::byte* find_for_store(std::uint64_t address, std::size_t bytes);
    // The bytes from `address` to the end of its region. find_kernel(): any kind but `user`, as for
    // probe_read_kernel; find_user(): `user` only.
    std::span<const std::byte> find_kernel(std::uint64_t address) const;
    std::span<const std::byte> find_user(std::uint64_t address) const;

private:
    struct Region {
        Kind kind = Kind::constant;
        std::byte* bytes = nullptr;  // written to only if the kind allows it
        std::size_t size = 0;
        std::bitset<kBpfStackBytes> written;  // Kind::stack

        void write_zeros(std::size_t offset, std::size_t count);
        bool is_used = false;
    };
    struct Place {
        const Region* region;
        std::size_t offset;
    };
    // The values of a map. Memory is allocated in chunks, so that values never move.
    struct Slots {
        std::size_t bytes = 0, copies = 0;  // bytes of a value; values of a slot
        std::size_t copy_bytes = 0;         // distance of copies
        unsigned value_bits = 0;            // bits of an address: offset in a value,
        unsigned copy_bits = 0;             // then the copy; then the slot
        unsigned chunk_bits = 0;            // bits of a slot's index: position in its chunk
        std::vector<std::unique_ptr<std::byte[]>> chunks;
    };
    Place find(std::uint64_t address) const;
    Place find_own(std::uint64_t address, std::size_t bytes) const;
    // `address` must be that of a region.
    Region& region_at(std::uint64_t address) { return regions_.at((address >> 32) & 0xffff); }
    std::span<std::byte> find_in_slots(std::uint64_t address) const;

    std::vector<Region> regions_;
    std::vector<Slots> slots_;
};

}  // namespace gpufs
