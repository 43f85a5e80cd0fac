#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/cat.h"
#include "base/text.h"
#include "kernel/host/kernel_version.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/skip.h"
#include "support/temp_file.h"
#include "support/told.h"
#include "support/trace_instance.h"

namespace ut = boost::unit_test;

// A shipped monitor at work, and the same over a recording that was made meanwhile: both tell the
// same of the same work.
namespace gpufs {
namespace {

using test::TempFile;
using test::Told;

const std::string kRecordedWork = "gpufs-work";

struct Recorded {
    std::vector<std::string> monitor;
    std::string events;
    std::vector<std::string> work;
    // What is compared: rows of a map, a column of theirs added up; or, without a column, records.
    std::string what, column;
    Told::Wanted wanted;
    long long least;     // so much of it there is at any rate
    long long more = 0;  // so much more a recording may tell
};
std::ostream& operator<<(std::ostream& out, const Recorded& one) {
    return out << one.monitor.front() << ' ' << one.what;
}
constexpr long long kSleeps = 40;
const long long kSleepsSeen = test::traced_of(kSleeps);
// A recording begins before the monitor and ends after it, when the work may still be on its way
// out; and it knows a task by one name, its last.
constexpr long long kAround = 8;
const Recorded kRecorded[] = {
    {{"syscalls"},
     "raw_syscalls",
     {"calls", "3000", "70"},
     "calls",
     "count",
     {{"comm", kRecordedWork}, {"call", "getppid"}},
     3000},
    {{"syscalls"},
     "raw_syscalls",
     {"calls", "100", "70"},
     "failed",
     "count",
     {{"comm", kRecordedWork}, {"error", "EBADF"}},
     70},
    {{"writes"},
     "syscalls:sys_exit_write,syscalls:sys_exit_writev",
     {"writes", "2000", "17"},
     "written",
     "sum",
     {{"comm", kRecordedWork}},
     2000 * 17},
    {{"signals"},
     "signal:signal_generate",
     {"signals", "40"},
     "sent",
     "count",
     {{"signal", "SIGUSR1"}, {"sender", kRecordedWork}, {"receiver", kRecordedWork}},
     40},
    {{"off-cpu"},
     "sched:sched_switch",
     {"sleeps", cat(kSleeps), "2"},
     "off_us",
     "count",
     {{"comm", kRecordedWork}},
     kSleepsSeen,
     kAround},
    {{"sched-wait", "min_us=0"},
     "sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new",
     {"sleeps", cat(kSleeps), "2"},
     "slow",
     "",
     {{"comm", kRecordedWork}},
     kSleepsSeen,
     kAround},
    {{"wakeups"},
     "sched:sched_waking",
     {"pingpong", "200"},
     "wakes",
     "count",
     {{"woken", kRecordedWork}, {"waker", kRecordedWork}},
     400},
    {{"tcp"},
     "sock:inet_sock_set_state",
     {"tcp", "10", "3"},
     "change",
     "",
     {{"what", "CONNECT"}, {"comm", kRecordedWork}},
     10},
    {{"opens"},
     "syscalls:sys_*_open*",
     {"calls", "1", "1"},
     "opened",
     "",
     {{"comm", kRecordedWork}},
     2},
    {{"futex"},
     "syscalls:sys_*_futex,sched:sched_waking",
     {"texts", "50"},
     "waited",
     "count",
     {{"comm", kRecordedWork}},
     1,
     kAround},
    {{"fds"},
     "syscalls:sys_*_open*,syscalls:sys_*_close",
     {"writes", "1", "1"},
     "left",
     "count",
     {{"comm", kRecordedWork}, {"call", "openat"}},
     1},
    {{"locks", "--if", "comm == \"gpufs-work\""},
     "lock",
     {"maps", "500"},
     "wait_ns",
     "count",
     {},
     1,
     kAround},
    // Interrupts come before the monitor is there and after it is gone, too.
    {{"irqs"},
     "irq:softirq_entry,irq:softirq_exit",
     {"sleeps", cat(kSleeps), "2"},
     "soft_ns",
     "count",
     {},
     1,
     1000},
    {{"execs"},
     "sched:sched_process_exit",
     {"calls", "1", "1"},
     "started",
     "",
     {{"comm", kRecordedWork}},
     1},
};

long long number_in(const Told& told, const Recorded& c) {
    if (!c.column.empty()) return told.sum(c.what, c.wanted, c.column);
    return static_cast<long long>(told.records(c.what, c.wanted).size());
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(recorded_monitors)

// Keeps all CPUs busy: work then follows upon other work, and not upon a CPU's idle task, whose
// switches Linux 6.18 was seen to leave out of ring buffers for good, on one CPU of two. They are
// the last to run, or all would take minutes in a guest.
class Hogs {
public:
    Hogs() {
        for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i)
            hogs_.push_back(std::make_unique<test::Child>(test::Child::Setup{
                {"nice", "-n", "19", "taskset", "-c", cat(i), "sh", "-c", "while :; do :; done"},
                {},
                false,
                false,
                {}}));
    }

private:
    std::vector<std::unique_ptr<test::Child>> hogs_;
};

BOOST_DATA_TEST_CASE(live_and_over_a_recording_monitors_tell_the_same, ut::data::make(kRecorded),
                     c) {
    for (std::string event : split(c.events, ',')) {
        std::ranges::replace(event, ':', '/');
        if (event.find('*') == event.npos && !test::top().has("events/" + event))
            return test::skip(cat("needs events/", event));
    }
    const TempFile file;
    std::optional<Hogs> hogs;
    if (running_kernel() >= KernelVersion{6, 18, 0}) hogs.emplace();
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), "run");
        words.insert(words.begin() + 2, c.monitor.begin() + 1, c.monitor.end());
        words.push_back("--json");
        return words;
    };
    // With them tasks have their names, threads too, whatever the kernel keeps of them.
    std::vector<std::string> record{
        "record", "-e",        c.events, "-e", "sched:sched_process_exec,task:task_newtask",
        "-o",     file.path(), "--all",  "--", test::gpufs_binary()};
    for (const std::string& word : run({c.monitor.front()})) record.push_back(word);
    // Of COMMAND are only the interrupts that come while one of its tasks runs.
    if (c.monitor.front() == "irqs") record.emplace_back("--all");
    record.push_back("--");
    record.push_back(test::work_binary());
    record.insert(record.end(), c.work.begin(), c.work.end());
    const Told live(test::gpufs(record));
    const Told replayed(test::gpufs(run({c.monitor.front(), "-i", file.path()})));
    const long long seen = number_in(live, c), recorded = number_in(replayed, c);
    const std::string both = cat(seen, " live, ", live.lost(), " lost, ", recorded, " recorded\n",
                                 live.err(), replayed.err());
    BOOST_TEST(seen >= c.least, both);
    BOOST_TEST(recorded >= c.least, both);
    // The kernel runs no program in an interrupt of another one on the same CPU, and counts that
    // since Linux 6.7 only: before, what was seen live may be less by any number.
    if (running_kernel() >= KernelVersion{6, 7, 0}) {
        BOOST_TEST(recorded >= seen, both);
        BOOST_TEST(recorded <= seen + live.lost() + c.more, both);
    }
    BOOST_TEST(replayed.lost() == 0, replayed.err());
}

