#define BOOST_TEST_DYN_LINK
#include "engine/stall/tracker.h"

#include <boost/test/unit_test.hpp>

#include "base/error.h"

namespace gpufs {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSleeping = 1, kDisk = 2, kRunning = 0, kPreempted = 0x100;

// A tracker of task 10 (process 10), which reports what takes 1 ms, fed in milliseconds.
struct Fed : StallTracker {
    explicit Fed(const char* states = "any", bool children = false)
        : StallTracker({StateSet::parse("--state", states), kMs, children}) {
        watch(10, 10, "daemon");
    }
    void out(std::uint64_t ms, int tid, std::uint64_t state, int cpu = 0) {
        on_switch(ms * kMs, cpu, {tid, "daemon"}, state, {0, "swapper"});
    }
    void in(std::uint64_t ms, int tid, int cpu = 0) {
        on_switch(ms * kMs, cpu, {0, "swapper"}, kRunning, {tid, "daemon"});
    }
    void wake(std::uint64_t ms, int tid, int by = 77, bool irq = false) {
        on_waking(ms * kMs, tid, 0, {by, {}, irq});
    }
    Stall one() {
        const auto stalls = take_ended();
        BOOST_REQUIRE_EQUAL(stalls.size(), 1);
        return stalls[0];
    }
};

BOOST_AUTO_TEST_SUITE(stall_tracker)

BOOST_AUTO_TEST_CASE(a_sleep_lasts_from_its_switch_out_to_its_waking) {
    Fed t("D");
    t.on_syscall_enter(10, {16, {7, 1, 2, 3, 4, 5}});
    t.out(100, 10, kDisk, 1);
    t.on_stack(1, 10, {0xffff0001, 0xffff0002});
    t.wake(150, 10);
    t.in(152, 10, 3);
    const Stall s = t.one();
    BOOST_TEST(s.tid == 10);
    BOOST_TEST(s.comm == "daemon");
    BOOST_TEST(static_cast<char>(s.state) == 'D');
    BOOST_TEST(s.begin_ns == 100 * kMs);
    BOOST_TEST(s.end_ns == 150 * kMs);
    BOOST_TEST(s.run_delay_ns == 2 * kMs);
    BOOST_TEST(s.cpu_before == 1);
    BOOST_TEST(s.cpu_after == 3);
    BOOST_TEST(s.stack == (std::vector<std::uint64_t>{0xffff0001, 0xffff0002}));
    BOOST_TEST((s.syscall.known == SyscallState::Known::yes));
    BOOST_TEST(s.syscall.call.nr == 16);
    BOOST_REQUIRE(s.waker);
    BOOST_TEST(s.waker->pid == 77);
    BOOST_TEST(!s.waker->from_interrupt);
    BOOST_TEST(!s.wakeup_lost);
    BOOST_TEST(!s.is_cut);
}

BOOST_AUTO_TEST_CASE(a_wait_for_a_cpu_lasts_from_the_waking_to_the_switch_in) {
    Fed t("R");
    t.out(100, 10, kSleeping);
    t.wake(200, 10, 0, true);
    t.on_wakeup(200 * kMs, 10, 2);
    t.in(290, 10, 1);
    const Stall s = t.one();
    BOOST_TEST(static_cast<char>(s.state) == 'R');
    BOOST_TEST(s.begin_ns == 200 * kMs);
    BOOST_TEST(s.end_ns == 290 * kMs);
    BOOST_TEST(s.cpu_waited == 2);
    BOOST_REQUIRE(s.after);
    BOOST_TEST(static_cast<char>(*s.after) == 'S');
    BOOST_TEST(s.waker->from_interrupt);
}

BOOST_AUTO_TEST_CASE(a_preempted_task_waits_for_the_cpu_it_was_taken_off) {
    for (const std::uint64_t state : {kRunning, kPreempted}) {
        Fed t("R");
        t.out(100, 10, state, 3);
        t.in(105, 10, 3);
        const Stall s = t.one();
        BOOST_TEST(s.duration_ns() == 5 * kMs);
        BOOST_TEST(s.cpu_waited == 3);
        BOOST_TEST(!s.after);
    }
}

BOOST_AUTO_TEST_CASE(what_was_not_asked_for_is_counted_with_its_longest) {
    Fed t("D");
    t.out(100, 10, kSleeping);
    t.wake(140, 10);
    t.in(143, 10);
    BOOST_TEST(t.take_ended().empty());
    BOOST_TEST(t.others().at(TaskState::sleeping).count == 1);
    BOOST_TEST(t.others().at(TaskState::sleeping).longest_ns == 40 * kMs);
    BOOST_TEST(t.others().at(TaskState::runnable).longest_ns == 3 * kMs);
}

BOOST_AUTO_TEST_CASE(what_is_under_way_and_was_not_asked_for_is_counted_with_its_longest) {
    Fed t("D");
    t.out(100, 10, kSleeping);
    t.wake(140, 10);
    t.in(140, 10);
    t.out(200, 10, kSleeping);
    const auto after = [&](std::uint64_t ms) {
        return t.others_until(ms * kMs).at(TaskState::sleeping);
    };
    BOOST_TEST(after(200).count == 1);
    BOOST_TEST(after(210).count == 2);
    BOOST_TEST(after(210).ongoing == 1);
    BOOST_TEST(after(210).longest_ns == 40 * kMs);
    BOOST_TEST(!after(210).is_longest_ongoing);
    BOOST_TEST(after(300).longest_ns == 100 * kMs);
    BOOST_TEST(after(300).is_longest_ongoing);
    BOOST_TEST(t.others().at(TaskState::sleeping).count == 1);
}

// Since when it sleeps nobody saw; but it has slept since it was found.
BOOST_AUTO_TEST_CASE(what_was_found_and_was_not_asked_for_is_counted_while_it_lasts) {
    Fed t("D");
    Stall found;
    found.state = TaskState::sleeping;
    found.begin_ns = 100 * kMs;
    t.found(10, found);
    BOOST_TEST(t.others_until(150 * kMs).at(TaskState::sleeping).longest_ns == 50 * kMs);
    t.wake(160, 10);
    t.in(160, 10);
    BOOST_TEST(t.others_until(200 * kMs).empty());
}

BOOST_AUTO_TEST_CASE(what_is_under_the_threshold_is_nothing) {
    Fed t;
    t.on_switch(100 * kMs, 0, {10, "daemon"}, kDisk, {0, "swapper"});
    t.on_waking(101 * kMs - 1, 10, 0, {77, {}, false});
    t.on_switch(101 * kMs - 1, 0, {0, "swapper"}, 0, {10, "daemon"});
    BOOST_TEST(t.take_ended().empty());
    BOOST_TEST(t.others().empty());
}

BOOST_AUTO_TEST_CASE(a_switch_in_without_a_waking_says_so) {
    Fed t("D");
    t.out(100, 10, kDisk);
    t.in(150, 10);
    const Stall s = t.one();
    BOOST_TEST(s.end_ns == 150 * kMs);
    BOOST_TEST(s.wakeup_lost);
    BOOST_TEST(!s.waker);
}

// try_to_wake_up() may begin before the sleeper is off its CPU.
BOOST_AUTO_TEST_CASE(a_waking_in_front_of_the_switch_out_ends_the_sleep_at_the_wakeup) {
    Fed t;
    t.wake(99, 10);
    t.out(100, 10, kSleeping);
    t.on_wakeup(103 * kMs, 10, 1);
    t.in(109, 10, 1);
    const auto stalls = t.take_ended();
    BOOST_REQUIRE_EQUAL(stalls.size(), 2);
    BOOST_TEST(stalls[0].end_ns == 103 * kMs);
    BOOST_TEST(stalls[0].waker->pid == 77);
    BOOST_TEST(!stalls[0].wakeup_lost);
    BOOST_TEST(static_cast<char>(stalls[1].state) == 'R');
    BOOST_TEST(stalls[1].duration_ns() == 6 * kMs);
}

BOOST_AUTO_TEST_CASE(without_a_wakeup_such_a_sleep_is_all_a_wait_for_a_cpu) {
    Fed t;
    t.wake(99, 10);
    t.out(100, 10, kSleeping);
    t.in(109, 10, 1);
    const Stall s = t.one();
    BOOST_TEST(static_cast<char>(s.state) == 'R');
    BOOST_TEST(s.duration_ns() == 9 * kMs);
    BOOST_TEST(s.waker->pid == 77);
}

BOOST_AUTO_TEST_CASE(an_event_of_a_task_ends_a_wait_whose_switch_in_was_not_seen) {
    Fed t("any");
    t.out(100, 10, kDisk);
    t.wake(110, 10);
    t.on_run(115 * kMs, 1, 10);
    const auto stalls = t.take_ended();
    BOOST_REQUIRE_EQUAL(stalls.size(), 2);
    BOOST_TEST(stalls[0].end_ns == 110 * kMs);
    BOOST_TEST(!stalls[0].is_end_late);
    BOOST_TEST(stalls[0].cpu_after == 1);
    BOOST_TEST(stalls[1].end_ns == 115 * kMs);
    BOOST_TEST(stalls[1].is_end_late);
}

BOOST_AUTO_TEST_CASE(a_stack_belongs_to_the_last_switch_of_its_cpu_only) {
    Fed t("D");
    t.out(100, 10, kDisk, 1);
    t.on_switch(101 * kMs, 1, {5, "other"}, kDisk, {6, "other"});
    t.on_stack(1, 10, {1});
    t.on_stack(0, 10, {2});
    t.wake(110, 10);
    t.in(110, 10);
    BOOST_TEST(t.one().stack.empty());
}

BOOST_AUTO_TEST_CASE(a_task_found_blocked_is_cut_at_the_start) {
    Fed t("D");
    Stall found;
    found.state = TaskState::uninterruptible;
    found.begin_ns = 100 * kMs;
    found.stack_names = {"wait_for_it"};
    t.found(10, found);
    BOOST_REQUIRE(t.open_stall(10));
    t.wake(150, 10);
    t.in(150, 10);
    const Stall s = t.one();
    BOOST_TEST(s.is_cut);
    BOOST_TEST(s.duration_ns() == 50 * kMs);
    BOOST_TEST(s.stack_names.size() == 1);
}

BOOST_AUTO_TEST_CASE(an_event_from_before_the_look_gives_the_exact_begin) {
    Fed t("D");
    Stall found;
    found.state = TaskState::uninterruptible;
    found.begin_ns = 100 * kMs;
    t.found(10, found);
    t.out(90, 10, kDisk);
    t.wake(150, 10);
    t.in(150, 10);
    const Stall s = t.one();
    BOOST_TEST(!s.is_cut);
    BOOST_TEST(s.duration_ns() == 60 * kMs);
}

// A task in state R in /proc runs or waits; only its next switch tells.
BOOST_AUTO_TEST_CASE(a_task_found_running_is_no_stall_until_a_switch_in_says_that_it_waited) {
    Stall found;
    found.state = TaskState::runnable;
    found.begin_ns = 100 * kMs;
    Fed running("R");
    running.found(10, found);
    BOOST_TEST(!running.open_stall(10));
    BOOST_TEST(running.due(1000 * kMs).empty());
    BOOST_TEST(running.ongoing(1000 * kMs).empty());
    running.out(200, 10, kSleeping);
    BOOST_TEST(running.take_ended().empty());
    Fed waiting("R");
    waiting.found(10, found);
    waiting.in(200, 10);
    const Stall s = waiting.one();
    BOOST_TEST(s.is_cut);
    BOOST_TEST(s.duration_ns() == 100 * kMs);
}

BOOST_AUTO_TEST_CASE(an_open_stall_is_due_once_when_it_is_over_the_threshold) {
    Fed t("D");
    BOOST_TEST(!t.next_due());
    t.out(100, 10, kDisk);
    BOOST_TEST(*t.next_due() == 101 * kMs);
    BOOST_TEST(t.due(101 * kMs - 1).empty());
    BOOST_TEST(t.due(101 * kMs).size() == 1);
    BOOST_TEST(t.due(102 * kMs).empty());
    BOOST_TEST(!t.next_due());
}

BOOST_AUTO_TEST_CASE(what_is_blocked_at_the_end_is_ongoing) {
    Fed t("D");
    t.out(100, 10, kDisk);
    const auto stalls = t.ongoing(400 * kMs);
    BOOST_REQUIRE_EQUAL(stalls.size(), 1);
    BOOST_TEST(stalls[0].is_ongoing);
    BOOST_TEST(stalls[0].duration_ns() == 300 * kMs);
}

BOOST_AUTO_TEST_CASE(losses_mark_the_stalls_that_they_may_hide_in) {
    Fed t("D");
    t.watch(11, 10, "daemon");
    t.on_syscall_enter(10, {1, {}});
    t.out(10, 11, kDisk);
    t.wake(20, 11);
    t.in(20, 11);
    t.out(100, 10, kDisk);
    t.on_loss(50 * kMs);
    t.wake(150, 10);
    t.in(150, 10);
    const auto stalls = t.take_ended();
    BOOST_REQUIRE_EQUAL(stalls.size(), 2);
    BOOST_TEST(!stalls[0].hides_losses);  // over before the gap
    BOOST_TEST(stalls[1].hides_losses);
    t.out(200, 10, kDisk);
    t.wake(210, 10);
    t.in(210, 10);
    const Stall after = t.one();
    BOOST_TEST(!after.hides_losses);
    BOOST_TEST((after.syscall.known == SyscallState::Known::no));
}

BOOST_AUTO_TEST_CASE(threads_are_watched_with_their_process_and_children_when_asked_for) {
    constexpr std::uint64_t kThread = 0x10000, kFork = 0x11;
    Fed t("D");
    t.on_newtask(10, 20, "daemon", kThread);
    t.on_newtask(10, 30, "daemon", kFork);
    t.on_newtask(99, 40, "other", kThread);
    BOOST_TEST(t.watches(20));
    BOOST_TEST(!t.watches(30));
    BOOST_TEST(!t.watches(40));
    t.out(100, 20, kDisk);
    t.wake(150, 20);
    t.in(150, 20);
    BOOST_TEST(t.one().tgid == 10);
    t.on_exit(20);
    BOOST_TEST(!t.watches(20));
    Fed all("D", true);
    all.on_newtask(10, 30, "daemon", kFork);
    BOOST_TEST(all.watches(30));
    all.watch(50, 45, "alone", true);
    all.on_newtask(50, 51, "alone", kThread);
    BOOST_TEST(!all.watches(51));
}

BOOST_AUTO_TEST_CASE(a_thread_that_execs_takes_the_id_of_its_process) {
    Fed t("D");
    t.watch(11, 10, "daemon");
    t.on_exit(10);
    BOOST_TEST(t.on_exec(10, 11));
    BOOST_TEST(t.watches(10));
    BOOST_TEST(!t.watches(11));
    BOOST_TEST(!t.on_exec(10, 10));
}

BOOST_AUTO_TEST_CASE(a_task_outside_of_system_calls_is_known_to_be) {
    Fed t("D");
    t.on_syscall_enter(10, {0, {}});
    t.on_syscall_exit(10);
    t.out(100, 10, kDisk);
    t.wake(150, 10);
    t.in(150, 10);
    BOOST_TEST((t.one().syscall.known == SyscallState::Known::none));
}

BOOST_AUTO_TEST_CASE(system_calls_that_nobody_tells_are_not_known) {
    Fed t("D");
    t.on_syscall_enter(10, {0, {}});
    t.forget_syscalls();
    t.on_newtask(10, 20, "daemon", 0x10000);
    for (const int tid : {10, 20}) {
        t.out(100, tid, kDisk);
        t.wake(150, tid);
        t.in(150, tid);
        BOOST_TEST((t.one().syscall.known == SyscallState::Known::no));
    }
}

BOOST_AUTO_TEST_CASE(states_are_the_kernels) {
    const auto letter = [](std::uint64_t s) { return static_cast<char>(state_of_switch(s)); };
    BOOST_TEST(letter(0) == 'R');
    BOOST_TEST(letter(0x100) == 'R');
    BOOST_TEST(letter(1) == 'S');
    BOOST_TEST(letter(2) == 'D');
    BOOST_TEST(letter(4) == 'T');
    BOOST_TEST(letter(8) == 't');
    BOOST_TEST(letter(0x10) == 'X');
    BOOST_TEST(letter(0x40) == 'P');
    BOOST_TEST(letter(0x80) == 'I');
}

BOOST_AUTO_TEST_CASE(a_set_of_states_becomes_the_triggers_condition) {
    const auto condition = [](const char* s) { return StateSet::parse("--state", s).condition(); };
    BOOST_TEST(condition("D") == "prev_state & 2");
    BOOST_TEST(condition("D,S") == "prev_state & 3");
    BOOST_TEST(condition("R") == "prev_state == 0 || prev_state == 256");
    BOOST_TEST(condition("any") == "prev_state & 207 || prev_state == 0 || prev_state == 256");
    BOOST_CHECK_EXCEPTION(condition("Q"), UsageError, [](const UsageError& e) {
        return std::string(e.what()) == "--state does not know a state 'Q'";
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
