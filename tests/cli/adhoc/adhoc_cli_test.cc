#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <regex>
#include <thread>
#include <utility>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/adhoc/adhoc_support.h"
#include "support/json.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"
#include "support/told.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace std::chrono_literals;
using test::call_getppid;
using test::count_behind;
using test::Ended;
using test::has;
using test::in_thread;
using test::Json;
using test::kOurs;
using test::slot;
using test::trace;

void seek(std::int64_t offset) {
    ::syscall(SYS_lseek, -1, offset, SEEK_SET);
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(adhoc_commands)

BOOST_AUTO_TEST_CASE(counts_are_exact_while_two_cpus_are_busy) {
    constexpr int kCalls = 300'000;
    const auto work = [] {
        const auto call = [] { call_getppid(kCalls); };
        const std::jthread one = in_thread("gp-ours", call, 0), two = in_thread("gp-ours", call, 1);
    };
    const Ended all =
        trace({"count", "syscalls:sys_enter_getppid", "--if", kOurs, "--json", "--strict"}, work);
    BOOST_TEST(all.status == 0, all.err);
    BOOST_TEST(count_behind(all.out, "\"entries\":[") == 2 * kCalls, all.out);
    // Two events count into one key.
    const Ended by = trace({"count", "syscalls:sys_enter_getppid", "syscalls:sys_exit_getppid",
                            "by", "comm,cpu", "--if", kOurs, "--json", "--strict"},
                           work);
    for (const int cpu : {0, 1})
        BOOST_TEST(
            count_behind(by.out, cat("{\"comm\":\"gp-ours\",\"cpu\":", cpu, "}")) == 2 * kCalls,
            by.out);
}

// More tasks than CPUs: they preempt each other in the kernel's own tracepoint code.
BOOST_AUTO_TEST_CASE(counts_are_exact_while_tasks_preempt_each_other) {
    constexpr int kTasks = 4, kCalls = 10'000;
    std::string words;
    for (int i = 0; i < kTasks; ++i) words += cat(test::work_binary(), " calls ", kCalls, " 0 & ");
    const Ended ended = test::gpufs({"count", "syscalls:sys_enter_getppid", "by", "comm", "--json",
                                     "--strict", "--", "sh", "-c", words + "wait"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(count_behind(ended.out, "{\"comm\":\"gpufs-work\"}") == kTasks * kCalls, ended.out);
    // Those of a pattern, at begin and end, and of a monitor.
    const Ended pattern = test::gpufs({"count", "syscalls:sys_*_getp[pg]id", "by", "comm,probe",
                                       "--json", "--strict", "--", "sh", "-c", words + "wait"});
    BOOST_TEST(pattern.status == 0, pattern.err);
    for (const char* end : {"enter", "exit"})
        BOOST_TEST(
            count_behind(pattern.out, cat("{\"comm\":\"gpufs-work\",\"probe\":\"syscalls:sys_", end,
                                          "_getppid\"}")) == kTasks * kCalls,
            pattern.out);
    const test::Told monitor({"syscalls"}, {"sh", "-c", words + "wait"});
    BOOST_TEST(monitor.sum("calls", {{"comm", "gpufs-work"}, {"call", "getppid"}}, "count") ==
               kTasks * kCalls);
}

BOOST_AUTO_TEST_CASE(a_histogram_has_each_value_in_its_slot_on_all_cpus) {
    const auto work = [] {
        const auto seek_all = [] {
            for (int i = 0; i < 1000; ++i)
                for (const std::int64_t offset : {-5, 0, 1, 3, 100}) seek(offset);
        };
        const std::jthread one = in_thread("gp-ours", seek_all, 0),
                           two = in_thread("gp-ours", seek_all, 1);
    };
    const Ended log2 = trace({"hist", "syscalls:sys_enter_lseek", "offset", "--if",
                              kOurs + " && offset < 0x8000000000000000", "--json"},
                             work);
    BOOST_TEST(has(log2.out, cat("[", slot(0, 1, 2000), ',', slot(1, 2, 2000), ',',
                                 slot(2, 4, 2000), ',', slot(64, 128, 2000))),
               log2.out + log2.err);
    const Ended linear = trace({"hist", "syscalls:sys_enter_lseek", "offset", "by", "comm", "--if",
                                kOurs + " && offset < 1000", "--linear", "0:4:2", "--json"},
                               work);
    BOOST_TEST(has(linear.out, cat("{\"comm\":\"gp-ours\"}")), linear.out + linear.err);
    BOOST_TEST(has(linear.out, cat(slot(0, 2, 4000), ',', slot(2, 4, 2000))), linear.out);
    BOOST_TEST(has(linear.out, "{\"from\":4,\"to\":null,\"count\":2000}"), linear.out);
}

BOOST_AUTO_TEST_CASE(keys_that_find_no_room_are_counted_one_by_one) {
    constexpr int kKeys = 50'000, kRoom = 1000;
    const Ended ran = trace({"count", "syscalls:sys_enter_lseek", "by", "offset", "--if", kOurs,
                             "--max-keys", cat(kRoom), "--json", "--strict"},
                            [] {
                                in_thread("gp-ours", [] {
                                    for (int i = 0; i < kKeys; ++i) seek(i);
                                });
                            });
    BOOST_TEST(ran.status == 4, ran.err);
    BOOST_TEST(count_behind(ran.out, "values whose key found no room in 'count'") == kKeys - kRoom);
    BOOST_TEST(has(ran.out, cat("\"lost\":", kKeys - kRoom, ',')), ran.out.substr(0, 200));
}

// Other programs may run meanwhile: those that count are named dd.
std::string dd_writes(int count) {
    return cat("dd if=/dev/zero of=/dev/null bs=1 status=none count=", count);
}

BOOST_AUTO_TEST_CASE(slow_lines_that_found_no_room_are_lost_also_behind_the_last_that_did,
                     *ut::label("pure")) {
    constexpr int kWrites = 40'000;
    // The shell stops its parent, which reads the lines, while dd writes.
    const Ended ran =
        test::gpufs({"latency", "syscalls:sys_enter_write", "syscalls:sys_exit_write", "--comm",
                     "dd", "--over", "1ns", "--json", "--strict", "--", "sh", "-c",
                     cat("kill -STOP $PPID; ", dd_writes(kWrites), "; kill -CONT $PPID")});
    const std::vector<Json> lines = test::parse_json_lines(ran.out);
    const Json& summary = lines.back()["summary"];
    BOOST_TEST(ran.status == 4, ran.err);
    BOOST_TEST(summary["lost"].number() > 0);
    BOOST_TEST(!summary.members.contains("lost_most"));
    BOOST_TEST(summary["records"].number() + summary["lost"].number() == kWrites);
}

BOOST_AUTO_TEST_CASE(intervals_add_up_to_all_and_say_how_long_they_were) {
    constexpr int kWrites = 100'000;
    const std::string writes = dd_writes(kWrites / 2);
    const Ended ran = test::gpufs({"count", "syscalls:sys_enter_write", "by", "pid", "--comm", "dd",
                                   "--interval", "5ms", "--json", "--strict", "--", "sh", "-c",
                                   cat(writes, " & ", writes, "; wait")});
    BOOST_TEST(ran.status == 0, ran.out + ran.err);
    long long count = 0, intervals = 0;
    std::string to;
    double seconds = 0;
    for (const Json& line : test::parse_json_lines(ran.out)) {
        if (line.members.contains("interval")) {
            const Json& times = line["interval"];
            BOOST_TEST((to.empty() || times["from"].text == to));
            BOOST_TEST(times["from"].text < times["to"].text);
            to = times["to"].text;
            seconds = std::stod(to) - std::stod(times["from"].text);
            ++intervals;
        }
        if (!line.members.contains("map")) continue;
        for (const Json& entry : line["entries"].items) {
            count += entry["count"].number();
            // The times have microseconds, the rate a digit behind the point.
            const double rate = static_cast<double>(entry["count"].number()) / seconds;
            BOOST_TEST(std::stod(entry["rate"].text) == rate, boost::test_tools::tolerance(0.01));
        }
    }
    BOOST_TEST(count == kWrites);
    BOOST_TEST(intervals > 1);
}

BOOST_AUTO_TEST_CASE(what_nothing_was_seen_of_is_told) {
    const auto of_true = [](std::vector<std::string> args) {
        args.insert(args.end(), {"--", "true"});
        return test::gpufs(args).out;
    };
    const std::string enter = "syscalls:sys_enter_mlock", exit = "syscalls:sys_exit_mlock";
    BOOST_TEST(of_true({"count", enter}) == enter + ": 0\n");
    BOOST_TEST(of_true({"count", enter, "by", "comm"}) == enter + " by comm: none\n");
    BOOST_TEST(of_true({"stats", exit, "ret"}) == exit + " ret: none\n");
    BOOST_TEST(of_true({"hist", exit, "ret"}) == exit + " ret: none\n");
    BOOST_TEST(of_true({"latency", enter, exit, "--key", "tid"}) ==
               enter + ' ' + exit + ": none\n");
    BOOST_TEST(of_true({"stacks", enter}) == enter + ": none\n");
}

BOOST_AUTO_TEST_CASE(an_event_that_several_words_name_counts_once) {
    const auto counted = [](std::vector<std::string> words) {
        words.insert(words.begin(), "count");
        words.insert(words.end(), {"-i", "tests/data/trace_dat/sched-6.18.dat"});
        return test::gpufs(words).out;
    };
    const std::string once = counted({"sched_switch", "by", "cpu"});
    const auto figures = [](const std::string& out) { return out.substr(out.find('\n')); };
    BOOST_TEST(figures(once).size() > 2);
    BOOST_TEST(figures(counted({"sched_switch", "sched:sched_switch", "by", "cpu"})) ==
               figures(once));
    BOOST_TEST(figures(counted({"sched:sched_swit*,sched_switch", "by", "cpu"})) == figures(once));
}

// A tick that is due at the end is the end.
BOOST_AUTO_TEST_CASE(there_is_no_empty_interval_behind_the_last) {
    const Ended ran = test::gpufs({"count", "syscalls:sys_enter_getppid", "--interval", "200ms",
                                   "--duration", "400ms", "--json"});
    std::size_t intervals = 0;
    for (const Json& line : test::parse_json_lines(ran.out))
        intervals += line.members.contains("interval");
    BOOST_TEST(intervals == 2u, ran.out);
}

BOOST_AUTO_TEST_CASE(a_latency_has_every_pair_and_tells_what_was_none) {
    const Ended ran =
        trace({"latency", "raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "by", "comm", "--if",
               cat(kOurs, " && id == ", SYS_clock_nanosleep), "--over", "1ms", "--json"},
              [] {
                  in_thread("gp-ours", [] {
                      for (int i = 0; i < 20; ++i) std::this_thread::sleep_for(2ms);
                  });
              });
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(count_behind(ran.out, "{\"comm\":\"gp-ours\"}") == 20, ran.out + ran.err);
    BOOST_TEST(has(ran.out, "\"unit\":\"us\""), ran.out);
    // None took less than it slept: the first slot is that of 2 ms.
    BOOST_TEST(!has(ran.out, "\"to\":1024,"), ran.out);
    BOOST_TEST(has(ran.out, "{\"summary\":{\"records\":20,\"lost\":0,"), ran.out);
    // A start that is waited for, and one that the next replaces.
    const Ended unpaired =
        trace({"latency", "syscalls:sys_enter_lseek", "syscalls:sys_enter_getppid", "--key", "tid",
               "--comm", "gp-ours", "--strict"},
              [] {
                  in_thread("gp-ours", [] {
                      seek(1);
                      seek(2);
                      seek(3);
                      call_getppid(1);
                      seek(4);
                  });
              });
    BOOST_TEST(unpaired.status == 0, unpaired.err);
    BOOST_TEST(has(unpaired.err,
                   "0 lost; 1 start without an end; "
                   "2 starts that a later one replaced\n"),
               unpaired.err);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_function_is_told_once_not_of_its_return_too,
                     *ut::label("pure")) {
    const Ended ran = test::gpufs({"latency", "-x", test::work_binary(), "no_such_function"});
    BOOST_TEST(ran.status == 2);
    BOOST_TEST(ran.err.starts_with("gpufs: latency:1:8: error: "), ran.err);
    const auto told = ran.err.find("' has no function 'no_such_function'\n");
    BOOST_TEST(told != std::string::npos, ran.err);
    BOOST_TEST(ran.err.find("has no function", told + 3) == std::string::npos, ran.err);
}

BOOST_AUTO_TEST_CASE(a_latency_goes_by_fields_that_only_its_start_has_and_names_the_process) {
    const Ended ran = test::gpufs({"latency", "syscalls:sys_enter_write", "syscalls:sys_exit_write",
                                   "by", "fd", "--comm", "dd", "--over", "1ns", "--show",
                                   "count,ret", "--json", "--strict", "--", "sh", "-c",
                                   "exec dd if=/dev/zero of=/dev/null bs=7 count=20 status=none"});
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(count_behind(ran.out, "{\"fd\":1}") == 20, ran.out + ran.err);
    int lines = 0;
    for (const Json& line : test::parse_json_lines(ran.out)) {
        if (!line.members.contains("record")) continue;
        const Json& values = line["values"];
        ++lines;
        BOOST_TEST(values["comm"].text == "dd");
        BOOST_TEST(values["pid"].number() == values["tid"].number());
        BOOST_TEST(values["fd"].number() == 1);
        BOOST_TEST(values["count"].number() == 7);
        BOOST_TEST(values["ret"].number() == 7);
    }
    BOOST_TEST(lines == 20);
}

BOOST_AUTO_TEST_CASE(bytes_written_by_process_are_one_line_and_top_leaves_out_the_rest) {
    const Ended ran =
        test::gpufs({"stats", "syscalls:sys_exit_write", "ret", "by", "comm", "--comm", "dd",
                     "--json", "--strict", "--", "sh", "-c", dd_writes(30)});
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(has(ran.out,
                   "{\"key\":{\"comm\":\"dd\"},\"count\":30,\"sum\":30,\"avg\":1,\"min\":1,"
                   "\"max\":1}"),
               ran.out);
    const Ended top = test::gpufs({"stats", "syscalls:sys_enter_write", "count", "by", "count",
                                   "--comm", "dd", "--sort", "max", "--top", "1", "--", "sh", "-c",
                                   "for n in 3 9 5; do dd if=/dev/zero of=/dev/null status=none "
                                   "count=1 bs=$n; done"});
    BOOST_TEST(top.out ==
                   "syscalls:sys_enter_write count by count\n"
                   "COUNT  COUNT  SUM  AVG  MIN  MAX\n"
                   "    9      1    9    9    9    9\n"
                   "and 2 more\n",
               top.err);
}

BOOST_AUTO_TEST_CASE(run_queue_latency_pairs_fields_of_different_names) {
    const Ended ran = trace({"latency", "sched:sched_wakeup", "sched:sched_switch", "--key",
                             "pid=next_pid", "by", "next_comm", "--if", kOurs, "--json"},
                            [] {
                                in_thread(
                                    "gp-ours",
                                    [] {
                                        for (int i = 0; i < 50; ++i)
                                            std::this_thread::sleep_for(1ms);
                                    },
                                    0);
                            });
    BOOST_TEST(ran.status == 0, ran.err);
    // A thread may be woken before it is quite asleep.
    BOOST_TEST(count_behind(ran.out, "{\"next_comm\":\"gp-ours\"}") >= test::traced_of(40),
               ran.out + ran.err);
}

BOOST_AUTO_TEST_CASE(names_of_files_are_keys_and_cut_ones_are_counted) {
    const std::string shorter = cat("/nonexistent/", std::string(50, 'a')),  // 63 characters
        longer = cat("/nonexistent/", std::string(80, 'b'));
    const Ended ran = trace(
        {"count", "syscalls:sys_enter_openat", "by", "filename", "--if", kOurs, "--json"}, [&] {
            in_thread("gp-ours", [&] {
                for (int i = 0; i < 3; ++i) ::close(::openat(AT_FDCWD, shorter.c_str(), O_RDONLY));
                ::close(::openat(AT_FDCWD, longer.c_str(), O_RDONLY));
            });
        });
    BOOST_TEST(count_behind(ran.out, cat("{\"filename\":\"", shorter, "\"}")) == 3, ran.out);
    BOOST_TEST(count_behind(ran.out, cat("{\"filename\":\"", longer.substr(0, 63), "\"}")) == 1,
               ran.out);
    BOOST_TEST(count_behind(ran.out, "\"cut texts\"") == 1, ran.out);
}

BOOST_AUTO_TEST_CASE(a_process_or_thread_and_its_name_hold_others_back) {
    const auto work = [] {
        in_thread("gp-ours", [] { call_getppid(10); });
        in_thread("gp-other", [] { call_getppid(100); });
    };
    const std::vector<std::string> count = {"count", "syscalls:sys_enter_getppid", "--json"};
    const auto counted = [&](const std::vector<std::string>& more) {
        std::vector<std::string> args = count;
        args.insert(args.end(), more.begin(), more.end());
        return count_behind(trace(args, work).out, "\"entries\":[{");
    };
    BOOST_TEST(counted({"-p", cat(::getpid())}) == 110);
    BOOST_TEST(counted({"-p", cat(::getpid()), "--comm", "gp-our?"}) == 10);
    BOOST_TEST(counted({"-p", "1", "--comm", "gp-ours"}) == -1);
}

BOOST_AUTO_TEST_CASE(stacks_lead_to_where_the_event_is) {
    const Ended ran =
        trace({"stacks", "syscalls:sys_enter_getppid", "by", "comm", "--if", kOurs, "--json"},
              [] { in_thread("gp-ours", [] { call_getppid(100); }); });
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(has(ran.out, cat("{\"comm\":\"gp-ours\",\"kstack\":[")), ran.out);
    long all = 0;
    std::smatch match;
    std::string rest = ran.out.substr(0, ran.out.find("\"summary\""));
    while (std::regex_search(rest, match, std::regex("\"count\":(\\d+)"))) {
        all += std::stol(match[1]);
        rest = match.suffix();
    }
    BOOST_TEST(all == 100, ran.out);
}

BOOST_AUTO_TEST_CASE(events_of_a_pattern_that_lack_a_key_are_left_out_and_told) {
    const Ended ran =
        test::gpufs({"count", "sched:sched_wak*", "by", "target_cpu,probe", "--dry-run"});
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(ran.err == "1 event of the pattern left out: without a field 'target_cpu'\n");
    BOOST_TEST(has(ran.out, "sched_wakeup: tracepoint sched:sched_wakeup, "), ran.out);
    BOOST_TEST(!has(ran.out, "sched_wake_idle_without_ipi"), ran.out);
}

BOOST_AUTO_TEST_CASE(events_are_named_as_e_takes_them, *ut::label("pure")) {
    const std::string recording = "tests/data/trace_dat/sched-6.18.dat";
    const auto counted = [&](const std::string& events) {
        const Ended ended = test::gpufs({"count", events, "-i", recording});
        BOOST_TEST(ended.status == 0, ended.err);
        return ended.out.substr(ended.out.rfind(' ') + 1);
    };
    const std::string all = counted("sched:sched_switch");
    BOOST_TEST(all == "14\n");
    BOOST_TEST(counted("sched_switch") == all);
    BOOST_TEST(counted("tracepoint:sched:sched_switch") == all);
    BOOST_TEST(counted("tracepoint:sched_switch") == all);
    BOOST_TEST(counted("*_switch") == all);
    BOOST_TEST(std::stoi(counted("sched_switch,sched:sched_waking")) > 14);
    BOOST_TEST(counted("sched_switch,sched:sched_waking") == counted("sched_waking,sched_switch"));
    const Ended wrong = test::gpufs({"count", "sched_swich,sched_waking", "-i", recording});
    BOOST_TEST(wrong.status == 2);
    BOOST_TEST(wrong.err ==
               "gpufs: count:1:1: error: this recording has no event 'sched_swich'\n"
               "sched_swich,sched_waking\n"
               "^~~~~~~~~~~\n"
               "hint: did you mean 'sched_switch'?\n");
    BOOST_TEST(test::gpufs({"report", recording}).out ==
               test::gpufs({"report", "-i", recording}).out);
    BOOST_TEST(test::gpufs({"report", recording, "-i", recording}).err ==
               cat("gpufs: '", recording,
                   "' is one word too many\nhint: one recording is printed; events go with -e\n"));
}

BOOST_AUTO_TEST_CASE(lists_take_probes_words_and_commas, *ut::label("pure")) {
    BOOST_TEST(test::gpufs({"list", "tracepoint:sched:sched_switch,sched_waking"}).out ==
               "sched:sched_switch\nsched:sched_waking\n");
    BOOST_TEST(test::gpufs({"count", "sched_switch", "-d", "10ms"}).status == 0);
}

BOOST_AUTO_TEST_CASE(samples_have_the_keys_that_are_known_everywhere) {
    const Ended ran =
        trace({"count", "profile:999hz", "by", "comm,cpu,uid", "--if", kOurs, "--json"},
              [] { in_thread("gp-ours", [] { test::spin(300); }); });
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(count_behind(ran.out, "{\"comm\":\"gp-ours\"") > 0, ran.out + ran.err);
}

BOOST_AUTO_TEST_CASE(mistakes_are_found_before_anything_is_attached, *ut::label("pure")) {
    const auto refused = [](const std::vector<std::string>& args) {
        const Ended ended = test::gpufs(args);
        BOOST_TEST(ended.status == 2);
        BOOST_TEST(ended.out == "");
        return ended.err;
    };
    BOOST_TEST(refused({"count", "sched:sched_swich"}) ==
               "gpufs: count:1:1: error: this kernel has no event 'sched:sched_swich'\n"
               "sched:sched_swich\n"
               "^~~~~~~~~~~~~~~~~\n"
               "hint: did you mean 'sched:sched_switch'?\n");
    BOOST_TEST(
        refused({"latency", "sched:sched_wakeup", "sched:sched_switch", "--key", "pid"}) ==
        "gpufs: --key:1:1: error: 'pid' of sched:sched_switch and 'pid' of sched:sched_wakeup "
        "are not of one kind\n"
        "pid\n"
        "^~~\n");
    BOOST_TEST(refused({"count", "sched:sched_switch", "--if", "prev_sate == 2"}) ==
               "gpufs: --if:1:1: error: sched:sched_switch has no field 'prev_sate'\n"
               "prev_sate == 2\n"
               "^~~~~~~~~\n"
               "hint: did you mean 'prev_state'?\n");
    BOOST_TEST(refused({"hist", "sched:sched_switch"}) ==
               "gpufs: hist needs an EVENT and a FIELD\n"
               "hint: 'gpufs hist --help' shows how\n");
    BOOST_TEST(refused({"stats", "sched:sched_switch", "prev_prio", "--sort", "avrg"}) ==
               "gpufs: --sort is count, sum, avg, min, max or key, not 'avrg'\n");
    BOOST_TEST(
        refused({"count", "sched:sched_switch", "by", "pid", "--max-keys", "999999999999"}) ==
        "gpufs: --max-keys is 134217728 at most\n"
        "hint: each key takes memory of the kernel from the start\n");
    BOOST_TEST(refused({"hist", "sched:sched_switch", "prev_prio", "next_prio"}) ==
               "gpufs: hist:1:30: error: hist takes an EVENT and a FIELD, and 'by' with keys\n"
               "sched:sched_switch prev_prio next_prio\n"
               "                             ^~~~~~~~~\n");
    BOOST_TEST(refused({"latency", "sched:sched_wakeup", "sched:sched_switch", "--unit", "h"}) ==
               "gpufs: --unit is ns, us, ms or s, not 'h'\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
