#include "kernel/features.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"
#include "kernel/bpf/btf.h"
#include "kernel/bpf/mapping.h"
#include "kernel/bpf/op.h"
#include "kernel/bpf/syscall.h"
#include "kernel/perf/attach.h"

namespace gpufs {
namespace {

// arm64's trampolines are reached by direct calls, which it got later.
#if defined __aarch64__
constexpr std::string_view kHasFentry =
    "Linux 6.4 or later with CONFIG_DEBUG_INFO_BTF=y and CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y";
#else
constexpr std::string_view kHasFentry =
    "Linux 5.5 or later with CONFIG_DEBUG_INFO_BTF=y and CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y";
#endif

constexpr BpfFeatureName kNames[] = {
    {BpfFeature::bpf, "bpf", "BPF programs", "Linux 4.17 or later"},
    {BpfFeature::subprograms, "subprograms", "BPF functions", "Linux 4.16 or later"},
    {BpfFeature::jmp32, "jmp32", "BPF 32-bit jumps", "Linux 5.1 or later"},
    {BpfFeature::large_programs, "large_programs", "long BPF programs", "Linux 5.2 or later"},
    {BpfFeature::global_data, "global_data", "BPF global data", "Linux 5.2 or later"},
    {BpfFeature::bounded_loops, "bounded_loops", "BPF loops", "Linux 5.3 or later"},
    {BpfFeature::mmapable, "mmapable", "BPF shared arrays", "Linux 5.5 or later"},
    {BpfFeature::freeze, "freeze", "BPF frozen maps", "Linux 5.2 or later"},
    {BpfFeature::batch, "batch", "BPF map batches", "Linux 5.6 or later"},
    {BpfFeature::ringbuf, "ringbuf", "BPF ring buffer", "Linux 5.8 or later"},
    {BpfFeature::test_run, "test_run", "BPF test runs", "Linux 5.10 or later"},
    {BpfFeature::atomics, "atomics", "BPF atomics", "Linux 5.12 or later"},
    {BpfFeature::perf_link, "perf_link", "BPF perf links", "Linux 5.15 or later"},
    {BpfFeature::callbacks, "callbacks", "BPF callbacks", "Linux 5.17 or later"},
    {BpfFeature::sleepable_uprobe, "sleepable_uprobe", "sleepable uprobes", "Linux 6.0 or later"},
    {BpfFeature::isa_v4, "isa_v4", "BPF ISA v4", "Linux 6.6 or later"},
    {BpfFeature::may_goto, "may_goto", "BPF may_goto", "Linux 6.9 or later"},
    {BpfFeature::kprobe_multi, "kprobe_multi", "BPF kprobe_multi", kHasKprobeMulti},
    {BpfFeature::uprobe_multi, "uprobe_multi", "BPF uprobe_multi", "Linux 6.6 or later"},
    {BpfFeature::btf, "btf", "BTF", "a kernel with CONFIG_DEBUG_INFO_BTF=y"},
    {BpfFeature::fentry, "fentry", "BPF fentry", kHasFentry},
};

using op::call;
using op::leave;
using op::mov;

ProbeAnswer answer(int code) {
    if (code == 0) return {Support::yes, 0};
    const bool other_reason =
        code == EPERM || code == ENOMEM || is_out_of_files(code) || code == EAGAIN || code == EINTR;
    return {other_reason ? Support::could_not_tell : Support::no, code};
}

// Loads a small program, by default a raw tracepoint program.
class Try {
public:
    explicit Try(std::vector<bpf_insn> insns, std::uint32_t type = BPF_PROG_TYPE_RAW_TRACEPOINT)
        : insns_(std::move(insns)), attr_(zeroed_attr()) {
        attr_.prog_type = type;
        attr_.insns = address_of(insns_.data());
        attr_.insn_cnt = static_cast<__u32>(insns_.size());
        attr_.license = address_of("GPL");
    }
    bpf_attr& attr() { return attr_; }
    // Returns 0 or the errno.
    int load() {
        fd_ = Fd{sys_bpf_charged(BPF_PROG_LOAD, attr_)};
        return fd_ ? 0 : errno;
    }
    int fd() const { return fd_.get(); }
    // The verifier's log of a program that did not load.
    std::string log() {
        std::string text(4096, '\0');
        attr_.log_level = 1;
        attr_.log_buf = address_of(text.data());
        attr_.log_size = static_cast<__u32>(text.size());
        const Fd loaded{sys_bpf_charged(BPF_PROG_LOAD, attr_)};
        text.resize(std::strlen(text.c_str()));
        return text;
    }

private:
    std::vector<bpf_insn> insns_;
    bpf_attr attr_;
    Fd fd_;
};

ProbeAnswer try_program(std::vector<bpf_insn> insns) {
    return answer(Try(std::move(insns)).load());
}

struct TriedMap {
    Fd fd;
    int code = 0;
};
TriedMap try_map(std::uint32_t type, __u32 key, __u32 value, __u32 entries, __u32 flags = 0) {
    bpf_attr attr = zeroed_attr();
    attr.map_type = type;
    attr.key_size = key;
    attr.value_size = value;
    attr.max_entries = entries;
    attr.map_flags = flags;
    TriedMap tried{Fd{sys_bpf_charged(BPF_MAP_CREATE, attr)}, 0};
    if (!tried.fd) tried.code = errno;
    return tried;
}

ProbeAnswer try_global_data() {
    const TriedMap map = try_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1);
    if (map.code) return answer(map.code);
    return try_program(
        {op::make(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_VALUE, 0, map.fd.get()),
         op::make(0, 0, 0, 0, 0), mov(0, 0), leave()});
}

ProbeAnswer try_freeze() {
    const TriedMap map = try_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1);
    if (map.code) return answer(map.code);
    bpf_attr attr = zeroed_attr();
    attr.map_fd = static_cast<__u32>(map.fd.get());
    return answer(sys_bpf(BPF_MAP_FREEZE, attr) == 0 ? 0 : errno);
}

