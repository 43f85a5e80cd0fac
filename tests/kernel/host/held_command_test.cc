#define BOOST_TEST_DYN_LINK
#include "kernel/host/held_command.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>

#include "base/error.h"
#include "base/file.h"
#include "kernel/host/proc_task.h"
#include "support/nest.h"

namespace gpufs {
namespace {

using test::Nest;

// A command that stops at its start.
struct Stopping {
    explicit Stopping(std::vector<std::string> argv)
        : command(std::move(argv), STDERR_FILENO), fd(command.stop_at_start()) {
        command.release();
    }
    // Whether it stops once more, rather than to end.
    bool wait() {
        for (;;) {
            if (command.is_stopped()) return true;
            if (command.ended()) return false;
            pollfd stop{fd, POLLIN, 0};
            ::poll(&stop, 1, 1000);
        }
    }
    bool has_mapped(std::string_view name) const {
        return proc::maps(command.pid()).find(name) != std::string::npos;
    }
    int end() {
        while (!command.ended()) ::usleep(1000);
        return *command.ended();
    }

    HeldCommand command;
    int fd;
};

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
    for (const bool stops : {false, true}) {
        HeldCommand command({"/nonexistent/command"});
        if (stops) command.stop_at_start();
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

BOOST_AUTO_TEST_CASE(it_stops_behind_its_exec_and_when_its_libraries_are_mapped) {
    for (const std::vector<std::string>& argv :
         {std::vector<std::string>{"sh", "-c", "exit 7"}, {Nest::build_file("nest-fixed")}}) {
        Stopping one(argv);
        BOOST_TEST_REQUIRE(one.wait());
        BOOST_TEST(!one.has_mapped("libc.so"));
        one.command.go_on();
        BOOST_TEST_REQUIRE(one.wait());
        BOOST_TEST(one.has_mapped("libc.so"));
        BOOST_TEST(proc::stat(one.command.pid())->state == 't');
        one.command.go_on();
        BOOST_TEST(!one.wait());
        const int status = one.end();
        BOOST_TEST(WIFEXITED(status));
        BOOST_TEST(WEXITSTATUS(status) == (argv.front() == "sh" ? 7 : 0));
    }
}

BOOST_AUTO_TEST_CASE(a_program_without_an_interpreter_stops_once) {
    Stopping one({Nest::build_file("tableless"), "0"});
    BOOST_TEST_REQUIRE(one.wait());
    one.command.go_on();
    BOOST_TEST(!one.wait());
}

// Of gpufs's own stops nothing is left then: neither a tracer nor a breakpoint.
BOOST_AUTO_TEST_CASE(another_signal_lets_it_go) {
    Stopping one({"sh", "-c", "trap 'exit 9' USR1; kill -STOP $$; kill -USR1 $$; exit 1"});
    BOOST_TEST_REQUIRE(one.wait());
    ::kill(one.command.pid(), SIGSTOP);
    one.command.go_on();
    const std::string status = "/proc/" + std::to_string(one.command.pid()) + "/status";
    const auto is_let_go = [&] {
        return !one.command.is_stopped() &&
               read_file(status).find("TracerPid:\t0\n") != std::string::npos;
    };
    while (!is_let_go()) ::usleep(1000);
    while (proc::stat(one.command.pid())->state != 'T') ::usleep(1000);
    while (!one.command.ended()) {
        ::kill(one.command.pid(), SIGCONT);
        ::usleep(1000);
    }
    BOOST_TEST(WEXITSTATUS(*one.command.ended()) == 9);
}

BOOST_AUTO_TEST_CASE(what_is_stopped_can_be_ended) {
    for (const int stops : {1, 2}) {
        Stopping one({"sleep", "100"});
        BOOST_TEST_REQUIRE(one.wait());
        if (stops == 2) {
            one.command.go_on();
            BOOST_TEST_REQUIRE(one.wait());
        }
        const auto status = one.command.end();
        BOOST_TEST_REQUIRE(status.has_value());
        BOOST_TEST(WIFSIGNALED(*status));
        BOOST_TEST(WTERMSIG(*status) == SIGTERM);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
