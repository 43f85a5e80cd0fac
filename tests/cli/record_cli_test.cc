#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/recording/file.h"
#include "kernel/tracefs/tracefs.h"
#include "support/json.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;
namespace fs = std::filesystem;

namespace gpufs {
namespace {

using namespace std::chrono_literals;
using test::Child;
using test::Ended;
using test::has;
using test::Worker;

// Once can be too little: a thread that does not run meanwhile has nothing to wait for.
int block_often() {
    test::block_in_d_state(40, 5);
    return 0;
}

// A folder for recordings, which may be full.
class Folder {
public:
    ~Folder() {
        if (is_mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
    }
    // From here on a file system of this size.
    void limit(const std::string& size) {
        const std::string options = "size=" + size;
        BOOST_REQUIRE(::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, options.c_str()) == 0);
        is_mounted_ = true;
    }
    std::string file(const std::string& name = "trace.dat") const { return folder_ / name; }

private:
    const test::TempFolder folder_;
    bool is_mounted_ = false;
};

Ended record(std::vector<std::string> args) {
    args.insert(args.begin(), "record");
    return test::gpufs(args);
}

// `calls` times getppid(2), and nothing else that is recorded below.
std::vector<std::string> getppid_calls(int calls) {
    return {test::work_binary(), "calls", cat(calls), "0"};
}

// Arguments that record getppid(2) of this command.
Ended record_calls(const Folder& folder, int calls, std::vector<std::string> options = {}) {
    std::vector<std::string> args = {"-e", "syscalls:sys_enter_getppid", "-o", folder.file()};
    args.insert(args.end(), options.begin(), options.end());
    args.emplace_back("--");
    for (const std::string& word : getppid_calls(calls)) args.push_back(word);
    return record(args);
}

// The lines that trace-cmd prints of a file, without the one about CPUs.
std::vector<std::string> report_of(const std::string& file) {
    Child::Setup setup;
    setup.argv = {"trace-cmd", "report", file};
    const Ended ended = Child(setup).wait();
    BOOST_TEST(ended.status == 0, ended.err);
    std::vector<std::string> lines = split(ended.out, '\n');
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("cpus="); });
    return lines;
}

// What our own reader finds in it.
struct Content {
    std::size_t records = 0;
    std::vector<std::string> damage;
};
Content content_of(const std::string& file) {
    TraceFile trace(file);
    Content content;
    while (trace.next()) ++content.records;
    content.damage = trace.damage();
    return content;
}
std::size_t records_in(const std::string& file) {
    const Content content = content_of(file);
    for (const std::string& what : content.damage) BOOST_ERROR(what);
    return content.records;
}

std::size_t lines_with(const std::vector<std::string>& lines, const std::string& what) {
    return static_cast<std::size_t>(
        std::ranges::count_if(lines, [&](const std::string& line) { return has(line, what); }));
}

// Seconds since boot.
double uptime() {
    return std::stod(read_file("/proc/uptime"));
}
// The same of a line "  bash-12 [000]  9012.919273: sched_switch: …".
double time_of(const std::string& line) {
    return std::stod(line.substr(line.find(']') + 1));
}

// A recording in the background, of a load that does not end by itself.
Child::Setup background(const std::string& file, std::vector<std::string> options) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "record", "-e", "sched_switch", "-o", file};
    setup.argv.insert(setup.argv.end(), options.begin(), options.end());
    return setup;
}

