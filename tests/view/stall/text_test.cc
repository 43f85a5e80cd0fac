#define BOOST_TEST_DYN_LINK
#include "view/stall/text.h"

#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

using Functions = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(stall_text_view)

BOOST_AUTO_TEST_CASE(a_short_stack_has_neither_the_scheduler_nor_the_entry_of_a_system_call) {
    const Functions waits{"futex_wait_queue", "futex_wait"};
    const auto within = [&](const Functions& inner, const Functions& outer) {
        Functions all = inner;
        all.insert(all.end(), waits.begin(), waits.end());
        all.insert(all.end(), outer.begin(), outer.end());
        return stack_in_short(all, 8);
    };
    const auto per_element = boost::test_tools::per_element();
    BOOST_TEST(within({"__schedule", "schedule"},
                      {"x64_sys_call", "do_syscall_64", "entry_SYSCALL_64_after_hwframe"}) == waits,
               per_element);
    BOOST_TEST(within({"__schedule", "schedule"},
                      {"invoke_syscall", "el0_svc_common.constprop.0", "do_el0_svc", "el0_svc",
                       "el0t_64_sync_handler", "el0t_64_sync"}) == waits,
               per_element);
    BOOST_TEST(within({"schedule_timeout"}, {"ret_from_fork_asm"}) == waits, per_element);
    BOOST_TEST(stack_in_short(waits, 1) == Functions{"futex_wait_queue"}, per_element);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
