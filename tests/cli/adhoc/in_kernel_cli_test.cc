#define BOOST_TEST_DYN_LINK
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <map>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/adhoc/adhoc_support.h"
#include "support/json.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/workloads.h"

// gpufs latency --in-kernel: the same question, answered by hist triggers.
namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace std::chrono_literals;
using test::call_getppid;
using test::Ended;
using test::has;
using test::in_thread;
using test::Json;
using test::trace;

constexpr const char *kLseek = "syscalls:sys_enter_lseek", *kGetppid = "syscalls:sys_enter_getppid";
constexpr const char* kTop = "/sys/kernel/tracing/";

void call_lseek(int times) {
    for (int i = 0; i < times; ++i) ::syscall(SYS_lseek, -1, 0, SEEK_SET);
}

Ended latency(std::vector<std::string> words) {
    words.insert(words.begin(), "latency");
    words.emplace_back("--in-kernel");
    return test::gpufs(words);
}
// The same, with a COMMAND.
Ended latency_of(std::vector<std::string> words, const std::vector<std::string>& command) {
    words.insert(words.begin(), "latency");
    for (const char* word : {"--in-kernel", "--json", "--strict", "--"}) words.emplace_back(word);
    words.insert(words.end(), command.begin(), command.end());
    return test::gpufs(words);
}

// The report of a map, of all objects; an empty one where there is none.
Json report_of(const std::string& out, const std::string& map) {
    for (const Json& line : test::parse_json_lines(out))
        if (line.members.contains("map") && line["map"].text == map) return line;
    return {};
}
long long count_in(const std::string& out) {
    long long count = 0;
    const Json report = report_of(out, "latency");
    if (!report.members.contains("entries")) return 0;
    for (const Json& entry : report["entries"].items) count += entry["count"].number();
    return count;
}

