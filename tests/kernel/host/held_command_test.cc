#define BOOST_TEST_DYN_LINK
#include "kernel/host/held_command.h"

#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "base/error.h"
#include "kernel/host/proc_task.h"
#include "support/nest.h"

namespace gpufs {
namespace {

using test::Nest;

BOOST_AUTO_TEST_SUITE(held_command)

BOOST_AUTO_TEST_CASE(a_held_command_starts_when_it_is_let_go) {
    HeldCommand command({"sh", "-c", "exit 7"});
    BOOST_TEST(!command.ended());
    BOOST_TEST(proc::tgid(command.pid()) == command.pid());
    command.release();
    while (!command.ended()) ::usleep(1000);
    BOOST_TEST(WEXITSTATUS(*command.ended()) == 7);
}

BOOST_AUTO_TEST_CASE(a_command_that_does_not_exist_says_so_at_its_end) {
    HeldCommand command({"/nonexistent/command"});
    command.release();
    BOOST_CHECK_EXCEPTION(
        for (;;) {
            if (command.ended()) break;
            ::usleep(1000);
        },
        SysError,
        [](const SysError& e) {
            return std::string(e.what()) ==
                   "cannot run '/nonexistent/command': No such file or directory";
        });
}

BOOST_AUTO_TEST_CASE(a_command_that_was_ended_while_it_was_held_is_told) {
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    HeldCommand command({"sleep", "1"});
    ::kill(command.pid(), SIGKILL);
    while (!command.ended()) ::usleep(1000);
    BOOST_CHECK_EXCEPTION(command.release(), Error, [](const Error& e) {
        return std::string(e.what()) == "'sleep' ended before it was started" &&
               dynamic_cast<const SysError*>(&e) == nullptr;
    });
    std::signal(SIGPIPE, before);
}

// Who is traced by its parent stops at its exec, and whenever a signal comes.
BOOST_AUTO_TEST_CASE(a_command_that_lets_its_parent_trace_it_goes_on) {
    HeldCommand command({Nest::build_file("gpufs-work"), "traced", "7"});
    command.release();
    while (!command.ended()) ::usleep(1000);
    BOOST_TEST(WIFEXITED(*command.ended()));
    BOOST_TEST(WEXITSTATUS(*command.ended()) == 7);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
