#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/text.h"
#include "support/needs.h"
#include "support/run_gpufs.h"

namespace ut = boost::unit_test;

// A machine on which something that gpufs needs is not there, or in another form.
namespace gpufs {
namespace {

using test::Ended;
using test::has;

// In a mount namespace of its own.
Ended shell_apart(const std::string& line) {
    return test::shell(line, {"unshare", "-m"});
}

struct Mount {
    const char *setup, *problem, *fix;
};
const Mount kMounts[] = {
    {"mount -o remount,ro,bind /sys/kernel/tracing", "/sys/kernel/tracing is mounted read-only",
     "as root: mount -o remount,rw /sys/kernel/tracing"},
    {"mount -t tmpfs none /sys/kernel/tracing",
     "tracefs is hidden: a tmpfs is mounted over /sys/kernel/tracing",
     "as root: umount /sys/kernel/tracing"},
    {"umount -l /sys/kernel/debug 2>/dev/null; umount -l /sys/kernel/tracing; "
     "umount -l /sys/kernel/tracing",
     "tracefs is not mounted", "as root: mount -t tracefs nodev /sys/kernel/tracing"},
    {"umount -l /proc", "/proc is not mounted", "as root: mount -t proc proc /proc"},
    {"umount -l /sys", "tracefs is not mounted, and /sys is not mounted",
     "as root: mount -t sysfs sysfs /sys; mount -t tracefs nodev /sys/kernel/tracing"},
};

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace) *
                               ut::precondition(test::has_program{"unshare"}))
BOOST_AUTO_TEST_SUITE(missing_mounts)

// Not in guests: below their /proc and /sys lie those of the host.
BOOST_AUTO_TEST_CASE(commands_and_doctor_tell_the_same_cause, *ut::label("pure")) {
    // In each of them tracefs is where it usually is.
    const std::string usual =
        "mountpoint -q /sys/kernel/tracing || mount -t tracefs nodev /sys/kernel/tracing; "
        "mount --bind /sys/kernel/tracing /sys/kernel/tracing; ";
    for (const Mount& one : kMounts) {
        const std::string told = cat("gpufs: ", one.problem, "\nhint: ", one.fix, "\n");
        for (const char* const command :
             {"filter 'prev_state == 2' --session test_mounts",
              "record -e sched_switch -o /tmp/gpufs-test-mounts.dat --duration 1ms"}) {
            const Ended ended = shell_apart(cat(usual, one.setup, "; $GPUFS ", command));
            BOOST_TEST(ended.status == 3, cat(one.setup, ": ", command));
            BOOST_TEST(ended.err == told, cat(one.setup, ": ", command, ": ", ended.err));
        }
        const Ended doctor = shell_apart(cat(usual, one.setup, "; $GPUFS doctor"));
        BOOST_TEST(doctor.status == 0, one.setup);
        bool is_said = false, is_fixed = false;
        for (const std::string_view line : lines_of(doctor.out)) {
            const std::string text(line);
            is_said = is_said || (has(text, "no   tracefs ") && has(text, one.problem));
            is_fixed = is_fixed || has(text, cat("fix: ", one.fix));
        }
        BOOST_TEST(is_said, cat(one.setup, ": ", doctor.out));
        BOOST_TEST(is_fixed, cat(one.setup, ": ", doctor.out));
    }
}

BOOST_AUTO_TEST_CASE(too_few_descriptors_are_the_cause_that_is_told,
                     *ut::precondition(test::has_program{"prlimit"})) {
    for (const char* const limit : {"--nofile=6", "--nofile=8"}) {
        for (const std::vector<std::string>& args :
             {std::vector<std::string>{"count", "sched:sched_switch"},
              {"record", "-e", "sched_switch", "-o", "/tmp/gpufs-test-mounts.dat"},
              {"stall", "--", "true"}}) {
            std::vector<std::string> argv{"prlimit", limit, test::gpufs_binary()};
            argv.insert(argv.end(), args.begin(), args.end());
            const Ended ended = test::Child({argv, {}, false, false, {}}).wait();
            BOOST_TEST(ended.status == 3, args[0]);
            BOOST_TEST(has(ended.err,
                           ": Too many open files\nhint: 'ulimit -n' shows and raises how many "
                           "files a process may open\n"),
                       ended.err);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_user_with_a_capability_of_the_file_system_may_read_tracefs,
                     *ut::precondition(test::has_program{"setpriv"})) {
    // An ambient capability, which access(2) does not regard.
    const auto as_user = [](const std::string& caps, const std::string& command) {
        return shell_apart(cat("setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=",
                               caps, " --ambient-caps=", caps, " $GPUFS ", command));
    };
    const Ended may = as_user("+dac_read_search", "list sched:sched_switch");
    BOOST_TEST(may.status == 0, may.err);
    BOOST_TEST(may.out == "sched:sched_switch\n");
    const Ended may_not = as_user("+net_raw", "list sched:sched_switch");
    BOOST_TEST(may_not.status == 3);
    BOOST_TEST(may_not.err ==
               "gpufs: this user may not read /sys/kernel/tracing\n"
               "hint: run gpufs as root or with CAP_DAC_READ_SEARCH, or let root remount it for a "
               "group: mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing\n");
}

BOOST_AUTO_TEST_CASE(ids_of_a_pid_namespace_are_not_written_into_tracefs) {
    const Ended ended = test::Child({{"unshare", "-p", "-f", "--mount-proc", test::gpufs_binary(),
                                      "options", "pids=15", "--session", "test_pids"},
                                     {},
                                     false,
                                     false,
                                     {}})
                            .wait();
    BOOST_TEST(ended.status == 3);
    BOOST_TEST(has(ended.err,
                   "gpufs: in this pid namespace processes have other ids than in "
                   "tracefs, and nothing tells theirs\n"),
               ended.err);
}

BOOST_AUTO_TEST_CASE(an_empty_name_of_a_session_is_a_mistake) {
    const Ended ended = test::gpufs({"reset", "--session", ""});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.err == "gpufs: --session: NAME is empty\n");
    BOOST_TEST(test::gpufs({"reset", "--session="}).status == 2);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
