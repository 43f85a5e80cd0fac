// Generated code attached to real events: it judges and reads what the kernel hands it.

#define BOOST_TEST_DYN_LINK
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/cat.h"
#include "kernel/bpf/map.h"
#include "kernel/features.h"
#include "kernel/host/kernel_version.h"
#include "kernel/lang/link_support.h"
#include "kernel/perf/attach.h"
#include "lang/expr/bpf.h"
#include "lang/expr/eval.h"
#include "lang/ir/ir.h"
#include "lang/link/link.h"
#include "support/needs.h"
#include "support/trace_instance.h"

namespace gpufs {
namespace {

namespace ut = boost::unit_test;

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(link_attach)

// One thing to do that makes one record, and the values in that record.
struct Call {
    std::function<void()> make;
    test::RecordMaker record;
};

// Many conditions in one program, each with a counter, attached to the event: makes the calls and
// compares what was counted with what the evaluator says of the same records.
void expect_agreement(const std::string& name, std::vector<std::string> fields,
                      const std::vector<Call>& calls) {
    constexpr std::size_t kConditions = 60;
    const EventFormat event = test::format_of(name);
    const test::OwnTask thread;
    const test::RecordTask task{thread.cpu(1), static_cast<std::uint32_t>(::gettid()), "link-test"};
    thread.become(task);
    test::ExprGenerator generator(event, {.cpus = 8, .symbol = "", .fields = std::move(fields)},
                                  calls.size());
    const test::Seen seen(kConditions * 8);
    std::vector<Expression> expressions;
    ir::Code code;
    const ir::Temp context = code.argument(1);
    const ir::Label end = code.new_label();
    const ir::Temp tid = code.convert(code.call(BPF_FUNC_get_current_pid_tgid, {}), ir::kU32);
    code.branch(ir::Cmp::ne, ir::kU32, tid, task.tid, end);
    for (std::size_t i = 0; i < kConditions; ++i) {
        expressions.push_back(generator.expression());
        const ir::Label next = code.new_label();
        append_condition(code, context, next, expressions.back(), event);
        test::Seen::count(code, i);
        code.bind(next);
    }
    code.bind(end);
    code.leave(0);
    LinkTarget target;
    target.context = LinkTarget::Context::record;
    target.event = &event;
    const Fd program = seen.load(BPF_PROG_TYPE_TRACEPOINT, code, target);
    const Attachment attachment = attach_tracepoint(program.get(), test::id_of(name));

    std::vector<std::uint64_t> before = seen.counts();
    std::size_t held = 0;
    for (const Call& call : calls) {
        call.make();
        const std::vector<std::uint64_t> after = seen.counts();
        for (std::size_t i = 0; i < kConditions; ++i) {
            const bool expected =
                Condition(expressions[i], event)
                    .holds(call.record.bytes(), {static_cast<int>(task.cpu), task.comm});
            BOOST_TEST(after[i] - before[i] == (expected ? 1u : 0u),
                       to_filter(expressions[i], event));
            held += expected ? 1 : 0;
        }
        before = after;
    }
    BOOST_TEST(held > calls.size() * kConditions / 10);
    BOOST_TEST(held < calls.size() * kConditions * 9 / 10);
}

// Unsigned numbers of 64 bits: a system call that fails, with any arguments.
BOOST_AUTO_TEST_CASE(attached_conditions_agree_about_unsigned_numbers,
                     *ut::precondition(test::has_file{"events/syscalls/sys_enter_prctl/format"})) {
    const EventFormat event = test::format_of("syscalls:sys_enter_prctl");
    constexpr std::uint64_t kTopBit = std::uint64_t{1} << 63;
    const std::uint64_t values[] = {0, 1, 2, 3, 7, kTopBit - 1, kTopBit, ~std::uint64_t{0}};
    test::ExprGenerator random(event, {.symbol = "", .fields = {}});
    std::vector<Call> calls;
    for (int i = 0; i < 24; ++i) {
        const std::uint64_t a = values[random.below(8)], b = values[random.below(8)];
        constexpr std::uint64_t kNoSuchOption = 0x7fff'fff0;
        calls.push_back(
            {[=] { ::syscall(SYS_prctl, kNoSuchOption, a, b, 0, 0); }, test::RecordMaker(event)});
        calls.back().record.number("option", kNoSuchOption).number("arg2", a).number("arg3", b);
        calls.back().record.number("common_pid", static_cast<std::uint64_t>(::gettid()));
        calls.back().record.number("__syscall_nr", SYS_prctl);
    }
    expect_agreement("syscalls:sys_enter_prctl",
                     {"arg2", "arg3", "option", "common_pid", "__syscall_nr", "CPU", "COMM"},
                     calls);
}

// Signed numbers of 32 bits: an ignored signal to ourselves, with any code.
BOOST_AUTO_TEST_CASE(attached_conditions_agree_about_signed_numbers) {
    const EventFormat event = test::format_of("signal:signal_generate");
    constexpr int kLowest = -2147483647 - 1, kHighest = 2147483647;
    const int values[] = {kLowest, kLowest + 1, -7, -1, 0, 1, 2, kHighest};
    test::ExprGenerator random(event, {.symbol = "", .fields = {}});
    std::vector<Call> calls;
    for (int i = 0; i < 24; ++i) {
        const int code = values[random.below(8)], error = values[random.below(8)];
        const auto make = [=] {
            siginfo_t info;
            std::memset(&info, 0, sizeof info);
            info.si_code = code;
            info.si_errno = error;
            ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::gettid(), SIGURG, &info);
        };
        const auto bits = [](int n) { return static_cast<std::uint32_t>(n); };
        calls.push_back({make, test::RecordMaker(event)});
        calls.back().record.number("code", bits(code)).number("errno", bits(error));
        calls.back().record.number("sig", SIGURG).number("pid", bits(::gettid()));
        calls.back().record.number("common_pid", bits(::gettid())).text("comm", "link-test");
    }
    expect_agreement("signal:signal_generate",
                     {"code", "errno", "sig", "comm", "pid", "common_pid", "CPU"}, calls);
}

// Texts: a new name for this thread.
BOOST_AUTO_TEST_CASE(attached_conditions_agree_about_texts,
                     *ut::precondition(test::has_file{"events/task/task_rename/format"})) {
    const EventFormat event = test::format_of("task:task_rename");
    test::ExprGenerator random(event, {.symbol = "", .fields = {}});
    std::vector<Call> calls;
    std::string old_name = "link-test";
    for (int i = 0; i < 24; ++i) {
        const std::string name = "a" + test::random_text(random, i % 4 == 0 ? 14 : 5);
        calls.push_back({[=] { ::prctl(PR_SET_NAME, name.c_str()); }, test::RecordMaker(event)});
        calls.back().record.text("oldcomm", old_name).text("newcomm", name);
        calls.back().record.number("common_pid", static_cast<std::uint64_t>(::gettid()));
        old_name = name;
    }
    expect_agreement("task:task_rename", {"oldcomm", "newcomm", "common_pid"}, calls);
}

// A __data_loc: the file that a child runs.
BOOST_AUTO_TEST_CASE(the_address_of_a_field_leads_to_its_text) {
    const EventFormat event = test::format_of("sched:sched_process_exec");
    const test::Seen seen(32);
    ir::Code code;
    const ir::Temp context = code.argument(1);
    const ir::Label end = code.new_label();
    // Not what else is run meanwhile.
    append_condition(code, context, end, parse_expression({"--if", "filename ~ \"*/../bin/true\""}),
                     event);
    const ir::Temp from =
        code.field_address(context, test::reference(Relocation::Kind::none, "filename"));
    code.call(BPF_FUNC_probe_read_kernel_str,
              {code.symbol(test::reference(Relocation::Kind::map_value, "seen")), 32, from});
    code.bind(end);
    code.leave(0);
    LinkTarget target;
    target.context = LinkTarget::Context::record;
    target.event = &event;
    const Fd program = seen.load(BPF_PROG_TYPE_TRACEPOINT, code, target);
    const Attachment attachment =
        attach_tracepoint(program.get(), test::id_of("sched:sched_process_exec"));
    const pid_t child = ::fork();
    if (child == 0) {
        ::execl("/usr/../bin/true", "true", nullptr);
        ::_exit(1);
    }
    ::waitpid(child, nullptr, 0);
    BOOST_TEST(seen.text() == "/usr/../bin/true");
}

#if defined(__x86_64__)
// getppid by its number in a 32-bit program, which is another call there: iopl(0).
void call_as_32_bits() {
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGSEGV, SIG_DFL);  // not this framework's: the child would go on with the tests
        long result = SYS_getppid;
        asm volatile("int $0x80" : "+a"(result) : "b"(0) : "memory", "r8", "r9", "r10", "r11");
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);  // a kernel without 32-bit calls kills it
}

