#define BOOST_TEST_DYN_LINK
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "kernel/host/proc_task.h"
#include "kernel/tracefs/tracefs.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"
#include "support/trace_instance.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

// Processes and events that are not there, or not of the kind that the command takes.
namespace gpufs {
namespace {

using test::Ended;

// The number of a process that has ended.
std::string ended_process() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::waitpid(child, nullptr, 0);
    return cat(child);
}

// A dynamic probe in the test's own binary.
class DynamicProbe {
public:
    DynamicProbe() {
        test::top().write("uprobe_events", cat("p:", name(), " ", test::gpufs_binary(), ":0x100\n"),
                          Write::append);
    }
    ~DynamicProbe() { test::top().write("uprobe_events", cat("-:", name(), "\n"), Write::append); }
    static std::string name() { return cat("test", ::getpid(), "/probe"); }
    static std::string event() { return cat("test", ::getpid(), ":probe"); }
};

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(absent_targets)

BOOST_AUTO_TEST_CASE(a_process_that_is_not_there_is_not_waited_for) {
    const std::string pid = ended_process();
    const std::string told = cat("gpufs: there is no process ", pid,
                                 "\nhint: it may have ended; 'pgrep -a NAME' looks\n");
    for (const std::vector<std::string>& args : {std::vector<std::string>{"run", "off-cpu"},
                                                 {"count", "sched:sched_switch"},
                                                 {"stall"},
                                                 {"record", "-e", "sched_switch"}}) {
        std::vector<std::string> with_pid = args;
        with_pid.insert(with_pid.end(), {"-p", pid});
        const Ended ended = test::gpufs(with_pid);
        BOOST_TEST(ended.status == 1, args[0]);
        BOOST_TEST(ended.err == told, args[0]);
    }
}

BOOST_AUTO_TEST_CASE(a_process_that_has_ended_and_is_not_waited_for_is_told) {
    test::Worker zombie([] { return 0; });
    zombie.start();
    BOOST_TEST_REQUIRE(zombie.reaches_state('Z'));
    const std::string told =
        cat("gpufs: ", zombie.pid(), " (", proc::comm(zombie.pid()), ") has ended; its parent ",
            proc::comm(::getpid()), "-", ::getpid(), " has not waited for it (a zombie)\n");
    for (const std::vector<std::string>& args : {std::vector<std::string>{"run", "off-cpu"},
                                                 {"count", "sched:sched_switch"},
                                                 {"stall"},
                                                 {"watch", "--why"},
                                                 {"record", "-e", "sched_switch"}}) {
        std::vector<std::string> with_pid = args;
        with_pid.insert(with_pid.end(), {"-p", cat(zombie.pid())});
        const Ended ended = test::gpufs(with_pid);
        BOOST_TEST(ended.status == 1, args[0]);
        BOOST_TEST(ended.err == told, args[0]);
    }
}

BOOST_AUTO_TEST_CASE(a_dynamic_probe_is_no_event_for_programs_of_a_text,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    const DynamicProbe probe;
    const std::string event = DynamicProbe::event();
    const test::TempFile text(
        cat(".monitor other \"hits\"\n.prog there tracepoint ", event, "\n  exit 0\n"));
    const Ended ended = test::gpufs({"run", text.path(), "--duration", "1ms"});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(test::has(ended.err, cat("'", event,
                                        "' is a dynamic probe: programs cannot read its "
                                        "record\n")),
               ended.err);
    BOOST_TEST(
        test::has(ended.err, cat("hint: kprobe:FUNCTION or uprobe:PATH:FUNCTION is the place "
                                 "itself; 'gpufs record -e ",
                                 event, "' records it, 'gpufs count ", event, "' counts it\n")),
        ended.err);
}

// Where there are no kprobes at all, that is why.
BOOST_AUTO_TEST_CASE(a_probe_that_is_not_there_leaves_its_alternative_or_is_told_of) {
    const test::TempFile text(
        ".monitor other \"tries\"\n"
        ".caution without gone \"nobody tells of what is gone\"\n"
        ".caution without there \"not to be told\"\n"
        ".map n array value count, max 1\n"
        ".prog there kprobe nosuch_module:f | tracepoint sched:sched_switch\n"
        "  add n[0]\n"
        "  exit 0\n"
        ".prog gone optional kprobe nosuch_function, kprobe nosuch_module:f\n"
        "  r1 = @arg0(r1)\n"
        "  if r1 == 0 goto out\n"
        "  .if module nosuch_module\n"
        "  add n[0]\n"
        "  .endif\n"
        "out: exit 0\n",
        ".bpf");
    const bool has_kprobes = file_exists("/sys/kernel/tracing/kprobe_events");
    const auto why = [&](const char* what) {
        return has_kprobes ? what : "this kernel has no kprobes";
    };
    const Ended ran = test::gpufs({"run", text.path(), "--explain", "--dry-run"});
    BOOST_TEST(ran.status == 0, ran.err);
    const std::string told = ran.out + ran.err;
    BOOST_TEST(test::has(told, cat("there: took 'sched:sched_switch', because ",
                                   why("the module 'nosuch_module' is not loaded"), "\n")),
               told);
    BOOST_TEST(test::has(told, cat("gone: left out, because ",
                                   why("this kernel has no function 'nosuch_function'"), "\n")),
               told);
    BOOST_TEST(test::has(told, "nobody tells of what is gone\n"), told);
    BOOST_TEST(!test::has(told, "not to be told"), told);
}

BOOST_AUTO_TEST_CASE(a_place_in_code_is_no_event_to_record) {
    const Ended ended = test::gpufs({"record", "-e", "uprobe:/bin/true:main", "-o", "/dev/null"});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.err ==
               "gpufs: this kernel has no event 'uprobe:/bin/true:main'\n"
               "hint: this is a place in code, not an event: 'gpufs count uprobe:/bin/true:main' "
               "counts it, and 'gpufs probe add' makes an event of it\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
