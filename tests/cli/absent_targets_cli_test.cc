#define BOOST_TEST_DYN_LINK
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "kernel/tracefs/tracefs.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/trace_instance.h"

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

BOOST_AUTO_TEST_CASE(a_dynamic_probe_is_no_event_for_programs,
                     *ut::precondition(test::has_file{"uprobe_events"})) {
    const DynamicProbe probe;
    const Ended ended = test::gpufs({"count", DynamicProbe::event(), "--duration", "1ms"});
    const std::string event = DynamicProbe::event();
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.err ==
               cat("gpufs: count:1:1: error: '", event,
                   "' is a dynamic probe: programs cannot read its record\n", event, "\n^",
                   std::string(event.size() - 1, '~'),
                   "\nhint: kprobe:FUNCTION or uprobe:PATH:FUNCTION is the place itself; 'gpufs "
                   "record -e ",
                   event, "' records it\n"));
}

BOOST_AUTO_TEST_CASE(a_place_in_code_is_no_event_to_record) {
    const Ended ended = test::gpufs({"record", "-e", "uprobe:/bin/true:main", "-o", "/dev/null"});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.err ==
               "gpufs: this kernel has no event 'uprobe:/bin/true:main'\n"
               "hint: this is a place in code, not an event: 'gpufs count uprobe:/bin/true:main' "
               "counts it, and a recipe with a probe there records it (gpufs-recipe(5))\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
