#define BOOST_TEST_DYN_LINK
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/tracefs/tracefs.h"
#include "support/needs.h"
#include "support/printed_variables.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"
#include "support/trace_instance.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using namespace std::chrono_literals;
using test::Child;
using test::Ended;
using test::TempSession;

Ended recipe(std::vector<std::string> args) {
    args.insert(args.begin(), "recipe");
    return test::gpufs(args);
}

// A directory with recipes that is the user's own: $XDG_CONFIG_HOME/gpufs/triggers.
class OwnRecipes {
public:
    OwnRecipes() {
        std::filesystem::create_directories(directory());
        ::setenv("XDG_CONFIG_HOME", home_.path().c_str(), 1);
    }
    ~OwnRecipes() { ::unsetenv("XDG_CONFIG_HOME"); }
    std::string directory() const { return home_ / "gpufs/triggers"; }
    std::string write(const std::string& name, const std::string& body, mode_t mode = 0644) {
        const std::string path = cat(directory(), "/", name, ".trig");
        std::ofstream(path) << "recipe " << name << " \"what is it?\"\n" << body;
        ::chmod(path.c_str(), mode);
        return path;
    }

private:
    const test::TempFolder home_;
};

// Nothing of the process is in tracefs any more.
bool was_left_behind(int pid) {
    for (const std::string& instance : test::top().instances())
        if (instance.starts_with(cat("gpufs.", pid, "."))) return true;
    return test::top().read("dynamic_events").find(cat("gpufs_", pid, "_")) != std::string::npos;
}

std::string self() {
    return cat(::getpid());
}
std::string own_path() {
    return std::filesystem::read_symlink("/proc/self/exe");
}

constexpr const char* kIsSet = "everything is set";
// Long enough for an emulated machine.
constexpr auto kPatience = 30s;

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(recipes)