ProbeAnswer try_batch() {
    const TriedMap map = try_map(BPF_MAP_TYPE_HASH, 4, 4, 1);
    if (map.code) return answer(map.code);
    std::uint32_t cursor = 0, key = 0, value = 0;
    bpf_attr attr = zeroed_attr();
    attr.batch.map_fd = static_cast<__u32>(map.fd.get());
    attr.batch.out_batch = address_of(&cursor);
    attr.batch.keys = address_of(&key);
    attr.batch.values = address_of(&value);
    attr.batch.count = 1;
    const int code = sys_bpf(BPF_MAP_LOOKUP_BATCH, attr) == 0 ? 0 : errno;
    return answer(code == ENOENT ? 0 : code);  // at the end of an empty map
}

ProbeAnswer try_test_run() {
    Try program({mov(0, 0), leave()});
    if (const int code = program.load()) return answer(code);
    bpf_attr attr = zeroed_attr();
    attr.test.prog_fd = static_cast<__u32>(program.fd());
    return answer(sys_bpf(BPF_PROG_TEST_RUN, attr) == 0 ? 0 : errno);
}

// Tries to make an invalid link. A kernel that supports this kind of link fails with one of
// `expected`.
ProbeAnswer try_link(Try& program, bpf_attr& attr, std::initializer_list<int> expected) {
    if (const int code = program.load()) return answer(code);
    attr.link_create.prog_fd = static_cast<__u32>(program.fd());
    const Fd link{sys_bpf(BPF_LINK_CREATE, attr)};
    const int code = link ? 0 : errno;
    return answer(std::ranges::find(expected, code) != expected.end() ? 0 : code);
}

ProbeAnswer try_perf_link() {
    Try program({mov(0, 0), leave()}, BPF_PROG_TYPE_TRACEPOINT);
    bpf_attr attr = zeroed_attr();
    attr.link_create.target_fd = static_cast<__u32>(-1);
    attr.link_create.attach_type = BPF_PERF_EVENT;
    return try_link(program, attr, {EBADF});
}

