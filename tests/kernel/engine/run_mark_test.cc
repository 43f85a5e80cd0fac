#define BOOST_TEST_DYN_LINK
#include "engine/session/run_mark.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engine/session/freeze.h"
#include "engine/session/scratch_instance.h"
#include "engine/session/stale.h"
#include "support/assemble_text.h"
#include "support/needs.h"
#include "support/trace_instance.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::TempSession;

constexpr const char* kSwitchEnable = "events/sched/sched_switch/enable";

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(run_mark)

std::vector<std::string> disables_nothing(const Tracefs&) {
    return {};
}

// Records sched_switch into the session until it is killed.
class KilledRun {
public:
    explicit KilledRun(const Session& session) : pid_(::fork()) {
        if (pid_ == 0) record(session);
    }
    ~KilledRun() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

private:
    [[noreturn]] static void record(const Session& session) try {
        const FreezeSession freeze(session, disables_nothing);
        session.tracefs().write(kSwitchEnable, "1\n", Write::replace);
        for (;;) ::pause();
    } catch (const Error&) {
        ::_exit(1);
    }

    pid_t pid_;
};

void wait_until_it_records(const Session& session) {
    while (session.tracefs().read_if_readable(kSwitchEnable).value_or("") != "1\n") ::usleep(1000);
}

BOOST_AUTO_TEST_CASE(a_session_that_a_killed_run_made_is_removed) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    {
        const KilledRun run(session);
        wait_until_it_records(session);
        BOOST_TEST(remove_stale(test::top()).empty());
        BOOST_TEST(session.exists());
    }
    BOOST_TEST(join(remove_stale(test::top(), Stale::told), "|") == session.described());
    BOOST_TEST(join(remove_stale(test::top()), "|") == session.described());
    BOOST_TEST(!session.exists());
}

BOOST_AUTO_TEST_CASE(what_a_killed_run_enabled_in_a_session_is_removed_and_the_session_stays) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    BOOST_REQUIRE(::mkdir(temp.directory().c_str(), 0750) == 0);
    {
        const KilledRun run(session);
        wait_until_it_records(session);
        BOOST_TEST(remove_stale(test::top()).empty());
    }
    BOOST_TEST(join(remove_stale(test::top(), Stale::told), "|") ==
               "events of " + session.described());
    BOOST_TEST(temp.read(kSwitchEnable) == "1\n");
    BOOST_TEST(join(remove_stale(test::top()), "|") == "events of " + session.described());
    BOOST_TEST(temp.read(kSwitchEnable) == "0\n");
    BOOST_TEST(remove_stale(test::top()).empty());
}

// Until then, whoever clears up behind a killed run finds it.
BOOST_AUTO_TEST_CASE(a_frozen_session_is_marked_until_its_events_are_disabled) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    const auto mode = [&] {
        struct stat about {};
        ::stat(temp.directory().c_str(), &about);
        return about.st_mode & 07777;
    };
    mode_t unmarked = 0, while_disabling = 0;
    {
        FreezeSession freeze(session, [&](const Tracefs&) {
            while_disabling = mode();
            return std::vector<std::string>{"an event stays"};
        });
        BOOST_TEST(join(freeze.freeze(), "|") == "an event stays");
        unmarked = mode();
    }
    BOOST_TEST(while_disabling != unmarked);
    BOOST_TEST(session.exists());
}

BOOST_AUTO_TEST_CASE(an_event_that_cannot_be_disabled_keeps_no_other_enabled) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    const Program program = assemble_text(
        ".prog a tracepoint sched:sched_process_exit\nexit 0\n"
        ".prog b tracepoint sched:sched_process_fork\nexit 0\n");
    MonitorFreeze freeze(program, session);
    BOOST_TEST(temp.read("set_event") == "sched:sched_process_fork\nsched:sched_process_exit\n");
    const std::string refuses = temp.directory() + "/events/sched/sched_process_exit/enable";
    BOOST_TEST_REQUIRE(::mount("/dev/full", refuses.c_str(), nullptr, MS_BIND, nullptr) == 0);
    const std::vector<std::string> refused = freeze.freeze();
    ::umount(refuses.c_str());
    BOOST_TEST(join(refused, "|") ==
               cat("cannot write '0' to ", refuses, ": No space left on device"));
    BOOST_TEST(temp.read("tracing_on") == "0\n");
    BOOST_TEST(temp.read("set_event") == "sched:sched_process_exit\n");
    BOOST_TEST(temp.read("options/stacktrace") == "0\n");
    BOOST_TEST(freeze.freeze().empty());
}

BOOST_AUTO_TEST_CASE(a_frozen_session_outlives_its_run) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    FreezeSession(session, disables_nothing).freeze();
    BOOST_TEST(remove_stale(test::top()).empty());
    BOOST_TEST(session.exists());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