// Nothing of gpufs' own is in the kernel's list.
bool leaves_nothing() {
    return !has(read_file(cat(kTop, "dynamic_events")), "synthetic/gpufs_");
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(in_kernel)

BOOST_AUTO_TEST_CASE(a_kernel_without_hist_triggers_is_told_in_one_line,
                     *ut::precondition(test::lacks_trigger{"hist"})) {
    const Ended ended = latency({kGetppid});
    BOOST_TEST(ended.status == 3);
    BOOST_TEST(ended.err ==
               "gpufs: this kernel has no hist triggers: it was built without "
               "CONFIG_HIST_TRIGGERS\n"
               "hint: leave --in-kernel away: 'gpufs latency' measures the same by BPF programs\n");
}

BOOST_AUTO_TEST_CASE(options_that_do_not_go_with_it_are_refused) {
    BOOST_TEST(latency({kGetppid, "--over", "1ms"}).err ==
               "gpufs: --over tells pairs as they happen: not with --in-kernel\n"
               "hint: leave --in-kernel away\n");
    BOOST_TEST(latency({kGetppid, "-i", "tests/data/trace_dat/why-6.12.dat"}).err ==
               "gpufs: -i asks a recording, and --in-kernel this kernel\n"
               "hint: leave --in-kernel away\n");
    BOOST_TEST(latency({kGetppid, "--longest", "--interval", "1s"}).status == 2);
    BOOST_TEST(test::gpufs({"latency", kGetppid, "--longest"}).err ==
               "gpufs: --longest goes with --in-kernel\n");
}

BOOST_AUTO_TEST_SUITE(measured, *ut::precondition(test::has_trigger{"hist"}))

BOOST_AUTO_TEST_CASE(what_hist_triggers_do_not_know_is_pointed_at) {
    struct Refused {
        std::vector<std::string> words;
        std::string message;
    };
    const std::vector<Refused> all = {
        {{"sys_enter_openat", "by", "filename"},
         "gpufs: latency:1:37: error: no hist trigger of the kernel knows 'filename'\n"
         "sys_enter_openat sys_exit_openat by filename\n"
         "                                    ^~~~~~~~\n"
         "hint: leave --in-kernel away: a BPF program can\n"},
        {{"sys_enter_read", "by", "kstack"},
         "gpufs: latency:1:33: error: no hist trigger of the kernel knows 'kstack'\n"
         "sys_enter_read sys_exit_read by kstack\n"
         "                                ^~~~~~\n"
         "hint: leave --in-kernel away: a BPF program can\n"},
        {{"sys_enter_read", "by", "pid"},
         "gpufs: latency:1:33: error: no hist trigger of the kernel knows 'pid'\n"
         "sys_enter_read sys_exit_read by pid\n"
         "                                ^~~\n"
         "hint: tid is known there: the thread\n"},
        {{"sys_enter_read", "by", "fd,tid,cpu"},
         "gpufs: latency:1:40: error: a hist trigger has at most 3 keys, and the time is one of "
         "them\n"
         "sys_enter_read sys_exit_read by fd,tid,cpu\n"
         "                                       ^~~\n"
         "hint: leave --in-kernel away: a BPF program can\n"},
        {{"kprobe:vfs_read"},
         "gpufs: latency:1:1: error: hist triggers are set on events of tracefs, and this is none\n"
         "kprobe:vfs_read kretprobe:vfs_read\n"
         "^~~~~~~~~~~~~~~\n"
         "hint: 'gpufs probe add' makes one of a place in code; or leave --in-kernel away\n"},
        {{"sched:sched_wakeup", "sched:sched_switch", "--key", "pid=next_pid", "--", "true"},
         "gpufs: the kernel follows a COMMAND only where START and END are of one thread: not with "
         "this --key\n"
         "hint: --all looks at the whole machine; or leave --in-kernel away\n"},
    };
    for (const Refused& one : all) {
        std::vector<std::string> words = {"latency", "--in-kernel"};
        words.insert(words.end(), one.words.begin(), one.words.end());
        const Ended ended = test::gpufs(words);
        BOOST_TEST(ended.status == 2);
        BOOST_TEST(ended.err == one.message);
    }
    BOOST_TEST(leaves_nothing());
}

// Both look at the same calls of one thread.
BOOST_AUTO_TEST_CASE(both_ways_give_the_same_numbers) {
    const std::vector<std::string> question = {"latency",
                                               "raw_syscalls:sys_enter",
                                               "raw_syscalls:sys_exit",
                                               "by",
                                               "id",
                                               "--comm",
                                               "gp-ours",
                                               "--json",
                                               "--strict"};
    Ended by_program;
    std::vector<std::string> words = question;
    words.emplace_back("--in-kernel");
    const Ended by_kernel = trace(words, [&] {
        by_program = trace(question, [] {
            in_thread("gp-ours", [] {
                call_getppid(300);
                call_lseek(70);
                for (int i = 0; i < 20; ++i) std::this_thread::sleep_for(2ms);
            });
        });
    });
    BOOST_TEST(by_kernel.status == 0, by_kernel.err);
    BOOST_TEST(by_program.status == 0, by_program.err);
    std::map<std::string, long long> counts[2];
    for (int way = 0; way < 2; ++way) {
        const Json report = report_of(way == 0 ? by_kernel.out : by_program.out, "latency");
        for (const Json& entry : report["entries"].items) {
            const std::string call = entry["key"]["id"].text;
            counts[way][call] = entry["count"].number();
            if (call != "clock_nanosleep") continue;
            BOOST_TEST(entry["min"].number() >= 2000);
            BOOST_TEST(entry["sum"].number() >= 20 * 2000);
        }
    }
    BOOST_TEST((counts[0] == counts[1]), by_kernel.out + by_program.out);
    BOOST_TEST(counts[0]["getppid"] == 300, by_kernel.out);
    BOOST_TEST(counts[0]["lseek"] == 70, by_kernel.out);
    BOOST_TEST(counts[0]["clock_nanosleep"] == 20, by_kernel.out);
    BOOST_TEST(leaves_nothing());
}

BOOST_AUTO_TEST_CASE(what_found_no_partner_is_told) {
    const Ended ran =
        trace({"latency", kLseek, kGetppid, "--comm", "gp-ours", "--strict", "--in-kernel"}, [] {
            in_thread("gp-ours", [] {
                call_lseek(3);
                call_getppid(2);
                call_lseek(1);
            });
        });
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(has(ran.err, "0 lost; 3 starts without an end or replaced by a later one\n"),
               ran.err);
    const Ended ends = trace({"latency", kLseek, kGetppid, "--json", "--in-kernel"}, [] {
        in_thread("gp-ours", [] {
            call_lseek(1);
            call_getppid(4);
        });
    });
    BOOST_TEST(test::count_behind(ends.out, "\"ends without a start\"") >= 3, ends.out);
}

// A condition on a field that only END has.
BOOST_AUTO_TEST_CASE(an_end_that_a_filter_refuses_takes_its_start) {
    constexpr long kOffset = 7'777'777;
    const auto seek_to = [](long offset) { ::syscall(SYS_lseek, -1, offset, SEEK_SET); };
    for (const bool is_in_kernel : {false, true}) {
        std::vector<std::string> words = {
            "latency", kGetppid, kLseek, "--if", cat("offset == ", kOffset), "--json", "--strict"};
        if (is_in_kernel) words.emplace_back("--in-kernel");
        const Ended ran = trace(words, [&] {
            call_getppid(1);
            seek_to(1);
            seek_to(kOffset);
            call_getppid(1);
            seek_to(kOffset);
        });
        BOOST_TEST(ran.status == 0, ran.err);
        BOOST_TEST(count_in(ran.out) == 1, ran.out);
    }
}

BOOST_AUTO_TEST_CASE(a_command_is_followed_from_its_first_instruction_on_with_all_that_it_starts) {
    const std::string work = test::work_binary();
    const Ended alone = latency_of({kGetppid}, {work, "calls", "37", "0"});
    BOOST_TEST(alone.status == 0, alone.err);
    BOOST_TEST(count_in(alone.out) == 37, alone.out);
    const Ended children = latency_of(
        {kGetppid, "by", "cpu"},
        {"sh", "-c",
         cat(work, " calls 5 0 & ", work, " calls 6 0; wait; exec ", work, " calls 100 0")});
    BOOST_TEST(children.status == 0, children.err);
    BOOST_TEST(count_in(children.out) >= 111, children.out);
    // Not the calls of the process before its own exec: both ways see the shell's tries.
    const std::vector<std::string> exec = {"sh", "-c", "exec true"};
    const Ended executed = latency_of({"syscalls:sys_enter_execve"}, exec);
    std::vector<std::string> words = {"latency", "syscalls:sys_enter_execve", "--json", "--"};
    words.insert(words.end(), exec.begin(), exec.end());
    BOOST_TEST(count_in(executed.out) == count_in(test::gpufs(words).out), executed.out);
    BOOST_TEST(count_in(executed.out) > 0, executed.out);
}

BOOST_AUTO_TEST_CASE(keys_are_fields_of_both_events_and_what_is_known_of_the_task) {
    const std::vector<std::string> dd = {"sh", "-c",
                                         "exec dd if=/dev/zero of=/dev/null bs=7 count=20 "
                                         "status=none"};
    const Ended by_fd = latency_of({"sys_enter_write", "by", "fd,ret"}, dd);
    BOOST_TEST(by_fd.status == 0, by_fd.err);
    BOOST_TEST(test::count_behind(by_fd.out, "{\"fd\":1,\"ret\":7}") == 20, by_fd.out);
    const Ended by_comm = latency_of({"sys_enter_write", "by", "comm"}, dd);
    BOOST_TEST(test::count_behind(by_comm.out, "{\"comm\":\"dd\"}") == 20, by_comm.out);
    const Ended woken =
        trace({"latency", "sched:sched_wakeup", "sched:sched_switch", "--key", "pid=next_pid", "by",
               "start.comm,next_comm", "--if", "comm == \"gp-ours\"", "--json", "--in-kernel"},
              [] {
                  in_thread("gp-ours", [] {
                      for (int i = 0; i < 50; ++i) std::this_thread::sleep_for(1ms);
                  });
              });
    BOOST_TEST(woken.status == 0, woken.err);
    BOOST_TEST(
        test::count_behind(woken.out, "{\"start.comm\":\"gp-ours\",\"next_comm\":\"gp-ours\"}") >=
            test::traced_of(40),
        woken.out);
}

BOOST_AUTO_TEST_CASE(intervals_add_up) {
    const Ended ran = trace(
        {"latency", kGetppid, "--comm", "gp-ours", "--json", "--in-kernel", "--interval", "50ms"},
        [] {
            in_thread("gp-ours", [] {
                for (int i = 0; i < 20; ++i) {
                    call_getppid(10);
                    std::this_thread::sleep_for(10ms);
                }
            });
        });
    BOOST_TEST(ran.status == 0, ran.err);
    long long count = 0, intervals = 0;
    for (const Json& line : test::parse_json_lines(ran.out)) {
        intervals += line.members.contains("interval");
        if (line.members.contains("entries"))
            for (const Json& entry : line["entries"].items) count += entry["count"].number();
    }
    BOOST_TEST(count == 200, ran.out);
    BOOST_TEST(intervals >= 3, ran.out);
}

BOOST_AUTO_TEST_CASE(the_longest_pair_is_told_with_what_was_recorded_meanwhile,
                     *ut::precondition(test::has_file{"snapshot"})) {
    pid_t tid = 0;
    const Ended ran = trace({"latency", "syscalls:sys_enter_clock_nanosleep", "--comm", "gp-ours",
                             "--json", "--in-kernel", "--longest"},
                            [&] {
                                in_thread("gp-ours", [&] {
                                    tid = ::gettid();
                                    std::this_thread::sleep_for(1ms);
                                    std::this_thread::sleep_for(300ms);
                                    std::this_thread::sleep_for(1ms);
                                });
                            });
    BOOST_TEST(ran.status == 0, ran.err);
    const Json longest = report_of(ran.out, "longest");
    BOOST_TEST_REQUIRE(longest["entries"].items.size() == 1u);
    const Json& entry = longest["entries"].items[0];
    BOOST_TEST(entry["key"]["tid"].number() == tid);
    BOOST_TEST(entry["max"].number() >= 300'000);
    for (const Json& line : test::parse_json_lines(ran.out))
        if (line.members.contains("longest")) {
            const std::vector<Json>& records = line["longest"].items;
            BOOST_TEST_REQUIRE(records.size() >= 2u);
            BOOST_TEST(has(records.front().text, "sys_clock_nanosleep("), records.front().text);
            BOOST_TEST(has(records.back().text, "sys_clock_nanosleep -> 0x0"), records.back().text);
        }
}

BOOST_AUTO_TEST_CASE(threads_that_begin_in_a_process_of_p_are_told_as_not_looked_at) {
    const std::vector<std::string> words = {"latency",       kGetppid, "-p",
                                            cat(::getpid()), "--json", "--in-kernel"};
    const Ended known = trace(words, [] { call_getppid(12); });
    BOOST_TEST(count_in(known.out) == 12, known.out);
    const Ended began = trace(words, [] {
        call_getppid(12);
        in_thread("gp-ours", [] { call_getppid(3); });
    });
    BOOST_TEST(count_in(began.out) == 12, began.out);
    BOOST_TEST(has(began.out, "\"threads that began since and were not looked at\""), began.out);
}

BOOST_AUTO_TEST_CASE(what_is_written_is_explained) {
    const Ended ended = latency({kGetppid, "--dry-run"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.out, "/dynamic_events\n"), ended.out);
    BOOST_TEST(has(ended.out,
                   "echo 'hist:keys=common_pid:vals=hitcount:ts0=common_timestamp:clock=mono:"
                   "sort=hitcount.descending:size=65536 if common_pid != "),
               ended.out);
    BOOST_TEST(has(ended.out, "onmatch(syscalls.sys_enter_getppid).trace(gpufs_"), ended.out);
    BOOST_TEST(leaves_nothing());
}

BOOST_AUTO_TEST_CASE(what_a_killed_run_leaves_is_removed_as_stale) {
    // The command lets go of the output, which is read to its end, and ends with gpufs.
    test::Child child(
        {{test::gpufs_binary(), "latency", kGetppid, "--in-kernel", "--", "sh", "-c",
          "echo ready >&2; exec >/dev/null 2>&1; while [ -e /proc/$PPID ]; do sleep 0.1; done"},
         {},
         false,
         false,
         {}});
    BOOST_TEST_REQUIRE(child.wait_for_error("ready\n", 60s));
    const int pid = child.pid();
    // A living one's stays.
    const std::string alive = test::gpufs({"reset", "--stale"}).err;
    BOOST_TEST(!leaves_nothing(), alive);
    child.send(SIGKILL);
    BOOST_TEST(child.wait().signal == SIGKILL);
    BOOST_TEST(!leaves_nothing());
    const Ended removed = test::gpufs({"reset", "--stale"});
    BOOST_TEST(removed.status == 0);
    BOOST_TEST(has(removed.out + removed.err, cat("instance gpufs.", pid, '.')),
               removed.out + removed.err);
    BOOST_TEST(has(removed.out + removed.err, cat("synthetic event gpufs_", pid, '_')),
               removed.out + removed.err);
    BOOST_TEST(leaves_nothing());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