ProbeAnswer try_kprobe_multi() {
    Try program({mov(0, 0), leave()}, BPF_PROG_TYPE_KPROBE);
    program.attr().expected_attach_type = kAttachKprobeMulti;
    const char* name = "gpufs no such function";
    bpf_attr attr = zeroed_attr();
    attr.link_create.attach_type = static_cast<__u32>(kAttachKprobeMulti);
    attr.link_create.kprobe_multi.cnt = 1;
    attr.link_create.kprobe_multi.syms = address_of(&name);
    return try_link(program, attr, {ESRCH, ENOENT});
}

ProbeAnswer try_uprobe_multi() {
    Try program({mov(0, 0), leave()}, BPF_PROG_TYPE_KPROBE);
    program.attr().expected_attach_type = kAttachUprobeMulti;
    const std::uint64_t offset = 0;
    UprobeMultiAttr multi{};
    multi.attach_type = kAttachUprobeMulti;
    multi.path = address_of("/");  // a directory has no places to probe
    multi.offsets = address_of(&offset);
    multi.cnt = 1;
    bpf_attr attr = as_attr(multi);
    return try_link(program, attr, {EBADF});
}

ProbeAnswer try_sleepable() {
    Try program({mov(0, 0), leave()}, BPF_PROG_TYPE_KPROBE);
    program.attr().prog_flags = BPF_F_SLEEPABLE;
    return answer(program.load());
}

// Attaches to bpf_fentry_test1(), a test function that nothing calls: only attaching shows whether
// the kernel has trampolines.
ProbeAnswer try_fentry(BpfFeatures& features) {
    std::optional<std::uint32_t> id;
    try {
        id = Btf::kernel().find_function("bpf_fentry_test1");
    } catch (const UnsupportedError&) {
        return {Support::no, ENOENT};
    }
    if (!id) return {Support::no, ENOENT};
    Try program({mov(0, 0), leave()}, BPF_PROG_TYPE_TRACING);
    program.attr().expected_attach_type = BPF_TRACE_FENTRY;
    program.attr().attach_btf_id = *id;
    const int code = program.load();
    // A user who may load other programs is not missing a capability: the kernel forbids this kind.
    if (code == EPERM && features.has(BpfFeature::bpf)) return {Support::no, code};
    if (code != 0) return answer(code);
    bpf_attr attr = zeroed_attr();
    attr.raw_tracepoint.prog_fd = static_cast<__u32>(program.fd());
    const Fd link{sys_bpf(BPF_RAW_TRACEPOINT_OPEN, attr)};
    return answer(link ? 0 : errno);
}

