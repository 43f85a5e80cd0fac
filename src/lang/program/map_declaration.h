#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lang/program/code.h"
#include "lang/program/types.h"

namespace gpufs {

// What the kernel is asked for.
struct MapShape {
    bpf_map_type type = BPF_MAP_TYPE_HASH;
    std::size_t key_bytes = 0, value_bytes = 0;
    std::uint64_t max_entries = 0;
};

struct MapDeclaration {
    std::string name;
    bpf_map_type type = BPF_MAP_TYPE_HASH;
    Layout key;    // one integer of 4 bytes for arrays; empty for rings
    Layout value;  // for an aggregation: one member, `value`, with its sign and unit
    Aggregation aggregation;
    std::uint64_t max_entries = 0;  // bytes for a ring
    std::string max_parameter;      // name of the parameter that gives max_entries, if any
    bool or_perf_ring = false;      // use a perf_event_array on kernels without ringbuf
    // Of stack_trace: a hash map of whole stacks (lang/ir/stack_map.h), but on kernels without
    // bounded loops the kernel's map.
    bool keeps_stacks = false;
    // Of one that keeps stacks: some come with where the function that begins returns to.
    bool has_callers = false;
    bool is_global = false;  // an array of one value that holds the named globals
    std::string loss;        // if its one u64 counts losses: what was lost, "keys refused"
    // The programs whose missed hits a loss counts, too, as far as it can: the kernel's count of
    // them is of the same loss.
    std::vector<std::string> misses_of;
    // If one number of it is printed at the end, that is not a loss: what it counts, "starts
    // without an end". For an array it is the counter; for a hash map, the number of remaining
    // entries that are not all zero.
    std::string tally;
    // gpufs fills it: by number, each system call's SyscallSignature; for all others the last entry
    // has unknown_signature(). 0: a call that the text parameter of this name does not ask for.
    bool has_signatures = false;
    std::string wanted_calls;  // empty: all are asked for
    SourceRef at;

    std::size_t value_bytes() const;
    bool is_per_cpu() const;
    // The kernel's map for `entries` of this one on a machine with so many CPUs. A histogram's is a
    // hash with an entry for each key and bucket in use, or an array with one for each index and
    // bucket. A per-CPU histogram is no per-CPU map of the kernel's, whose making takes 0.6 us an
    // entry: the CPU is a part of the key, and there are `entries` for each CPU. A value of a map
    // that keeps whole stacks has a word in front of the frames.
    MapShape shape(std::uint64_t entries, std::size_t cpus) const;
    // Of a histogram in a hash: where in the kernel's key, behind the map's, a u32 begins that is
    // the bucket << 16 | the CPU (0 unless per CPU). In an array the index is
    // (CPU * entries + index) * buckets + bucket.
    std::size_t bucket_at() const;
    // True if keys are indices: all elements exist from the beginning.
    bool is_array() const {
        return type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
    }
};

// An array or a per-CPU array, of one element where nothing else is said.
MapDeclaration array_map(std::string name, bpf_map_type type, Layout value,
                         const SourceRef& at = {}, std::uint64_t entries = 1);

}  // namespace gpufs
