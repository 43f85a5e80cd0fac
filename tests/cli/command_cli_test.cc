#define BOOST_TEST_DYN_LINK
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <thread>

#include "base/cat.h"
#include "base/file.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"
#include "support/told.h"
#include "support/trace_instance.h"

namespace ut = boost::unit_test;

// What a command after -- means, whatever tells of it.
namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::Told;

// Makes the same calls as the commands below, in another process, as long as it lives.
class Others {
public:
    Others()
        : calls_([this] {
              while (!is_over_) ::syscall(SYS_getppid);
          }) {}
    ~Others() { is_over_ = true; }

private:
    std::atomic<bool> is_over_ = false;
    std::jthread calls_;
};

// A process calls, one that it starts, and one that this starts.
std::vector<std::string> calling(int calls) {
    const std::string call = cat(test::work_binary(), " calls ", calls, " 0");
    return {"sh", "-c", cat(call, "; (", call, " & wait); exec ", call)};
}

std::vector<std::string> with(std::vector<std::string> args, const std::vector<std::string>& more) {
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(commands)

BOOST_AUTO_TEST_CASE(a_command_and_what_it_starts_is_counted_and_nothing_else) {
    const Others others;
    const Ended ended = test::gpufs(with({"count", "syscalls:sys_enter_getppid", "by", "comm",
                                          "--if", "comm != \"sh\"", "--strict", "--"},
                                         calling(1000)));
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(ended.out ==
               "syscalls:sys_enter_getppid by comm\nCOMM        COUNT\ngpufs-work   3000\n");
}

BOOST_AUTO_TEST_CASE(it_is_looked_at_from_its_first_instruction_on, *ut::label("pure")) {
    // Neither what gpufs does before the exec nor the exec's own call.
    const Ended ended =
        test::gpufs({"count", "raw_syscalls:sys_enter", "by", "comm", "--", "true"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.out, "\ntrue "), ended.out);
    BOOST_TEST(!has(ended.out, "gpufs"), ended.out);
    const Ended exec = test::gpufs({"count", "sched:sched_process_exec", "--", "true"});
    BOOST_TEST(exec.out == "sched:sched_process_exec: 1\n", exec.err);
}

BOOST_AUTO_TEST_CASE(what_it_prints_does_not_come_between_lines_of_json, *ut::label("pure")) {
    const std::vector<std::string> command{"--", "echo", "hello"};
    const test::TempFile recording("");
    const std::vector<std::string> all[] = {
        {"count", "sched:sched_process_exec", "--json"},
        {"run", "execs", "--json"},
        {"stall", "--json"},
        {"record", "-e", "sched:sched_process_exec", "-o", recording.path(), "--json"}};
    for (const std::vector<std::string>& args : all) {
        const Ended ended = test::gpufs(with(args, command));
        BOOST_TEST(ended.status == 0, ended.err);
        BOOST_TEST(ended.out.starts_with("{"), args.front());
        BOOST_TEST(!has(ended.out, "hello\n"), args.front());
        BOOST_TEST(has(ended.err, "hello\n"), args.front());
    }
    const Ended text = test::gpufs(with({"count", "sched:sched_process_exec"}, command));
    BOOST_TEST(text.out == "hello\nsched:sched_process_exec: 1\n", text.err);
    const test::TempFile ours("");
    const Ended apart = test::gpufs(
        with({"count", "sched:sched_process_exec", "--json", "-o", ours.path()}, command));
    BOOST_TEST(apart.out == "hello\n", apart.err);
}

BOOST_AUTO_TEST_CASE(the_whole_machine_is_looked_at_where_it_is_asked_for) {
    const Others others;
    const Ended ended = test::gpufs(
        {"count", "syscalls:sys_enter_getppid", "by", "comm", "--all", "--", "sleep", "0.1"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.out, "gpufs-test"), ended.out);
    BOOST_TEST(test::gpufs({"count", "sched:sched_switch", "--all"}).err ==
               "gpufs: --all goes with a COMMAND\n"
               "hint: without one the whole machine is looked at\n");
}

BOOST_AUTO_TEST_CASE(processes_that_are_named_are_looked_at_instead_of_it, *ut::label("pure")) {
    const Others others;
    const Ended ended = test::gpufs({"count", "syscalls:sys_enter_getppid", "by", "comm", "-p",
                                     cat(::getpid()), "--", "sleep", "0.1"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.out, "gpufs-test"), ended.out);
}

BOOST_AUTO_TEST_CASE(monitors_look_at_it_too) {
    const Others others;
    const Told calls({"syscalls"}, calling(500));
    BOOST_TEST(calls.sum("calls", {{"call", "getppid"}, {"comm", "gpufs-work"}}, "count") == 1500);
    BOOST_TEST(calls.sum("calls", {{"call", "getppid"}, {"comm", "gpufs-test"}}, "count") == 0);
    // A user's own, which does not ask for it.
    const test::TempFile own(
        ".map n array value count, max 1\n.prog p tracepoint syscalls:sys_enter_getppid\n"
        "add n[0]\nexit 0\n",
        ".bpf");
    const Ended ended =
        test::gpufs({"run", own.path(), "--", test::work_binary(), "calls", "700", "0"});
    BOOST_TEST(ended.out == "n: 700\n", ended.err);
}

BOOST_AUTO_TEST_CASE(what_is_waited_for_on_a_cpu_is_known_by_the_waiting_task) {
    const Others others;
    const Told told({"sched-wait"}, {"sh", "-c", "sleep 0.01; sleep 0.01"});
    BOOST_TEST(told.sum("wait_us", {{"comm", "sleep"}}, "count") > 0);
    BOOST_TEST(told.sum("wait_us", {{"comm", "gpufs-test"}}, "count") == 0);
    BOOST_TEST(told.sum("wait_us", {{"comm", "gpufs"}}, "count") == 0);
}

BOOST_AUTO_TEST_CASE(latencies_begin_in_it) {
    const Others others;
    const Ended ended =
        test::gpufs({"latency", "syscalls:sys_enter_getppid", "syscalls:sys_exit_getppid", "by",
                     "comm", "--json", "--", test::work_binary(), "calls", "300", "0"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.out, "{\"key\":{\"comm\":\"gpufs-work\"},\"count\":300,"), ended.out);
    BOOST_TEST(!has(ended.out, "gpufs-test"), ended.out);
}

// A switch is done by the task that stops: another one does the switch back to it.
BOOST_AUTO_TEST_CASE(how_long_it_was_off_its_cpu_is_between_two_of_one_event) {
    const Others others;
    // The writer waits until cat has left its CPU, and keeps it there for 50 ms more.
    const std::string waiting = R"(mkfifo "$0"; cat "$0" & cat=$!
        until grep -q '^State:.S' /proc/$cat/status; do :; done
        sleep 0.05; echo >"$0"; wait; rm "$0")";
    const test::TempFile fifo;
    const Ended ended = test::gpufs({"latency", "sched:sched_switch", "sched:sched_switch", "--key",
                                     "prev_pid=next_pid", "by", "start.comm", "--json", "--", "sh",
                                     "-c", waiting, cat(fifo.path(), ".fifo")});
    BOOST_TEST(ended.status == 0, ended.err);
    const test::Json told = test::parse_json(ended.out.substr(0, ended.out.find('\n')));
    const std::vector<test::Json>& entries = told["entries"].items;
    const auto entry = std::ranges::find_if(
        entries, [](const test::Json& each) { return each["key"]["start.comm"].text == "cat"; });
    BOOST_TEST_REQUIRE((entry != entries.end()), ended.out);
    BOOST_TEST((*entry)["max"].number() >= 50'000, ended.out);
}

BOOST_AUTO_TEST_CASE(each_of_several_calls_has_its_own_end) {
    const Ended ended =
        test::gpufs({"latency", "sys_enter_getppid,sys_enter_nanosleep", "by", "probe", "--json",
                     "--", test::work_binary(), "calls", "300", "0"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.out, "{\"key\":{\"probe\":\"syscalls:sys_exit_getppid\"},\"count\":300,"),
               ended.out);
}

BOOST_AUTO_TEST_CASE(wakeups_by_it_are_told_from_those_of_it) {
    const std::string note =
        "sched:sched_wakeup happens in the task that wakes, so this is about wakeups by COMMAND; "
        "for those of it: --all --if 'comm == \"sleep\"'\n";
    const Ended ended = test::gpufs({"count", "sched_wakeup", "--", "/bin/sleep", "0.01"});
    BOOST_TEST(has(ended.err, note), ended.err);
    const Ended all = test::gpufs({"count", "sched_wakeup", "--all", "--if", "comm == \"sleep\"",
                                   "--", "/bin/sleep", "0.01"});
    BOOST_TEST(!has(all.err, note), all.err);
    BOOST_TEST(!has(all.out, "sched_wakeup: 0\n"), all.out);
    const Ended end = test::gpufs({"latency", "sched_switch", "sched_wakeup", "--key",
                                   "prev_pid=pid", "--", "sleep", "0.01"});
    BOOST_TEST(!has(end.err, "happens in the task"), end.err);
}

BOOST_AUTO_TEST_CASE(pairs_of_one_thread_are_no_pairs_of_a_wakeup) {
    const std::string note =
        "sched:sched_wakeup happens in the task that wakes, and a pair is of one thread, unless "
        "--key has fields that say which task is meant: --key pid=next_pid\n";
    const std::vector<std::string> asked = {"latency", "sched_wakeup", "sched_switch", "--duration",
                                            "10ms"};
    BOOST_TEST(has(test::gpufs(asked).err, note));
    std::vector<std::string> with_key = asked;
    with_key.insert(with_key.end(), {"--key", "pid=next_pid"});
    BOOST_TEST(!has(test::gpufs(with_key).err, "happens in the task"));
}

BOOST_AUTO_TEST_CASE(the_name_of_a_monitor_is_no_command, *ut::label("pure")) {
    const Ended ended = test::gpufs({"leaks"});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.err ==
               "gpufs: unknown command 'leaks'\n"
               "hint: 'gpufs run leaks' runs the monitor of that name\n");
}

