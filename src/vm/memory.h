#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gpufs {

// The memory that interpreted programs see: regions, each at an address of ours. The addresses are
// in a range where neither a kernel nor a process has anything, so that a pointer out of a
// recording is never taken for one, and so far apart that running out of a region leads nowhere.
class VmMemory {
public:
    enum class Kind {
        context,   // what a program is given: read only, accesses aligned
        constant,  // read only
        data,      // map values
        stack,     // accesses aligned; bytes must be written before they are loaded
        kernel,    // for probe_read_kernel and its kin, not for the program itself
        user,      // for probe_read_user and its kin
    };
    // No stack frame is larger.
    static constexpr std::size_t kStackBytes = 512;

    // Gives the bytes an address, a multiple of 8. They are borrowed until they are removed.
    std::uint64_t add(Kind kind, std::span<std::byte> bytes);
    // The same for the kinds that programs do not write.
    std::uint64_t add_read_only(Kind kind, std::span<const std::byte> bytes);
    // Shows other bytes at the address of a whole region: the next record, the next run's frame.
    void rebind(std::uint64_t address, std::span<const std::byte> bytes);
    void remove(std::uint64_t address);

    // Makes room for the values of a map: so many slots, each of `copies` values of `bytes` bytes,
    // of Kind::data. Slots are made in their order, on demand. Returns a number for the other
    // calls. Throws Error where that is more than there are addresses for.
    std::size_t add_slots(std::size_t bytes, std::size_t copies, std::size_t slots);
    // All copies of a slot, each at a multiple of 8; zeros at first.
    std::span<std::byte> slot(std::size_t slots, std::size_t index);
    // Where programs see one copy. Running out of it leads into no other.
    std::uint64_t slot_address(std::size_t slots, std::size_t index, std::size_t copy) const;

    // For helpers: where the program's bytes really are; null where it may not touch all of them.
    // What was never written on a stack reads as zeros: kernels since 6.3 let it pass.
    const std::byte* find_readable(std::uint64_t address, std::size_t bytes);
    std::byte* find_writable(std::uint64_t address, std::size_t bytes);
    // For one load or store, which must be aligned on a stack and in a context.
    const std::byte* find_for_load(std::uint64_t address, std::size_t bytes) const;
    std::byte* find_for_store(std::uint64_t address, std::size_t bytes);
    // What probe_read_kernel can read: everything but `user`. And probe_read_user: only that.
    std::span<const std::byte> find_kernel(std::uint64_t address) const;
    std::span<const std::byte> find_user(std::uint64_t address) const;

private:
    struct Region {
        Kind kind = Kind::constant;
        std::byte* bytes = nullptr;  // written to only where the kind allows it
        std::size_t size = 0;
        std::bitset<kStackBytes> written;  // Kind::stack

        void write_zeros(std::size_t offset, std::size_t count);
        bool is_used = false;
    };
    struct Place {
        const Region* region;
        std::size_t offset;
    };
    // The values of a map. Memory comes in chunks, so that it never moves.
    struct Slots {
        std::size_t bytes = 0, copies = 0;  // of one value, values of a slot
        std::size_t copy_bytes = 0;         // from one copy to the next
        unsigned value_bits = 0;            // of an address: within a value,
        unsigned copy_bits = 0;             // and the copy; the slot above them
        unsigned chunk_bits = 0;            // of a slot's index: within its chunk
        std::vector<std::unique_ptr<std::byte[]>> chunks;
    };
    Place find(std::uint64_t address) const;
    Place find_own(std::uint64_t address, std::size_t bytes) const;
    // Of an address that is known to be of one.
    Region& region_at(std::uint64_t address) { return regions_.at((address >> 32) & 0xffff); }
    std::span<std::byte> find_in_slots(std::uint64_t address) const;

    std::vector<Region> regions_;
    std::vector<Slots> slots_;
};

}  // namespace gpufs
