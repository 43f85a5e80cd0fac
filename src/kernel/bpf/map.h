#pragma once

#include <linux/bpf.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/fd.h"
#include "kernel/bpf/mapping.h"

namespace gpufs {

// What a map is, as bpf(2) takes it. Rings have no key and no value, and their size in bytes (a
// power of 2, a page at least) is max_entries; a perf event array and a prog array have 4-byte keys
// and values; a stack trace map has 4-byte keys and 8 bytes of value for each frame.
struct BpfMapSpec {
    std::uint32_t type = BPF_MAP_TYPE_UNSPEC;  // enum bpf_map_type; newer kernels have more
    std::string name;  // the kernel keeps 15 characters, and none before Linux 4.15
    std::uint32_t key_bytes = 0;
    std::uint32_t value_bytes = 0;
    std::uint32_t max_entries = 0;
    std::uint32_t flags = 0;  // BPF_F_NO_PREALLOC, BPF_F_MMAPABLE, ...

    // Each CPU has values of its own.
    constexpr bool is_per_cpu() const noexcept {
        return type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH ||
               type == BPF_MAP_TYPE_PERCPU_ARRAY;
    }
};

// Owns one BPF map. A value of a per-CPU map is read and written whole: one copy for each possible
// CPU, each rounded up to 8 bytes. Failures are thrown: SysError, UnsupportedError.
class BpfMap {
public:
    // Makes a map. Memory that the kernel charges to RLIMIT_MEMLOCK (before Linux 5.11) makes it
    // raise that limit, when and only when the kernel refuses for it.
    static BpfMap create(const BpfMapSpec& spec);
    // Somebody's map, by its number. Needs CAP_SYS_ADMIN.
    static BpfMap open(std::uint32_t id);

    int fd() const noexcept { return fd_.get(); }
    const BpfMapSpec& spec() const noexcept { return spec_; }
    bool is_per_cpu() const noexcept;
    // Bytes of one CPU's copy, rounded up; of the value itself where there is one copy.
    std::size_t copy_bytes() const noexcept;
    // Bytes of a whole value: what lookup() fills and update() takes.
    std::size_t whole_value_bytes() const noexcept { return copy_bytes() * copies_; }

    // False when there is no such key.
    bool lookup(std::span<const std::byte> key, std::span<std::byte> value) const;
    // False when `flags` forbid it: BPF_NOEXIST and the key is there, BPF_EXIST and it is not. A
    // full map is a SysError of code E2BIG.
    bool update(std::span<const std::byte> key, std::span<const std::byte> value,
                std::uint64_t flags = BPF_ANY) const;
    // False when there is no such key.
    bool erase(std::span<const std::byte> key) const;
    // The key behind `key`, the first when that is null. False at the end. The order is the
    // kernel's; behind a key that is gone comes the first again, so walk with for_each().
    bool next_key(const std::byte* key, std::span<std::byte> next) const;

    // How to walk: many entries a call (Linux 5.6), or one key after another. `best` is the first
    // that this kernel has for this map.
    enum class Walk { best, batch, one_by_one };
    using Visit =
        std::function<void(std::span<const std::byte> key, std::span<const std::byte> value)>;
    // Visits every entry that is there throughout exactly once, and each that comes or goes
    // meanwhile at most once. False when that is not sure: one by one, while entries keep going.
    bool for_each(const Visit& visit, Walk walk = Walk::best) const;
    // Visits the keys alone, as for_each() does.
    bool for_each_key(const std::function<void(std::span<const std::byte>)>& visit) const;
    // As for_each(), and takes the entries out, for hash maps. In batches no update is lost between
    // reading and removing but that of a program that looked the entry up and still writes to it;
    // one by one a little more may be.
    bool take_each(const Visit& visit, Walk walk = Walk::best) const;

    // The values of an array made with BPF_F_MMAPABLE (Linux 5.5): one copy_bytes() behind another,
    // each rounded up to 8. They stay mapped when this goes.
    Mapping map_values(bool writable = true) const;
    // From now on only programs write (Linux 5.2). Not while values are mapped writable.
    void freeze() const;

private:
    BpfMap(Fd fd, BpfMapSpec spec);
    std::string described() const;
    // Names one entry to bpf(2). Throws Error for a key or a value of another size.
    bpf_attr entry_attr(std::span<const std::byte> key, std::span<const std::byte> value) const;
    // What for_each() and take_each() say; absent where it has to be one by one.
    std::optional<bool> batches(bpf_cmd command, const Visit& visit, Walk walk) const;

    Fd fd_;
    BpfMapSpec spec_;
    std::size_t copies_ = 1;
};

}  // namespace gpufs
