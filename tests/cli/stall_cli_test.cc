#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/host/proc_task.h"
#include "kernel/host/syscall_names.h"
#include "support/json.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Child;
using test::Ended;
using test::TempSession;
using test::Worker;

using test::has;

// Blocks in D for 100 ms, again and again.
int block_on() {
    for (;;) test::block_in_vfork(100);
}

// Waits until the process is blocked in this system call.
bool is_in_call(int pid, std::string_view name) {
    constexpr int kTries = 2000;
    for (int i = 0; i < kTries; ++i) {
        const SyscallState now = proc::syscall(pid);
        if (now.known == SyscallState::Known::yes && syscall_name(now.call.nr) == name) return true;
        ::usleep(5000);
    }
    return false;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(stall)

BOOST_AUTO_TEST_CASE(a_command_is_watched_from_its_start_to_its_end) {
    const Ended ended = test::gpufs(
        {"stall", "--state", "S", "--over", "100ms", "--", "sh", "-c", "sleep 0.3; exit 3"});
    BOOST_TEST(ended.status == 3);  // the command's
    BOOST_TEST(has(ended.out, "wait4("), ended.out);
    BOOST_TEST(has(ended.out, "  LONGEST  STATE  KERNEL STACK\n"), ended.out);
    BOOST_TEST(has(ended.out, "us                     count\n"), ended.out);
    // Its child's sleep is one, too.
    BOOST_TEST(has(ended.err, "2 stalls over 100.0 ms in state S\n"), ended.err);
    BOOST_TEST(has(ended.err, "0 lost; gpufs took "), ended.err);
    BOOST_TEST(has(ended.err, "sh ended with exit status 3\n"), ended.err);
}

BOOST_AUTO_TEST_CASE(the_users_stack_is_told_beside_the_kernels) {
    const Ended text = test::gpufs({"stall", "--state", "S", "--over", "10ms", "--",
                                    test::work_binary(), "sleeps", "10", "20"});
    BOOST_TEST(has(text.out, "\n                    user    "), text.out);
    BOOST_TEST(has(text.out, "(anonymous namespace)::sleeps (gpufs-work)\n"), text.out);
    const Ended json = test::gpufs({"stall", "--state", "S", "--over", "10ms", "--json", "--",
                                    test::work_binary(), "sleeps", "10", "20"});
    bool is_named = false;
    for (const test::Json& line : test::parse_json_lines(json.out))
        if (line.members.contains("user_stack"))
            for (const test::Json& frame : line["user_stack"].items)
                is_named |= frame.text == "(anonymous namespace)::sleeps (gpufs-work)";
    BOOST_TEST(is_named, json.out);
}

BOOST_AUTO_TEST_CASE(explain_says_how_the_tasks_are_watched) {
    const Ended ended = test::gpufs({"stall", "--explain", "--", "true"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(
        has(ended.err, "tasks are watched by a BPF program, which sends what lasted too long\n"),
        ended.err);
}

BOOST_AUTO_TEST_CASE(who_may_not_load_programs_watches_by_events,
                     *ut::precondition(test::has_program{"setpriv"})) {
    // Root without the capabilities that bpf(2) asks for.
    constexpr const char* kWithout = "-bpf,-perfmon,-sys_admin";
    Child child({{"setpriv", cat("--bounding-set=", kWithout), cat("--inh-caps=", kWithout),
                  test::gpufs_binary(), "stall", "--explain", "--state", "S", "--over", "100ms",
                  "--", "sh", "-c", "sleep 0.3; exit 0"},
                 {},
                 false,
                 false,
                 {}});
    const Ended ended = child.wait();
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.err,
                   "tasks are watched by events of tracefs, each read by gpufs: those "
                   "that come faster than it reads are lost\n"
                   "a BPF program cannot do it here:\n"
                   "  cannot make map 'events': this user may not\n"),
               ended.err);
    BOOST_TEST(has(ended.out, "wait4("), ended.out);
    BOOST_TEST(has(ended.err, "0 lost; gpufs took "), ended.err);
}

BOOST_AUTO_TEST_CASE(children_are_watched_when_asked_for_and_those_of_a_command_always,
                     *ut::label("pure")) {
    BOOST_TEST(has(test::gpufs({"stall", "--state", "S", "--over", "100ms", "--", "sh", "-c",
                                "sleep 0.3; true"})
                       .out,
                   "nanosleep("));
    const auto of_process = [](const char* option) {
        return test::shell(cat("sh -c 'sleep 0.5; sleep 0.5; true' & $GPUFS stall -p $! --state S "
                               "--over 100ms --duration 2s ",
                               option, "; kill $!"))
            .out;
    };
    BOOST_TEST(has(of_process("--children"), "nanosleep("));
    BOOST_TEST(!has(of_process(""), "nanosleep("));
}

BOOST_AUTO_TEST_CASE(a_command_that_cannot_run_is_a_failure, *ut::label("pure")) {
    const Ended ended = test::gpufs({"stall", "--", "/nonexistent"});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(has(ended.err, "gpufs: cannot run '/nonexistent': No such file or directory\n"));
}

BOOST_AUTO_TEST_CASE(it_ends_after_its_duration_with_the_reports, *ut::label("pure")) {
    Worker worker(block_on);
    worker.start();
    const Ended ended =
        test::gpufs({"stall", "-p", cat(worker.pid()), "--over", "50ms", "--duration", "1500ms"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(has(ended.err, "watching 1 task of 1 process"), ended.err);
    BOOST_TEST(has(ended.out, "KERNEL STACK\n"), ended.out);
    BOOST_TEST(has(ended.out, test::kVforkFrame), ended.out);
}

BOOST_AUTO_TEST_CASE(a_thread_that_has_ended_is_no_task_to_watch, *ut::label("pure")) {
    test::Worker worker(test::end_first_thread);
    worker.start();
    BOOST_TEST_REQUIRE(worker.reaches_state('Z'));
    const Ended ended =
        test::gpufs({"stall", "-p", cat(worker.pid()), "--state", "any", "--duration", "50ms"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.err, "watching 1 task of 1 process: 1 "), ended.err);
    BOOST_TEST(!has(ended.out, cat("-", worker.pid(), "  ")), ended.out);
}

BOOST_AUTO_TEST_CASE(ctrl_c_ends_it_with_the_reports_and_leaves_nothing, *ut::label("pure")) {
    Worker worker(block_on);
    worker.start();
    Child child({{test::gpufs_binary(), "stall", "-p", cat(worker.pid()), "--over", "50ms"},
                 {},
                 false,
                 false,
                 {}});
    BOOST_TEST(child.wait_for_output("after the wake-up", std::chrono::seconds(30)));
    const int pid = child.pid();
    child.send(SIGINT);
    const Ended ended = child.wait();
    BOOST_TEST(ended.signal == SIGINT);
    BOOST_TEST(has(ended.out, "KERNEL STACK\n"), ended.out);
    BOOST_TEST(has(ended.err, " lost; gpufs took "), ended.err);
    BOOST_TEST(!has(test::our_instances(), cat("gpufs.", pid, ".")));
}

BOOST_AUTO_TEST_CASE(a_closed_pipe_ends_it_and_leaves_nothing, *ut::label("pure")) {
    Worker worker(block_on);
    worker.start();
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "stall", "-p", cat(worker.pid()), "--over", "50ms"};
    setup.close_stdout_early = true;
    Child child(setup);
    const int pid = child.pid();
    BOOST_TEST(child.wait().signal == SIGPIPE);
    BOOST_TEST(!has(test::our_instances(), cat("gpufs.", pid, ".")));
}

BOOST_AUTO_TEST_CASE(json_is_one_object_a_stall_two_maps_and_a_summary) {
    const Ended ended = test::gpufs({"stall", "--json", "--state", "S", "--over", "100ms", "--",
                                     "sleep", "0.3"});
    BOOST_TEST(ended.status == 0);
    const auto lines = lines_of(ended.out);
    BOOST_REQUIRE_EQUAL(lines.size(), 4);
    BOOST_TEST(lines[0].starts_with("{\"time\":1"));
    BOOST_TEST(has(std::string(lines[0]), "\"syscall\":{\"nr\":"));
    BOOST_TEST(has(std::string(lines[0]), "\"cut\":false,\"ongoing\":false,"));
    BOOST_TEST(
        lines[1].starts_with("{\"map\":\"by_stack\",\"title\":\"By kernel stack\",\"unit\":"
                             "\"ns\",\"entries\":[{\"key\":{\"state\":\"S\",\"stack\":["));
    BOOST_TEST(has(std::string(lines[2]), "{\"key\":{\"state\":\"S\",\"syscall\":\""));
    BOOST_TEST(lines[3].starts_with("{\"summary\":{\"stalls\":1,"));
    BOOST_TEST(has(std::string(lines[3]), "\"lost\":0,"));
}

// The task sleeps from before it is watched until after.
BOOST_AUTO_TEST_CASE(a_sleep_in_another_state_that_does_not_end_is_told) {
    const Worker worker([] {
        ::pause();
        return 0;
    });
    BOOST_TEST_REQUIRE(worker.reaches_state('S'));
    const std::vector<std::string> words = {"stall", "-p", cat(worker.pid()), "--duration",
                                            "100ms"};
    const Ended ended = test::gpufs(words);
    BOOST_TEST(has(ended.err, "0 stalls over 1.0 ms in state D\n"), ended.err);
    BOOST_TEST(has(ended.err, "not shown: 1 in S (longest > "), ended.err);
    BOOST_TEST(has(ended.err, ", not over yet); --state S shows them\n"), ended.err);
    std::vector<std::string> with_json = words;
    with_json.emplace_back("--json");
    const Ended json = test::gpufs(with_json);
    BOOST_TEST(has(json.out, "\"not_shown\":[{\"state\":\"S\",\"count\":1,"), json.out);
    BOOST_TEST(has(json.out, "\"ongoing\":1}]"), json.out);
}

// Two that compute take turns on one CPU, by its timer's interrupts.
BOOST_AUTO_TEST_CASE(a_task_that_computes_is_in_no_system_call) {
    const auto computes = [] {
        test::pin_to_cpu(test::first_cpu());
        for (volatile bool goes_on = true; goes_on;) {
        }
        return 0;
    };
    Worker one(computes), other(computes);
    one.start();
    other.start();
    BOOST_TEST_REQUIRE(one.reaches_state('R'));
    Child child({{test::gpufs_binary(), "stall", "-p", cat(one.pid()), "--state", "R"},
                 {},
                 false,
                 false,
                 {}});
    BOOST_TEST(child.wait_for_output("  no system call\n", std::chrono::minutes(1)));
    child.send(SIGINT);
    child.wait();
}

BOOST_AUTO_TEST_CASE(a_path_that_a_task_hangs_on_is_told) {
    const test::TempFile fifo;
    std::filesystem::remove(fifo.path());
    BOOST_TEST_REQUIRE(::mkfifo(fifo.path().c_str(), 0600) == 0);
    Worker worker([&] { return ::open(fifo.path().c_str(), O_RDONLY); });
    worker.start();
    BOOST_TEST_REQUIRE(is_in_call(worker.pid(), "openat"));
    const std::vector<std::string> words = {"stall",      "-p",  cat(worker.pid()), "--state", "S",
                                            "--duration", "20ms"};
    const Ended ended = test::gpufs(words);
    BOOST_TEST(has(ended.out, cat("openat(dfd=AT_FDCWD, filename=\"", fifo.path(), "\", flags=")),
               ended.out);
    std::vector<std::string> with_json = words;
    with_json.emplace_back("--json");
    const Ended json = test::gpufs(with_json);
    BOOST_TEST(has(json.out, cat("filename=\\\"", fifo.path(), "\\\", flags=")), json.out);
}

BOOST_AUTO_TEST_CASE(freeze_stops_the_session_at_the_first_stall) {
    const TempSession session;
    Worker worker(block_on);
    worker.start();
    // A busy machine may well keep it off its CPU first.
    const Ended ended = test::gpufs({"stall", "--freeze", "--session", session.name(), "-p",
                                     cat(worker.pid()), "--over", "50ms", "--state", "D"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(has(ended.err, cat("session '", session.name(), "' stopped at the first of them")),
               ended.err);
    BOOST_TEST(session.read("tracing_on") == "0\n");
    const Ended shown = test::gpufs({"show", "--session", session.name()});
    // In the stack of the task, or, if it slept already, of the one that woke it.
    BOOST_TEST(has(shown.out, "kernel_clone"), shown.out);
    // What is frozen is not written over.
    const Ended again =
        test::gpufs({"stall", "--freeze", "--session", session.name(), "--", "true"});
    BOOST_TEST(again.status == 1);
    BOOST_TEST(has(again.err, "' is stopped, and may hold what was frozen before\n"), again.err);
    BOOST_TEST(session.read("tracing_on") == "0\n");
    BOOST_TEST(test::gpufs({"reset", "--session", session.name()}).status == 0);
    BOOST_TEST(!file_exists(session.directory()));
}

BOOST_AUTO_TEST_CASE(freeze_leaves_no_session_when_there_was_nothing_to_freeze_for,
                     *ut::label("pure")) {
    const TempSession session;
    const Ended ended = test::gpufs(
        {"stall", "--freeze", "--session", session.name(), "--over", "60s", "--", "true"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(has(ended.err, "nothing to freeze for\n"), ended.err);
    BOOST_TEST(!file_exists(session.directory()));
}

BOOST_AUTO_TEST_CASE(freeze_does_not_touch_a_session_in_use, *ut::label("pure")) {
    const TempSession session;
    test::gpufs({"filter", "prev_prio == 12345", "--session", session.name()});
    const Ended ended =
        test::gpufs({"stall", "--freeze", "--session", session.name(), "--", "true"});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(has(ended.err, "records events already"), ended.err);
    test::gpufs({"reset", "--session", session.name()});
    // A filter without its event enabled.
    test::gpufs({"filter", "prev_prio == 12345", "--no-enable", "--session", session.name()});
    BOOST_TEST(test::gpufs({"stall", "--freeze", "--session", session.name(), "--", "true"}).err ==
               cat("gpufs: session '", session.name(),
                   "' has filters or triggers\nhint: 'gpufs reset "
                   "--session ",
                   session.name(), "' removes them; or --session NAME\n"));
    test::gpufs({"reset", "--session", session.name()});
}

BOOST_AUTO_TEST_CASE(whom_to_watch_must_be_said_and_must_be_there, *ut::label("pure")) {
    BOOST_TEST(test::gpufs({"stall"}).err ==
               "gpufs: stall needs processes to watch\nhint: -p PID, --comm GLOB or -- COMMAND\n");
    BOOST_TEST(test::gpufs({"stall"}).status == 2);
    const Ended gone = test::gpufs({"stall", "-p", "4194000"});
    BOOST_TEST(gone.status == 1);
    BOOST_TEST(has(gone.err, "gpufs: there is no process 4194000\n"), gone.err);
    BOOST_TEST(test::gpufs({"stall", "-p", "x"}).status == 2);
    BOOST_TEST(test::gpufs({"stall", "--comm", "no such name"}).status == 1);
    BOOST_TEST(has(test::gpufs({"stall", "--comm", "no such name", "-p", cat(::getpid())}).err,
                   "gpufs: no process is named 'no such name'\n"));
    BOOST_TEST(test::gpufs({"stall", "--state", "Q", "--", "true"}).status == 2);
    BOOST_TEST(test::gpufs({"stall", "-p", "1", "--", "true"}).status == 2);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
