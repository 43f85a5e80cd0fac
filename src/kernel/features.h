#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace gpufs {

enum class Support {
    yes,
    no,
    could_not_tell,  // the kernel refused for another reason: no permission, or no memory
};

// The result of trying a feature.
struct ProbeAnswer {
    Support support = Support::could_not_tell;
    int code = 0;  // the errno of the refusal; 0 when it works
};

enum class BpfFeature {
    bpf,               // bpf(2), and raw tracepoint programs
    subprograms,       // calls from one function of a program to another
    jmp32,             // 32-bit jumps: ISA v3
    large_programs,    // more than 4096 instructions
    global_data,       // direct access to map values by address
    bounded_loops,     // backward jumps
    mmapable,          // arrays that both sides can map
    freeze,            // maps that become read-only for user space
    batch,             // reading many map entries per call
    ringbuf,           // one ring for all CPUs
    test_run,          // running a raw tracepoint program on demand
    atomics,           // fetch, exchange, compare and exchange
    perf_link,         // perf events by BPF link, with cookies
    callbacks,         // bpf_loop()
    sleepable_uprobe,  // uprobe programs that may fault in pages
    isa_v4,            // signed loads and division, bswap, gotol
    may_goto,          // loops that the kernel bounds
    kprobe_multi,      // one link for many kernel functions
    uprobe_multi,      // one link for many offsets in a file
    btf,               // type information of the kernel
    fentry,            // programs attached to functions by BTF id
};

struct BpfFeatureName {
    BpfFeature feature;
    std::string_view name;  // as written in programs: "ringbuf"
    std::string_view what;  // for messages: "BPF ring buffer"
    std::string_view fix;   // "Linux 5.8 or later"
};
std::span<const BpfFeatureName> bpf_feature_names();
std::optional<BpfFeature> find_bpf_feature(std::string_view name);
const BpfFeatureName& name_of(BpfFeature feature);

// Probes features by trying the smallest use of each, and caches the answers. Ignores kernel
// version numbers, because distributions backport features. A probe loads a program of a few
// instructions or makes a small map and removes it; only the fentry probe attaches something: an
// empty program, to the kernel's test function. A probe takes 30 us; large_programs takes 1 ms, and
// fentry somewhat longer.
class BpfFeatures {
public:
    // Answers no to `withheld` without probing, to emulate older kernels in tests.
    explicit BpfFeatures(std::initializer_list<BpfFeature> withheld = {});
    // Supports exactly these features and never probes.
    static BpfFeatures only(std::span<const BpfFeature> features);
    // For fentry, no with EPERM means that this user may load programs, but not of that kind.
    ProbeAnswer ask(BpfFeature feature);
    bool has(BpfFeature feature) { return ask(feature).support == Support::yes; }

    // Whether programs of this type (enum bpf_prog_type) can be loaded. Returns could_not_tell for
    // types that need more than two instructions and a type number.
    ProbeAnswer ask_program_type(std::uint32_t type);
    ProbeAnswer ask_map_type(std::uint32_t type);
    // Whether a program of this type may call the helper with this number.
    ProbeAnswer ask_helper(std::uint32_t type, unsigned helper);

private:
    std::map<BpfFeature, ProbeAnswer> features_;
    std::map<std::uint32_t, ProbeAnswer> program_types_;
    std::map<std::uint32_t, ProbeAnswer> map_types_;
    std::map<std::pair<std::uint32_t, unsigned>, ProbeAnswer> helpers_;
};

}  // namespace gpufs
