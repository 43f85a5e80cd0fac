// Monitors by the ways of older kernels: each is forced here, and must show what the newest does.

#define BOOST_TEST_DYN_LINK
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <functional>
#include <map>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/monitor/monitor.h"
#include "engine/monitor/reader.h"
#include "engine/results/map_contents.h"
#include "engine/session/scratch_instance.h"
#include "engine/session/session_probes.h"
#include "engine/session/stale.h"
#include "kernel/bpf/preemption.h"
#include "kernel/bpf/support.h"
#include "support/assemble_text.h"
#include "support/run_gpufs.h"
#include "support/trace_instance.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace test;

// Adds 1 to n for each hit of this target.
std::string counting(std::string_view target) {
    return cat(".map  n array value count, max 1\n.prog p ", target,
               "\n"
               "      r1 = map[n][0]\n"
               "      r2 = 1\n"
               "      lock *(u64 *)(r1 + 0) += r2\n"
               "      r0 = 0\n"
               "      exit\n");
}

std::uint64_t total(const Monitor& monitor) {
    const auto entries = MapReader(monitor).read("n");
    return entries.empty() ? 0 : entries[0].words[0];
}

Monitor::Choice choice_of(const AttachOptions& attach, std::string condition = {}) {
    Monitor::Choice choice;
    choice.attach = attach;
    if (!condition.empty()) choice.condition = parse_expression({"--if", std::move(condition)});
    return choice;
}

std::string only_here() {
    return cat("pid == ", ::getpid());
}

// Both of the functions for probes in this program, or one.
std::string both_functions() {
    return cat("uprobe \"", self(), ":gpufs_test_[to]*\"");
}
std::string one_function() {
    return cat("uprobe \"", self(), ":gpufs_test_target\"");
}
void call_both(int times) {
    for (int i = 0; i < times; ++i) {
        gpufs_test_target(i);
        gpufs_test_other(i);
    }
}

// Events that we made in tracefs, by whatever process.
std::size_t probe_events() {
    const std::string text = top().read_if_readable("dynamic_events").value_or("");
    std::size_t count = 0;
    for (const std::string_view line : lines_of(text))
        if (line.find(":gpufs_") != line.npos) ++count;
    return count;
}

struct Attached {
    const char* name;
    HookWay hook;
    ProbeWay probe;
    bool one_by_one;
    int events;  // that it makes in tracefs, for two places
};
std::ostream& operator<<(std::ostream& out, const Attached& way) {
    return out << way.name;
}
const Attached kAttached[] = {
    {"newest", HookWay::newest, ProbeWay::newest, false, 0},
    {"one by one", HookWay::newest, ProbeWay::newest, true, 0},
    {"one by one, ioctl", HookWay::ioctl, ProbeWay::newest, true, 0},
    {"one by one, tracefs", HookWay::newest, ProbeWay::tracefs, true, 2},
    {"one by one, tracefs, ioctl", HookWay::ioctl, ProbeWay::tracefs, true, 2},
};

KernelFacts machine_for(const Attached& way) {
    return KernelFacts(
        top(), way.one_by_one ? BpfFeatures({BpfFeature::kprobe_multi, BpfFeature::uprobe_multi})
                              : BpfFeatures());
}

