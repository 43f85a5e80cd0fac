#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <sstream>

#include "base/cat.h"
#include "base/fd.h"
#include "base/file.h"
#include "support/needs.h"
#include "support/skip.h"
#include "support/temp_file.h"
#include "support/temp_folder.h"
#include "support/told.h"

namespace ut = boost::unit_test;

// The shipped monitors, each at work whose truth is known.
namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::Json;
using test::Told;

const std::string kWork = "gpufs-work";

std::vector<std::string> work(std::vector<std::string> words) {
    words.insert(words.begin(), test::work_binary());
    return words;
}

// "slept 40123 us" -> 40123
long long number_behind(const std::string& text, const std::string& word) {
    const auto at = text.find(word);
    return at == text.npos ? -1 : std::stoll(text.substr(at + word.size()));
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(monitors)

BOOST_AUTO_TEST_CASE(syscalls_counts_calls_and_failures) {
    const Told told({"syscalls"}, work({"calls", "5000", "70"}));
    BOOST_TEST(told.sum("calls", {{"comm", kWork}, {"call", "getppid"}}, "count") == 5000);
    BOOST_TEST(told.sum("failed", {{"comm", kWork}, {"call", "close"}, {"error", "EBADF"}},
                        "count") == 70);
    const auto row = told.rows("calls", {{"comm", kWork}, {"call", "getppid"}});
    BOOST_TEST_REQUIRE(row.size() == 1u);
    BOOST_TEST(row[0]["min"].number() <= row[0]["avg"].number());
    BOOST_TEST(row[0]["avg"].number() <= row[0]["max"].number());
    BOOST_TEST(told.lost() == 0);
}

// From Linux 7.0 on one may be preempted while the monitor's program runs for it.
BOOST_AUTO_TEST_CASE(syscalls_counts_each_call_of_tasks_that_share_the_cpus) {
    const std::string call = cat(test::work_binary(), " calls 20000 20000 & ");
    const Told told({"syscalls"}, {"sh", "-c", cat(call, call, call, call, "wait")});
    BOOST_TEST(told.sum("calls", {{"comm", kWork}, {"call", "getppid"}}, "count") == 80000);
    BOOST_TEST(told.sum("failed", {{"comm", kWork}, {"call", "close"}, {"error", "EBADF"}},
                        "count") == 80000);
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_CASE(a_condition_can_ask_for_a_system_calls_number_and_result) {
    const std::vector<std::string> calls = work({"calls", "500", "70"});
    const Told by_number({"syscalls", "--if", cat("id == ", SYS_getppid)}, calls);
    BOOST_TEST(by_number.sum("calls", {{"comm", kWork}}, "count") == 500);
    const Told by_result({"syscalls", "--if", cat("ret == ", -EBADF)}, calls);
    BOOST_TEST(by_result.sum("calls", {{"comm", kWork}}, "count") == 70);
    BOOST_TEST(by_result.sum("failed", {{"comm", kWork}, {"call", "close"}}, "count") == 70);
}

BOOST_AUTO_TEST_CASE(in_a_pid_namespace_ids_are_those_that_the_user_sees) {
    const std::string script = cat("exec ", test::gpufs_binary(), " run writes --json --all -- ",
                                   test::work_binary(), " writes 300 7");
    test::Child::Setup setup;
    setup.argv = {"unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", script};
    const Ended ran = test::Child(setup).wait();
    BOOST_TEST(ran.status == 0, ran.err);
    long long pid = 0;
    for (const Json& line : test::parse_json_lines(ran.out)) {
        if (!line.members.contains("map") || line["map"].text != "written") continue;
        for (const Json& row : line["entries"].items)
            if (row["key"]["comm"].text == kWork && row["count"].number() == 300)
                pid = row["key"]["pid"].number();
    }
    BOOST_TEST(pid > 1);  // gpufs is the first there
    BOOST_TEST(pid < 10);
}

// The kernel's events have the machine's ids of the same tasks.
BOOST_AUTO_TEST_CASE(what_tasks_of_a_pid_namespace_do_is_put_together) {
    const auto there = [](const std::string& monitor) {
        test::Child::Setup setup;
        setup.argv = {"unshare",
                      "--pid",
                      "--fork",
                      "--mount-proc",
                      "sh",
                      "-c",
                      cat("exec ", test::gpufs_binary(), " run ", monitor,
                          " --json --all -- sh -c 'sleep 0.2; true'")};
        const Ended ran = test::Child(setup).wait();
        BOOST_TEST(ran.status == 0, ran.err);
        return test::parse_json_lines(ran.out);
    };
    bool slept = false, ran_long = false;
    for (const Json& line : there("off-cpu"))
        if (line.members.contains("map") && line["map"].text == "off_us")
            for (const Json& row : line["entries"].items)
                slept =
                    slept || (row["key"]["comm"].text == "sleep" &&
                              row["key"]["pid"].number() < 10 && row["max"].number() >= 200'000);
    BOOST_TEST(slept);
    for (const Json& line : there("execs"))
        if (line.members.contains("record") && line["record"].text == "ended")
            ran_long = ran_long || (line["values"]["comm"].text == "sleep" &&
                                    line["values"]["ran"].number() >= 200'000);
    BOOST_TEST(ran_long);
}

BOOST_AUTO_TEST_CASE(a_map_that_is_too_small_says_how_much_it_refused) {
    // One call may be under way, on all CPUs, and one kind of call is kept.
    const Told told({"syscalls", "entries=1"}, work({"calls", "5000", "0"}));
    BOOST_TEST(told.lost() > 0);
}

BOOST_AUTO_TEST_CASE(writes_adds_up_calls_and_bytes) {
    const Told told({"writes"}, work({"writes", "3000", "17"}));
    BOOST_TEST(told.sum("written", {{"comm", kWork}}, "count") == 3000);
    BOOST_TEST(told.sum("written", {{"comm", kWork}}, "sum") == 3000 * 17);
}

BOOST_AUTO_TEST_CASE(opens_tells_what_is_there_and_what_is_not) {
    const std::vector<std::string> reads = {
        "sh", "-c", "cat /etc/hostname /no/such/file >/dev/null 2>&1; true"};
    const Told told({"opens"}, reads);
    const auto there = told.records("opened", {{"comm", "cat"}, {"name", "/etc/hostname"}});
    BOOST_TEST_REQUIRE(there.size() == 1u);
    BOOST_TEST(there[0]["fd"].number() >= 3);
    BOOST_TEST(there[0]["error"].text == "0");
    const auto missing = told.records("opened", {{"comm", "cat"}, {"name", "/no/such/file"}});
    BOOST_TEST_REQUIRE(missing.size() == 1u);
    BOOST_TEST(missing[0]["fd"].number() == -1);
    BOOST_TEST(missing[0]["error"].text == "ENOENT");
    BOOST_TEST(there[0]["flags"].text == "O_RDONLY");
    const Told failed({"opens", "failed=1"}, reads);
    BOOST_TEST(failed.records("opened", {{"name", "/etc/hostname"}}).empty());
    BOOST_TEST(failed.records("opened", {{"name", "/no/such/file"}}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(opens_has_the_flags_that_openat2_reads_from_memory) {
    const Told told({"opens"}, work({"makes", "3"}));
    BOOST_TEST(told.records("opened", {{"comm", kWork},
                                       {"name", "/dev/null"},
                                       {"error", "EEXIST"},
                                       {"flags", "O_WRONLY|O_CREAT|O_EXCL"}})
                   .size() == 3u);
}

BOOST_AUTO_TEST_CASE(execs_tells_arguments_and_ends) {
    const Told told(
        {"execs"},
        {"sh", "-c", "/bin/echo 'a  b' c >/dev/null; sh -c 'exit 7'; sh -c 'kill -9 $$'; true"});
    const auto echo = told.records("started", {{"args", "/bin/echo a  b c"}});
    BOOST_TEST_REQUIRE(echo.size() == 1u);
    BOOST_TEST(echo[0]["comm"].text == "echo");
    const std::string pid = echo[0]["pid"].text;
    const auto ended = told.records("ended", {{"pid", pid}});
    BOOST_TEST_REQUIRE(ended.size() == 1u);
    BOOST_TEST(ended[0]["status"].number() == 0);
    BOOST_TEST(ended[0]["ran"].number() > 0);
    BOOST_TEST(told.records("ended", {{"comm", "echo"}}).size() == 1u);
    BOOST_TEST(told.records("ended", {{"comm", "sh"}, {"status", "7"}}).size() == 1u);
    BOOST_TEST(told.records("ended", {{"comm", "sh"}, {"signal", "SIGKILL"}}).size() == 1u);
}

// The kernel reads them from the caller's file, for which a program of ours may not wait.
BOOST_AUTO_TEST_CASE(execs_tells_arguments_that_are_not_in_memory_yet) {
    const Told told({"execs"}, work({"execs", "3"}));
    BOOST_TEST(told.records("started", {{"args", "true never looked at before"}}).size() == 3u);
}

BOOST_AUTO_TEST_CASE(execs_tells_only_programs_of_a_name_where_asked) {
    const Told told({"execs", "comm=sleep"}, {"sh", "-c", "env true; sleep 0.01; true"});
    BOOST_TEST(told.records("started", {}).size() == 1u);
    BOOST_TEST(told.records("started", {{"args", "sleep 0.01"}}).size() == 1u);
    BOOST_TEST(told.records("ended", {}).size() == 1u);
    BOOST_TEST(told.records("ended", {{"comm", "sleep"}}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(execs_tells_only_what_a_user_or_a_process_starts_where_asked) {
    const std::vector<std::string> command{"sh", "-c", "sh -c 'env true; exit 3'; true"};
    BOOST_TEST(Told({"execs", "uid=12345"}, command).records("started", {}).empty());
    BOOST_TEST(Told({"execs", "uid=0"}, command).records("started", {}).size() ==
               Told({"execs"}, command).records("started", {}).size());
    // What gpufs starts, and not what that starts.
    test::Child::Setup setup;
    setup.argv = {"sh", "-c",
                  cat("exec ", test::gpufs_binary(),
                      " run execs parent=$$ --json -- sh -c 'env true; exit 0'")};
    const Told by_gpufs(test::Child(setup).wait());
    BOOST_TEST(by_gpufs.records("started", {}).size() == 1u);
    BOOST_TEST(by_gpufs.records("started", {{"comm", "sh"}}).size() == 1u);
    BOOST_TEST(by_gpufs.records("ended", {}).size() == 1u);
    const Told none({"execs", "parent=1"}, command);
    BOOST_TEST(none.records("started", {}).empty());
    BOOST_TEST(none.records("ended", {}).empty());
}

BOOST_AUTO_TEST_CASE(execs_tells_what_fails_where_asked) {
    const std::vector<std::string> command{"sh", "-c", "/no/such/program; env true"};
    BOOST_TEST(Told({"execs"}, command).records("failure", {}).empty());
    const Told told({"execs", "failed=1"}, command);
    BOOST_TEST(
        told.records("failure", {{"comm", "sh"}, {"error", "ENOENT"}, {"file", "/no/such/program"}})
            .size() == 1u);
    BOOST_TEST(told.records("started", {{"comm", "true"}}).size() == 1u);
}

BOOST_AUTO_TEST_CASE(signals_tells_sender_receiver_and_fate) {
    const Told told({"signals"}, work({"signals", "40"}));
    BOOST_TEST(told.sum("sent", {{"signal", "SIGUSR1"}, {"sender", kWork}, {"receiver", kWork}},
                        "count") == 40);
    BOOST_TEST(
        told.records(
                "signal",
                {{"signal", "SIGUSR1"}, {"sender", kWork}, {"code", "USER"}, {"result", "ignored"}})
            .size() == 40u);
}

BOOST_AUTO_TEST_CASE(faults_counts_each_page_that_is_touched) {
    const Told told({"faults"}, work({"faults", "4000"}));
    const long long all = told.sum("minor", {{"comm", kWork}}, "count");
    BOOST_TEST(all >= 4000);
    BOOST_TEST(all < 5000);  // and what it took to start
}

// It has no events that could tell of it.
BOOST_AUTO_TEST_CASE(who_is_blocked_all_the_time_is_told_with_what_tells_more) {
    const Ended ended = test::shell(
        "sleep 100 & until grep -q '(sleep) S' /proc/$!/stat; do :; done; "
        "$GPUFS run off-cpu -p $! --duration 50ms; kill $!; echo $!");
    const std::string pid = ended.out.substr(ended.out.find('\n') + 1);
    BOOST_TEST(ended.out.starts_with("nothing counted\n"), ended.out);
    BOOST_TEST(has(ended.err, cat("hint: ", pid.substr(0, pid.find('\n')),
                                  " is blocked; 'gpufs watch --why -p ")),
               ended.err);
}

// Each of its sleeps is a switch, though it sleeps nearly all the time.
BOOST_AUTO_TEST_CASE(who_sleeps_again_and_again_is_not_blocked) {
    const Ended ended = test::shell(
        cat(test::work_binary(),
            " sleeps 1000000 1 & until grep -q '(gpufs-work) S' /proc/$!/stat; do :; done; "
            "$GPUFS run opens -p $! --duration 300ms; kill $!"));
    BOOST_TEST(has(ended.err, "0 records, 0 lost\n"), ended.err);
    BOOST_TEST(!has(ended.err, "is blocked"), ended.err);
}

BOOST_AUTO_TEST_CASE(off_cpu_adds_up_what_a_task_sleeps) {
    const Told told({"off-cpu"}, work({"sleeps", "10", "20"}));
    const long long slept = number_behind(told.err(), "slept "), seen = test::traced_of(10);
    BOOST_TEST(told.sum("off_us", {{"comm", kWork}}, "count") >= seen);
    // A sleep begins before the task leaves its CPU, on a busy machine by milliseconds.
    BOOST_TEST(told.sum("off_us", {{"comm", kWork}}, "sum") >= seen * 10'000);
    BOOST_TEST(slept >= 10 * 20'000);
    // One task cannot have waited for longer than there was time.
    const auto begin = std::chrono::steady_clock::now();
    const Told again({"off-cpu", "min_us=10ms"}, work({"sleeps", "10", "20"}));
    const auto lasted = std::chrono::steady_clock::now() - begin;
    const long long long_ones = again.sum("off_us", {{"comm", kWork}}, "sum");
    BOOST_TEST(long_ones >= seen * 10'000);
    BOOST_TEST(long_ones <= std::chrono::duration_cast<std::chrono::microseconds>(lasted).count());
}

// A shell's work: in the background, cat reads a pipe that nobody writes to; after a second
// the shell ends, and cat lives on for some seconds.
std::vector<std::string> reads_an_empty_pipe(const test::TempFolder& folder) {
    return {"sh", "-c",
            cat("cd ", folder.path().string(),
                " && { [ -p pipe ] || mkfifo pipe; } && exec 3<>pipe; timeout 5 cat <&3 >/dev/null "
                "2>&1 & sleep 1")};
}

BOOST_AUTO_TEST_CASE(off_cpu_tells_who_sleeps_until_the_end) {
    const test::TempFolder folder;
    const auto work = reads_an_empty_pipe(folder);
    const Told told({"off-cpu"}, work);
    BOOST_TEST(told.sum("left", {{"comm", "cat"}}, "count") == 1);
    BOOST_TEST(told.sum("left", {{"comm", "cat"}}, "max") >= 300'000);
    BOOST_TEST(told.rows("left", {{"comm", "sh"}}).empty());
    const Told long_ones({"off-cpu", "min_us=1h"}, work);
    BOOST_TEST(long_ones.rows("left", {}).empty());
}

BOOST_AUTO_TEST_CASE(syscalls_tells_calls_that_have_not_ended) {
    const test::TempFolder folder;
    const Told told({"syscalls"}, reads_an_empty_pipe(folder));
    const Json read = test::only(told.rows("left", {{"comm", "cat"}}));
    BOOST_TEST(read["key"]["call"].text == "read");
    BOOST_TEST(read["key"]["pid"].number() > 0);
    BOOST_TEST(read["max"].number() >= 300'000'000);
    BOOST_TEST(told.rows("left", {{"comm", "sh"}}).empty());  // it has ended, in exit_group
}

BOOST_AUTO_TEST_CASE(over_a_recording_what_has_not_ended_is_told_where_ends_of_threads_are) {
    const test::TempFolder folder;
    const auto told_with = [&](const std::string& events) {
        const std::string file = folder.file("file.dat");
        std::vector<std::string> record{"record", "-e", events, "-o", file, "--all", "--"};
        for (const std::string& word : reads_an_empty_pipe(folder)) record.push_back(word);
        BOOST_TEST(test::gpufs(record).status == 0);
        return Told(test::gpufs({"run", "syscalls", "--json", "-i", file}));
    };
    const Told::Wanted read{{"comm", "cat"}, {"call", "read"}};
    const Told with = told_with("raw_syscalls,sched:sched_process_exit");
    BOOST_TEST(with.sum("left", read, "count") == 1);
    BOOST_TEST(with.rows("left", {{"call", "exit_group"}}).empty());
    BOOST_TEST(told_with("raw_syscalls").rows("left", {}).empty());
}

// Of two tasks with fixed priorities on one CPU the lower one gets none, whatever the kernel leaves
// to the others.
BOOST_AUTO_TEST_CASE(sched_wait_tells_who_has_not_run_yet, *ut::precondition(test::has_two_cpus)) {
    const test::TempFolder folder;
    const std::vector<std::string> work = {
        "sh", "-c",
        cat("cd ", folder.path().string(),
            "; taskset -c 0 timeout 20 chrt -f 50 taskset -c 1 sh -c 'echo $$ >pid; "
            "while :; do :; done' >/dev/null 2>&1 & until [ -s pid ]; do sleep 0.1; done; "
            "taskset -c 0 chrt -f 10 taskset -c 1 true >/dev/null 2>&1 & taskset -c 0 sleep 1")};
    const Told told({"sched-wait"}, work);
    BOOST_TEST(folder.run("kill $(cat $D/pid)"));
    const Json starved = test::only(told.rows("left", {{"comm", "taskset"}}));
    BOOST_TEST(starved["max"].number() >= 300'000);
    BOOST_TEST(starved["key"]["tid"].number() > 0);
}

BOOST_AUTO_TEST_CASE(sched_wait_sees_who_shares_a_cpu_waiting) {
    const Told told({"sched-wait", "min_us=500us"}, work({"spin", "100", "2"}));
    BOOST_TEST(told.rows("wait_us", {}).size() == 1u);  // the first report is the total
    const auto slow = told.records("slow", {{"comm", kWork}, {"cpu", "0"}});
    BOOST_TEST(!slow.empty());
    for (const Json& one : slow) BOOST_TEST(one["us"].number() >= 500);
}

BOOST_AUTO_TEST_CASE(wakeups_counts_who_wakes_whom) {
    const Told told({"wakeups"}, work({"pingpong", "500"}));
    const long long all = told.sum("wakes", {{"woken", kWork}, {"waker", kWork}}, "count");
    // Each wakes the other each time, and the end of the one may wake the other once more.
    BOOST_TEST(all >= 1000);
    BOOST_TEST(all <= 1001);
}

// The process starts others all the time, which are not it, and waits for them.
BOOST_AUTO_TEST_CASE(of_a_process_its_threads_are_looked_at) {
    test::Child::Setup setup;
    setup.argv = {"sh", "-c", "while :; do sleep 0.01; done"};
    test::Child shell(setup);
    const std::string pid = cat(shell.pid());
    const std::vector<std::string> while_it_runs = {"sleep", "0.3"};
    const Told signals({"signals", "-p", pid}, while_it_runs);
    const auto children = signals.records("signal", {{"signal", "SIGCHLD"}, {"to", pid}});
    BOOST_TEST(!children.empty());
    for (const Json& one : signals.records("signal", {}))
        BOOST_TEST((one["to"].number() == shell.pid() || one["from"].number() == shell.pid()));
    const Told wakeups({"wakeups", "-p", pid}, while_it_runs);
    BOOST_TEST(wakeups.sum("wakes", {{"woken", "sh"}}, "count") > 0);
    BOOST_TEST(wakeups.rows("wakes", {{"woken", "sleep"}}).empty());
    const Told waits({"sched-wait", "-p", pid, "min_us=0"}, while_it_runs);
    BOOST_TEST(!waits.records("slow", {{"tid", pid}}).empty());
    BOOST_TEST(waits.records("slow", {{"comm", "sleep"}}).empty());
    const Told locks({"locks", "-p", pid}, while_it_runs);
    shell.send(SIGKILL);
    shell.wait();
}

BOOST_AUTO_TEST_CASE(profile_samples_what_burns_the_cpu) {
    const Told told({"profile"}, work({"spin", "500", "1"}));
    const long long samples = told.sum("samples", {{"comm", kWork}}, "count");
    // 49 in 500 ms, were there nobody else; a guest whose host is busy misses most of its ticks.
    BOOST_TEST(samples >= 1);
    BOOST_TEST(samples <= 90);
}

BOOST_AUTO_TEST_CASE(irqs_counts_no_more_than_the_kernel_does) {
    const auto received = [] {
        std::ifstream file("/proc/softirqs");
        for (std::string line; std::getline(file, line);) {
            std::istringstream words(line);
            std::string name;
            words >> name;
            if (name != "NET_RX:") continue;
            long long all = 0;
            for (long long one; words >> one;) all += one;
            return all;
        }
        return 0LL;
    };
    const long long before = received();
    // Each packet over the loopback raises one, or comes with one that was raised.
    const Told told({"irqs"}, work({"tcp", "20", "3"}));
    const long long seen = told.sum("soft_ns", {{"vec", "NET_RX"}}, "count");
    BOOST_TEST(seen > 0);
    BOOST_TEST(seen <= received() - before);
}

BOOST_AUTO_TEST_CASE(tcp_tells_connections_of_both_sides_and_refusals) {
    const Told told({"tcp"}, work({"tcp", "20", "3"}));
    const std::string port = cat(number_behind(told.err(), "port "));
    const auto count = [&](const Told::Wanted& wanted) {
        return told.records("change", wanted).size();
    };
    // The kernel leaves a program out where an interrupt comes while another runs, and says so.
    const auto lost = static_cast<std::size_t>(told.lost());
    const auto is_told = [&](const Told::Wanted& wanted, std::size_t times) {
        const std::size_t found = count(wanted);
        BOOST_TEST_INFO(wanted.at("what") << ": " << found << " and " << lost << " lost");
        return found <= times && found + lost >= times;
    };
    BOOST_TEST(is_told(
        {{"what", "CONNECT"}, {"comm", kWork}, {"to_port", port}, {"to", "127.0.0.1"}}, 20));
    BOOST_TEST(is_told(
        {{"what", "ACCEPT"}, {"comm", kWork}, {"from", "127.0.0.1"}, {"from_port", port}}, 20));
    BOOST_TEST(is_told({{"what", "CLOSE"}, {"comm", kWork}, {"to_port", port}}, 20));
    BOOST_TEST(is_told({{"what", "CLOSE"}, {"comm", kWork}, {"from_port", port}}, 20));
    BOOST_TEST(is_told({{"what", "REFUSED"}, {"comm", kWork}, {"to_port", port}}, 3));
}

BOOST_AUTO_TEST_CASE(locks_sees_threads_fight_over_their_memory_map,
                     *ut::precondition(test::has_file{"events/lock/contention_begin"})) {
    const Told told({"locks", "--if", cat("comm == \"", kWork, '"')}, work({"maps", "500"}));
    BOOST_TEST(!told.rows("wait_ns", {}).empty());
    BOOST_TEST(told.sum("wait_ns", {}, "sum") > 0);
}

// A loop device over a file in memory; the destructor takes it away.
class LoopDevice {
public:
    LoopDevice() : file_(::memfd_create("gpufs-test", MFD_CLOEXEC)) {
        const Fd control{::open("/dev/loop-control", O_RDWR | O_CLOEXEC)};
        if (!control || ::ftruncate(file_.get(), 4 << 20) != 0) return;
        number_ = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
        device_ = Fd{::open(path().c_str(), O_RDWR | O_CLOEXEC)};
        if (!device_ || ::ioctl(device_.get(), LOOP_SET_FD, file_.get()) != 0) number_ = -1;
    }
    ~LoopDevice() {
        if (number_ >= 0) ::ioctl(device_.get(), LOOP_CLR_FD, 0);
    }
    bool is_there() const { return number_ >= 0; }
    std::string path() const { return cat("/dev/loop", number_); }
    std::string name() const { return cat("loop", number_); }

private:
    Fd file_, device_;
    int number_ = -1;
};

boost::test_tools::assertion_result has_loop_devices(ut::test_unit_id) {
    // Where they are a module, it is loaded at the first look at the control file, or by name.
    test::Child({{"sh", "-c", "modprobe -q loop; true"}, {}, false, false, {}}).wait();
    const LoopDevice device;
    if (device.is_there()) return true;
    boost::test_tools::assertion_result no(false);
    no.message() << "this kernel has no loop devices";
    return no;
}

BOOST_AUTO_TEST_CASE(block_io_counts_the_requests_of_a_device,
                     *ut::precondition(has_loop_devices)) {
    const LoopDevice device;
    const std::vector<std::string> writes = work({"blocks", device.path(), "100"});
    const auto check = [&](const Told& told) {
        long long count = 0;
        for (const Json& row : told.rows("took_us", {{"dev", device.name()}}))
            if (row["key"]["op"].text.starts_with("W")) count += row["count"].number();
        BOOST_TEST(count == 100);
        BOOST_TEST(told.records("slow", {{"dev", device.name()}, {"bytes", "4096"}}).size() ==
                   100u);
    };
    check(Told({"block-io", "min_us=0"}, writes));
    // The same over a recording.
    const test::TempFile file;
    std::vector<std::string> record{
        "record", "-e", "block:block_rq_issue,block:block_rq_complete", "-o", file.path(),
        "--all",  "--"};
    record.insert(record.end(), writes.begin(), writes.end());
    BOOST_TEST(test::gpufs(record).status == 0);
    check(Told(test::gpufs({"run", "block-io", "min_us=0", "--json", "-i", file.path()})));
}

// A group of cgroup v1 with a limit for what is written to a device; the destructor takes it away.
class WriteLimit {
public:
    explicit WriteLimit(const std::string& name) {
        test::shell(cat("mkdir -p ", folder(), " && echo $(cat /sys/block/", name, "/dev) 40960 >",
                        folder(), "/blkio.throttle.write_bps_device"));
    }
    ~WriteLimit() { test::shell(cat("rmdir ", folder())); }
    static std::string folder() { return "/sys/fs/cgroup/blkio/gpufs-test"; }
};

// Of what a limit delays a worker of the kernel is the first that any event is of.
BOOST_AUTO_TEST_CASE(block_io_knows_or_counts_requests_of_a_command_that_a_limit_delays,
                     *ut::precondition(has_loop_devices)) {
    if (!file_exists("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device"))
        return test::skip("needs limits of cgroup v1");
    const LoopDevice device;
    const WriteLimit limit(device.name());
    const Told told({"block-io"}, {"sh", "-c",
                                   cat("echo $$ >", WriteLimit::folder(),
                                       "/cgroup.procs; exec dd if=/dev/zero of=", device.path(),
                                       " bs=4096 count=20 oflag=direct")});
    const auto count = [&](const std::string& map) {
        return told.sum(map, {{"dev", device.name()}, {"op", "WS"}}, "count");
    };
    BOOST_TEST(count("took_us") + count("others") == 20);
    const bool has_kprobes = file_exists("/sys/kernel/tracing/kprobe_events");
    BOOST_TEST((count("others") == 0) == has_kprobes);
    BOOST_TEST(has(told.err(), "a limit of its cgroup delays") == !has_kprobes, told.err());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
