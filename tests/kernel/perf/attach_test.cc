#define BOOST_TEST_DYN_LINK
#include "kernel/perf/attach.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "base/error.h"
#include "kernel/bpf/info.h"
#include "kernel/bpf/support.h"
#include "support/files_left.h"
#include "support/needs.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace test;

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(bpf_attach)

BOOST_AUTO_TEST_CASE(a_tracepoint_counts_by_link,
                     *ut::precondition(has_bpf{BpfFeature::perf_link})) {
    const auto event = event_id("syscalls:sys_enter_getppid");
    check_counts(
        BPF_PROG_TYPE_TRACEPOINT,
        [&](int program) { return attach_tracepoint(program, event, by(HookWay::newest)); },
        call_getppid, "tracepoint, BPF link");
}

BOOST_AUTO_TEST_CASE(a_tracepoint_counts_by_ioctl) {
    const auto event = event_id("syscalls:sys_enter_getppid");
    check_counts(
        BPF_PROG_TYPE_TRACEPOINT,
        [&](int program) { return attach_tracepoint(program, event, by(HookWay::ioctl)); },
        call_getppid, "tracepoint, perf ioctl");
}

BOOST_AUTO_TEST_CASE(without_links_the_older_way_is_taken, *ut::precondition([](ut::test_unit_id) {
                         return boost::test_tools::assertion_result(
                             !BpfFeatures().has(BpfFeature::perf_link));
                     })) {
    const BpfMap counters = make_counters();
    const Fd program = load_counter(BPF_PROG_TYPE_TRACEPOINT, counters);
    const auto event = event_id("syscalls:sys_enter_getppid");
    BOOST_TEST(attach_tracepoint(program.get(), event).how() == "tracepoint, perf ioctl");
    BOOST_CHECK_THROW(attach_tracepoint(program.get(), event, by(HookWay::link)), UnsupportedError);
}

BOOST_AUTO_TEST_CASE(a_raw_tracepoint_counts) {
    const BpfMap counters = make_counters();
    // The second argument of sys_enter is the system call's number.
    const Insns count = count_in(counters);
    const Insns body = Insns{op::load(BPF_DW, 1, 6, 8),
                             op::jump_unless(1, SYS_getppid, static_cast<int>(count.size()))} +
                       count;
    Fd program = load(BPF_PROG_TYPE_RAW_TRACEPOINT, if_ours(body));
    const std::uint32_t id = program_info(program.get()).id;
    Attachment attachment = attach_raw_tracepoint(program.get(), "sys_enter");
    program = Fd();
    call_getppid(kHits);
    BOOST_TEST(counter(counters) == static_cast<std::uint64_t>(kHits));
    attachment.detach();
    call_getppid(7);
    BOOST_TEST(counter(counters) == static_cast<std::uint64_t>(kHits));
    BOOST_TEST(program_is_gone(id));
}

BOOST_AUTO_TEST_CASE(an_unknown_raw_tracepoint_is_named) {
    const BpfMap counters = make_counters();
    const Fd program = load_counter(BPF_PROG_TYPE_RAW_TRACEPOINT, counters);
    BOOST_CHECK_EXCEPTION(
        attach_raw_tracepoint(program.get(), "no_such"), Error, [](const Error& e) {
            BOOST_TEST(e.what() ==
                       "cannot attach to raw tracepoint 'no_such': this kernel has "
                       "no such tracepoint");
            return true;
        });
}

// The kernel's EACCES would read "Permission denied".
BOOST_AUTO_TEST_CASE(a_program_that_reads_past_the_record_is_told_so) {
    const Fd program = load(BPF_PROG_TYPE_TRACEPOINT,
                            Insns{op::load(BPF_DW, 2, 1, 2040), op::mov(0, 0), op::leave()});
    const auto event = event_id("syscalls:sys_enter_getppid");
    for (const HookWay hook : {HookWay::newest, HookWay::ioctl})
        BOOST_CHECK_EXCEPTION(
            attach_tracepoint(program.get(), event, by(hook)), Error, [&](const Error& e) {
                BOOST_TEST(e.what() ==
                           cat("cannot attach to tracepoint ", event,
                               ": the program reads past the end of the event's record"));
                return true;
            });
}

// Keeps one CPU busy until a counter has come so far, a minute at most; the milliseconds it took.
double burn_until(const BpfMap& counters, std::uint64_t count) {
    using namespace std::chrono;
    const auto begin = steady_clock::now();
    while (counter(counters) < count && steady_clock::now() < begin + minutes(1)) continue;
    return duration<double, std::milli>(steady_clock::now() - begin).count();
}

BOOST_AUTO_TEST_CASE(samples_come_as_often_as_asked) {
    for (const HookWay hook : {HookWay::ioctl, HookWay::newest}) {
        if (!is_here(hook)) continue;
        for (const bool by_frequency : {false, true}) {
            const BpfMap counters = make_counters();
            const Fd program = load_counter(BPF_PROG_TYPE_PERF_EVENT, counters);
            Sampling sampling;
            (by_frequency ? sampling.hz : sampling.period) = by_frequency ? 500 : 2'000'000;
            const Attachment attachment = attach_sampling(program.get(), sampling, by(hook));
            // One in 2 ms on a machine of our own; others take their share of it.
            const double ms = burn_until(counters, 100);
            BOOST_TEST(counter(counters) >= 100u);
            BOOST_TEST(static_cast<double>(counter(counters)) <= ms / 2 * 1.5 + 2);
        }
    }
}

