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
    could_not_tell,  // the kernel refused for another reason: this user may not, or no memory
};

// What was tried, and what the kernel said.
struct ProbeAnswer {
    Support support = Support::could_not_tell;
    int code = 0;  // the errno it was refused with; 0 when it works
};

enum class BpfFeature {
    bpf,               // bpf(2), and raw tracepoint programs
    subprograms,       // calls from one function of a program to another
    jmp32,             // 32-bit jumps: ISA v3
    large_programs,    // more than 4096 instructions
    global_data,       // map values by address
    bounded_loops,     // jumps backwards
    mmapable,          // arrays that both sides map
    freeze,            // maps that only programs write
    batch,             // many map entries a call
    ringbuf,           // one ring for all CPUs
    test_run,          // a raw tracepoint program run by hand
    atomics,           // fetch, exchange, compare and exchange
    perf_link,         // perf events by BPF link, with cookies
    callbacks,         // bpf_loop()
    sleepable_uprobe,  // uprobe programs that may fault pages in
    isa_v4,            // signed loads and division, bswap, gotol
    may_goto,          // loops the kernel ends
    kprobe_multi,      // one link for many kernel functions
    uprobe_multi,      // one link for many places of a file
    btf,               // the kernel's own types
    fentry,            // programs at functions by BTF
};

struct BpfFeatureName {
    BpfFeature feature;
    std::string_view name;  // as written in programs: "ringbuf"
    std::string_view what;  // for people: "BPF ring buffer"
    std::string_view fix;   // "Linux 5.8 or later"
};
std::span<const BpfFeatureName> bpf_feature_names();
std::optional<BpfFeature> find_bpf_feature(std::string_view name);

// Asks the kernel by trying the smallest thing of each kind, and remembers the answers. Version
// numbers are never looked at: distributions carry features back. Loads a program of a few
// instructions or makes a small map, leaves nothing, and attaches nothing but an empty program to
// the function that the kernel has for this (fentry). A question takes 30 us, but large_programs
// 1 ms, and fentry some more.
class BpfFeatures {
public:
    // `withheld` are answered with no, unasked: what a program gets on an older kernel, for tests.
    explicit BpfFeatures(std::initializer_list<BpfFeature> withheld = {});
    // These and no others, without a question.
    static BpfFeatures only(std::span<const BpfFeature> features);
    // fentry: no with EPERM means that this user may load programs, but none of that kind.
    ProbeAnswer ask(BpfFeature feature);
    bool has(BpfFeature feature) { return ask(feature).support == Support::yes; }

    // Can programs of this type (enum bpf_prog_type) be loaded? Types that need more than two
    // instructions and a type number are answered with could_not_tell.
    ProbeAnswer ask_program_type(std::uint32_t type);
    ProbeAnswer ask_map_type(std::uint32_t type);
    // May a program of this type call the helper of this number?
    ProbeAnswer ask_helper(std::uint32_t type, unsigned helper);

private:
    std::map<BpfFeature, ProbeAnswer> features_;
    std::map<std::uint32_t, ProbeAnswer> program_types_;
    std::map<std::uint32_t, ProbeAnswer> map_types_;
    std::map<std::pair<std::uint32_t, unsigned>, ProbeAnswer> helpers_;
};

}  // namespace gpufs
