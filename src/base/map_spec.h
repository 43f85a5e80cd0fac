#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <string>

namespace gpufs {

// So many entries a map has at most: of hash maps the kernel refuses more, because their buckets
// would take 2^32 bytes (htab_map_alloc() in kernel/bpf/hashtab.c).
inline constexpr std::uint32_t kMostMapEntries = std::uint32_t{1} << 27;

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
    int inner_fd = -1;        // of a map of maps: a map that is made like those in it

    // Keys are indices: all elements are there from the beginning, and none can be taken out.
    constexpr bool is_array() const noexcept {
        return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
    }
    // Each CPU has values of its own.
    constexpr bool is_per_cpu() const noexcept {
        return type == BPF_MAP_TYPE_PERCPU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH ||
               type == BPF_MAP_TYPE_PERCPU_ARRAY;
    }
};

}  // namespace gpufs
