#define BOOST_TEST_DYN_LINK
#include "kernel/host/proc_task.h"

#include <boost/test/unit_test.hpp>

#include "kernel/host/syscall_names.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(proc_task)

BOOST_AUTO_TEST_CASE(a_system_call_line_is_its_number_and_six_arguments) {
    const SyscallState s = parse_proc_syscall(
        "16 0x7 0x40045704 0x7ffd0c9e5a2c 0x0 0x1 0xffffffffffffff9c 0x7ffdc46d7c88 0x7f6a\n");
    BOOST_TEST((s.known == SyscallState::Known::yes));
    BOOST_TEST(s.call.nr == 16);
    BOOST_TEST(s.call.args[1] == 0x40045704);
    BOOST_TEST(s.call.args[5] == 0xffffffffffffff9c);
}

BOOST_AUTO_TEST_CASE(a_task_outside_of_calls_and_one_that_runs_are_told_apart) {
    using Known = SyscallState::Known;
    BOOST_TEST((parse_proc_syscall("-1 0x7ffdc46d7c88 0x7f7a06f762ad\n").known == Known::none));
    BOOST_TEST((parse_proc_syscall("running\n").known == Known::no));
    BOOST_TEST((parse_proc_syscall("").known == Known::no));
    BOOST_TEST((parse_proc_syscall("16 0x7\n").known == Known::no));
}

BOOST_AUTO_TEST_CASE(a_name_may_hold_parentheses_and_spaces) {
    const auto stat = parse_task_stat("4711 (a) R (b) D 1 4711 4711 0 -1 4194560 100 0\n");
    BOOST_REQUIRE(stat);
    BOOST_TEST(stat->comm == "a) R (b");
    BOOST_TEST(stat->state == 'D');
    BOOST_TEST(stat->parent == 1);
    BOOST_TEST(!stat->is_kernel_thread);
    BOOST_TEST(parse_task_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0\n")->is_kernel_thread);
    BOOST_TEST(!parse_task_stat("nonsense"));
}

BOOST_AUTO_TEST_CASE(a_stack_is_the_names_of_its_functions) {
    const auto stack =
        parse_proc_stack("[<0>] do_wait+0x4c/0xe0\n[<0>] ipmi_ioctl+0x1/0x2 [ipmi_watchdog]\n");
    BOOST_TEST(stack == (std::vector<std::string>{"do_wait", "ipmi_ioctl"}));
}

BOOST_AUTO_TEST_CASE(calls_have_the_names_of_this_architecture) {
    bool found = false;
    for (long nr = 0; nr < 1000; ++nr) found = found || syscall_name(nr) == "ioctl";
    BOOST_TEST(found);
    BOOST_TEST(syscall_name(-1) == "");
    BOOST_TEST(syscall_name(1 << 20) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
