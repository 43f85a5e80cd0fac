#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <fstream>
#include <memory>
#include <thread>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/host/cpus.h"
#include "support/needs.h"
#include "support/rounds.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"
#include "support/temp_folder.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Child;
using test::Ended;
using test::gpufs_as_nobody;
using test::has;
using test::TempSession;

// gpufs with --session of this test.
Ended in(const TempSession& session, std::vector<std::string> args) {
    args.push_back("--session");
    args.push_back(session.name());
    return test::gpufs(args);
}

// A condition that never holds, so that counted triggers stay unspent.
constexpr const char* kNever = "prev_prio == 12345";

// The lines of a status that are no comments: those say how full the buffer is.
std::string commands_in(const std::string& status) {
    std::string commands;
    for (const std::string_view line : lines_of(status))
        if (!line.starts_with('#')) commands += cat(line, "\n");
    return commands;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(sessions)

BOOST_AUTO_TEST_CASE(filter_finds_the_event_by_its_field) {
    const TempSession session;
    const Ended ended = in(session, {"filter", "prev_state == 2"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out == "");
    BOOST_TEST(ended.err ==
               "sched:sched_switch: filtered by 'prev_state == 2', enabled in session '" +
                   session.name() + "'\n");
    BOOST_TEST(session.read("events/sched/sched_switch/filter") == "prev_state == 2\n");
    BOOST_TEST(session.read("events/sched/sched_switch/enable") == "1\n");
}

BOOST_AUTO_TEST_CASE(a_trigger_goes_on_what_is_filtered_under_the_same_condition) {
    const TempSession session;
    in(session, {"filter", "prev_state == 2"});
    const Ended ended = in(session, {"trigger", "stacktrace"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(session.read("events/sched/sched_switch/trigger") ==
               "stacktrace:unlimited if prev_state == 2\n");
}

BOOST_AUTO_TEST_CASE(the_story_names_the_stack_of_a_process_in_d_state) {
    const TempSession session;
    const std::string mine = cat(::getpid());
    in(session, {"filter", "prev_state == 2 && prev_pid == " + mine});
    in(session, {"trigger", "stacktrace"});
    BOOST_TEST(in(session, {"trigger", "traceoff", "--if", "prev_state == 2 && prev_pid == " + mine,
                            "--count", "1"})
                   .status == 0);
    test::block_in_d_state(3, 20);
    const Ended shown = in(session, {"show"});
    BOOST_TEST(shown.status == 0);
    BOOST_TEST(shown.out.find("prev_state=D") != std::string::npos, shown.out);
    BOOST_TEST(shown.out.find("<stack trace>") != std::string::npos);
    BOOST_TEST(shown.out.find(" => ") != std::string::npos);
    BOOST_TEST(shown.out.find(test::kVforkFrame) != std::string::npos, shown.out);
    BOOST_TEST(in(session, {"show"}).out == shown.out);
    BOOST_TEST(session.read("tracing_on") == "0\n");  // the traceoff trigger did it
    // ... in the session only.
    BOOST_TEST(read_file("/sys/kernel/tracing/tracing_on") == "1\n");
}

BOOST_AUTO_TEST_CASE(an_unknown_field_is_shown_with_a_caret_and_a_suggestion, *ut::label("pure")) {
    const TempSession session;
    const Ended ended = in(session, {"filter", "prv_state == 2"});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.err ==
               "gpufs: filter:1:1: error: no event of this kernel has a field 'prv_state'\n"
               "prv_state == 2\n"
               "^~~~~~~~~\n"
               "hint: did you mean 'prev_state'?\n");
    BOOST_TEST(!file_exists(session.directory()));
}

BOOST_AUTO_TEST_CASE(an_ambiguous_field_lists_the_candidates, *ut::label("pure")) {
    const TempSession session;
    const Ended ended = in(session, {"filter", "prev_pid == 1 && next_pid == 2 || pid == 3"});
    BOOST_TEST(ended.status == 2);
    const Ended several = in(session, {"filter", "target_cpu == 1"});
    BOOST_TEST(several.status == 2);
    BOOST_TEST(
        several.err.find("events have target_cpu\nhint: choose with -e") != std::string::npos,
        several.err);
    BOOST_TEST(in(session, {"trigger", "stacktrace", "--if", "target_cpu == 1"}).err ==
               several.err);
    BOOST_TEST(!file_exists(session.directory()));
}

BOOST_AUTO_TEST_CASE(several_events_are_filtered_all_or_none) {
    const TempSession session;
    const Ended refused =
        in(session, {"filter", "-e", "sched:sched_wakeup,sched:sched_switch", "target_cpu == 0"});
    BOOST_TEST(refused.status == 2);
    BOOST_TEST(!file_exists(session.directory()));
    BOOST_TEST(
        in(session, {"filter", "-e", "sched:sched_wakeup,sched:sched_waking", "target_cpu == 0"})
            .status == 0);
    BOOST_TEST(session.read("events/sched/sched_wakeup/filter") == "target_cpu == 0\n");
    BOOST_TEST(session.read("events/sched/sched_waking/filter") == "target_cpu == 0\n");
}

BOOST_AUTO_TEST_CASE(a_dry_run_prints_shell_lines_and_changes_nothing, *ut::label("pure")) {
    const TempSession session;
    const std::string at = session.directory();
    const Ended ended = in(session, {"filter", "prev_state == 2", "--dry-run"});
    BOOST_TEST(ended.out == "mkdir " + at +
                                "\n"
                                "echo 'prev_state == 2' > " +
                                at +
                                "/events/sched/sched_switch/filter\n"
                                "echo 1 > " +
                                at + "/events/sched/sched_switch/enable\n");
    BOOST_TEST(!file_exists(at));
    // What it prints does what the command does.
    BOOST_REQUIRE(Child({{"/bin/sh", "-c", ended.out}, {}, false, false, {}}).wait().status == 0);
    BOOST_TEST(session.read("events/sched/sched_switch/filter") == "prev_state == 2\n");
    const Ended trigger = in(session, {"trigger", "stacktrace", "--dry-run"});
    BOOST_TEST(trigger.out == "echo 'stacktrace if prev_state == 2' >> " + at +
                                  "/events/sched/sched_switch/trigger\n");
}

BOOST_AUTO_TEST_CASE(status_prints_commands_that_set_the_same_again, *ut::label("pure")) {
    const TempSession first;
    in(first, {"filter", "prev_state == 2 && prev_comm ~ \"a*\""});
    in(first, {"trigger", "stacktrace"});
    in(first, {"trigger", "enable_event", "sched:sched_waking", "-e", "sched_switch", "--if",
               kNever, "--count", "2"});
    in(first, {"options", "clock=mono", "children=on"});
    in(first, {"stop"});
    const std::string set = in(first, {"status"}).out;
    BOOST_TEST(set.find("gpufs trigger enable_event sched:sched_waking -e sched:sched_switch "
                        "--if 'prev_prio == 12345' --count 2 --session") != std::string::npos,
               set);
    BOOST_TEST(in(first, {"reset"}).status == 0);
    BOOST_TEST(!file_exists(first.directory()));
    const std::string path =
        "PATH=" + test::gpufs_binary().substr(0, test::gpufs_binary().rfind('/')) +
        ":/usr/bin:/bin";
    BOOST_REQUIRE(Child({{"/bin/sh", "-ec", set}, {path}, false, false, {}}).wait().status == 0);
    BOOST_TEST(commands_in(in(first, {"status"}).out) == commands_in(set));
}

BOOST_AUTO_TEST_CASE(buffers_of_several_sizes_are_told_set_and_set_back,
                     *ut::label("pure") * ut::precondition(test::has_two_cpus)) {
    const TempSession session;
    const std::size_t cpus = possible_cpus().size();
    in(session, {"options", "buffer=64k"});
    const std::string small = session.read("per_cpu/cpu0/buffer_size_kb");
    std::string sizes = "buffer=1M";
    for (std::size_t i = 1; i < cpus; ++i) sizes += ",64k";
    in(session, {"options", sizes});
    const std::string large = session.read("per_cpu/cpu0/buffer_size_kb");
    BOOST_TEST(large != small);
    BOOST_TEST(session.read("per_cpu/cpu1/buffer_size_kb") == small);
    BOOST_TEST(session.read("buffer_size_kb") == "X\n");
    const std::string told = in(session, {"options"}).out;
    BOOST_TEST(has(told, cat("buffer=", trim(large), "k,", trim(small), "k")), told);
    const std::string status = in(session, {"status"}).out;
    BOOST_TEST(has(status, cat("gpufs options ", told.substr(0, told.find('\n')))), status);
    // A change that is refused as a whole sets the sizes back.
    const Ended refused = in(session, {"options", "buffer=2M", "pids=99999999"});
    BOOST_TEST(refused.status != 0);
    BOOST_TEST(session.read("per_cpu/cpu0/buffer_size_kb") == large);
    BOOST_TEST(session.read("per_cpu/cpu1/buffer_size_kb") == small);
    const Ended wrong = in(session, {"options", sizes + ",64k"});
    BOOST_TEST(wrong.err == cat("gpufs: buffer takes one size, or one for each of ", cpus,
                                " CPUs: not '", sizes.substr(7), ",64k'\n"));
    in(session, {"options", "buffer=64k"});
    BOOST_TEST(session.read("buffer_size_kb") == small);
}

// Between two lists the kernel has none, and would record all.
BOOST_AUTO_TEST_CASE(a_list_of_pids_is_replaced_while_nothing_is_recorded) {
    const TempSession session;
    const std::string me = cat(::getpid()), at = session.directory();
    in(session, {"options", cat("pids=", me)});
    const Ended other = in(session, {"options", "pids=1", "--dry-run"});
    BOOST_TEST(other.out == cat("echo 0 > ", at, "/tracing_on\necho 1 > ", at,
                                "/set_event_pid\necho 1 > ", at, "/tracing_on\n"));
    in(session, {"options", "pids=1"});
    BOOST_TEST(session.read("set_event_pid") == "1\n");
    BOOST_TEST(session.read("tracing_on") == "1\n");
    const Ended none = in(session, {"options", "pids=none", "--dry-run"});
    BOOST_TEST(none.out == cat("echo '' > ", at, "/set_event_pid\n"));
    in(session, {"stop"});
    in(session, {"options", cat("pids=", me)});
    BOOST_TEST(session.read("tracing_on") == "0\n");
}

BOOST_AUTO_TEST_CASE(a_trigger_of_ours_is_replaced_and_that_is_said) {
    const TempSession session;
    in(session, {"filter", "prev_state == 2"});
    in(session, {"trigger", "stacktrace"});
    const Ended ended = in(session, {"trigger", "stacktrace", "--if", kNever, "--count", "3"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.err.find("it replaces 'stacktrace if prev_state == 2'") != std::string::npos);
    BOOST_TEST(session.read("events/sched/sched_switch/trigger") ==
               "stacktrace:count=3 if prev_prio == 12345\n");
}

// The kernel refuses the second with "File exists".
BOOST_AUTO_TEST_CASE(a_trigger_and_its_reverse_replace_each_other) {
    using Words = std::vector<std::string>;
    for (const auto& [first, second] : {std::pair(Words{"traceoff"}, Words{"traceon"}),
                                        std::pair(Words{"enable_event", "sched_wakeup"},
                                                  Words{"disable_event", "sched_wakeup"})}) {
        const TempSession session;
        const auto set = [&](Words words) {
            words.insert(words.begin(), "trigger");
            words.insert(words.end(), {"-e", "sched_switch", "--if", kNever});
            return in(session, words);
        };
        BOOST_TEST(set(first).status == 0);
        const Ended ended = set(second);
        BOOST_TEST(ended.status == 0, ended.err);
        BOOST_TEST(test::has(ended.err, cat("it replaces '", first[0])), ended.err);
        const std::string left = session.read("events/sched/sched_switch/trigger");
        BOOST_TEST(left.starts_with(second[0]), left);
        BOOST_TEST(!test::has(left, first[0]), left);
    }
}

BOOST_AUTO_TEST_CASE(triggers_are_cleared_by_action_or_all) {
    const TempSession session;
    in(session, {"filter", "prev_state == 2"});
    in(session, {"trigger", "stacktrace"});
    in(session, {"trigger", "traceoff", "--count", "1"});
    BOOST_TEST(in(session, {"trigger", "--clear", "traceoff"}).status == 0);
    BOOST_TEST(in(session, {"trigger"}).out ==
               "sched:sched_switch: stacktrace if prev_state == 2\n");
    BOOST_TEST(in(session, {"trigger", "--clear"}).status == 0);
    BOOST_TEST(in(session, {"trigger"}).out == "");
}

BOOST_AUTO_TEST_CASE(a_trigger_alone_records_what_fires_it) {
    const TempSession session;
    BOOST_TEST(in(session, {"trigger", "stacktrace", "--if", "prev_state == 2"}).status == 0);
    BOOST_TEST(session.read("events/sched/sched_switch/enable").substr(0, 1) == "1");
    BOOST_TEST(session.read("events/sched/sched_switch/filter") == "prev_state == 2\n");
}

BOOST_AUTO_TEST_CASE(clearing_a_filter_disables_its_event) {
    const TempSession session;
    in(session, {"filter", "prev_state == 2"});
    BOOST_TEST(in(session, {"filter", "--clear"}).status == 0);
    BOOST_TEST(session.read("events/sched/sched_switch/filter") == "none\n");
    BOOST_TEST(session.read("events/sched/sched_switch/enable") == "0\n");
}

BOOST_AUTO_TEST_CASE(status_tells_instances_of_commands_at_work_from_those_of_others,
                     *ut::label("pure")) {
    const test::TempFile file;
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "record", "-e", "sched_process_exec", "-o", file.path()};
    Child record(setup);
    const std::string own = cat("gpufs.", record.pid(), '.');
    std::string told;
    for (int i = 0; i < 400 && told.find(own) == told.npos; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        told = test::gpufs({"status"}).out;
    }
    bool is_told = false;
    for (const std::string_view line : lines_of(told))
        if (line.find(own) != line.npos)
            is_told = line.starts_with("# instances of gpufs commands at work: ");
    BOOST_TEST(is_told, told);
    record.send(SIGTERM);
    record.wait();
}

BOOST_AUTO_TEST_CASE(what_was_removed_of_an_event_is_said, *ut::label("pure")) {
    const TempSession session;
    const std::string at = cat(" in session '", session.name(), "'\n");
    const auto clear = [&](const char* event) {
        return in(session, {"filter", "--clear", "-e", event}).err;
    };
    in(session, {"filter", "-e", "sched_switch", kNever});
    BOOST_TEST(clear("sched_switch") == cat("sched:sched_switch: filter removed, disabled", at));
    BOOST_TEST(clear("sched_switch") == cat("sched:sched_switch: not filtered", at));
    in(session, {"filter", "-e", "sched_switch", "--all"});
    BOOST_TEST(clear("sched_switch") == cat("sched:sched_switch: disabled", at));

    const auto reset = [&] { return in(session, {"reset", "-e", "sched_switch"}).err; };
    in(session, {"filter", "-e", "sched_switch", "--all"});
    BOOST_TEST(reset() == cat("sched:sched_switch: disabled", at));
    BOOST_TEST(reset() == cat("sched:sched_switch: nothing of gpufs' kind is set", at));
    in(session, {"filter", "-e", "sched_switch", kNever});
    in(session, {"trigger", "traceoff", "--if", kNever, "-e", "sched_switch"});
    BOOST_TEST(reset() == cat("sched:sched_switch: traceoff if ", kNever,
                              " removed, filter removed, disabled", at));
}

BOOST_AUTO_TEST_CASE(a_setting_that_cannot_hold_is_refused, *ut::label("pure")) {
    const TempSession session;
    const auto refuses = [&](std::vector<std::string> args, const std::string& err) {
        const Ended ended = in(session, std::move(args));
        BOOST_TEST(ended.status != 0);
        BOOST_TEST(ended.err == err);
    };
    const auto cpus = read_file("/sys/devices/system/cpu/possible");
    refuses({"filter", "-e", "sched_switch", "CPU == 8000"},
            cat("gpufs: filter:1:8: error: this machine has no CPU 8000\nCPU == 8000\n"
                "       ^~~~\nhint: it has ",
                cpus));
    refuses({"filter", "-e", "sched_switch", "CPU & CPUS{0-8000}"},
            cat("gpufs: filter:1:7: error: this machine has no CPU 8000\nCPU & CPUS{0-8000}\n"
                "      ^~~~~~~~~~~~\nhint: it has ",
                cpus));
    refuses({"options", "pids=99999999"},
            "gpufs: there is no process 99999999\n"
            "hint: it may have ended; 'pgrep -a NAME' looks\n");
    refuses({"options", "foo=1"},
            "gpufs: this kernel has no trace option 'foo'\n"
            "hint: 'gpufs options --global' shows what there is\n");
    BOOST_TEST(!file_exists(session.directory()));
    in(session, {"filter", "-e", "sched_switch", kNever});
    refuses({"options", "foo=1"},
            cat("gpufs: this kernel has no trace option 'foo'\nhint: 'gpufs options --session ",
                session.name(), "' shows what there is\n"));
}

BOOST_AUTO_TEST_CASE(what_is_set_is_written_to_a_file_where_that_is_asked_for, *ut::label("pure")) {
    const TempSession session;
    const test::TempFolder folder;
    in(session, {"filter", "prev_state == 2"});
    in(session, {"trigger", "stacktrace"});
    for (const char* command : {"filter", "trigger", "options"}) {
        const Ended shown = in(session, {command});
        const Ended kept = in(session, {command, "-o", folder.file("told")});
        BOOST_TEST(kept.status == 0, kept.err);
        BOOST_TEST(kept.out == "");
        BOOST_TEST(shown.out != "");
        BOOST_TEST(read_file(folder.file("told")) == shown.out);
    }
}

BOOST_AUTO_TEST_CASE(two_sessions_do_not_disturb_each_other, *ut::label("pure")) {
    const TempSession one, two;
    in(one, {"filter", "prev_state == 2"});
    in(two, {"filter", "prev_state == 1"});
    in(one, {"reset"});
    BOOST_TEST(!file_exists(one.directory()));
    BOOST_TEST(two.read("events/sched/sched_switch/filter") == "prev_state == 1\n");
}

BOOST_AUTO_TEST_CASE(reset_names_who_holds_the_session, *ut::label("pure")) {
    const TempSession session;
    in(session, {"filter", "prev_state == 2"});
    const Fd held = open_file(session.directory() + "/tracing_on", O_RDONLY);
    const Ended ended = in(session, {"reset"});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(ended.err == cat("gpufs: session '", session.name(),
                                "' is in use by gpufs-test (pid ", ::getpid(),
                                ")\nhint: end it first, then reset again\n"));
    BOOST_TEST(session.read("events/sched/sched_switch/filter") == "prev_state == 2\n");
}

BOOST_AUTO_TEST_CASE(reset_without_a_session_is_no_error, *ut::label("pure")) {
    const TempSession session;
    BOOST_TEST(in(session, {"reset"}).status == 0);
}

BOOST_AUTO_TEST_CASE(a_user_without_rights_is_told_what_is_missing, *ut::label("pure")) {
    const Ended ended = gpufs_as_nobody({"filter", "prev_state == 2"});
    BOOST_TEST(ended.status == 3);
    BOOST_TEST(
        ended.err.starts_with("gpufs: this user may not read /sys/kernel/tracing\n"
                              "hint: run gpufs as root"));
}

BOOST_AUTO_TEST_CASE(a_machine_without_tracefs_is_told_how_to_mount_it, *ut::label("pure")) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "list"};
    setup.environment = {"GPUFS_TRACEFS=/nonexistent"};
    const Ended ended = Child(setup).wait();
    BOOST_TEST(ended.status == 3);
    BOOST_TEST(ended.err ==
               "gpufs: /nonexistent is not a tracefs: it has no available_events\n"
               "hint: GPUFS_TRACEFS names it: unset that, or let it name a tracefs\n");
}

BOOST_AUTO_TEST_CASE(doctor_needs_no_root, *ut::label("pure")) {
    const Ended ended = gpufs_as_nobody({"doctor"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out.find("no   tracefs") != std::string::npos, ended.out);
    BOOST_TEST(ended.out.find("fix: run as root") != std::string::npos);
    BOOST_TEST(ended.out.find("?    triggers") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_missing_trigger_names_its_config_option,
                     *ut::precondition(test::lacks_trigger{"snapshot"})) {
    const TempSession session;
    in(session, {"filter", "prev_state == 2"});
    const Ended ended = in(session, {"trigger", "snapshot"});
    BOOST_TEST(ended.status == 3);
    BOOST_TEST(ended.err.find("CONFIG_TRACER_SNAPSHOT") != std::string::npos, ended.err);
    BOOST_TEST(session.read("events/sched/sched_switch/trigger").starts_with("#"));
}

BOOST_AUTO_TEST_CASE(a_snapshot_keeps_a_copy_that_can_be_shown,
                     *ut::precondition(test::has_trigger{"snapshot"})) {
    const TempSession session;
    const std::string mine = cat("prev_state == 2 && prev_pid == ", ::getpid());
    in(session, {"filter", mine});
    BOOST_TEST(in(session, {"trigger", "snapshot", "--count", "1"}).status == 0);
    test::block_in_d_state(1, 5);
    const Ended shown = in(session, {"show", "--snapshot"});
    BOOST_TEST(shown.status == 0);
    BOOST_TEST(shown.out.find("prev_state=D") != std::string::npos, shown.out << shown.err);
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_a_failed_command, *ut::label("pure")) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "list"};
    setup.stdout_file = "/dev/full";
    const Ended ended = Child(setup).wait();
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(ended.err == "gpufs: cannot write to 'stdout': No space left on device\n");
}

BOOST_AUTO_TEST_CASE(a_closed_pipe_ends_it_as_the_shell_expects, *ut::label("pure")) {
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "list"};
    setup.close_stdout_early = true;
    const Ended ended = Child(setup).wait();
    BOOST_TEST(ended.signal == SIGPIPE);
    BOOST_TEST(ended.err == "");
}

