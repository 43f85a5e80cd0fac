#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/results/program_map.h"
#include "vm/key_index.h"
#include "vm/memory.h"

namespace gpufs {

// A map of interpreted programs, which does what the kernel's would (kernel/bpf/hashtab.c,
// arraymap.c, stackmap.c): hashes, with and without a limit that makes room, arrays, both also per
// CPU, stack traces, and rings, which hold nothing here. What an lru map drops is exactly what was
// used last the longest time ago; the kernel's choice is coarser.
class InterpretedMap : public ProgramMap {
public:
    // Borrows the memory. `cpus`: copies of a per-CPU value. Throws Error for a type it does not
    // know, or more entries than there is room for.
    InterpretedMap(const BpfMapSpec& spec, std::size_t cpus, VmMemory& memory);
    InterpretedMap(const InterpretedMap&) = delete;
    InterpretedMap& operator=(const InterpretedMap&) = delete;

    // What programs do. Keys and values are of the map's sizes, a value is the one copy of `cpu`.
    bool has_entries() const noexcept { return kind_ == Kind::hash || kind_ == Kind::array; }
    bool is_ring() const noexcept { return kind_ == Kind::ring; }
    bool is_stack_trace() const noexcept { return kind_ == Kind::stacks; }
    bool is_per_cpu() const noexcept { return is_per_cpu_; }
    // The address of the value in the memory, or 0.
    std::uint64_t lookup_address(std::span<const std::byte> key, std::size_t cpu);
    // 0, or an errno as a negative number. Flags are those of bpf(2): BPF_ANY, BPF_NOEXIST, …
    int update_copy(std::span<const std::byte> key, std::span<const std::byte> value,
                    std::uint64_t flags, std::size_t cpu);
    int erase(std::span<const std::byte> key);
    // The slots that hold an entry, one behind the other: the first at or behind `slot`.
    std::optional<std::uint32_t> next_entry(std::uint32_t slot) const;
    void copy_key(std::uint32_t slot, std::span<std::byte> into) const;
    std::uint64_t address_of(std::uint32_t slot, std::size_t cpu) const;
    // Of stack traces: the number by which these frames are known from now on, or -EEXIST.
    int keep_stack(std::span<const std::uint64_t> frames);

    const BpfMapSpec& spec() const override { return spec_; }
    std::size_t copy_bytes() const override { return copy_bytes_; }
    std::size_t whole_value_bytes() const override { return copy_bytes_ * copies_; }
    bool lookup(std::span<const std::byte> key, std::span<std::byte> value) const override;
    void update(std::span<const std::byte> key, std::span<const std::byte> value) override;
    void for_each(const Visit& visit) const override;
    void take_each(const Visit& visit) override;
    std::vector<std::int32_t> stack_ids() const override;
    void remove_stack(std::int32_t id) override;

private:
    enum class Kind { hash, array, stacks, ring };
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};

    std::optional<std::uint32_t> find(std::span<const std::byte> key) const;
    std::span<std::byte> value(std::uint32_t slot) const { return memory_.slot(slots_, slot); }
    int update_array(std::span<const std::byte> key, std::span<const std::byte> value,
                     std::uint64_t flags, std::size_t cpu);
    int update_hash(std::span<const std::byte> key, std::span<const std::byte> value,
                    std::uint64_t flags, std::size_t cpu);
    void set_copy(std::uint32_t slot, std::size_t cpu, std::span<const std::byte> value) const;
    void remove(std::uint32_t slot);
    // The order in which a map with a limit used its slots.
    void link_newest(std::uint32_t slot);
    void unlink(std::uint32_t slot);
    void use(std::uint32_t slot);

    BpfMapSpec spec_;
    VmMemory& memory_;
    Kind kind_;
    bool makes_room_ = false;  // lru
    bool is_per_cpu_;
    std::size_t copies_;
    std::size_t copy_bytes_;
    std::size_t slots_ = 0;  // in the memory
    KeyIndex index_;
    struct Link {
        std::uint32_t older = kNone, newer = kNone;
    };
    std::vector<Link> links_;  // lru, by slot
    std::uint32_t oldest_ = kNone, newest_ = kNone;
};

}  // namespace gpufs
