#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "vm/key_index.h"
#include "vm/memory.h"
#include "vm/program_map.h"

namespace gpufs {

// A map of interpreted programs, with the kernel's semantics (kernel/bpf/hashtab.c, arraymap.c,
// stackmap.c): hash and LRU hash, array, both also per CPU, stack trace, and rings, which store
// nothing here. An LRU map evicts exactly the least recently used entry; the kernel's choice is
// approximate.
class InterpretedMap : public ProgramMap {
public:
    // Keeps a reference to the memory. `cpus`: number of copies of a per-CPU value. Throws Error
    // for an unsupported type and for more entries than the memory has addresses for.
    InterpretedMap(const BpfMapSpec& spec, std::size_t cpus, VmMemory& memory);
    InterpretedMap(const InterpretedMap&) = delete;
    InterpretedMap& operator=(const InterpretedMap&) = delete;

    // Operations of programs. Keys and values have the map's sizes; a value is the copy of `cpu`.
    bool has_entries() const noexcept { return kind_ == Kind::hash || kind_ == Kind::array; }
    bool is_stack_trace() const noexcept { return kind_ == Kind::stacks; }
    bool is_per_cpu() const noexcept { return is_per_cpu_; }
    // The value's address in the memory, or 0 when the key is absent.
    std::uint64_t lookup_address(std::span<const std::byte> key, std::size_t cpu);
    // Returns 0 or a negative errno. `flags`: BPF_ANY, BPF_NOEXIST or BPF_EXIST of bpf(2).
    int update_copy(std::span<const std::byte> key, std::span<const std::byte> value,
                    std::uint64_t flags, std::size_t cpu);
    int erase(std::span<const std::byte> key);
    // The slot that has a key.
    std::optional<std::uint32_t> find(std::span<const std::byte> key) const;
    // The first slot, at or after `slot`, that holds an entry.
    std::optional<std::uint32_t> next_entry(std::uint32_t slot) const;
    void copy_key(std::uint32_t slot, std::span<std::byte> into) const;
    std::uint64_t address_of(std::uint32_t slot, std::size_t cpu) const;
    // For stack traces: stores the frames and returns their id, or -EEXIST when the map is full.
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

    std::span<std::byte> value(std::uint32_t slot) const { return memory_.slot(slots_, slot); }
    int update_array(std::span<const std::byte> key, std::span<const std::byte> value,
                     std::uint64_t flags, std::size_t cpu);
    int update_hash(std::span<const std::byte> key, std::span<const std::byte> value,
                    std::uint64_t flags, std::size_t cpu);
    void set_copy(std::uint32_t slot, std::size_t cpu, std::span<const std::byte> value) const;
    void remove(std::uint32_t slot);
    // The LRU list of slots.
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
    std::size_t slots_ = 0;  // handle of its values in memory_
    KeyIndex index_;
    struct Link {
        std::uint32_t older = kNone, newer = kNone;
    };
    std::vector<Link> links_;  // the LRU list, by slot
    std::uint32_t oldest_ = kNone, newest_ = kNone;
};

}  // namespace gpufs
