#define BOOST_TEST_DYN_LINK
#include "kernel/host/pid_namespace.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "base/error.h"
#include "engine/symbols/symbols.h"
#include "kernel/host/proc_task.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

// Runs the work as process 1 of a new pid namespace with a /proc of its own, as
// `unshare --pid --fork --mount-proc` does. Its exit status; 200 where it could not get there.
int in_pid_namespace(const std::function<int()>& work) {
    constexpr int kNotThere = 200;
    test::Worker worker([&] {
        if (::unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) return kNotThere;
        const pid_t first = ::fork();
        if (first == 0) {
            const bool is_there =
                ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                ::mount("proc", "/proc", "proc", 0, nullptr) == 0;
            ::_exit(is_there ? work() : kNotThere);
        }
        int status = 0;
        ::waitpid(first, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : kNotThere;
    });
    worker.start();
    return worker.wait();
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(pid_namespaces)

BOOST_AUTO_TEST_CASE(a_namespace_is_known_by_its_file) {
    const PidNamespace outer = own_pid_namespace();
    BOOST_TEST(in_pid_namespace([&] {
                   const PidNamespace own = own_pid_namespace();
                   return own.is_initial() || own == outer || own.inode == 0 ? 1 : 0;
               }) == 0);
}

BOOST_AUTO_TEST_CASE(a_process_inside_has_two_numbers) {
    const int outside = ::getpid();
    BOOST_TEST(proc::innermost_pid(outside) == ::getpid());
    BOOST_TEST(in_pid_namespace([] { return proc::innermost_pid(1) == 1 ? 0 : 1; }) == 0);
}

BOOST_AUTO_TEST_CASE(inside_a_namespace_processes_have_the_numbers_seen_there) {
    BOOST_TEST(in_pid_namespace([] {
                   Symbols symbols;
                   symbols.watch();
                   test::Nest nest;
                   const auto inner = nest.address("inner");
                   const std::uint32_t pid = nest.pid();
                   if (pid > 10) return 1;  // numbers begin anew
                   nest.end();
                   return symbols.user(pid, inner).name == "nest::inner<int>" ? 0 : 2;
               }) == 0);
}

BOOST_AUTO_TEST_CASE(a_process_in_a_namespace_is_named_from_outside) {
    // Its list of code made at run time has the number that it has inside.
    test::Nest nest({"unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
                     test::Nest::build_file("nest")});
    const auto inner = nest.address("inner");
    const auto code = nest.address("code");
    const auto children = proc::children(static_cast<int>(nest.pid()));
    BOOST_TEST_REQUIRE(children.size() == 1u);
    const auto pid = static_cast<std::uint32_t>(children[0]);
    BOOST_TEST(proc::innermost_pid(children[0]) == 1);
    Symbols symbols;
    BOOST_TEST(symbols.user(pid, inner).name == "nest::inner<int>");
    BOOST_TEST(symbols.user(pid, code).name == "Lmade;::at run time");
    ::unlink("/tmp/perf-1.map");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