BOOST_AUTO_TEST_CASE(list_shows_fields_by_name_and_place) {
    const Ended ended = test::gpufs({"list", "-v", "sched:sched_switch"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out.find("    char prev_comm[16]  offset 8, 16 bytes\n") != std::string::npos);
    const Ended unknown = test::gpufs({"list", "sched_swich"});
    BOOST_TEST(unknown.status == 2);
    BOOST_TEST(
        unknown.err ==
        "gpufs: this kernel has no event 'sched_swich'\nhint: did you mean 'sched_switch'?\n");
}

BOOST_AUTO_TEST_CASE(nothing_is_left_behind_after_many_kills, *ut::label("pure")) {
    const TempSession session;
    const std::vector<std::vector<std::string>> commands = {
        {"filter", "prev_state == 2"},
        {"trigger", "stacktrace"},
        {"show", "--follow", "--duration", "10ms"},
        {"options", "clock=mono", "buffer=64k"},
        {"filter", "-e", "sched:sched_waking,sched:sched_wakeup", "--all"},
        {"reset"},
    };
    const auto begin = [&](std::vector<std::string> command) {
        command.insert(command.begin(), test::gpufs_binary());
        command.insert(command.end(), {"--session", session.name()});
        Child::Setup setup;
        setup.argv = command;
        return std::make_unique<Child>(setup);
    };
    // At moments spread over the time that the command takes here and now.
    constexpr int kMoments = 20;
    std::vector<std::chrono::nanoseconds> took(commands.size());
    const int kills = std::max(24, test::rounds(100));
    int killed = 0;
    for (int round = 0; killed < kills && round < 10 * kMoments; ++round) {
        for (std::size_t i = 0; i < commands.size(); ++i) {
            if (took[i] == std::chrono::nanoseconds(0)) {
                const auto started = std::chrono::steady_clock::now();
                begin(commands[i])->wait();
                took[i] = std::chrono::steady_clock::now() - started;
            }
            const auto child = begin(commands[i]);
            std::this_thread::sleep_for(took[i] * (round * 7 % kMoments + 1) / (kMoments + 1));
            child->send(SIGKILL);
            // It may have ended: then it is faster now.
            if (child->wait().signal == SIGKILL)
                ++killed;
            else
                took[i] = {};
        }
    }
    BOOST_TEST(killed >= kills);
    const Ended reset = in(session, {"reset"});
    BOOST_TEST(reset.status == 0, reset.err);
    BOOST_TEST(test::gpufs({"reset", "--stale"}).status == 0);
    BOOST_TEST(!file_exists(session.directory()));
    BOOST_TEST(test::our_instances().find("gpufs.") == std::string::npos);
}

// What the top-level buffer holds is everybody's: gpufs must not take what it did not set.

BOOST_AUTO_TEST_CASE(somebody_elses_trigger_is_not_touched,
                     *ut::precondition(test::owns_the_machine)) {
    const std::string trigger = "/sys/kernel/tracing/events/sched/sched_switch/trigger";
    std::ofstream(trigger, std::ios::app) << "stacktrace if prev_state == 4\n" << std::flush;
    const Ended ended =
        test::gpufs({"trigger", "stacktrace", "--if", "prev_state == 2", "--global"});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(ended.err.find("gpufs cannot tell whose") != std::string::npos, ended.err);
    BOOST_TEST(read_file(trigger) == "stacktrace:unlimited if prev_state == 4\n");
    BOOST_TEST(test::gpufs({"trigger", "stacktrace", "--clear", "-e", "sched_switch", "--global"})
                   .status == 0);
    BOOST_TEST(read_file(trigger).starts_with("#"));
}

BOOST_AUTO_TEST_CASE(the_top_level_buffer_is_reset_event_by_event,
                     *ut::precondition(test::owns_the_machine)) {
    BOOST_TEST(test::gpufs({"filter", "prev_state == 2", "--global"}).status == 0);
    BOOST_TEST(read_file("/sys/kernel/tracing/events/sched/sched_switch/filter") ==
               "prev_state == 2\n");
    BOOST_TEST(test::gpufs({"reset", "--global"}).status == 2);
    BOOST_TEST(test::gpufs({"reset", "--global", "-e", "sched_switch"}).status == 0);
    BOOST_TEST(read_file("/sys/kernel/tracing/events/sched/sched_switch/filter") == "none\n");
    BOOST_TEST(read_file("/sys/kernel/tracing/events/sched/sched_switch/enable") == "0\n");
}

BOOST_AUTO_TEST_CASE(a_refused_global_filter_never_reaches_the_event,
                     *ut::precondition(test::owns_the_machine)) {
    const std::string filter = "/sys/kernel/tracing/events/sched/sched_switch/filter";
    std::ofstream(filter) << "prev_pid == 4711\n" << std::flush;
    BOOST_TEST(test::gpufs({"filter", "-e", "sched_switch", "nosuch == 2", "--global"}).status ==
               2);
    BOOST_TEST(read_file(filter) == "prev_pid == 4711\n");
    std::ofstream(filter) << "0\n" << std::flush;
    BOOST_TEST(test::our_instances() == "");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
