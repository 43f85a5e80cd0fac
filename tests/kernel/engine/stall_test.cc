#define BOOST_TEST_DYN_LINK
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "base/cat.h"
#include "engine/stall/hunt.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/skip.h"
#include "support/trace_instance.h"
#include "support/workloads.h"
#include "view/stall/text.h"

namespace ut = boost::unit_test;
namespace bdata = boost::unit_test::data;

namespace gpufs {

static std::ostream& operator<<(std::ostream& out, StallHunt::Way way) {
    return out << (way == StallHunt::Way::best ? "best" : "events");
}

namespace {

using test::Worker;

constexpr std::uint64_t kMs = 1'000'000;

using Way = StallHunt::Way;
// Every workload is watched by a program, where one can run, and by events.
const auto kWays = bdata::make({Way::best, Way::events});

// What a hunt tells about tasks, from attach() to the end of the worker.
struct Hunted {
    std::vector<Stall> ended, noted, ongoing;
    std::vector<std::string> texts;  // of `ended`
    std::uint64_t lost = 0;          // 1 at least if the number is not known
    std::uint64_t buffer_bytes = 0;
    bool is_over = false;  // all watched tasks have ended

    void take(StallHunt& hunt, StallText& text) {
        for (Stall& stall : hunt.take_ended()) {
            texts.push_back(text.print(stall));
            ended.push_back(std::move(stall));
        }
        for (Stall& stall : hunt.take_noted()) noted.push_back(std::move(stall));
    }
    void finish(StallHunt& hunt, StallText& text) {
        hunt.finish();
        take(hunt, text);
        ongoing = hunt.ongoing();
        const Loss all = hunt.losses().total();
        lost = std::min<std::uint64_t>(all.most, std::max<std::uint64_t>(all.least, 1));
        buffer_bytes = hunt.buffer_bytes();
    }
};

struct Choice {
    std::string states;
    std::uint64_t over_ms;
    bool children = false;
    bool runs_already = false;
    int limit_ms = 60'000;

