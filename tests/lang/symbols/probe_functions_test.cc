#include "lang/symbols/probe_functions.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(probe_functions)

BOOST_AUTO_TEST_CASE(what_leads_to_a_program_or_a_tracer_is_of_the_probe) {
    for (const char* name :
         {"bpf_prog_6deef7357e7b4530_sample", "bpf_trace_run4", "__bpf_trace_sys_enter",
          "bpf_get_stackid_raw_tp", "perf_trace_sched_switch", "trace_event_raw_event_sched_switch",
          "__traceiter_sched_switch", "kprobe_ftrace_handler", "bpf_trampoline_6442492134_0",
          "arch_rethook_trampoline", "perf_syscall_enter", "event_triggers_post_call"})
        BOOST_TEST(is_probe_function(name), name);
}

BOOST_AUTO_TEST_CASE(what_is_traced_is_not) {
    for (const char* name :
         {"", "__schedule", "syscall_trace_enter", "vfs_read", "bpf_map_copy_value",
          "trace_seq_printf", "do_syscall_64", "perf_event_task_sched_out"})
        BOOST_TEST(!is_probe_function(name), name);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
