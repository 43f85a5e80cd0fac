#define BOOST_TEST_DYN_LINK
#include "engine/stall/task_records.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "support/assemble_text.h"

namespace gpufs {
namespace {

constexpr std::uint64_t kRecordMs = 1'000'000;
constexpr std::uint32_t kAsleep = 1, kInDisk = 2, kPushedOff = 0x100;

// Of task 10, which left CPU 1 at 100 ms and is off it.
TaskRecord asleep(std::uint32_t state) {
    TaskRecord task;
    task.tid = 10;
    std::memcpy(task.comm.data(), "daemon", 7);
    task.call_is = 1;
    task.out = 100 * kRecordMs;
    task.state = state;
    task.cpu_before = 1;
    return task;
}

// It was woken by task 77 at `waking` and came to CPU 3 at `back`; so many were sent before.
TaskRecord ended(TaskRecord task, std::uint64_t waking, std::uint64_t back, unsigned before = 0) {
    task.number = before + 1;
    task.waking = waking * kRecordMs;
    task.waker = 77;
    std::memcpy(task.waker_comm.data(), "other", 6);
    task.target_cpu = 2;
    task.back = back * kRecordMs;
    task.cpu_after = 3;
    return task;
}

struct FedRecords : StallTracker {
    FedRecords()
        : StallTracker({StateSet::parse("--state", "any"), kRecordMs, false}), records(*this) {
        watch(10, 10, "daemon");
    }
    std::vector<Stall> stalls(std::size_t count) {
        auto all = take_ended();
        BOOST_REQUIRE_EQUAL(all.size(), count);
        return all;
    }
    TaskRecords records;
};

BOOST_AUTO_TEST_SUITE(stall_task_records)

BOOST_AUTO_TEST_CASE(they_are_laid_out_as_the_program_lays_them_out) {
    const Program program = assemble_file("bpf_asm/lib/stall.bpf");
    const RecordLayout* task = program.find_record("task");
    BOOST_REQUIRE(task);
    BOOST_TEST(task->layout.bytes == sizeof(TaskRecord));
    const auto at = [&](std::string_view name) {
        const Member* member = task->layout.find(name);
        BOOST_REQUIRE_MESSAGE(member, name);
        return member->offset;
    };
#define CHECK_MEMBER(name) BOOST_TEST(at(#name) == offsetof(TaskRecord, name), #name)
    CHECK_MEMBER(id);
    CHECK_MEMBER(number);
    CHECK_MEMBER(tid);
    CHECK_MEMBER(flags);
    CHECK_MEMBER(call_is);
    CHECK_MEMBER(call);
    CHECK_MEMBER(arguments);
    CHECK_MEMBER(out);
    CHECK_MEMBER(state);
    CHECK_MEMBER(cpu_before);
    CHECK_MEMBER(back);
    CHECK_MEMBER(cpu_after);
    CHECK_MEMBER(stack_bytes);
    CHECK_MEMBER(waking);
    CHECK_MEMBER(waker);
    CHECK_MEMBER(from_interrupt);
    CHECK_MEMBER(target_cpu);
    CHECK_MEMBER(wakeup_cpu);
    CHECK_MEMBER(wakeup);
    CHECK_MEMBER(delay);
    CHECK_MEMBER(arrivals);
    CHECK_MEMBER(waker_comm);
    CHECK_MEMBER(comm);
    CHECK_MEMBER(stacks_to);
    CHECK_MEMBER(user);
    CHECK_MEMBER(tgid);
    CHECK_MEMBER(stack);
#undef CHECK_MEMBER
}

BOOST_AUTO_TEST_CASE(one_becomes_a_sleep_and_the_wait_behind_it) {
    FedRecords fed;
    TaskRecord task = asleep(kInDisk);
    task.call_is = 2;
    task.call = 16;
    for (std::size_t i = 0; i < 6; ++i) task.arguments[call_arguments().order[i]] = i + 1;
    task.stack[0] = 0xffff0001;
    task.stack[1] = 0xffff0002;
    task.stack_bytes = 16;
    fed.records.take(ended(task, 150, 152), {{"waits", "daemon", 0, {}}});
    const auto stalls = fed.stalls(2);
    const Stall& sleep = stalls[0];
    BOOST_TEST(static_cast<char>(sleep.state) == 'D');
    BOOST_TEST(sleep.comm == "daemon");
    BOOST_TEST(sleep.begin_ns == 100 * kRecordMs);
    BOOST_TEST(sleep.end_ns == 150 * kRecordMs);
    BOOST_TEST(sleep.run_delay_ns == 2 * kRecordMs);
    BOOST_TEST(sleep.cpu_before == 1);
    BOOST_TEST(sleep.cpu_after == 3);
    BOOST_TEST(sleep.stack == (std::vector<std::uint64_t>{0xffff0001, 0xffff0002}));
    BOOST_REQUIRE(sleep.user_stack.size() == 1);
    BOOST_TEST(sleep.user_stack[0].name == "waits");
    BOOST_TEST(stalls[1].user_stack.empty());
    BOOST_TEST(sleep.syscall.call.nr == 16);
    BOOST_TEST(sleep.syscall.call.args == (std::array<std::uint64_t, 6>{1, 2, 3, 4, 5, 6}));
    BOOST_REQUIRE(sleep.waker);
    BOOST_TEST(sleep.waker->pid == 77);
    BOOST_TEST(sleep.waker->comm == "other");
    BOOST_TEST(!sleep.waker->from_interrupt);
    BOOST_TEST(static_cast<char>(stalls[1].state) == 'R');
    BOOST_TEST(stalls[1].duration_ns() == 2 * kRecordMs);
    BOOST_TEST(stalls[1].cpu_waited == 2);
    BOOST_TEST((stalls[1].after == TaskState::uninterruptible));
}

BOOST_AUTO_TEST_CASE(what_ended_and_was_not_sent_is_no_longer_under_way) {
    FedRecords fed;
    TaskRecord task = asleep(kAsleep);
    fed.records.look(task);
    fed.records.forget_unsent(task);
    BOOST_TEST(fed.open_stall(10));
    task.out = 0;
    fed.records.forget_unsent(task);
    BOOST_TEST(!fed.open_stall(10));
    task.out = 200 * kRecordMs;
    fed.records.look(task);
    BOOST_REQUIRE(fed.open_stall(10));
    BOOST_TEST(fed.open_stall(10)->begin_ns == 200 * kRecordMs);
    BOOST_TEST(fed.take_ended().empty());
}

BOOST_AUTO_TEST_CASE(a_task_woken_on_its_way_off_the_cpu_sleeps_until_its_wakeup) {
    FedRecords fed;
    TaskRecord task = ended(asleep(kAsleep), 99, 110);
    task.wakeup = 103 * kRecordMs;
    task.wakeup_cpu = 0;
    fed.records.take(task);
    const auto stalls = fed.stalls(2);
    BOOST_TEST(stalls[0].end_ns == 103 * kRecordMs);
    BOOST_TEST(stalls[1].duration_ns() == 7 * kRecordMs);
    FedRecords unseen;
    task.wakeup = 0;
    unseen.records.take(task);
    BOOST_TEST(unseen.stalls(1)[0].duration_ns() == 10 * kRecordMs);
}

BOOST_AUTO_TEST_CASE(a_preempted_task_waits) {
    FedRecords fed;
    TaskRecord task = ended(asleep(kPushedOff), 0, 110);
    fed.records.take(task);
    const auto stalls = fed.stalls(1);
    BOOST_TEST(static_cast<char>(stalls[0].state) == 'R');
    BOOST_TEST(stalls[0].cpu_waited == 1);
}

BOOST_AUTO_TEST_CASE(what_is_under_way_is_known_once_and_ends_once) {
    FedRecords fed;
    const TaskRecord task = asleep(kInDisk);
    BOOST_TEST(!fed.records.knows(task));
    fed.records.look(task);
    BOOST_TEST(fed.records.knows(task));
    BOOST_TEST(fed.due(110 * kRecordMs).size() == 1);
    Stall* open = fed.open_stall(10);
    BOOST_REQUIRE(open);
    open->wchan = "seen while it slept";
    fed.records.look(task);
    fed.records.take(ended(task, 150, 150));
    const auto stalls = fed.stalls(1);
    BOOST_TEST(stalls[0].wchan == "seen while it slept");
    BOOST_TEST(!fed.open_stall(10));
}

BOOST_AUTO_TEST_CASE(a_look_is_ignored_while_something_sent_is_not_taken) {
    FedRecords fed;
    TaskRecord second = asleep(kInDisk);
    second.number = 1;
    second.out = 200 * kRecordMs;
    fed.records.look(second);
    BOOST_TEST(!fed.open_stall(10));
    fed.records.take(ended(asleep(kInDisk), 150, 150));
    fed.stalls(1);
    fed.records.look(second);
    BOOST_REQUIRE(fed.open_stall(10));
    BOOST_TEST(fed.open_stall(10)->begin_ns == 200 * kRecordMs);
}

BOOST_AUTO_TEST_CASE(a_task_found_blocked_ends_with_the_first_record_which_has_no_begin) {
    FedRecords fed;
    Stall blocked;
    blocked.state = TaskState::uninterruptible;
    blocked.begin_ns = 100 * kRecordMs;
    fed.found(10, blocked);
    TaskRecord task = ended(asleep(kInDisk), 150, 150);
    task.out = 0;
    fed.records.take(task);
    const auto stalls = fed.stalls(1);
    BOOST_TEST(stalls[0].is_cut);
    BOOST_TEST(stalls[0].duration_ns() == 50 * kRecordMs);
}

BOOST_AUTO_TEST_CASE(a_task_that_runs_unseen_may_have_come_back_earlier) {
    FedRecords fed;
    TaskRecord task = ended(asleep(kInDisk), 150, 160);
    task.flags = TaskRecord::kLate;
    fed.records.take(task);
    const auto stalls = fed.stalls(2);
    BOOST_TEST(!stalls[0].is_end_late);
    BOOST_TEST(stalls[1].is_end_late);
}

BOOST_AUTO_TEST_CASE(after_a_loss_a_task_is_known_to_have_run) {
    FedRecords fed;
    TaskRecord task = asleep(kInDisk);
    fed.records.look(task);
    task.number = 2;
    task.out = 0;
    fed.on_loss(90 * kRecordMs);
    fed.records.resume(task, 180 * kRecordMs);
    const auto stalls = fed.stalls(1);
    BOOST_TEST(stalls[0].is_end_late);
    BOOST_TEST(stalls[0].hides_losses);
    fed.records.take(ended(asleep(kInDisk), 250, 250, 2));
    BOOST_TEST(fed.stalls(1)[0].end_ns == 250 * kRecordMs);
}

BOOST_AUTO_TEST_CASE(threads_come_and_go_and_take_over_ids) {
    constexpr std::uint64_t kThread = 0x10000;
    FedRecords fed;
    fed.records.take_newtask(10, 11, "daemon", kThread);
    BOOST_TEST(fed.watches(11));
    fed.records.take_exit(10);
    fed.records.take_exec(10, 11);
    BOOST_TEST(fed.watches(10));
    BOOST_TEST(!fed.watches(11));
    BOOST_TEST(fed.records.take_execed() == std::vector<int>{10});
    BOOST_TEST(fed.records.take_execed().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