BOOST_AUTO_TEST_CASE(what_is_recorded_is_its_own, *ut::label("pure")) {
    const test::TempFile file;
    const Ended recorded = test::gpufs({"record", "-e", "sched_process_exec", "-o", file.path(),
                                        "--", "sh", "-c", "/bin/true; /bin/true; exit 5"});
    BOOST_TEST(recorded.status == 5);
    BOOST_TEST(has(recorded.err, cat(") in ", file.path(), ", 0 lost\n")), recorded.err);
    BOOST_TEST(has(recorded.err, "3 records ("), recorded.err);
}

BOOST_AUTO_TEST_CASE(its_exit_status_is_ours_where_ours_is_0, *ut::label("pure")) {
    const auto status = [](const std::string& command) {
        return test::gpufs({"count", "sched:sched_switch", "--", "sh", "-c", command}).status;
    };
    BOOST_TEST(status("exit 0") == 0);
    BOOST_TEST(status("exit 9") == 9);
    BOOST_TEST(status("kill -TERM $$") == 128 + SIGTERM);
    BOOST_TEST(test::gpufs({"count", "sched:sched_switch", "--", "/no/such/program"}).status == 1);
}

BOOST_AUTO_TEST_CASE(a_file_has_our_output_and_not_its, *ut::label("pure")) {
    const test::TempFile file("what was there before, and is longer than what comes\n");
    const Ended ended = test::gpufs({"count", "sched:sched_process_exec", "-o", file.path(), "--",
                                     "sh", "-c", "echo of the command"});
    BOOST_TEST(ended.out == "of the command\n");
    BOOST_TEST(read_file(file.path()) == "sched:sched_process_exec: 1\n");
    // A mistake leaves the file as it is.
    test::gpufs({"count", "sched:sched_swich", "-o", file.path()});
    BOOST_TEST(read_file(file.path()) == "sched:sched_process_exec: 1\n");
    BOOST_TEST(test::gpufs({"list", "-o", "/no/such/folder/file"}).err ==
               "gpufs: cannot write '/no/such/folder/file': No such file or directory\n");
    BOOST_TEST(test::gpufs({"list", "sched:sched_switch", "-o", "-"}).out ==
               "sched:sched_switch\n");
}

// It is there before anything is set, and starts when all is.
BOOST_AUTO_TEST_CASE(what_was_set_for_a_command_goes_if_it_ends_before_its_start) {
    const test::TempSession session;
    const Ended ended =
        test::shell(cat(test::gpufs_binary(), " recipe run wakeups --session ", session.name(),
                        " -- sleep 9 & gpufs=$! command=; until [ -n \"$command\" ]; do "
                        "read command </proc/$gpufs/task/$gpufs/children; done; kill -9 $command; "
                        "wait $gpufs"));
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(has(ended.err, "gpufs: 'sleep' ended before it was started\n"), ended.err);
    BOOST_TEST(!file_exists(session.directory()));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
