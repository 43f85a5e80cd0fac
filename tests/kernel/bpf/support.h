#pragma once

#include <linux/bpf.h>

#include <boost/test/tools/assertion_result.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernel/bpf/map.h"
#include "kernel/bpf/op.h"
#include "kernel/bpf/program.h"
#include "kernel/features.h"
#include "kernel/perf/attach.h"

// What uprobes are set on: C names, and not optimised away.
extern "C" {
int gpufs_test_target(int n);
int gpufs_test_other(int n);
}

// More instructions by hand: a test of the kernel layer needs no assembler.
namespace gpufs::op {

constexpr bpf_insn shift_right(int dst, std::int32_t bits) {
    return make(BPF_ALU64 | BPF_RSH | BPF_K, dst, 0, 0, bits);
}
constexpr bpf_insn jump(int off) {
    return make(BPF_JMP | BPF_JA, 0, 0, off, 0);
}
constexpr bpf_insn jump_if_zero(int reg, int off) {
    return make(BPF_JMP | BPF_JEQ | BPF_K, reg, 0, off, 0);
}
constexpr bpf_insn jump_unless(int reg, std::int32_t value, int off) {
    return make(BPF_JMP | BPF_JNE | BPF_K, reg, 0, off, value);
}

}  // namespace gpufs::op

namespace gpufs::test {

using Insns = std::vector<bpf_insn>;
Insns operator+(Insns a, const Insns& b);
// dst = the map; two slots.
Insns load_map(int dst, const BpfMap& map);
// Runs `body` for calls from this process only, with the context in r6; then leaves with 0.
Insns if_ours(Insns body);
// counters[index] += 1, in an array of 64-bit values.
Insns count_in(const BpfMap& counters, std::uint32_t index = 0);

Fd load(std::uint32_t type, std::span<const bpf_insn> insns, std::uint32_t attach_type = 0);
// counters[0] += 1 for hits in this process.
Fd load_counter(std::uint32_t type, const BpfMap& counters, std::uint32_t attach_type = 0);

BpfMap make_map(std::uint32_t type, std::uint32_t key, std::uint32_t value, std::uint32_t entries,
                std::uint32_t flags = 0);
BpfMap make_counters(std::uint32_t entries = 1);
std::uint64_t counter(const BpfMap& counters, std::uint32_t index = 0);
std::uint64_t sum_of_cpus(const BpfMap& map, std::span<const std::byte> value);

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}
template <class T>
T value_of(std::span<const std::byte> bytes) {
    T value{};
    std::copy_n(bytes.begin(), sizeof value, reinterpret_cast<std::byte*>(&value));
    return value;
}

std::uint64_t event_id(const std::string& event);

// Waits for what the kernel does behind RCU; false after 20 s.
bool comes_true(const std::function<bool()>& condition);

constexpr int kHits = 1000;
constexpr std::uint32_t kKprobe = BPF_PROG_TYPE_KPROBE;  // uprobes, too

// One way to attach a probe, named as Attachment::how() names it.
struct AttachWay {
    const char* how;
    HookWay hook;
    ProbeWay probe;
};
std::ostream& operator<<(std::ostream& out, const AttachWay& way);
// This kernel has BPF links for perf events, or the way does not need them.
bool is_here(HookWay hook);
AttachOptions by(HookWay hook, ProbeWay probe = ProbeWay::newest);

bool program_is_gone(std::uint32_t id);
// Probe events of this test program, in kprobe_events and uprobe_events.
std::string our_events();

// Attaches a counter, and claims: it counts what happens while attached, exactly, nothing before
// and nothing after, and nothing of it stays.
void check_counts(std::uint32_t type, const std::function<Attachment(int)>& attach,
                  const std::function<void(int)>& work, const std::string& how,
                  std::uint32_t attach_type = 0);

// This program's file, and a function's place in it.
std::string self();
std::uint64_t offset_of(const char* function);
// gpufs_test_target(), so many times.
void call_targets(int times);

// Preconditions.
struct has_bpf {
    BpfFeature feature;
    boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const;
};
// A helper that programs of a raw tracepoint may call.
struct has_helper {
    int number;
    boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const;
};
// The reverse: for what gpufs says where it is missing.
struct lacks_helper {
    int number;
    boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const;
};
struct has_pmu {
    std::string name;
    boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const;
};

}  // namespace gpufs::test