BOOST_AUTO_TEST_CASE(recipes_are_listed_with_their_question_and_what_is_missing) {
    const Ended ended = recipe({"list"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.err == "");
    BOOST_TEST(ended.out.find("yes      stall           Which kernel function keeps a process from "
                              "running?\n") != std::string::npos,
               ended.out);
    for (const char* name :
         {"block-io", "gpu-hang", "irq-long", "oom", "syscall-errors", "wakeups"})
        BOOST_TEST(ended.out.find(cat("  ", name, "  ")) != std::string::npos, name);
    const Ended json = recipe({"list", "--json"});
    BOOST_TEST(json.out.find("{\"recipe\":\"stall\",\"question\":\"Which kernel function keeps a "
                             "process from running?\",\"answer\":\"yes\",\"reasons\":[]") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_user_without_rights_still_sees_the_recipes, *ut::label("pure")) {
    const Ended ended = test::gpufs_as_nobody({"recipe", "list"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out.find("?        stall  ") != std::string::npos, ended.out);
    BOOST_TEST(ended.err.starts_with("gpufs: cannot ask this kernel: "), ended.err);
    BOOST_TEST(test::gpufs_as_nobody({"recipe", "run", "oom"}).status == 3);
}

// The function that reports it fires the event that says what happened.
BOOST_AUTO_TEST_CASE(gpu_hang_keeps_what_nvidias_driver_says,
                     *ut::precondition(test::owns_the_machine)) {
    const std::string load = "insmod \"$GPUFS_VM_MODULES\"/nvidia.ko";
    BOOST_REQUIRE(Child({{"sh", "-c", load}, {}, false, false, {}}).wait().status == 0);
    const Ended ended = recipe(
        {"run", "gpu-hang", "--", "sh", "-c", "echo 31 >/sys/module/nvidia/parameters/report"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(test::has(ended.out,
                         "nvidia_dev_xid: Xid (PCI:0000:01:00): 31, pid=4321, name=toy, "
                         "Ch 00000010\n"),
               ended.out);
    BOOST_TEST(test::has(ended.out, "xid=31\n"), ended.out);
    Child({{"rmmod", "nvidia"}, {}, false, false, {}}).wait();
}

BOOST_AUTO_TEST_CASE(the_text_of_a_recipe_is_shown_as_it_is, *ut::label("pure")) {
    const Ended ended = recipe({"show", "stall"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out == read_file("triggers/stall.trig"));
    const Ended wrong = recipe({"show", "stal"});
    BOOST_TEST(wrong.status == 2);
    BOOST_TEST(wrong.err == "gpufs: there is no recipe 'stal'\nhint: did you mean 'stall'?\n");
}

BOOST_AUTO_TEST_CASE(the_binary_alone_has_the_recipes, *ut::label("pure")) {
    const std::string copy = cat("/tmp/gpufs-alone-", ::getpid());
    std::filesystem::copy_file(test::gpufs_binary(), copy);
    Child::Setup setup;
    setup.argv = {copy, "recipe", "show", "oom"};
    BOOST_TEST(Child(setup).wait().out == read_file("triggers/oom.trig"));
    std::filesystem::remove(copy);
}

BOOST_AUTO_TEST_CASE(a_recipe_of_ones_own_is_found_first, *ut::label("pure")) {
    OwnRecipes own;
    own.write("mine", "event sched:sched_switch\n");
    own.write("oom", "event nosuch:event\n");
    const Ended ended = recipe({"list"});
    BOOST_TEST(ended.out.find("yes      mine            what is it?\n") != std::string::npos,
               ended.out);
    BOOST_TEST(ended.out.find("no       oom             what is it?\n"
                              "                         missing: event nosuch:event\n") !=
                   std::string::npos,
               ended.out);
    BOOST_TEST(recipe({"run", "mine", "--duration", "0"}).status == 0);
}

BOOST_AUTO_TEST_CASE(a_recipe_that_others_can_write_is_refused_for_root, *ut::label("pure")) {
    OwnRecipes own;
    const std::string path = own.write("open", "event sched:sched_switch\n", 0666);
    for (const std::string& name : {std::string("open"), path}) {
        const Ended ended = recipe({"run", name});
        BOOST_TEST(ended.status == 1);
        BOOST_TEST(ended.err ==
                   "gpufs: root does not run '" + path + "': " + path +
                       " can be written by everybody\n"
                       "hint: whoever can write it would decide what root does; 'chown root' and "
                       "'chmod go-w' what is yours\n");
    }
    BOOST_TEST(recipe({"list"}).out.find("refused  open            \n") != std::string::npos);
    const Ended list = recipe({"list"});
    BOOST_TEST(list.out.find(path + " can be written by everybody\n") != std::string::npos,
               list.out);
}

BOOST_AUTO_TEST_CASE(mistakes_in_a_file_are_told_with_status_2, *ut::label("pure")) {
    OwnRecipes own;
    const std::string path = own.write("bad", "evnt sched:sched_switch\n");
    const Ended ended = recipe({"run", path});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.err == "gpufs: " + path +
                                ":2:1: error: 'evnt' is no directive\n"
                                "evnt sched:sched_switch\n"
                                "^~~~\n"
                                "hint: did you mean 'event'?\n");
    own.write("other", "event nosuch:event\n");
    BOOST_TEST(recipe({"run", "other"}).status == 3);
}

BOOST_AUTO_TEST_CASE(wrong_words_are_told, *ut::label("pure")) {
    const auto said = [](std::vector<std::string> args) {
        const Ended ended = recipe(std::move(args));
        BOOST_TEST(ended.status == 2);
        return ended.err;
    };
    BOOST_TEST(said({"run"}) == "gpufs: no recipe given\nhint: 'gpufs recipe list' shows them\n");
    BOOST_TEST(said({"rn", "oom"}) ==
               "gpufs: 'recipe' does not know 'rn'\nhint: did you mean 'run'?\n");
    BOOST_TEST(said({"run", "oom", "-p", "1"}) ==
               "gpufs: recipe 'oom' watches the whole machine: -p has nothing to narrow\n");
    BOOST_TEST(said({"run", "wakeups"}) ==
               "gpufs: recipe 'wakeups' needs pid: the process\n"
               "hint: gpufs recipe run wakeups -p PID, or -- COMMAND\n");
    BOOST_TEST(said({"run", "wakeups", "pid=x"}) == "gpufs: 'x' is not the number of a process\n");
    BOOST_TEST(said({"list", "--keep"}) == "gpufs: 'recipe list' takes --json, nothing else\n");
    BOOST_TEST(said({"show", "oom", "--json"}) ==
               "gpufs: 'recipe show' takes a recipe, nothing else\n");
    BOOST_TEST(said({"run", "wakeups", "-p", "1", "pid=1"}) ==
               "gpufs: -p and pid= say the same: give one\n");
    BOOST_TEST(said({"run", "stall", "ovr=1ms"}) ==
               "gpufs: recipe 'stall' has no parameter 'ovr'\nhint: did you mean 'over'?\n");
    BOOST_TEST(said({"run", "stall", "ls"}) ==
               "gpufs: 'ls' is not NAME=VALUE\n"
               "hint: a parameter is given as over=5ms, a command behind --\n");
    BOOST_TEST(said({"run", "wakeups", "--dry-run", "--", "true"}) ==
               "gpufs: a dry run cannot know the command's pid\nhint: give one: pid=PID\n");
    const Ended gone = recipe({"run", "wakeups", "-p", "4194305"});
    BOOST_TEST(gone.status == 1);
    BOOST_TEST(gone.err ==
               "gpufs: there is no process 4194305\n"
               "hint: it may have ended; 'pgrep -a NAME' looks\n");
    BOOST_TEST(said({"run", "oom", "--"}) == "gpufs: there is no COMMAND behind --\n");
}

// The story: a program knows that it is late, and does not know why.
BOOST_AUTO_TEST_CASE(stall_stops_at_the_programs_own_measure_and_has_the_stack,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    Child::Setup setup;
    setup.argv =
        split(cat(test::gpufs_binary(), " recipe run stall pid=", self(), " program=", own_path(),
                  " at=gpufs_test_measured value=", test::fetch_of_measure(), " over=15ms"),
              ' ');
    Child child(setup);
    BOOST_TEST(child.wait_for_error(kIsSet, kPatience));
    test::gpufs_test_measured(1'000'000);
    test::block_in_d_state(1, 20);
    test::gpufs_test_measured(20'000'000);
    test::block_in_d_state(1, 1);  // too late to be seen
    const int pid = child.pid();
    const Ended ended = child.wait();
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out.find("prev_pid=" + self()) != std::string::npos, ended.out);
    BOOST_TEST(ended.out.find("prev_state=D") != std::string::npos);
    BOOST_TEST(ended.out.find(test::kVforkFrame) != std::string::npos);
    BOOST_TEST(ended.out.find("value=20000000") != std::string::npos);
    BOOST_TEST(ended.out.rfind("prev_state=D") < ended.out.find("value=20000000"));
    BOOST_TEST(ended.err.find("stall: a trigger stopped the buffer after ") != std::string::npos,
               ended.err);
    BOOST_TEST(ended.err.find(" 0 overwritten, 0 dropped\n") != std::string::npos);
    BOOST_TEST(!was_left_behind(pid));
}

#if defined __x86_64__
// The values are those that the program prints there.
BOOST_AUTO_TEST_CASE(a_probe_of_a_recipe_is_at_a_line_and_has_variables,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    const std::string program = test::variant("gcc-O2-pie");
    OwnRecipes own;
    own.write("lines", cat("param at text\n"
                           "probe there uprobe ",
                           program,
                           ":$at n=n len=req->len:s64\n"
                           "event there if n > 0\n"
                           "show all\n"));
    const auto run = [&](const std::string& at) {
        return recipe({"run", "lines", "at=" + at, "--", program, "3"});
    };
    const Ended ended = run(cat("variables.c:", test::line_with("work")));
    BOOST_TEST(ended.status == 0, ended.err);
    for (const char* values : {" n=1 len=5\n", " n=2 len=15\n"})
        BOOST_TEST(ended.out.find(values) != std::string::npos, ended.out);
    BOOST_TEST(ended.out.find(": there: (") != std::string::npos, ended.out);
    BOOST_TEST(ended.out.find(") n=0 ") == std::string::npos, ended.out);
    const Ended wrong = run("variables.c:1");
    BOOST_TEST(wrong.status == 2);
    BOOST_TEST(wrong.err.find("line 1 of 'variables.c' has no code\n") != std::string::npos,
               wrong.err);
    const Ended many = run("c*");
    BOOST_TEST(many.status == 2);
}
#endif

BOOST_AUTO_TEST_CASE(syscall_errors_leaves_out_gpufs_itself) {
    Child::Setup setup;  // known by its pid: other programs are called gpufs-test
    setup.argv = {test::gpufs_binary(), "recipe", "run", "syscall-errors", "--duration", "300ms"};
    Child child(setup);
    const int pid = child.pid();
    const Ended ended = child.wait();
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out.find(cat("gpufs-", pid, " ")) == std::string::npos, ended.out);
}

BOOST_AUTO_TEST_CASE(a_command_starts_when_all_is_set_and_ends_the_run) {
    const Ended ended =
        recipe({"run", "syscall-errors", "--", "sh", "-c", "cat /no/such/file/anywhere; exit 3"});
    BOOST_TEST(ended.status == 3);  // the command's
    // The first thing a command does is in the buffer, and so is what its children do.
    BOOST_TEST(test::has(ended.out, "sys_openat -> 0xfffffffffffffffe ENOENT\n"), ended.out);
    BOOST_TEST(ended.out.find(" cat-") != std::string::npos, ended.out);
    BOOST_TEST(ended.err.find("syscall-errors: the command ended with exit status 3 after ") !=
                   std::string::npos,
               ended.err);
}

BOOST_AUTO_TEST_CASE(a_command_that_cannot_be_run_leaves_nothing) {
    const TempSession session;
    const Ended ended =
        recipe({"run", "wakeups", "--session", session.name(), "--", "/no/such/command"});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(
        ended.err.find("gpufs: cannot run '/no/such/command': No such file or directory\n") !=
            std::string::npos,
        ended.err);
    BOOST_TEST(!file_exists(session.directory()));
}

BOOST_AUTO_TEST_CASE(wakeups_names_the_waker) {
    // The end of the child wakes the shell, from the child's own context: what a timer wakes on an
    // idle CPU has no stack on some kernels.
    const Ended ended = recipe({"run", "wakeups", "--", "sh", "-c", "sleep 0.1; true"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out.find("sched_waking: comm=sh") != std::string::npos, ended.out);
    BOOST_TEST(ended.out.find("do_exit") != std::string::npos, ended.out);
}

BOOST_AUTO_TEST_CASE(irq_long_shows_the_longest_first) {
    const Ended ended = recipe({"run", "irq-long", "n=3", "--", "sleep", "1"});
    BOOST_TEST(ended.status == 0);
    // An idle machine may have no hard interrupt in a second.
    BOOST_TEST(ended.out.find("The longest of ") != std::string::npos, ended.out);
    BOOST_TEST(ended.out.find(" irq:softirq_entry to irq:softirq_exit") != std::string::npos);
    // On a machine with much to do none of the longest may be shorter.
    BOOST_TEST((ended.out.find(" us  ") != std::string::npos ||
                ended.out.find(" ms  ") != std::string::npos),
               ended.out);
    BOOST_TEST(ended.out.find(": softirq_entry: vec=") != std::string::npos);
    BOOST_TEST(ended.err.find("; 0 records") == std::string::npos, ended.err);
    const Ended json = recipe({"run", "irq-long", "n=1", "--json", "--", "sleep", "1"});
    BOOST_TEST(json.out.find("{\"took_ns\":") != std::string::npos, json.out);
    BOOST_TEST(json.out.find("\"event\":\"irq:softirq_entry\",\"fields\":{\"vec\":") !=
               std::string::npos);
}

// Sleeps of 10, 200 and 3,000 ms: the second is over the limit, on a busy machine perhaps the
// first, and its end is the last but little in the buffer.
BOOST_AUTO_TEST_CASE(a_time_over_its_limit_stops_the_buffer) {
    OwnRecipes own;
    own.write("sleeps",
              "param pid pid\n"
              "param over time optional\n"
              "event syscalls:sys_enter_clock_nanosleep, syscalls:sys_exit_clock_nanosleep\n"
              "set pids=$pid children=on\n"
              "end over $over syscalls:sys_enter_clock_nanosleep to "
              "syscalls:sys_exit_clock_nanosleep by common_pid\n"
              "show all\n");
    const std::vector<std::string> command = {"sh", "-c", "sleep 0.01; sleep 0.2; sleep 3"};
    for (const bool is_json : {false, true}) {
        std::vector<std::string> args = {"run", "sleeps", "over=100ms"};
        if (is_json) args.emplace_back("--json");
        args.emplace_back("--");
        args.insert(args.end(), command.begin(), command.end());
        const Ended ended = recipe(args);
        BOOST_TEST(ended.status == 0, ended.err);
        const auto count = [&](const std::string& text) {
            std::size_t n = 0;
            for (auto at = ended.out.find(text); at != std::string::npos;
                 at = ended.out.find(text, at + 1))
                ++n;
            return n;
        };
        if (is_json) {
            BOOST_TEST(ended.out.find("\"ended\":\"over\"") != std::string::npos, ended.out);
            continue;
        }
        // The sleeps up to that one, and the begin of the next at most.
        const std::size_t ends = count("sys_clock_nanosleep -> ");
        BOOST_TEST((ends == 1u || ends == 2u), ended.out);
        BOOST_TEST(count("sys_clock_nanosleep(") <= ends + 1, ended.out);
        BOOST_TEST(ended.err.find("sleeps: everything is set; ends when "
                                  "syscalls:sys_enter_clock_nanosleep to "
                                  "syscalls:sys_exit_clock_nanosleep takes longer than 100.0 ms, "
                                  "or the command ends, or Ctrl-C\n") != std::string::npos,
                   ended.err);
        const std::string took_words =
            "sleeps: syscalls:sys_enter_clock_nanosleep to syscalls:sys_exit_clock_nanosleep took ";
        const auto took = ended.err.find(took_words);
        BOOST_TEST_REQUIRE(took != std::string::npos, ended.err);
        double number = 0;
        char unit[8] = "", rest[8] = "";
        BOOST_TEST(
            std::sscanf(ended.err.c_str() + took + took_words.size(),
                        "%lf %7[a-z], and the buffer was stopped %7s", &number, unit, rest) == 3,
            ended.err);
        BOOST_TEST((number >= 100 || unit == std::string("s")), ended.err);
        BOOST_TEST(rest == std::string("after"), ended.err);
        BOOST_TEST(ended.err.find(") was ended with SIGTERM\n") != std::string::npos, ended.err);
    }
    // Without a limit nothing stops it.
    const Ended whole = recipe({"run", "sleeps", "--", "sh", "-c", "sleep 0.2"});
    BOOST_TEST(
        whole.err.find("sleeps: the command ended with exit status 0 after") != std::string::npos,
        whole.err);
}

BOOST_AUTO_TEST_CASE(irq_long_stops_at_the_first_that_is_too_long) {
    const Ended ended = recipe({"run", "irq-long", "over=1ns", "--duration", "60s"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.err.find(", and the buffer was stopped after ") != std::string::npos,
               ended.err);
    BOOST_TEST(ended.out.find("The longest of ") != std::string::npos, ended.out);
}

BOOST_AUTO_TEST_CASE(a_run_says_in_json_what_it_found) {
    const Ended ended = recipe({"run", "wakeups", "--json", "--", "sleep", "0.1"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out.find("\"event\":\"sched:sched_waking\"") != std::string::npos, ended.out);
    BOOST_TEST(ended.out.find("\"stack\":[") != std::string::npos);
    const auto last = ended.out.rfind("\n{", ended.out.size() - 2);
    BOOST_TEST(ended.out.substr(last + 1).starts_with(
                   "{\"summary\":{\"recipe\":\"wakeups\",\"ended\":\"command\",\"lasted_ns\":"),
               ended.out);
    BOOST_TEST(ended.out.ends_with("\"command_status\":0}}\n"));
    const Ended failed = recipe({"run", "wakeups", "--json", "--", "sh", "-c", "exit 3"});
    BOOST_TEST(failed.status == 3);
    BOOST_TEST(failed.out.ends_with("\"command_status\":3}}\n"));
}

BOOST_AUTO_TEST_CASE(what_is_kept_stays_until_it_is_reset) {
    const TempSession session;
    const std::vector<std::string> args = {"run",
                                           "stall",
                                           "--session",
                                           session.name(),
                                           "pid=" + self(),
                                           "program=" + own_path(),
                                           "at=gpufs_test_measured",
                                           "value=" + test::fetch_of_measure(),
                                           "--duration",
                                           "0"};
    const Ended ended = recipe(args);
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.err.starts_with("stall: everything is set\n"), ended.err);
    BOOST_TEST(
        ended.err.ends_with(cat("session '", session.name(), "' stays; 'gpufs reset --session ",
                                session.name(), "' removes it\n")),
        ended.err);
    BOOST_TEST(session.read("events/sched/sched_switch/filter") ==
               cat("prev_state == 2 && prev_pid == ", self(), "\n"));
    const std::string group = "gpufs_" + session.name();
    BOOST_TEST(test::top().read("dynamic_events").find(group + "/late ") != std::string::npos);
    const Ended again = recipe(args);
    BOOST_TEST(again.status == 1);
    BOOST_TEST(again.err.find("exists already") != std::string::npos);
    BOOST_TEST(test::gpufs({"reset", "--session", session.name()}).status == 0);
    BOOST_TEST(!file_exists(session.directory()));
    BOOST_TEST(test::top().read("dynamic_events").find(group) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_dry_run_prints_what_sets_the_same) {
    const TempSession session;
    const Ended dry = recipe({"run", "stall", "--dry-run", "--session", session.name(),
                              "comm=it's \"me\"*", "program=" + own_path(),
                              "at=gpufs_test_measured", "value=" + test::fetch_of_measure()});
    BOOST_TEST(dry.status == 2);  // no text has both kinds of quotes
    const Ended lines = recipe({"run", "stall", "--dry-run", "--session", session.name(),
                                "comm=it's me*", "program=" + own_path(), "at=gpufs_test_measured",
                                "value=" + test::fetch_of_measure()});
    BOOST_TEST(lines.status == 0);
    BOOST_TEST(!file_exists(session.directory()));
    Child::Setup setup;
    setup.argv = {"sh", "-e", "-c", lines.out};
    BOOST_TEST(Child(setup).wait().status == 0);
    BOOST_TEST(session.read("events/sched/sched_switch/filter") ==
               "prev_state == 2 && prev_comm ~ \"it's me*\"\n");
    BOOST_TEST(test::gpufs({"reset", "--session", session.name()}).status == 0);
}

BOOST_AUTO_TEST_CASE(ctrl_c_ends_a_run_with_what_was_recorded) {
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT}) {
        Child::Setup setup;
        setup.argv = {test::gpufs_binary(), "recipe", "run", "stall", "pid=" + self()};
        Child child(setup);
        const int pid = child.pid();
        BOOST_TEST(child.wait_for_error(kIsSet, kPatience));
        test::block_in_d_state(1, 5);
        child.send(signal);
        const Ended ended = child.wait();
        BOOST_TEST(ended.out.find("prev_state=D") != std::string::npos, ended.out);
        BOOST_TEST(ended.err.find("stall: ended by a signal after ") != std::string::npos,
                   ended.err);
        BOOST_TEST(ended.signal == signal);  // as a shell expects
        BOOST_TEST(!was_left_behind(pid));
    }
}

BOOST_AUTO_TEST_CASE(a_run_that_is_ended_takes_its_command_along) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(),
                  "recipe",
                  "run",
                  "oom",
                  "--",
                  "sh",
                  "-c",
                  "echo $$ is the command; exec sleep 100"};
    Child child(setup);
    BOOST_TEST(child.wait_for_output("is the command\n", kPatience));
    child.send(SIGTERM);
    const Ended ended = child.wait();  // until the command, too, has closed its output
    BOOST_TEST(ended.signal == SIGTERM);
    const std::string pid = ended.out.substr(0, ended.out.find(' '));
    BOOST_TEST(!file_exists(cat("/proc/", pid)));
    BOOST_TEST(
        ended.err.find(cat("'sh' (pid ", pid, ") was ended with SIGTERM\n")) != std::string::npos,
        ended.err);
}

// The buffer stops in the middle of the command's exit, so it is dead by itself whenever gpufs
// looks.
BOOST_AUTO_TEST_CASE(a_command_that_dies_as_the_buffer_stops_is_said_to_have_ended) {
    OwnRecipes own;
    own.write("dies",
              "param pid pid\n"
              "event sched:sched_process_exit if pid == $pid\n"
              "    trigger traceoff\n"
              "end stopped\n");
    for (const bool is_json : {false, true}) {
        std::vector<std::string> args = {"run", "dies"};
        if (is_json) args.emplace_back("--json");
        args.insert(args.end(), {"--", "sh", "-c", "exit 3"});
        const Ended ended = recipe(args);
        BOOST_TEST(ended.status == 0, ended.err);
        BOOST_TEST((ended.out.find("\"command_status\":3}") != std::string::npos) == is_json,
                   ended.out);
        if (is_json) continue;
        BOOST_TEST(ended.err.find("SIGTERM") == std::string::npos, ended.err);
        BOOST_TEST(ended.err.find("ended with exit status 3\n") != std::string::npos, ended.err);
    }
}

BOOST_AUTO_TEST_CASE(a_command_that_takes_no_sigterm_is_said_to_go_on) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(),
                  "recipe",
                  "run",
                  "oom",
                  "--",
                  "sh",
                  "-c",
                  "trap '' TERM; echo $$ is the command; for i in 1 2 3 4 5 6; do sleep 0.2; done"};
    Child child(setup);
    BOOST_TEST(child.wait_for_output("is the command\n", kPatience));
    child.send(SIGINT);
    const Ended ended = child.wait();
    const std::string pid = ended.out.substr(0, ended.out.find(' '));
    BOOST_TEST(
        ended.err.find(cat("'sh' (pid ", pid, ") got SIGTERM and goes on\n")) != std::string::npos,
        ended.err);
}