    StallTracker::Choice tracker() const {
        return {StateSet::parse("--state", states), over_ms * kMs, children};
    }
};

Hunted hunt(Way way, const Choice& choice, Worker& worker) {
    StallHunt hunt(test::top(), choice.tracker(), way);
    hunt.attach({{worker.pid(), false}}, !choice.runs_already);
    if (!choice.runs_already) worker.start();
    Hunted got;
    StallText text(hunt.context(), hunt.syscalls());
    const double until = test::now_ms() + choice.limit_ms;
    while (hunt.tracker().watched() != 0 && test::now_ms() < until) {
        hunt.wait(-1, std::chrono::milliseconds(100));
        hunt.round();
        got.take(hunt, text);
    }
    got.is_over = hunt.tracker().watched() == 0;
    got.finish(hunt, text);
    return got;
}

using test::has;

// The time that the workload slept, within the noise. A task is in state D before it is switched
// out, so a sleep may look shorter than it was asked for; it ends late on a busy machine.
void check_duration(const Stall& stall, std::uint64_t ms) {
    BOOST_TEST(stall.duration_ns() >= ms * kMs * 4 / 5);
    BOOST_TEST(stall.duration_ns() < (ms * 3 + 5000) * kMs);
}

// A kernel whose BTF tells what the program of a hunt asks for.
boost::test_tools::assertion_result has_stall_program(ut::test_unit_id) {
    const StallHunt hunt(test::top(), Choice{"D", 1000}.tracker(), Way::best);
    boost::test_tools::assertion_result yes(hunt.explanation().size() == 1);
    yes.message() << hunt.explanation().back();
    return yes;
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(stall)

BOOST_DATA_TEST_CASE(a_vfork_whose_child_is_slow_is_a_sleep_in_d_without_a_file, kWays, way) {
    Worker worker([] {
        for (int i = 0; i < 3; ++i) test::block_in_vfork(50);
        return 0;
    });
    const Hunted got = hunt(way, {"D", 40}, worker);
    BOOST_REQUIRE_EQUAL(got.ended.size(), 3);
    BOOST_TEST(got.lost == 0);
    for (std::size_t i = 0; i < 3; ++i) {
        const Stall& s = got.ended[i];
        check_duration(s, 50);
        BOOST_TEST(s.tid == worker.pid());
        BOOST_TEST(!s.file);
        BOOST_TEST(s.waker.has_value());
        BOOST_TEST(!s.wakeup_lost);
        BOOST_TEST(!s.hides_losses);
        // glibc's vfork is the system call of that name on x86, and clone elsewhere.
        BOOST_TEST((has(got.texts[i], "  vfork()") || has(got.texts[i], "  clone")), got.texts[i]);
        BOOST_TEST(has(got.texts[i], "stack   __schedule\n"), got.texts[i]);
        BOOST_TEST(has(got.texts[i], cat(test::kVforkFrame, "\n")), got.texts[i]);
        BOOST_TEST(!has(got.texts[i], "trace_event_"), got.texts[i]);
    }
}

BOOST_DATA_TEST_CASE(a_read_from_a_pipe_names_the_pipe, kWays, way) {
    int ends[2];
    BOOST_REQUIRE(::pipe(ends) == 0);
    Worker worker([&] {
        char byte = 0;
        return ::read(ends[0], &byte, 1) == 1 ? 0 : 1;
    });
    std::thread writer([&] {
        const auto fd = static_cast<std::uint64_t>(ends[0]);
        while (proc::syscall(worker.pid()).call.args[0] != fd) ::usleep(5'000);
        ::usleep(2'000'000);  // time to look at it while it sleeps
        BOOST_TEST(::write(ends[1], "x", 1) == 1);
    });
    const std::string path = proc::file_of(::getpid(), ends[0]);
    const Hunted got = hunt(way, {"S", 50}, worker);
    writer.join();
    ::close(ends[0]);
    ::close(ends[1]);
    const auto it =
        std::ranges::find_if(got.ended, [](const Stall& s) { return s.file.has_value(); });
    BOOST_REQUIRE((it != got.ended.end()));
    BOOST_TEST(it->file->path == path);
    BOOST_TEST(it->file->fd == ends[0]);
    BOOST_TEST(it->file->is_verified);
    BOOST_REQUIRE(it->waker);
    BOOST_TEST(it->waker->comm == proc::comm(::getpid()));
    BOOST_TEST(!it->waker->from_interrupt);
    const std::string& text = got.texts[static_cast<std::size_t>(it - got.ended.begin())];
    BOOST_TEST(has(text, cat("read(fd=", ends[0], ", buf=0x")), text);
    BOOST_TEST(has(text, "count=1)"), text);
    BOOST_TEST(has(text, "pipe_read\n"), text);
}

BOOST_DATA_TEST_CASE(a_page_fault_is_a_sleep_without_a_system_call, kWays, way) {
    if (!test::can_block_in_page_fault()) return test::skip("needs userfaultfd(2)");
    Worker worker([] {
        test::block_in_page_fault(100);
        return 0;
    });
    // The state of such a sleep is the kernel's choice: S where a fault may be interrupted.
    const Hunted got = hunt(way, {"D,S", 60}, worker);
    const auto it = std::ranges::find_if(
        got.ended, [&](const Stall& s) { return s.syscall.known == SyscallState::Known::none; });
    BOOST_REQUIRE((it != got.ended.end()));
    check_duration(*it, 100);
    BOOST_TEST(it->tid == worker.pid());
    const std::string& text = got.texts[static_cast<std::size_t>(it - got.ended.begin())];
    BOOST_TEST(has(text, "handle_userfault\n"), text);
    BOOST_TEST(has(text, "no system call"), text);
}

BOOST_DATA_TEST_CASE(a_task_that_a_real_time_hog_keeps_off_its_cpu_names_the_hog, kWays, way) {
    const int cpu = test::first_cpu();
    Worker worker([cpu] {
        test::pin_to_cpu(cpu);
        const pid_t hog = ::fork();
        if (hog == 0) {
            ::prctl(PR_SET_NAME, "hog");
            ::usleep(200'000);
            sched_param priority{};
            priority.sched_priority = 50;
            if (::sched_setscheduler(0, SCHED_FIFO, &priority) != 0) return 1;
            test::spin(300);
            return 0;
        }
        // Where a kernel left out the switch to it, its next system call says that it runs.
        for (int i = 0; i < 1000; ++i) {
            test::spin(1);
            test::call_getppid(1);
        }
        return ::waitpid(hog, nullptr, 0) == hog ? 0 : 1;
    });
    const Hunted got = hunt(way, {"R", 100}, worker);
    // Throttled at 95 % of each second, a hog of 300 ms may be one stall or two. Where others are
    // busy, too, they run meanwhile, and keep it off its CPU at other times.
    const Stall* by_hog = nullptr;
    std::uint64_t hog_ns = 0;
    for (const Stall& stall : got.ended)
        for (const auto& one : stall.ran_meanwhile)
            if (one.comm == "hog" && one.ns > hog_ns) {
                by_hog = &stall;
                hog_ns = one.ns;
            }
    BOOST_REQUIRE(by_hog != nullptr);
    BOOST_TEST(by_hog->cpu_waited == cpu);
    BOOST_TEST(hog_ns > 100 * kMs);
    BOOST_TEST(got.buffer_bytes <= 8u << 20);
}

// Kernels leave out a switch to a task now and then; how long it waited they count all the same.
BOOST_AUTO_TEST_CASE(a_task_does_not_run_while_it_waits_for_a_cpu) {
    constexpr std::uint64_t kClocksNs = kMs / 5;  // two clocks, read one behind the other
    Worker worker([] {
        test::pin_to_cpu(test::first_cpu());
        const pid_t other = ::fork();
        test::spin(2000);
        return other == 0 || ::waitpid(other, nullptr, 0) == other ? 0 : 1;
    });
    const Hunted got = hunt(Way::best, {"R", 1}, worker);
    BOOST_REQUIRE_GE(got.ended.size(), 10);
    for (const Stall& s : got.ended) {
        if (s.is_end_late) continue;  // it says so
        for (const CpuUse& use : s.ran_meanwhile)
            BOOST_TEST((use.pid != s.tid || use.ns < kClocksNs), use.ns);
    }
}

BOOST_DATA_TEST_CASE(fifty_threads_are_all_watched, kWays, way) {
    constexpr int kThreads = 50;
    Worker worker([] {
        std::vector<std::thread> threads;
        for (int i = 0; i < kThreads; ++i) threads.emplace_back([] { ::usleep(300'000); });
        for (std::thread& thread : threads) thread.join();
        return 0;
    });
    const Hunted got = hunt(way, {"S", 250}, worker);
    const auto slept = std::ranges::count_if(
        got.texts, [](const std::string& text) { return has(text, "nanosleep"); });
    BOOST_TEST(slept == kThreads);
    BOOST_TEST(got.is_over);
    for (const Stall& s : got.ended) BOOST_TEST(s.tgid == worker.pid());
}

BOOST_DATA_TEST_CASE(children_are_watched_when_asked_for_and_only_then, kWays, way) {
    const auto storm = [] {
        for (int i = 0; i < 20; ++i) {
            if (::fork() == 0) {
                ::usleep(300'000);  // long, as much as of it may pass on its way off the CPU
                ::_exit(0);
            }
        }
        while (::wait(nullptr) > 0) {
        }
        return 0;
    };
    const auto sleeps = [](const Hunted& got) {
        return std::ranges::count_if(
            got.texts, [](const std::string& text) { return has(text, "nanosleep"); });
    };
    Worker with(storm), without(storm);
    const Hunted all = hunt(way, {"S", 80, true}, with);
    BOOST_TEST(sleeps(all) == 20);
    BOOST_TEST(all.is_over);
    BOOST_TEST(sleeps(hunt(way, {"S", 80}, without)) == 0);
}

BOOST_DATA_TEST_CASE(a_process_that_hangs_already_is_answered_from_proc, kWays, way) {
    Worker worker([] {
        test::block_in_vfork(10'000);
        return 0;
    });
    worker.start();
    BOOST_REQUIRE(worker.reaches_state('D'));
    const Hunted got = hunt(way, {"D", 1, false, true, 300}, worker);
    BOOST_REQUIRE_GE(got.noted.size(), 1);
    const Stall& s = got.noted[0];
    BOOST_TEST(s.is_cut);
    BOOST_TEST(s.is_ongoing);
    BOOST_TEST(std::ranges::any_of(s.stack_names,
                                   [](const std::string& f) { return has(f, test::kVforkFrame); }));
    BOOST_TEST((s.syscall.known == SyscallState::Known::yes));
    BOOST_REQUIRE_EQUAL(got.ongoing.size(), 1);
    BOOST_TEST(got.ongoing[0].is_cut);
}

// What both ways must agree on, in words: all but the times.
std::string what(const Stall& stall) {
    std::string text = cat(static_cast<char>(stall.state), " ", stall.comm, "-", stall.tid, " of ",
                           stall.tgid, ", cpu ", stall.cpu_before, " -> ", stall.cpu_after);
    if (stall.syscall.known == SyscallState::Known::none) text += ", no call";
    if (stall.syscall.known == SyscallState::Known::yes) {
        text += cat(", call ", stall.syscall.call.nr);
        for (const std::uint64_t arg : stall.syscall.call.args) text += cat(" ", arg);
    }
    if (stall.waker)
        text += cat(", woken by ", stall.waker->pid,
                    stall.waker->from_interrupt ? " in an interrupt" : "");
    if (stall.after) text += cat(", after ", static_cast<char>(*stall.after));
    if (stall.cpu_waited >= 0) text += cat(", waited for cpu ", stall.cpu_waited);
    return text;
}

// Sleeps of all kinds, one behind the other, in two threads and a child.
int sleep_in_many_ways() {
    int ends[2];
    if (::pipe(ends) != 0) return 1;
    const auto read_one = [&] {
        char byte = 0;
        return ::read(ends[0], &byte, 1) == 1;
    };
    std::thread writer([&] {
        for (int i = 0; i < 3; ++i) {
            ::usleep(150'000);
            if (::write(ends[1], "x", 1) != 1) return;
        }
    });
    for (int i = 0; i < 3; ++i)
        if (!read_one()) return 1;
    writer.join();
    for (int i = 0; i < 3; ++i) test::block_in_vfork(150);
    if (test::can_block_in_page_fault()) test::block_in_page_fault(150);
    const pid_t child = ::fork();
    if (child == 0) {
        ::usleep(200'000);
        ::_exit(0);
    }
    return ::waitpid(child, nullptr, 0) == child ? 0 : 1;
}

// Two hunts watch the same tasks. Times are those of two programs at one event, and what lasted
// about as long as the threshold may be over it for one of them only.
BOOST_AUTO_TEST_CASE(a_program_and_events_tell_the_same_stalls,
                     *ut::precondition(has_stall_program)) {
    constexpr std::uint64_t kOverMs = 50, kNearNs = 25 * kMs;
    Worker worker(sleep_in_many_ways);
    const Choice choice{"any", kOverMs, true};
    StallHunt program(test::top(), choice.tracker(), Way::best);
    StallHunt events(test::top(), choice.tracker(), Way::events);
    StallText program_text(program.context(), program.syscalls());
    StallText events_text(events.context(), events.syscalls());
    Hunted by_program, by_events;
    program.attach({{worker.pid(), false}}, true);
    events.attach({{worker.pid(), false}}, true);
    worker.start();
    while (program.tracker().watched() != 0 || events.tracker().watched() != 0) {
        program.wait(-1, std::chrono::milliseconds(10));
        program.round();
        by_program.take(program, program_text);
        events.wait(-1, std::chrono::milliseconds(10));
        events.round();
        by_events.take(events, events_text);
    }
    by_program.finish(program, program_text);
    by_events.finish(events, events_text);
    BOOST_TEST(by_program.lost == 0);
    BOOST_TEST(by_events.lost == 0);

    // The kernel's filter of tasks is seen to leave out a switch now and then, and it runs no
    // program where an interrupt meets another one: then a hunt says that it missed the wake-up, or
    // two sleeps are one for it, whose times are not those of either.
    constexpr std::uint64_t kOneEventNs = kMs / 2;
    const auto is_sure = [](const Stall& stall) {
        return stall.duration_ns() > kOverMs * kMs + kNearNs && !stall.is_end_late &&
               !stall.wakeup_lost;
    };
    const auto are_near = [](const Stall& one, const Stall& other, std::uint64_t ns) {
        const auto near = [ns](std::uint64_t a, std::uint64_t b) {
            return std::max(a, b) - std::min(a, b) < ns;
        };
        return near(one.begin_ns, other.begin_ns) && near(one.end_ns, other.end_ns);
    };
    std::size_t told = 0, compared = 0;
    const auto compare = [&](const Hunted& by_one, const Hunted& by_other, const char* who) {
        for (std::size_t i = 0; i < by_one.ended.size(); ++i) {
            const Stall& one = by_one.ended[i];
            told += one.duration_ns() > kOverMs * kMs + kNearNs;
            if (!is_sure(one)) continue;
            bool is_same = false, may_differ = false;
            for (const Stall& other : by_other.ended) {
                if (!are_near(one, other, kNearNs)) continue;
                is_same |= what(one) == what(other) && one.stack.empty() == other.stack.empty();
                may_differ |= !is_sure(other) || !are_near(one, other, kOneEventNs);
            }
            compared += is_same;
            BOOST_TEST((is_same || may_differ), who << " only: " << what(one) << '\n'
                                                    << by_one.texts[i]);
        }
    };
    compare(by_program, by_events, "program");
    compare(by_events, by_program, "events");
    // Three reads, three pauses, three vforks with a child that sleeps in each, a fork and its
    // wait.
    BOOST_TEST(told >= 2 * 14);
    BOOST_TEST(compared >= 2 * 10);
}

// Alone on its CPU, so that its time goes into switches.
void be_real_time() {
    sched_param priority{};
    priority.sched_priority = 1;
    ::sched_setscheduler(0, SCHED_FIFO, &priority);
}

// Two threads that wake each other without end on one CPU for so long, and one that blocks for a
// second in the meantime.
int switch_without_end(int ms) {
    int a[2], b[2];
    if (::pipe(a) != 0 || ::pipe(b) != 0) return 1;
    const double until = test::now_ms() + ms;
    std::thread pong([&] {
        test::pin_to_cpu(0);
        be_real_time();
        char byte = 0;
        while (::read(a[0], &byte, 1) == 1 && ::write(b[1], &byte, 1) == 1) {
        }
    });
    std::thread sleeper([ms] {
        ::usleep(static_cast<useconds_t>(ms) * 300);
        test::block_in_vfork(1000);
    });
    test::pin_to_cpu(0);
    be_real_time();
    char byte = 0;
    while (test::now_ms() < until)
        for (int i = 0; i < 100; ++i)
            if (::write(a[1], &byte, 1) != 1 || ::read(b[0], &byte, 1) != 1) return 1;
    ::close(a[1]);
    sleeper.join();
    pong.join();
    return 0;
}

// Nothing is lost at any rate: only what lasts is told, not each switch.
BOOST_AUTO_TEST_CASE(one_stall_among_a_hundred_thousand_switches_a_second_is_found,
                     *ut::precondition(has_stall_program)) {
    Worker worker([] { return switch_without_end(6'000); });
    const Hunted got = hunt(Way::best, {"D", 900}, worker);
    BOOST_TEST(got.ended.size() == 1);
    for (const Stall& stall : got.ended) check_duration(stall, 1000);
    BOOST_TEST(got.lost == 0);
    BOOST_TEST(got.buffer_bytes <= 8u << 20);
}

// An emulated CPU, or a busy one, does not read as fast as another one switches.
BOOST_AUTO_TEST_CASE(events_find_the_stall_or_say_that_they_lost_some) {
    Worker worker([] { return switch_without_end(3'000); });
    const Hunted got = hunt(Way::events, {"D", 900}, worker);
    BOOST_TEST_MESSAGE("lost " << got.lost);
    BOOST_TEST((got.ended.size() == 1 || got.lost != 0));
    if (got.lost == 0)
        for (const Stall& stall : got.ended) check_duration(stall, 1000);
    BOOST_TEST(got.buffer_bytes <= 8u << 20);
}

BOOST_AUTO_TEST_CASE(real_time_is_for_this_thread_only_and_ends) {
    {
        const RealTime real_time;
        BOOST_TEST((::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_FIFO);
        Worker child([] { return ::sched_getscheduler(0); });
        child.start();
        BOOST_TEST(child.wait() == SCHED_OTHER);
    }
    BOOST_TEST(::sched_getscheduler(0) == SCHED_OTHER);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
