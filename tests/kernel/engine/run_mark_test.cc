#define BOOST_TEST_DYN_LINK
#include "engine/session/run_mark.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "base/error.h"
#include "base/text.h"
#include "engine/session/freeze.h"
#include "engine/session/scratch_instance.h"
#include "engine/session/stale.h"
#include "support/needs.h"
#include "support/trace_instance.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::TempSession;

constexpr const char* kSwitchEnable = "events/sched/sched_switch/enable";

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(run_mark)

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
        const FreezeSession freeze(session, [](const Tracefs&) {});
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
    BOOST_TEST(join(remove_stale(test::top()), "|") == "events of " + session.described());
    BOOST_TEST(temp.read(kSwitchEnable) == "0\n");
    BOOST_TEST(remove_stale(test::top()).empty());
}

BOOST_AUTO_TEST_CASE(a_frozen_session_outlives_its_run) {
    const TempSession temp;
    const Session session = Session::named(test::top(), temp.name());
    FreezeSession(session, [](const Tracefs&) {}).freeze();
    BOOST_TEST(remove_stale(test::top()).empty());
    BOOST_TEST(session.exists());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