BOOST_AUTO_TEST_CASE(an_interval_fires_on_one_cpu) {
    const BpfMap counters = make_counters();
    const Fd program =
        load(BPF_PROG_TYPE_PERF_EVENT, count_in(counters) + Insns{op::mov(0, 0), op::leave()});
    const auto start = std::chrono::steady_clock::now();
    Attachment attachment = attach_interval(program.get(), 10'000'000);
    BOOST_TEST(comes_true([&] { return counter(counters) >= 15u; }));
    attachment.detach();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const auto most = static_cast<std::uint64_t>(took.count() / 0.010) + 1;
    BOOST_TEST(counter(counters) <= most);
}

BOOST_AUTO_TEST_CASE(sampling_too_often_tells_the_limit) {
    const BpfMap counters = make_counters();
    const Fd program = load_counter(BPF_PROG_TYPE_PERF_EVENT, counters);
    Sampling sampling;
    sampling.hz = 100'000'000;
    BOOST_CHECK_EXCEPTION(attach_sampling(program.get(), sampling), Error, [](const Error& e) {
        BOOST_TEST(e.what() ==
                   "cannot sample at 100000000 Hz: the kernel does not sample so often");
        return e.hint().starts_with("kernel.perf_event_max_sample_rate is ");
    });
}

// Attaches to a few tracepoints, one raw, one timer, and a probe event of tracefs.
std::vector<Attachment> attach_several(const BpfMap& counters, std::vector<std::uint32_t>& ids) {
    std::vector<Attachment> all;
    const Fd tracepoint = load_counter(BPF_PROG_TYPE_TRACEPOINT, counters);
    const Fd raw = load_counter(BPF_PROG_TYPE_RAW_TRACEPOINT, counters);
    const Fd clock = load_counter(BPF_PROG_TYPE_PERF_EVENT, counters);
    const Fd uprobe = load_counter(kKprobe, counters);
    for (const Fd* program : {&tracepoint, &raw, &clock, &uprobe})
        ids.push_back(program_info(program->get()).id);
    for (const char* event : {"sched:sched_switch", "sched:sched_wakeup", "irq:softirq_entry",
                              "syscalls:sys_enter_getppid", "sched:sched_process_exit"})
        all.push_back(attach_tracepoint(tracepoint.get(), event_id(event)));
    all.push_back(attach_raw_tracepoint(raw.get(), "sched_switch"));
    all.push_back(attach_interval(clock.get(), 1'000'000));
    UprobePlace place;
    place.path = self();
    place.offset = offset_of("gpufs_test_target");
    all.push_back(attach_uprobe(uprobe.get(), place, by(HookWay::newest, ProbeWay::tracefs)));
    return all;
}

BOOST_AUTO_TEST_CASE(many_are_detached_at_once) {
    const BpfMap counters = make_counters();
    std::vector<std::uint32_t> ids;
    detach_all(attach_several(counters, ids));
    BOOST_TEST(our_events() == "");
    const std::uint64_t then = counter(counters);
    call_getppid(100);
    call_targets(100);
    BOOST_TEST(counter(counters) == then);
    for (const std::uint32_t id : ids) BOOST_TEST(program_is_gone(id));
}

// The seconds that it takes to detach several, of which none is a probe event of tracefs: to remove
// that takes its time in any case.
double seconds_to_detach(void (*detach)(std::vector<Attachment>)) {
    const BpfMap counters = make_counters();
    std::vector<std::uint32_t> ids;
    auto all = attach_several(counters, ids);
    all.pop_back();
    const auto start = std::chrono::steady_clock::now();
    detach(std::move(all));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    for (const std::uint32_t id : ids) BOOST_TEST(program_is_gone(id));
    BOOST_TEST(our_events() == "");
    return took.count();
}

// The kernel waits for each tracepoint until no CPU can be in its program, however idle they are.
// Load makes both ways slower, and seldom the quickest of several.
BOOST_AUTO_TEST_CASE(many_are_detached_without_waiting) {
    const double waited = seconds_to_detach(detach_all);
    double least = waited;
    for (int round = 0; round < 10 && least > waited / 2; ++round)
        least = std::min(least, seconds_to_detach(detach_in_background));
    BOOST_TEST(least <= waited / 2);
    BOOST_TEST(::waitpid(-1, nullptr, WNOHANG) == -1);  // it left no child of ours
}

// Two are a pipe; the list of what is open would be a third.
BOOST_AUTO_TEST_CASE(many_are_detached_where_no_more_files_can_be_opened) {
    for (const std::size_t left : {0, 1, 2, 3}) {
        const BpfMap counters = make_counters();
        std::vector<std::uint32_t> ids;
        auto all = attach_several(counters, ids);
        all.pop_back();
        {
            const test::FilesLeft few(left);
            BOOST_CHECK_NO_THROW(detach_in_background(std::move(all)));
        }
        for (const std::uint32_t id : ids) BOOST_TEST(program_is_gone(id));
    }
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