BOOST_AUTO_TEST_CASE(a_killed_run_leaves_nothing_after_the_next_start,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(),
                  "recipe",
                  "run",
                  "stall",
                  "program=" + own_path(),
                  "at=gpufs_test_measured",
                  "value=" + test::fetch_of_measure(),
                  "--",
                  "sleep",
                  "1"};
    Child child(setup);
    const int pid = child.pid();
    BOOST_TEST(child.wait_for_error(kIsSet, kPatience));
    BOOST_TEST(was_left_behind(pid));  // it is at work
    child.send(SIGKILL);
    BOOST_TEST(child.wait().signal == SIGKILL);
    BOOST_TEST(was_left_behind(pid));
    test::gpufs({"status"});
    BOOST_TEST(!was_left_behind(pid));
}

BOOST_AUTO_TEST_CASE(a_recipe_ends_after_its_own_time_or_the_one_given) {
    OwnRecipes own;
    own.write("brief",
              "param t = 100ms time\nevent sched:sched_process_exit\nend after $t\n"
              "show status\n");
    const Ended ended = recipe({"run", "brief"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(
        ended.err.find("brief: everything is set; ends when 100.0 ms are over, or Ctrl-C\n") == 0u);
    BOOST_TEST(ended.err.find("brief: the time is over after 1") != std::string::npos, ended.err);
    BOOST_TEST(ended.out == "gpufs filter -e sched:sched_process_exit --all\n");
    BOOST_TEST(recipe({"run", "brief", "--duration", "1ms"}).err.find("ends when 1.0 ms") !=
               std::string::npos);
    BOOST_TEST(recipe({"run", "brief", "t=2ms"}).err.find("ends when 2.0 ms") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