// Does this hold of the recording's instance within 20 s?
bool comes_to(const Child& child, const std::function<bool(const Tracefs&)>& holds) {
    const Tracefs top("/sys/kernel/tracing");
    for (int i = 0; i < 2000; ++i, ::usleep(10'000))
        for (const std::string& name : top.instances())
            if (name.starts_with(cat("gpufs.", child.pid(), ".")) && holds(top.instance(name)))
                return true;
    return false;
}
bool has_events(const Tracefs& instance) {
    return !instance.read_if_readable("set_event").value_or("").empty();
}
// Everything is set, and its buffer is on, as a new one is.
bool records(const Child& child) {
    return comes_to(child, [](const Tracefs& instance) {
        return has_events(instance) && instance.read_if_readable("tracing_on") == "1\n";
    });
}
// It waits for the signal: held back or handled, it no longer ends the program at once.
bool hears(const Child& child, int signal) {
    for (int i = 0; i < 2000; ++i, ::usleep(10'000)) {
        const std::string status = read_file(cat("/proc/", child.pid(), "/status"));
        for (const char* set : {"SigBlk:\t", "SigCgt:\t"})
            if (std::stoull(status.substr(status.find(set) + 8), nullptr, 16) >> (signal - 1) & 1)
                return true;
    }
    return false;
}
// The event has its trigger.
bool has_trigger(const Child& child) {
    return comes_to(child, [](const Tracefs& instance) {
        return has(instance.read_if_readable("events/sched/sched_switch/trigger").value_or(""),
                   "traceon:unlimited if");
    });
}

// The number that stands in front of a word in a text.
unsigned long number_before(const std::string& text, const std::string& word) {
    const auto end = text.find(" " + word);
    BOOST_REQUIRE(end != text.npos);
    const auto begin = text.find_last_not_of("0123456789", end - 1);
    return std::stoul(text.substr(begin == text.npos ? 0 : begin + 1));
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace) *
                               ut::precondition(test::has_program{"trace-cmd"}))
BOOST_AUTO_TEST_SUITE(recording)

BOOST_AUTO_TEST_CASE(a_recording_has_every_event_for_trace_cmd) {
    const Folder folder;
    const Ended ended = record_calls(folder, 1000);
    BOOST_TEST(ended.status == 0);
    const auto lines = report_of(folder.file());
    const auto ours = lines_with(lines, "gpufs-work-");
    BOOST_TEST(ours == 1000u);
    BOOST_TEST(lines_with(lines, "sys_enter_getppid:") == lines.size());
    BOOST_TEST(number_before(ended.err, "record") == lines.size());
    BOOST_TEST(records_in(folder.file()) == lines.size());
    BOOST_TEST(has(ended.err, ", 0 lost\n"));
    BOOST_TEST(has(ended.err, cat("look at it: gpufs report -i ", folder.file(), "\n",
                                  test::work_binary(), " ended with exit status 0\n")));
    BOOST_TEST(test::our_instances() == "");
}

BOOST_AUTO_TEST_CASE(a_name_with_a_newline_is_one_line_of_the_recording, *ut::label("pure")) {
    const Folder folder;
    const Ended ended =
        record({"-e", "sched:sched_switch", "-o", folder.file(), "--", "sh", "-c",
                "printf 'two\\nlines' >/proc/self/comm; for i in 1 2 3 4 5; do sleep 0.02; done"});
    BOOST_TEST(ended.status == 0, ended.err);
    // The kernel does not keep all names; what it keeps is written as "two\\nlines".
    BOOST_TEST(!report_of(folder.file()).empty());
    BOOST_TEST(!has(read_file(folder.file()), " two\nlines\n"));
}

BOOST_AUTO_TEST_CASE(a_compressed_recording_has_the_same_records) {
    const Folder folder;
    const Ended ended = record_calls(folder, 20000, {"--compress"});
    BOOST_TEST(ended.status == 0);
    const auto lines = report_of(folder.file());
    BOOST_TEST(lines_with(lines, "gpufs-work-") == 20000u);
    BOOST_TEST(number_before(ended.err, "record") == lines.size());
    BOOST_TEST(records_in(folder.file()) == lines.size());
    BOOST_TEST(fs::file_size(folder.file()) < 300'000u);
    BOOST_TEST(!file_exists(folder.file("trace.dat.part")));
}

BOOST_AUTO_TEST_CASE(a_finished_recording_has_no_holes) {
    const Folder folder;
    record_calls(folder, 20000);
    struct stat file {};
    BOOST_REQUIRE(::stat(folder.file().c_str(), &file) == 0);
    BOOST_TEST(file.st_blocks * 512 >= file.st_size);
    BOOST_TEST(file.st_size < 4 << 20);
}

BOOST_AUTO_TEST_CASE(a_condition_and_a_trigger_are_the_kernels) {
    const Folder folder;
    const Ended ended =
        record({"-e", "sched_switch", "--if", cat("prev_state == 2 && prev_pid == ", ::getpid()),
                "--trigger", "stacktrace", "--duration", "1ms", "-o", folder.file()});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(report_of(folder.file()).size() == 0u);
    Child child(
        background(folder.file(), {"--if", cat("prev_state == 2 && prev_pid == ", ::getpid()),
                                   "--trigger", "stacktrace", "--duration", "3s"}));
    BOOST_TEST(records(child));
    test::block_in_d_state(3, 5);
    child.wait();
    const auto lines = report_of(folder.file());
    BOOST_TEST(lines_with(lines, "sched_switch:") >= 3u);
    BOOST_TEST(lines_with(lines, "<stack trace") == lines_with(lines, "sched_switch:"));
    BOOST_TEST(lines_with(lines, "schedule") > lines_with(lines, "sched_switch:"));
    record({"-e", "sched_switch", "--trigger", "stacktrace:3", "--duration", "300ms", "-o",
            folder.file()});
    BOOST_TEST(lines_with(report_of(folder.file()), "<stack trace") == 3u);
}

BOOST_AUTO_TEST_CASE(a_pid_means_its_threads_and_children_only) {
    const Folder folder;
    const std::string begin = folder.file() + ".begin";
    Child::Setup looper, setup;
    // Each round a fork by the shell, and one by its child.
    looper.argv = {
        "sh", "-c",
        cat("until [ -e ", begin, " ]; do sleep 0.05; done; ",
            "for i in 1 2 3; do sh -c 'true & wait; :'; done; echo done; exec sleep 100")};
    Child shell(looper);
    const int pid = shell.pid();
    setup.argv = {test::gpufs_binary(), "record", "-e", "sched_process_fork", "-p", cat(pid), "-o",
                  folder.file()};
    Child child(setup);
    BOOST_TEST(records(child));
    BOOST_TEST(std::ofstream(begin).is_open());
    BOOST_TEST(shell.wait_for_output("done\n", 60s));
    child.send(SIGINT);
    BOOST_TEST(child.wait().signal == SIGINT);
    shell.send(SIGKILL);
    shell.wait();
    const auto lines = report_of(folder.file());
    const auto by_shell = lines_with(lines, cat("-", pid, " "));
    BOOST_TEST(by_shell >= 3u);
    BOOST_TEST(lines.size() > by_shell);
    for (const std::string& line : lines) BOOST_TEST(has(line, "comm=sh "), line);
}

BOOST_AUTO_TEST_CASE(a_killed_recording_can_be_read_up_to_the_last_second, *ut::label("pure")) {
    for (const int run_ms : {350, 1300, 2100, 2950}) {
        const Folder folder;
        Child child(background(folder.file(), {}));
        BOOST_TEST(records(child));
        ::usleep(static_cast<useconds_t>(run_ms) * 1000);
        child.send(SIGKILL);
        const double killed = uptime();
        BOOST_TEST(child.wait().signal == SIGKILL);
        const auto lines = report_of(folder.file());
        BOOST_REQUIRE(!lines.empty());
        // Our reader also finds what was written since the table was brought up to date.
        const Content content = content_of(folder.file());
        for (const std::string& what : content.damage)
            BOOST_TEST(has(what, ": the recording was not ended: its table counts "), what);
        if (content.damage.empty())
            BOOST_TEST(content.records == lines.size());
        else
            BOOST_TEST(content.records > lines.size());
        BOOST_TEST(time_of(lines.back()) > killed - 3);
    }
    test::gpufs({"reset", "--stale"});
    BOOST_TEST(test::our_instances() == "");
}

BOOST_AUTO_TEST_CASE(a_signal_ends_a_recording_whole) {
    const Folder folder;
    Child child(background(folder.file(), {}));
    BOOST_TEST(records(child));
    BOOST_TEST(hears(child, SIGTERM));
    test::block_in_d_state(2, 5);
    child.send(SIGTERM);
    const Ended ended = child.wait();
    BOOST_TEST(ended.signal == SIGTERM);
    BOOST_TEST(number_before(ended.err, "record") == report_of(folder.file()).size());
}

BOOST_AUTO_TEST_CASE(two_recordings_do_not_share_a_file) {
    const Folder folder;
    Child first(background(folder.file(), {}));
    BOOST_TEST(records(first));
    const Ended second = record_calls(folder, 10);
    BOOST_TEST(second.status == 1);
    BOOST_TEST(second.err == cat("gpufs: '", folder.file(),
                                 "' is being recorded into\nhint: -o FILE names another one\n"));
    first.send(SIGTERM);
    BOOST_TEST(number_before(first.wait().err, "record") == report_of(folder.file()).size());
}

BOOST_AUTO_TEST_CASE(a_command_that_is_ended_with_the_run_is_named, *ut::label("pure")) {
    const Folder folder;
    const std::vector<std::string> run{"--duration", "50ms", "--", "sleep", "100"};
    for (std::vector<std::string> args : {std::vector<std::string>{"count", "sched_switch"},
                                          {"run", "off-cpu"},
                                          {"stall"},
                                          {"record", "-e", "sched_switch", "-o", folder.file()}}) {
        args.insert(args.end(), run.begin(), run.end());
        const Ended ended = test::gpufs(args);
        BOOST_TEST(ended.status == 0);
        BOOST_TEST(has(ended.err, ") was ended with SIGTERM\n"), ended.err);
        BOOST_TEST(has(ended.err, "'sleep' (pid "), ended.err);
    }
}

BOOST_AUTO_TEST_CASE(a_full_disk_ends_a_recording_that_can_be_read, *ut::label("pure")) {
    Folder folder;
    folder.limit("2m");
    const Ended ended = record_calls(folder, 200000);
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(has(ended.err, cat("gpufs: the disk is full: '", folder.file(),
                                  "' has what was recorded until then\n")));
    const std::size_t there = report_of(folder.file()).size();
    BOOST_TEST(there > 1000u);
    // What was taken out of the buffer when there was no more room is neither in the file nor
    // forgotten.
    BOOST_TEST(number_before(ended.err, "records (") == there);
    const auto lost = number_before(ended.err, "records that found no room on the disk");
    BOOST_TEST(lost > 0);
    BOOST_TEST(number_before(ended.err, "lost") == lost);
    BOOST_TEST(test::our_instances() == "");
    // Whoever reads the file later hears of it, too.
    const Ended report = test::gpufs({"report", "-i", folder.file(), "--strict"});
    BOOST_TEST(report.status == 4);
    BOOST_TEST(number_before(report.err, "lost") == lost, report.err);
}

BOOST_AUTO_TEST_CASE(an_old_recording_stays_where_a_new_one_cannot_begin) {
    Folder folder;
    folder.limit("64k");  // the description of the events takes more
    const std::string old(9000, 'x');
    std::ofstream(folder.file()) << old;
    const Ended ended = record_calls(folder, 1);
    BOOST_TEST(ended.status == 1);
    const std::string reason = "': No space left on device\n";
    BOOST_TEST(has(ended.err, cat("gpufs: cannot write to '", folder.file(), reason)), ended.err);
    BOOST_TEST(read_file(folder.file()) == old);
    const std::string other = folder.file("new.dat");
    const Ended fresh = record({"-e", "sched_process_exec", "-o", other, "--", "echo", "it ran"});
    BOOST_TEST(has(fresh.err, cat("gpufs: cannot write to '", other, reason)), fresh.err);
    BOOST_TEST((!file_exists(other) && fresh.out.empty()), fresh.out);
    BOOST_TEST(test::our_instances() == "");
}

// A file that may not grow is one that cannot begin, too.
BOOST_AUTO_TEST_CASE(an_old_recording_stays_where_a_limit_is_too_small) {
    const Folder folder;
    std::ofstream(folder.file()) << "old";
    const Ended ended = test::shell(
        cat("ulimit -f 8; $GPUFS record -e sched_process_exec -o ", folder.file(), " -- true"));
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(
        has(ended.err, cat("gpufs: cannot write to '", folder.file(), "': File too large\n")),
        ended.err);
    BOOST_TEST(read_file(folder.file()) == "old");
}

BOOST_AUTO_TEST_CASE(what_a_full_disk_took_is_in_json) {
    Folder folder;
    folder.limit("2m");
    const Ended ended = record_calls(folder, 200000, {"--json"});
    BOOST_TEST(ended.status == 1);
    const test::Json said = test::parse_json_lines(ended.out).front();
    long long written = 0, lost = 0;
    for (const test::Json& cpu : said["cpus"].items) {
        written += cpu["count"].number();
        lost += cpu["lost"].number();
    }
    BOOST_TEST(said["records"].number() == written);
    BOOST_TEST(said["records"].number() == static_cast<long long>(report_of(folder.file()).size()));
    BOOST_TEST(lost > 0);
    BOOST_TEST(said["lost"].number() == lost);
}

BOOST_AUTO_TEST_CASE(a_recording_ends_at_its_size, *ut::label("pure")) {
    const Folder folder;
    const Ended ended = record_calls(folder, 200000, {"--max", "64k", "--json"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(has(ended.err, "stopped: the records have the size that --max allows\n"));
    BOOST_TEST(has(ended.out, "\"bytes\":65536,"));
    BOOST_TEST(has(ended.out, cat("\"records\":", report_of(folder.file()).size(), ",")));
}

BOOST_AUTO_TEST_CASE(what_is_lost_is_counted_and_can_be_a_failure) {
    const Folder folder;
    // The shell stops its parent, the recorder, while the buffer overruns.
    std::string calls;
    for (const std::string& word : getppid_calls(300000)) calls += word + ' ';
    const Ended ended = record({"-e", "syscalls:sys_enter_getppid", "-o", folder.file(), "--buffer",
                                "8k", "--strict", "--", "sh", "-c",
                                cat("kill -STOP $PPID; ", calls, "; kill -CONT $PPID")});
    const auto lost = number_before(ended.err, "lost");
    const auto records = number_before(ended.err, "record");
    BOOST_TEST(lost > 0);
    BOOST_TEST(ended.status == 4);
    // Somebody else may call it, too.
    BOOST_TEST(lost + records >= 300000u);
    BOOST_TEST(lost + records < 300100u);
}

BOOST_AUTO_TEST_CASE(a_ring_keeps_the_last_records_and_writes_when_asked) {
    const Folder folder;
    Child child(background(folder.file(), {"--ring", "--buffer", "64k"}));
    BOOST_TEST(records(child));
    BOOST_TEST(hears(child, SIGUSR1));
    test::block_in_d_state(2, 5);
    child.send(SIGUSR1);
    BOOST_TEST(child.wait_for_error(folder.file() + "\n", 60s));
    test::block_in_d_state(2, 5);
    child.send(SIGINT);
    const Ended ended = child.wait();
    BOOST_TEST(ended.signal == SIGINT);
    const auto first = report_of(folder.file()), second = report_of(folder.file("trace.dat.2"));
    BOOST_TEST(number_before(ended.err, "record") == first.size());
    BOOST_TEST(!second.empty());
    BOOST_TEST(has(ended.err, cat(folder.file(), ".2, ")));
    BOOST_TEST(has(ended.err, " older overwritten, 0 lost\n"));
}

BOOST_AUTO_TEST_CASE(what_a_ring_overwrote_is_no_loss_for_its_readers) {
    const Folder folder;
    const Ended ended = record_calls(folder, 100000, {"--ring", "--buffer", "64k", "--strict"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(number_before(ended.err, "older overwritten, 0 lost\n") > 0);
    const auto records = number_before(ended.err, "records (");
    const Ended report = test::gpufs({"report", "-i", folder.file(), "--json", "--strict"});
    BOOST_TEST(report.status == 0, report.err);
    const test::Json summary = test::parse_json_lines(report.out).back()["summary"];
    BOOST_TEST(static_cast<unsigned long>(summary["records"].number()) == records);
    BOOST_TEST(summary["lost"].number() == 0);
    const Ended chrome = test::gpufs({"export", "-i", folder.file(), "--chrome", "-", "--strict"});
    BOOST_TEST(chrome.status == 0);
    BOOST_TEST(!has(chrome.out, " lost\""));
    BOOST_TEST(report_of(folder.file()).size() == records);
}

BOOST_AUTO_TEST_CASE(a_ring_is_written_when_a_trigger_stops_it) {
    const Folder folder;
    Worker blocks(block_often);  // whoever looks at tracefs may sleep in D state, too
    const int pid = blocks.pid();
    Child child(background(folder.file(), {"--ring", "--trigger", "traceoff", "--if",
                                           cat("prev_state == 2 && prev_pid == ", pid)}));
    BOOST_TEST(records(child));
    blocks.start();
    const Ended ended = child.wait();
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.err.starts_with("a trigger stopped the buffer\n"));
    const auto lines = report_of(folder.file());
    BOOST_REQUIRE(!lines.empty());
    BOOST_TEST(lines.size() > 1u);
    // What the other CPUs were writing at that moment may stand behind it.
    BOOST_TEST(std::any_of(lines.end() - std::min<long>(4, std::ssize(lines)), lines.end(),
                           [&](const auto& line) { return has(line, cat(":", pid, " ")); }),
               lines.back());
}

BOOST_AUTO_TEST_CASE(a_trigger_names_the_event_to_switch_as_the_command_does, *ut::label("pure")) {
    const Folder folder;
    BOOST_TEST(record({"-e", "sched_switch", "--trigger",
                       "enable_event sched_process_exit if "
                       "prev_prio == 12345",
                       "-o", folder.file(), "--duration", "1ms"})
                   .status == 0);
    BOOST_TEST(
        record({"-e", "sched_switch", "--trigger", "enable_event", "-o", folder.file()}).err ==
        "gpufs: --trigger: enable_event needs the event to switch\n"
        "hint: gpufs trigger enable_event SYSTEM:EVENT -e …\n");
}

BOOST_AUTO_TEST_CASE(a_recording_begins_when_a_trigger_says_so) {
    const Folder folder;
    Worker blocks(block_often);
    const int pid = blocks.pid();
    Child child(background(folder.file(), {"--trigger", "traceon", "--if",
                                           cat("prev_state == 2 && prev_pid == ", pid)}));
    BOOST_TEST(has_trigger(child));
    ::usleep(200'000);
    const double before = uptime();
    blocks.start();
    BOOST_TEST(blocks.wait() == 0);
    child.send(SIGINT);
    BOOST_TEST(child.wait().signal == SIGINT);
    const auto lines = report_of(folder.file());
    BOOST_REQUIRE(!lines.empty());
    BOOST_TEST(time_of(lines.front()) > before - 0.02, lines.front());
    BOOST_TEST(lines_with(lines, cat(":", pid, " ")) > 0u);
}

BOOST_AUTO_TEST_CASE(a_closed_pipe_leaves_a_whole_recording, *ut::label("pure")) {
    const Folder folder;
    Child::Setup setup = background(folder.file(), {"--json", "--duration", "300ms"});
    setup.close_stdout_early = true;
    BOOST_TEST(Child(setup).wait().signal == SIGPIPE);
    BOOST_TEST(records_in(folder.file()) == report_of(folder.file()).size());
    BOOST_TEST(records_in(folder.file()) > 0u);
    BOOST_TEST(test::our_instances() == "");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_said_before_the_file_is_touched, *ut::label("pure")) {
    const Folder folder;
    std::ofstream(folder.file()) << "the last one";
    const auto refused = [&](std::vector<std::string> args, int status, const std::string& words) {
        args.insert(args.end(), {"-o", folder.file()});
        const Ended ended = record(args);
        BOOST_TEST(ended.status == status);
        BOOST_TEST(ended.err == words);
        BOOST_TEST(read_file(folder.file()) == "the last one");
        BOOST_TEST(test::our_instances() == "");
    };
    refused({}, 2,
            "gpufs: nothing to record: there is no -e and no --gpu\n"
            "hint: such as: gpufs record -e sched_switch -- make\n");
    refused({"-e", "sched_swich"}, 2,
            "gpufs: this kernel has no event 'sched_swich'\n"
            "hint: did you mean 'sched_switch'?\n");
    refused({"-e", "sched_switch", "--if", "prev_sate == 2"}, 2,
            "gpufs: --if:1:1: error: sched:sched_switch has no field 'prev_sate'\n"
            "prev_sate == 2\n"
            "^~~~~~~~~\n"
            "hint: did you mean 'prev_state'?\n");
    refused(
        {"-e", "sched_switch", "--trigger", "traceofff"}, 2,
        "gpufs: --trigger: unknown trigger action 'traceofff'\nhint: did you mean 'traceoff'?\n");
    refused({"-e", "sched_switch", "--trigger", "snapshot"}, 2,
            "gpufs: --trigger: a snapshot would be gone with the recording's buffer\n"
            "hint: --ring with --trigger traceoff keeps what led to an event\n");
    refused({"-e", "sched_switch", "--trigger", "zzz"}, 2,
            "gpufs: --trigger: unknown trigger action 'zzz'\n"
            "hint: actions: stacktrace traceon traceoff enable_event disable_event\n");
    refused({"-e", "sched_switch,sched_wakeup", "--trigger", "traceoff if error_code != 0"}, 2,
            "gpufs: --trigger:1:1: error: none of the 2 events to be recorded has a field "
            "'error_code'\n"
            "error_code != 0\n"
            "^~~~~~~~~~\n"
            "hint: name one that has it with -e; 'gpufs list -v EVENT' shows an event's fields\n");
    refused({"-e", "sched_switch", "--max", "x"}, 2,
            "gpufs: --max takes a size, not 'x'\nhint: such as 64k, 4M or 1G\n");
    const Ended ended =
        record({"-e", "sched_switch", "-o", folder.file(), "--", "/nonexistent/command"});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(read_file(folder.file()) == "the last one");
    BOOST_TEST(record({"-e", "sched_switch", "-o", "/nonexistent/trace.dat"}).err ==
               "gpufs: cannot open '/nonexistent/trace.dat': No such file or directory\n");
    BOOST_TEST(record({"-e", "sched_switch", "-o", "/dev/null"}).err ==
               "gpufs: '/dev/null' is no regular file\n"
               "hint: a trace.dat is written at several places; into a pipe, use -o -\n");
    BOOST_TEST(
        record({"-e", "sched_switch", "-o", folder.file("new"), "--", "/nonexistent"}).status == 1);
    BOOST_TEST(!file_exists(folder.file("new")));
}

BOOST_AUTO_TEST_CASE(the_timeline_of_gpus_has_fences_and_tasks) {
    const Folder folder;
    BOOST_TEST(record({"--gpu", "--duration", "300ms", "-o", folder.file()}).status == 0);
    const auto lines = report_of(folder.file());
    BOOST_TEST(lines_with(lines, "sched_switch:") > 0u);
    const std::string bytes = read_file(folder.file());
    BOOST_TEST(has(bytes, "name: dma_fence_signaled\n"));
    BOOST_TEST(!has(bytes, "_reg_rw\n"));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
