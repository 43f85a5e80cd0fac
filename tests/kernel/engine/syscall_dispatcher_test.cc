#define BOOST_TEST_DYN_LINK
#include "engine/monitor/syscall_dispatcher.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "kernel/bpf/preemption.h"
#include "kernel/bpf/program.h"
#include "kernel/lang/link_support.h"
#include "support/needs.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(syscall_dispatcher)

void check_dispatcher(SyscallDispatcher::Place place) {
    const bool is_raw = place == SyscallDispatcher::Place::raw_tracepoint;
    const auto type = is_raw ? BPF_PROG_TYPE_RAW_TRACEPOINT : BPF_PROG_TYPE_TRACEPOINT;
    const EventFormat event = test::format_of("raw_syscalls:sys_enter");
    const test::Seen seen(16);
    SyscallDispatcher dispatcher(event, place, {}, [&](std::vector<bpf_insn> code) {
        return test::load_named(type, code, "dispatch");
    });
    const auto counting = [&](std::size_t counter) {
        ir::Code code;
        code.argument(1);
        test::Seen::count(code, counter);
        code.leave(0);
        LinkTarget target;
        target.context = is_raw ? LinkTarget::Context::raw_arguments : LinkTarget::Context::record;
        if (!is_raw) target.event = &event;
        return seen.load(type, code, target);
    };
    BOOST_TEST(dispatcher.has_room_for(SYS_getppid));
    dispatcher.put(SYS_getppid, counting(0));
    dispatcher.put(SYS_getpgid, counting(1));
    BOOST_TEST(!dispatcher.has_room_for(SYS_getppid));
    BOOST_TEST(!dispatcher.has_room_for(-1));
    BOOST_TEST(!dispatcher.has_room_for(1 << 20));
    dispatcher.attach({});
    dispatcher.attach({});
    const auto before = seen.counts();
    for (int i = 0; i < 1000; ++i) {
        ::syscall(SYS_getppid);
        if (i % 2 == 0) ::syscall(SYS_getpgid, -1);
        ::syscall(SYS_getuid);
        ::syscall(-1);
    }
    const auto after = seen.counts();
    // Others may have made these calls, too.
    BOOST_TEST(after[0] - before[0] >= 1000u);
    BOOST_TEST(after[0] - before[0] < 1100u);
    BOOST_TEST(after[1] - before[1] >= 500u);
    BOOST_TEST(after[1] - before[1] < 600u);
    BOOST_TEST(dispatcher.take_attachments().size() == 1u);
}

BOOST_AUTO_TEST_CASE(each_call_runs_its_program_and_others_none) {
    check_dispatcher(SyscallDispatcher::Place::record);
}

BOOST_AUTO_TEST_CASE(each_call_runs_its_program_at_the_raw_tracepoint) {
    if (preempts_raw_tracepoints()) return;  // a program there misses hits
    check_dispatcher(SyscallDispatcher::Place::raw_tracepoint);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
