#define BOOST_TEST_DYN_LINK
#include "lang/symbols/entry_functions.h"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace gpufs {
namespace {

bool by_interrupt(const std::vector<std::string>& functions) {
    return is_entered_by_interrupt(functions);
}

BOOST_AUTO_TEST_SUITE(entry_functions)

BOOST_AUTO_TEST_CASE(who_was_taken_off_while_it_computed_was_interrupted) {
    BOOST_TEST(by_interrupt({"__schedule", "schedule", "irqentry_exit_to_user_mode",
                             "asm_sysvec_apic_timer_interrupt"}));
    BOOST_TEST(by_interrupt({"__schedule", "schedule", "do_notify_resume", "el0_interrupt",
                             "__el0_irq_handler_common", "el0t_64_irq_handler", "el0t_64_irq"}));
}

BOOST_AUTO_TEST_CASE(a_page_fault_is_no_call) {
    BOOST_TEST(by_interrupt({"handle_userfault", "exc_page_fault", "asm_exc_page_fault"}));
    BOOST_TEST(by_interrupt(
        {"handle_userfault", "do_mem_abort", "el0_da", "el0t_64_sync_handler", "el0t_64_sync"}));
}

BOOST_AUTO_TEST_CASE(an_interrupt_within_a_call_leaves_it_a_call) {
    BOOST_TEST(!by_interrupt({"__schedule", "preempt_schedule_irq", "irqentry_exit",
                              "asm_sysvec_apic_timer_interrupt", "vfs_read", "do_syscall_64",
                              "entry_SYSCALL_64_after_hwframe"}));
    BOOST_TEST(
        !by_interrupt({"__schedule", "el1_interrupt", "el1h_64_irq", "vfs_read", "invoke_syscall",
                       "do_el0_svc", "el0_svc", "el0t_64_sync_handler", "el0t_64_sync"}));
}

BOOST_AUTO_TEST_CASE(without_a_stack_nothing_is_known) {
    BOOST_TEST(!by_interrupt({}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