BOOST_AUTO_TEST_CASE(raw_sys_enter_counts_one_system_call_only) {
    const test::Seen seen(24);
    const auto counting = [&](std::size_t counter, const SyscallCheck& check) {
        ir::Code code;
        code.argument(1);
        test::Seen::count(code, counter);
        code.leave(0);
        return seen.load(check, code);
    };
    SyscallCheck check;
    check.number = SYS_getppid;
    const Fd all = counting(0, check);
    // thread_info begins a task_struct: long flags, long syscall_work (since Linux 5.11), u32
    // status; TS_COMPAT.
    check.compat = SyscallCheck::Compat{running_kernel() < KernelVersion{5, 11, 0} ? 8 : 16, 2};
    const Fd copied = counting(1, check);
    check.reads_task = BpfFeatures()
                           .ask_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_get_current_task_btf)
                           .support == Support::yes;
    const Fd direct = counting(2, check);
    const Attachment attachments[] = {attach_raw_tracepoint(all.get(), "sys_enter"),
                                      attach_raw_tracepoint(copied.get(), "sys_enter"),
                                      attach_raw_tracepoint(direct.get(), "sys_enter")};
    const auto before = seen.counts();
    for (int i = 0; i < 5; ++i) call_as_32_bits();
    for (int i = 0; i < 1000; ++i) ::syscall(SYS_getppid);
    for (int i = 0; i < 1000; ++i) ::syscall(SYS_getuid);
    const auto after = seen.counts();
    // Others may have asked for their parent, too.
    const auto counted = [&](std::size_t i) { return after[i] - before[i]; };
    BOOST_TEST(counted(1) >= 1000u);
    BOOST_TEST(counted(1) < 1100u);
    BOOST_TEST((counted(0) == counted(1) || counted(0) == counted(1) + 5));
    BOOST_TEST(counted(2) == counted(1));
}
#endif

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