ProbeAnswer try_feature(BpfFeature feature, BpfFeatures& features) {
    constexpr int kJmp32 = BPF_JMP32 | BPF_JNE | BPF_K;
    switch (feature) {
        case BpfFeature::bpf:
            return try_program({mov(0, 0), leave()});
        case BpfFeature::subprograms:
            return try_program({op::make(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, 1), leave(),
                                mov(0, 0), leave()});
        case BpfFeature::jmp32:
            return try_program({mov(0, 0), op::make(kJmp32, 0, 0, 0, 1), leave()});
        case BpfFeature::large_programs: {
            std::vector<bpf_insn> insns(5000, mov(0, 0));
            insns.push_back(leave());
            return try_program(std::move(insns));
        }
        case BpfFeature::global_data:
            return try_global_data();
        case BpfFeature::bounded_loops:
            return try_program({mov(0, 9), op::make(BPF_ALU64 | BPF_SUB | BPF_K, 0, 0, 0, 1),
                                op::make(BPF_JMP | BPF_JNE | BPF_K, 0, 0, -2, 0), leave()});
        case BpfFeature::mmapable:
            return answer(try_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1, BPF_F_MMAPABLE).code);
        case BpfFeature::freeze:
            return try_freeze();
        case BpfFeature::batch:
            return try_batch();
        case BpfFeature::ringbuf:
            return features.ask_map_type(BPF_MAP_TYPE_RINGBUF);
        case BpfFeature::test_run:
            return try_test_run();
        case BpfFeature::atomics:
            return try_program(
                {mov(0, 1), op::make(BPF_STX | BPF_MEM | BPF_DW, 10, 0, -8, 0),
                 op::make(BPF_STX | BPF_ATOMIC | BPF_DW, 10, 0, -8, BPF_ADD | BPF_FETCH), mov(0, 0),
                 leave()});
        case BpfFeature::perf_link:
            return try_perf_link();
        case BpfFeature::callbacks:
            return features.ask_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_loop);
        case BpfFeature::sleepable_uprobe:
            return try_sleepable();
        case BpfFeature::isa_v4:  // r0 = (s8)r0; r0 = bswap64 r0; r0 s/= 3; gotol +0
            return try_program({mov(0, 1), op::make(BPF_ALU64 | BPF_MOV | BPF_X, 0, 0, 8, 0),
                                op::make(BPF_ALU64 | BPF_END, 0, 0, 0, 64),
                                op::make(BPF_ALU64 | BPF_DIV | BPF_K, 0, 0, 1, 3),
                                op::make(BPF_JMP32 | BPF_JA, 0, 0, 0, 0), mov(0, 0), leave()});
        case BpfFeature::may_goto:
            return try_program({mov(0, 0), op::make(BPF_JMP | 0xe0, 0, 0, 1, 0),
                                op::make(BPF_JMP | BPF_JA, 0, 0, -2, 0), leave()});
        case BpfFeature::kprobe_multi:
            return try_kprobe_multi();
        case BpfFeature::uprobe_multi:
            return try_uprobe_multi();
        case BpfFeature::btf:
            return file_exists(kKernelBtf) ? ProbeAnswer{Support::yes, 0}
                                           : ProbeAnswer{Support::no, ENOENT};
        case BpfFeature::fentry:
            return try_fentry(features);
    }
    return {};
}

ProbeAnswer try_program_type(std::uint32_t type) {
    switch (type) {
        case BPF_PROG_TYPE_TRACING:
        case BPF_PROG_TYPE_LSM:
        case BPF_PROG_TYPE_EXT:
        case BPF_PROG_TYPE_STRUCT_OPS: {
            // These types need BTF: a kernel that knows them complains about its absence.
            Try program({mov(0, 0), leave()}, type);
            const int code = program.load();
            if (code == 0 || program.log().find("btf") != std::string::npos)
                return {Support::yes, 0};
            return code == EINVAL ? ProbeAnswer{Support::could_not_tell, code} : answer(code);
        }
        case BPF_PROG_TYPE_SYSCALL: {
            Try program({mov(0, 0), leave()}, type);
            program.attr().prog_flags = BPF_F_SLEEPABLE;
            return answer(program.load());
        }
        case BPF_PROG_TYPE_SOCKET_FILTER:
        case BPF_PROG_TYPE_KPROBE:
        case BPF_PROG_TYPE_TRACEPOINT:
        case BPF_PROG_TYPE_RAW_TRACEPOINT:
        case BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE:
        case BPF_PROG_TYPE_PERF_EVENT:
        case BPF_PROG_TYPE_SCHED_CLS:
        case BPF_PROG_TYPE_XDP:
            return answer(Try({mov(0, 0), leave()}, type).load());
        default: {
            const int code = Try({mov(0, 0), leave()}, type).load();
            return code == 0 ? ProbeAnswer{Support::yes, 0}
                             : ProbeAnswer{Support::could_not_tell, code};
        }
    }
}