// What a monitor says of a recording that is a text.
std::string told_of_text(const std::string& monitor, const std::string& lines) {
    const test::TempFile text(cat("cpus=1\n", lines));
    return test::gpufs({"watch", monitor, "-i", text.path()}).out;
}

// Then nobody waits: frames whose interrupts are off are not missed.
BOOST_AUTO_TEST_CASE(two_events_for_one_frame_are_both_answered, *ut::label("pure")) {
    const std::string out = told_of_text(
        "vblank",
        "  game-186   [000]  20.100000: drm_vblank_event: crtc=0, seq=1, time=20100000000, "
        "high-prec=true\n"
        "  game-186   [000]  20.101000: drm_vblank_event_queued: file=0xff00, crtc=0, seq=2\n"
        "  game-186   [000]  20.101100: drm_vblank_event_queued: file=0xff00, crtc=0, seq=2\n"
        "  <idle>-0   [000]  20.110000: drm_vblank_event_delivered: file=0xff00, crtc=0, seq=2\n"
        "  <idle>-0   [000]  20.110005: drm_vblank_event_delivered: file=0xff00, crtc=0, seq=2\n"
        "  <idle>-0   [000]  20.110010: drm_vblank_event: crtc=0, seq=2, time=20110000000, "
        "high-prec=true\n"
        "  <idle>-0   [000]  20.210010: drm_vblank_event: crtc=0, seq=12, time=20210000000, "
        "high-prec=true\n");
    BOOST_TEST(test::has(out, "   0       3       0  100.00\n"), out);
    BOOST_TEST(test::has(out, "   0  asked for      2\n"), out);
}

// dev 0 has a request of 30 ms that is waited for 5 ms, dev 1 one of 40 ms and 15 ms.
BOOST_AUTO_TEST_CASE(what_a_process_did_with_two_cards_is_not_added_up, *ut::label("pure")) {
    std::string lines;
    const auto add = [&](const char* who, int ms, const char* event, int dev) {
        lines += cat("  ", who, "   [000]  20.", ms, "000: i915_request_", event, ": dev=", dev,
                     " class=0 instance=0 ctx=", 7 + dev, " seqno=1\n");
    };
    add("game-150", 100, "add", 0);
    add("game-150", 100, "add", 1);
    add("game-150", 110, "wait_begin", 0);
    add("game-150", 115, "wait_end", 0);
    add("game-150", 120, "wait_begin", 1);
    add("kworker-9", 130, "retire", 0);
    add("game-150", 135, "wait_end", 1);
    add("kworker-9", 140, "retire", 1);
    const std::string out = told_of_text("i915", lines);
    for (const char* row : {"game  150    0  render         0  add to retired      1  30.0 ms  ",
                            "game  150    1  render         0  add to retired      1  40.0 ms  ",
                            "game  150    0  render         0      1  5.00 ms  5.00 ms  ",
                            "game  150    1  render         0      1  15.0 ms  15.0 ms  "})
        BOOST_TEST(test::has(out, row), out);
}

// The kernel ends what a killed queue had by the same event as a job that hangs.
BOOST_AUTO_TEST_CASE(a_job_of_a_killed_queue_has_no_timeout, *ut::label("pure")) {
    const auto failures_at = [](int state) {
        const std::string job =
            cat("dev=1 fence=4096 guc_id=5 seqno=1 gt_id=0 error=0 guc_state=", state);
        return told_of_text("xe",
                            cat("  game-150   [000]  20.100000: xe_sched_job_exec: ", job, '\n',
                                "  kworker-9  [000]  20.110000: xe_sched_job_run: ", job, '\n',
                                "  kworker-9  [000]  20.130000: xe_sched_job_timedout: ", job,
                                "\n  kworker-9  [000]  20.140000: xe_hw_fence_signal: dev=1 "
                                "fence=4096 ctx=1 seqno=1\n"));
    };
    BOOST_TEST(
        test::has(failures_at(0x8b), "game  150  \\x01  -      queue stopped  0          1\n"));
    BOOST_TEST(!test::has(failures_at(0x8b), "TIMEOUT"));
    BOOST_TEST(test::has(failures_at(0x0b), "game  150  \\x01  -      TIMEOUT  0          1\n"));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