void check_way(const Attached& way, const std::string& target, const std::string& condition,
               const std::function<void(int)>& work) {
    KernelFacts machine = machine_for(way);
    Monitor monitor(assemble({"t.bpf", counting(target)}, {}),
                    choice_of({way.hook, way.probe, "gpufs", 0}, condition), machine);
    work(7);
    const std::size_t before = probe_events();
    monitor.attach();
    work(kHits);
    BOOST_TEST(probe_events() - before == static_cast<std::size_t>(way.events));
    BOOST_TEST(total(monitor) == 2u * kHits);
    BOOST_TEST(monitor.missed().is_complete());
    monitor.detach();
    BOOST_TEST(probe_events() == before);
    BOOST_TEST(our_instances() == "");
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(monitor_ways)

BOOST_TEST_DECORATOR(*ut::precondition(has_pmu{"uprobe"}))
BOOST_DATA_TEST_CASE(user_probes_count_the_same_each_way, ut::data::make(kAttached), way) {
    check_way(way, both_functions(), "", call_both);
}

BOOST_TEST_DECORATOR(*ut::precondition(has_pmu{"kprobe"}))
BOOST_DATA_TEST_CASE(kernel_probes_count_the_same_each_way, ut::data::make(kAttached), way) {
    std::string uid = getppid_function();
    uid.replace(uid.find("getppid"), 7, "getuid");
    check_way(way, cat("kprobe ", getppid_function(), ", ", uid), only_here(), [](int times) {
        for (int i = 0; i < times; ++i) {
            ::syscall(SYS_getppid);
            ::syscall(SYS_getuid);
        }
    });
}

// Of a system call's event: with BTF at the raw tracepoint, without it and where that loses hits
// where perf copies arguments.
BOOST_AUTO_TEST_CASE(a_system_call_is_counted_the_same_without_btf) {
    for (const bool has_btf : {true, false})
        for (const HookWay hook : {HookWay::newest, HookWay::ioctl}) {
            KernelFacts machine(top(), has_btf ? BpfFeatures() : BpfFeatures({BpfFeature::btf}));
            Monitor monitor(
                assemble({"t.bpf", counting("tracepoint syscalls:sys_enter_getppid")}, {}),
                choice_of({hook, ProbeWay::newest, "gpufs", 0}, only_here()), machine);
            const bool is_raw = monitor.sites().at(0).way == LoadedSite::Way::raw_syscall;
            BOOST_TEST(is_raw == (has_btf && BpfFeatures().has(BpfFeature::btf) &&
                                  !preempts_raw_tracepoints()));
            monitor.attach();
            call_getppid(kHits);
            BOOST_TEST(total(monitor) == static_cast<std::uint64_t>(kHits));
        }
}

BOOST_AUTO_TEST_CASE(several_programs_and_several_system_calls_lose_no_hit) {
    const std::string more =
        ".prog q tracepoint syscalls:sys_enter_getppid\n"
        "      r1 = map[n][0]\n"
        "      r2 = 100\n"
        "      lock *(u64 *)(r1 + 0) += r2\n"
        "      r0 = 0\n"
        "      exit\n";
    KernelFacts machine(top());
    Monitor monitor(
        assemble(
            {"t.bpf",
             counting("tracepoint syscalls:sys_enter_getppid, syscalls:sys_enter_getuid") + more},
            {}),
        choice_of({}, only_here()), machine);
    BOOST_TEST(monitor.sites().size() == 3u);
    monitor.attach();
    for (int i = 0; i < kHits; ++i) {
        ::syscall(SYS_getppid);
        ::syscall(SYS_getuid);
        ::syscall(SYS_getgid);
    }
    monitor.detach();
    BOOST_TEST(total(monitor) == 102u * kHits);
    BOOST_TEST(monitor.missed().is_complete());
}

// Sends getppid's number in a record through the ring of this kind, by this call.
std::string sending(std::string_view ring, std::string_view call) {
    return cat(".map events ", ring,
               "\n.record hit { n u32 }\n"
               ".global count u32\n"
               ".stack v { out hit }\n"
               ".prog p tracepoint syscalls:sys_enter_getppid\n"
               "  r6 = r1\n"
               "  r7 = map[count][0]\n"
               "  w8 = *(u32 *)(r7 + 0)\n"
               "  w1 = w8\n"
               "  w1 += 1\n"
               "  *(u32 *)(r7 + 0) = w1\n"
               "  *(u32 *)(r10 + v.out.id) = record(hit)\n"
               "  *(u32 *)(r10 + v.out.n) = w8\n",
               call, "  r0 = 0\n  exit\n");
}
constexpr const char* kByRing =
    "  r1 = map[events]\n  r2 = r10\n  r2 += v.out\n  r3 = sizeof(hit)\n  r4 = 0\n"
    "  call ringbuf_output\n";
constexpr const char* kByPerf =
    "  r1 = r6\n  r2 = map[events]\n  r3 = 0xffffffff ll\n  r4 = r10\n  r4 += v.out\n"
    "  r5 = sizeof(hit)\n  call perf_event_output\n";

BOOST_AUTO_TEST_CASE(records_arrive_by_perf_rings_as_by_a_ring_buffer) {
    for (const bool by_perf : {false, true}) {
        if (!by_perf && !BpfFeatures().has(BpfFeature::ringbuf)) continue;
        KernelFacts machine(top());
        Monitor monitor(assemble({"t.bpf", by_perf ? sending("perf_event_array", kByPerf)
                                                   : sending("ringbuf", kByRing)},
                                 {}),
                        choice_of({}, only_here()), machine);
        MonitorReader reader(monitor);
        monitor.attach();
        call_getppid(kHits);
        std::map<std::uint32_t, int> seen;
        reader.drain([&](const RecordLayout& layout, std::span<const std::byte> record) {
            BOOST_TEST(layout.name == "hit");
            ++seen[value_of<std::uint32_t>(record.subspan(4))];
        });
        BOOST_TEST(seen.size() == static_cast<std::size_t>(kHits));
        BOOST_TEST(seen.rbegin()->first == static_cast<std::uint32_t>(kHits - 1));
        // Of the kernel's misses other tracers may be the cause.
        const LossLedger losses = reader.losses();
        for (const auto& [what, loss] : losses.kinds())
            BOOST_TEST((loss.is_zero() || what == "hits missed by the kernel"), what);
    }
}

BOOST_AUTO_TEST_CASE(a_program_sees_what_a_kernel_lacks) {
    const std::string text =
        ".global which u64\n"
        ".prog p tracepoint syscalls:sys_enter_getppid\n"
        "  r1 = map[which][0]\n"
        "  .if feature ringbuf\n  r2 = 1\n  .else\n  r2 = 2\n  .endif\n"
        "  r2 += btf(task_struct.no_such_member ? 4)\n"
        "  *(u64 *)(r1 + 0) = r2\n"
        "  r0 = 0\n  exit\n";
    for (const bool has_ring : {true, false}) {
        if (has_ring && !BpfFeatures().has(BpfFeature::ringbuf)) continue;
        KernelFacts machine(
            top(), has_ring ? BpfFeatures() : BpfFeatures({BpfFeature::ringbuf, BpfFeature::btf}));
        Monitor monitor(assemble({"t.bpf", text}, {}), choice_of({}, only_here()), machine);
        monitor.attach();
        call_getppid(1);
        const MapEntries which = MapReader(monitor).read("which");
        BOOST_TEST_REQUIRE(which.size() == 1u);
        BOOST_TEST(value_of<std::uint64_t>(which[0].values[0]) == (has_ring ? 5u : 6u));
    }
    KernelFacts old(top(), BpfFeatures({BpfFeature::ringbuf}));
    BOOST_CHECK_EXCEPTION(Monitor(assemble({"t.bpf", cat(".needs ringbuf\n", text)}, {}), {}, old),
                          UnsupportedError, [](const UnsupportedError& e) {
                              BOOST_TEST(e.what() ==
                                         "this needs the feature 'ringbuf' (BPF ring buffer), "
                                         "which this kernel or this user does not have");
                              BOOST_TEST(e.hint() == "Linux 5.8 or later");
                              return true;
                          });
}

// Runs at the function's begin and its end: the hits of both.
std::uint64_t count_at_both_ends(const std::string& function, const std::function<void()>& work) {
    std::uint64_t both = 0;
    for (const char* kind : {"fentry", "fexit"}) {
        KernelFacts machine(top());
        Monitor monitor(assemble({"t.bpf", counting(cat(kind, " ", function))}, {}),
                        choice_of({}, only_here()), machine);
        monitor.attach();
        work();
        both += total(monitor);
    }
    return both;
}

BOOST_AUTO_TEST_CASE(fentry_and_fexit_do_what_doctor_says) {
    const auto read_zeros = [] {
        const Fd zero = open_file("/dev/zero", 0);
        char byte;
        for (int i = 0; i < kHits; ++i) BOOST_TEST_REQUIRE(::read(zero.get(), &byte, 1) == 1);
    };
    const std::string doctor = test::gpufs({"doctor"}).out;
    if (doctor.find("yes  BPF fentry ") != doctor.npos) {
        BOOST_TEST(count_at_both_ends("vfs_read", read_zeros) == 2u * kHits);
        return;
    }
    // Whatever the reason, it is told in the same words of a lack.
    BOOST_CHECK_THROW(count_at_both_ends("vfs_read", read_zeros), UnsupportedError);
    if (doctor.find("forbidden, though other BPF programs are not") == doctor.npos) return;
    const std::string instead =
        KernelFacts().has_kprobes()
            ? "kprobe and kretprobe are at the same functions"
            : "there are no kprobes, either: 'gpufs list' has the tracepoints";
    BOOST_CHECK_EXCEPTION(
        count_at_both_ends("vfs_read", read_zeros), UnsupportedError,
        [&](const UnsupportedError& e) {
            BOOST_TEST(e.what() ==
                       "cannot run a program at function 'vfs_read': this machine forbids fentry, "
                       "fexit and iterators, though other BPF programs are allowed");
            BOOST_TEST(e.hint() == instead);
            BOOST_TEST(has(doctor, cat("policy of this kernel or of a security module; ", instead)),
                       doctor);
            return true;
        });
}

BOOST_AUTO_TEST_CASE(fentry_finds_a_modules_function,
                     *ut::precondition(has_bpf{BpfFeature::fentry}) *
                         ut::precondition([](ut::test_unit_id) {
                             boost::test_tools::assertion_result yes(
                                 file_exists("/sys/kernel/btf/drm"));
                             yes.message() << "needs the module drm, and its BTF";
                             return yes;
                         })) {
    const auto open_card = [] {
        for (int i = 0; i < 10; ++i) open_file("/dev/dri/card0", 0);
    };
    for (const char* function : {"drm_open", "drm:drm_open"})
        BOOST_TEST(count_at_both_ends(function, open_card) == 20u);
}

BOOST_AUTO_TEST_CASE(a_function_that_no_btf_has_is_pointed_at,
                     *ut::precondition(has_bpf{BpfFeature::btf})) {
    KernelFacts machine(top());
    BOOST_CHECK_EXCEPTION(
        Monitor(assemble({"t.bpf", counting("fentry no_such_fn")}, {}), {}, machine), SourceError,
        [&](const SourceError& e) {
            BOOST_TEST(e.what() ==
                       "t.bpf:2:16: error: neither the kernel's BTF nor a module's has a function "
                       "'no_such_fn'\n"
                       ".prog p fentry no_such_fn\n"
                       "               ^~~~~~~~~~");
            BOOST_TEST(e.hint() ==
                       (machine.has_kprobes()
                            ? "BTF lacks what is inlined or renamed: a kprobe may find it"
                            : "BTF lacks what is inlined or renamed"));
            return true;
        });
}

// A process with a monitor whose probe is an event of tracefs.
class Owner {
public:
    Owner()
        : worker_([] {
              KernelFacts machine(top());
              Monitor monitor(assemble({"t.bpf", counting(one_function())}, {}),
                              choice_of({HookWay::newest, ProbeWay::tracefs, "gpufs", 0}), machine);
              monitor.attach();
              ::pause();
              return 0;
          }) {
        worker_.start();
        // Attaching waits in D state; it sleeps when all is done.
        BOOST_TEST_REQUIRE(comes_true(
            [&] { return !probes_of(top(), group()).empty() && worker_.reaches_state('S'); }));
    }
    ~Owner() {
        kill();
        remove_stale(top());
    }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;

    // "gpufs.PID.STARTTIME", and the group with the same numbers.
    std::string instance() const {
        for (const std::string& name : top().instances())
            if (name.starts_with(cat("gpufs.", worker_.pid(), '.'))) return name;
        return {};
    }
    std::string group() const {
        std::string name = instance();
        for (char& c : name)
            if (c == '.') c = '_';
        return name;
    }
    void kill() {
        if (worker_.pid() == -1) return;
        ::kill(worker_.pid(), SIGKILL);
        worker_.wait();
    }

private:
    Worker worker_;
};

BOOST_AUTO_TEST_CASE(probe_events_of_a_killed_owner_are_removed_and_nobody_elses,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    const std::string foreign = cat("p:test", ::getpid(), "/probe ", self(), ":0x100");
    const std::string foreign_group = cat("test", ::getpid());
    top().write("uprobe_events", cat(foreign, '\n'), Write::append);
    const Owner alive;
    Owner dead;
    const std::string instance = dead.instance(), group = dead.group();
    BOOST_TEST(probes_of(top(), group).size() == 1u);

    // As long as it lives nobody takes its probe.
    BOOST_TEST(test::gpufs({"reset", "--stale"}).err == "nothing was left behind\n");
    dead.kill();
    BOOST_TEST(probes_of(top(), group).size() == 1u);
    BOOST_TEST(top().has(cat("instances/", instance)));
    BOOST_TEST(test::gpufs({"reset", "--stale"}).err ==
               cat("removed instance ", instance, "\nremoved probes in group ", group, '\n'));
    BOOST_TEST(probes_of(top(), group).empty());

    BOOST_TEST(probes_of(top(), alive.group()).size() == 1u);
    BOOST_TEST(probes_of(top(), foreign_group).size() == 1u);
    remove_probes(top(), foreign_group);
}

BOOST_AUTO_TEST_CASE(the_next_monitor_with_probe_events_clears_up,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    Owner dead;
    const std::string group = dead.group();
    dead.kill();
    BOOST_TEST(probes_of(top(), group).size() == 1u);
    const Owner next;
    BOOST_TEST(probes_of(top(), group).empty());
    BOOST_TEST(probes_of(top(), next.group()).size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