ProbeAnswer try_map_type(std::uint32_t type) {
    switch (type) {
        case BPF_MAP_TYPE_RINGBUF:
            return answer(try_map(type, 0, 0, static_cast<__u32>(page_bytes())).code);
        case BPF_MAP_TYPE_STACK_TRACE:
            return answer(try_map(type, 4, 8, 1).code);
        case BPF_MAP_TYPE_LPM_TRIE:
            return answer(try_map(type, 8, 8, 1, BPF_F_NO_PREALLOC).code);
        case BPF_MAP_TYPE_QUEUE:
        case BPF_MAP_TYPE_STACK:
        case BPF_MAP_TYPE_BLOOM_FILTER:
            return answer(try_map(type, 0, 4, 1).code);
        case BPF_MAP_TYPE_HASH:
        case BPF_MAP_TYPE_ARRAY:
        case BPF_MAP_TYPE_PROG_ARRAY:
        case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
        case BPF_MAP_TYPE_PERCPU_HASH:
        case BPF_MAP_TYPE_PERCPU_ARRAY:
        case BPF_MAP_TYPE_LRU_HASH:
        case BPF_MAP_TYPE_LRU_PERCPU_HASH:
        case BPF_MAP_TYPE_CGROUP_ARRAY:
            return answer(try_map(type, 4, 4, 1).code);
        default: {
            const int code = try_map(type, 4, 4, 1).code;
            return code == 0 ? ProbeAnswer{Support::yes, 0}
                             : ProbeAnswer{Support::could_not_tell, code};
        }
    }
}

// Calls the helper without arguments: if the helper exists, the verifier complains about the
// arguments.
ProbeAnswer try_helper(std::uint32_t type, unsigned helper) {
    Try program({call(helper), leave()}, type);
    const int code = program.load();
    if (code == 0) return {Support::yes, 0};
    const std::string log = program.log();
    if (log.empty()) return {Support::could_not_tell, code};
    for (const char* refusal : {"unknown func", "invalid func", "cannot use helper",
                                "helper call is not allowed", "subsystem misconfigured func"})
        if (log.find(refusal) != log.npos) return {Support::no, code};
    return {Support::yes, 0};
}

template <class Key, class Answers, class Ask>
ProbeAnswer remembered(Answers& answers, const Key& key, Ask ask) {
    if (const auto known = answers.find(key); known != answers.end()) return known->second;
    const ProbeAnswer asked = ask();
    answers.emplace(key, asked);
    return asked;
}

}  // namespace

std::span<const BpfFeatureName> bpf_feature_names() {
    return kNames;
}

std::optional<BpfFeature> find_bpf_feature(std::string_view name) {
    const auto it = std::ranges::find(kNames, name, &BpfFeatureName::name);
    if (it == std::end(kNames)) return std::nullopt;
    return it->feature;
}

const BpfFeatureName& name_of(BpfFeature feature) {
    return *std::ranges::find(kNames, feature, &BpfFeatureName::feature);
}

BpfFeatures::BpfFeatures(std::initializer_list<BpfFeature> withheld) {
    for (const BpfFeature feature : withheld) features_[feature] = {Support::no, EINVAL};
}

BpfFeatures BpfFeatures::only(std::span<const BpfFeature> features) {
    BpfFeatures made;
    for (const BpfFeatureName& one : kNames) made.features_[one.feature] = {Support::no, EINVAL};
    for (const BpfFeature feature : features) made.features_[feature] = {Support::yes, 0};
    return made;
}

ProbeAnswer BpfFeatures::ask(BpfFeature feature) {
    return remembered(features_, feature, [&] { return try_feature(feature, *this); });
}

ProbeAnswer BpfFeatures::ask_program_type(std::uint32_t type) {
    return remembered(program_types_, type, [&] { return try_program_type(type); });
}

ProbeAnswer BpfFeatures::ask_map_type(std::uint32_t type) {
    return remembered(map_types_, type, [&] { return try_map_type(type); });
}

ProbeAnswer BpfFeatures::ask_helper(std::uint32_t type, unsigned helper) {
    return remembered(helpers_, std::pair(type, helper), [&] { return try_helper(type, helper); });
}

}  // namespace gpufs
