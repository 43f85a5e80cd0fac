#define BOOST_TEST_DYN_LINK
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "base/text.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/expr/eval.h"
#include "lang/expr/gen.h"
#include "support/needs.h"
#include "support/rounds.h"
#include "support/trace_instance.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

// An instance of this test's own.
class Instance {
public:
    Instance() : tracefs_(session_.directory()) {
        check(::mkdir(session_.directory().c_str(), 0750), [] { return "make an instance"; });
    }
    const Tracefs& tracefs() const { return tracefs_; }

    void set_filter(const std::string& event, const std::string& filter) const {
        tracefs_.write(event_directory(event) + "/filter", filter, Write::replace);
    }
    // The kernel's reason when it refuses, or empty.
    std::string refusal(const std::string& event, const std::string& filter) const try {
        set_filter(event, filter);
        return {};
    } catch (const SysError& e) {
        return cat(e.what(), '\n', e.evidence());
    }
    std::string filter(const std::string& event) const {
        return std::string(trim(tracefs_.read(event_directory(event) + "/filter")));
    }

private:
    test::TempSession session_;  // removes the directory
    Tracefs tracefs_;
};

EventFormat format_of(const std::string& event) {
    const auto text = test::top().read_if_readable(event_directory(event) + "/format");
    if (!text) return {};
    return parse_event_format(event.substr(0, event.find(':')), *text);
}

// What came after Linux 6.1: .function (6.2) and CPUS{} (6.6).
bool has_functions(const Instance& instance) {
    return instance.refusal("sched:sched_switch", "prev_state.function == schedule").empty();
}
bool has_cpu_lists(const Instance& instance) {
    return instance.refusal("sched:sched_switch", "CPU & CPUS{0}").empty();
}

test::ExprGenerator::Limits limits_of(const Instance& instance) {
    test::ExprGenerator::Limits limits;
    limits.cpus =
        has_cpu_lists(instance) ? static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_CONF)) : 0;
    if (has_functions(instance)) limits.symbol = "schedule";
    return limits;
}

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(expr_kernel)

const char* const kEvents[] = {
    "sched:sched_switch",        "sched:sched_wakeup",
    "sched:sched_process_exec",  "sched:sched_migrate_task",
    "irq:irq_handler_entry",     "irq:softirq_entry",
    "timer:hrtimer_start",       "signal:signal_generate",
    "task:task_rename",          "workqueue:workqueue_queue_work",
    "power:cpu_frequency",       "power:suspend_resume",
    "net:net_dev_queue",         "sock:inet_sock_set_state",
    "kmem:mm_page_alloc",        "ipi:ipi_send_cpumask",
    "syscalls:sys_enter_openat", "syscalls:sys_enter_futex",
    "syscalls:sys_enter_execve", "syscalls:sys_exit_read",
    "raw_syscalls:sys_enter",    "raw_syscalls:sys_exit",
    "dma_fence:dma_fence_init",  "gpu_scheduler:drm_sched_job_done",
};
BOOST_AUTO_TEST_CASE(the_kernel_takes_what_we_accept_and_reads_it_back) {
    const Instance instance;
    std::size_t tried = 0;
    for (const char* name : kEvents) {
        const EventFormat event = format_of(name);
        if (event.name.empty()) continue;  // not on this kernel
        ++tried;
        test::ExprGenerator generator(event, limits_of(instance));
        for (int i = std::max(4, test::rounds(40)); i > 0; --i) {
            const std::string filter = to_filter(generator.expression(), event);
            BOOST_TEST(instance.refusal(name, filter) == "", cat(name, ": ", filter));
            BOOST_TEST(instance.filter(name) == filter);
        }
    }
    BOOST_TEST(tried >= 10u);
}

// What we refuse. Most of it the kernel refuses too; what it takes would be true never, always, or
// for another reason than the one written down, as the note says.
struct Refused {
    const char *event, *text;
    bool kernel_takes;
    const char* note;
};
constexpr const char* kSwitch = "sched:sched_switch";
const Refused kRefused[] = {
    {kSwitch, "nosuch == 1", false, ""},
    {kSwitch, "prev_pid", false, ""},
    {kSwitch, "!prev_pid", false, ""},
    {kSwitch, "prev_pid = 1", false, ""},
    {kSwitch, "prev_pid ==", false, ""},
    {kSwitch, "&& prev_pid == 1", false, ""},
    {kSwitch, "prev_pid == 1 | prev_pid == 2", false, ""},
    {kSwitch, "prev_pid == 1 and prev_pid == 2", false, ""},
    {kSwitch, "prev_pid == 1 prev_pid == 2", false, ""},
    {kSwitch, "(prev_pid == 1", false, ""},
    {kSwitch, "prev_pid == 1)", false, ""},
    {kSwitch, "()", false, ""},
    {kSwitch, "1 == prev_pid", false, ""},
    {kSwitch, "prev_pid & 3 == 1", false, ""},
    {kSwitch, "prev_pid == 1;", false, ""},
    {kSwitch, "prev_pid == 2a", false, ""},
    {kSwitch, "prev_pid == 08", false, ""},
    {kSwitch, "prev_pid == - 1", false, ""},
    {kSwitch, "prev_pid == abc", false, ""},
    {kSwitch, "prev_pid == \"1\"", false, ""},
    {kSwitch, "prev_pid ~ \"1\"", false, ""},
    {kSwitch, "prev_pid ~ 1", false, ""},
    {kSwitch, "prev_pid == 4294967296", true, "cut to 32 bits: it means 0"},
    {kSwitch, "prev_pid == 0xffffffff", true, "cut to 32 bits: it means -1"},
    {kSwitch, "prev_state == 9223372036854775808", false, ""},
    {kSwitch, "prev_state == 99999999999999999999", false, ""},
    {kSwitch, "common_type == 70000", true, "cut to 16 bits"},
    {kSwitch, "prev_comm == 12", false, ""},
    {kSwitch, "prev_comm < \"x\"", false, ""},
    {kSwitch, "prev_comm & \"x\"", false, ""},
    {kSwitch, "prev_comm !~ \"x\"", false, ""},
    {kSwitch, "prev_comm == \"x", false, ""},
    {kSwitch, "prev_comm == \"0123456789abcdef\"", true, "never true: a name has 15 bytes"},
    {kSwitch, "prev_comm.ustring == \"x\"", true, ".ustring is overlooked"},
    {kSwitch, "prev_pid.function == schedule", false, ""},
    {kSwitch, "prev_state.function < schedule", false, ""},
    {kSwitch, "CPU & 1", true, "never true"},
    {kSwitch, "CPU == \"1\"", false, ""},
    {kSwitch, "CPU == 4294967296", true, "cut to 32 bits: it means 0"},
    {kSwitch, "CPU < CPUS{0}", false, ""},
    {kSwitch, "CPU & CPUS{}", false, ""},
    {kSwitch, "CPU & CPUS {0}", false, ""},
    {kSwitch, "CPU == CPUS{0-1}", true, "never true"},
    {kSwitch, "prev_pid != CPUS{0-1}", true, "true for every CPU's number"},
    {kSwitch, "CPU & CPUS{all}", true, "true for every record"},
    {kSwitch, "prev_comm == CPUS{0}", false, ""},
    {kSwitch, "COMM == 1", false, ""},
    {"raw_syscalls:sys_enter", "args == 1", true, "never true: the array is no number"},
    {"raw_syscalls:sys_enter", "args == \"x\"", false, ""},
    {"sock:inet_sock_set_state", "sport == -1", false, ""},
    {"sock:inet_sock_set_state", "saddr_v6 == 1", true, "never true: 16 bytes are no number"},
    {"syscalls:sys_enter_openat", "dfd == -100", false, ""},
    {"syscalls:sys_enter_openat", "filename == \"x\"", true, "never true: it is not kernel memory"},
    {"syscalls:sys_enter_openat", "filename == 0", false, ""},
    {"ipi:ipi_send_cpumask", "cpumask == 1", true, "compares where the mask is"},
    {"ipi:ipi_send_cpumask", "cpumask == \"1\"", false, ""},
    {"ipi:ipi_send_cpumask", "cpumask < CPUS{0}", false, ""},
};
BOOST_AUTO_TEST_CASE(the_kernel_refuses_what_we_refuse_or_would_mislead) {
    const Instance instance;
    const bool knows_cpu_lists = has_cpu_lists(instance) && ::sysconf(_SC_NPROCESSORS_CONF) > 1;
    for (const Refused& c : kRefused) {
        const EventFormat event = format_of(c.event);
        if (event.name.empty()) continue;
        BOOST_CHECK_THROW(check_expression(parse_expression({"--if", c.text}), event), SourceError);
        const bool needs_cpu_lists =
            std::string_view(c.text).find("CPUS") != std::string_view::npos;
        if (c.kernel_takes && needs_cpu_lists && !knows_cpu_lists) continue;
        BOOST_TEST(instance.refusal(c.event, c.text).empty() == c.kernel_takes, c.text);
    }
}

// Runs this thread on one CPU, so that a test knows what CPU means.
class OnOneCpu {
public:
    OnOneCpu() {
        ::sched_getaffinity(0, sizeof before_, &before_);
        cpu_ = ::sched_getcpu();
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<unsigned>(cpu_), &one);
        ::sched_setaffinity(0, sizeof one, &one);
        cpu_ = ::sched_getcpu();
    }
    ~OnOneCpu() { ::sched_setaffinity(0, sizeof before_, &before_); }
    OnOneCpu(const OnOneCpu&) = delete;
    OnOneCpu& operator=(const OnOneCpu&) = delete;
    int cpu() const { return cpu_; }

private:
    cpu_set_t before_;
    int cpu_ = 0;
};

// One thing to do that makes one record, and the values in that record.
struct Call {
    std::function<void()> make;
    test::RecordMaker record;
};

std::string own_name() {
    char name[16] = {};
    ::prctl(PR_GET_NAME, name);
    return name;
}

// Sets each condition as the event's filter, makes all the calls under it, and compares what the
// kernel let through with what the evaluator says of the same records.
void expect_agreement(const std::string& event_name, const std::string& printed_as,
                      test::ExprGenerator::Limits limits, const std::vector<Call>& calls) {
    constexpr int kConditions = 200;
    const Instance instance;
    const OnOneCpu pinned;
    const RecordContext context{pinned.cpu(), "expr-test"};
    const EventFormat event = format_of(event_name);
    const auto all = limits_of(instance);
    limits.cpus = all.cpus;
    limits.symbol = {};

    const std::string before = own_name();
    ::prctl(PR_SET_NAME, "expr-test");
    test::ExprGenerator generator(event, limits);
    std::vector<std::string> filters;
    std::vector<bool> expected;
    instance.tracefs().write("buffer_size_kb", "4096", Write::replace);
    for (int i = 0; i < kConditions; ++i) {
        const Expression expression = generator.expression();
        filters.push_back(to_filter(expression, event));
        instance.set_filter(event_name, filters.back());
        if (i == 0)
            instance.tracefs().write(event_directory(event_name) + "/enable", "1", Write::replace);
        const Condition condition(expression, event);
        for (const Call& call : calls) {
            instance.tracefs().write("trace_marker", cat("call ", expected.size()), Write::append);
            call.make();
            expected.push_back(condition.holds(call.record.bytes(), context));
        }
    }
    instance.tracefs().write(event_directory(event_name) + "/enable", "0", Write::replace);
    ::prctl(PR_SET_NAME, before.c_str());

    // Between the marks are the records that passed.
    std::vector<bool> passed(expected.size());
    std::size_t at = 0, marks = 0;
    const std::string self = cat('-', ::gettid(), ' ');
    const std::string trace = instance.tracefs().read("trace");
    for (const std::string_view line : lines_of(trace)) {
        if (line.find(self) == line.npos) continue;
        constexpr std::string_view kMark = "tracing_mark_write: call ";
        if (const auto mark = line.find(kMark); mark != line.npos) {
            at = std::stoul(std::string(line.substr(mark + kMark.size())));
            ++marks;
        } else if (line.find(printed_as) != line.npos) {
            passed[at] = true;
        }
    }
    BOOST_REQUIRE(marks == expected.size());
    const auto held = static_cast<std::size_t>(std::ranges::count(expected, true));
    BOOST_TEST(held > expected.size() / 10);
    BOOST_TEST(held < expected.size() * 9 / 10);
    for (std::size_t i = 0; i < expected.size(); ++i)
        BOOST_TEST(passed[i] == expected[i],
                   cat("call ", i % calls.size(), " under ", filters[i / calls.size()]));
}

// Unsigned numbers of 64 bits: a system call that fails, with any arguments.
BOOST_AUTO_TEST_CASE(the_evaluator_agrees_about_unsigned_numbers,
                     *ut::precondition(test::has_file{"events/syscalls/sys_enter_prctl/format"})) {
    const EventFormat event = format_of("syscalls:sys_enter_prctl");
    constexpr std::uint64_t kTopBit = std::uint64_t{1} << 63;
    const std::uint64_t values[] = {0, 1, 2, 3, 7, kTopBit - 1, kTopBit, ~std::uint64_t{0}};
    test::ExprGenerator random(event, {});
    std::vector<Call> calls;
    for (int i = 0; i < 24; ++i) {
        const std::uint64_t a = values[random.below(8)], b = values[random.below(8)];
        const std::uint64_t c = values[random.below(8)];
        constexpr std::uint64_t kNoSuchOption = 0x7fff'fff0;
        Call call{[=] { ::syscall(SYS_prctl, kNoSuchOption, a, b, c, 0); },
                  test::RecordMaker(event)};
        call.record.number("option", kNoSuchOption).number("arg2", a).number("arg3", b);
        call.record.number("arg4", c).number("common_pid", static_cast<std::uint64_t>(::gettid()));
        call.record.number("__syscall_nr", SYS_prctl);
        calls.push_back(call);
    }
    expect_agreement(
        "syscalls:sys_enter_prctl", "sys_prctl(",
        {.symbol = {},
         .fields = {"arg2", "arg3", "arg4", "option", "common_pid", "__syscall_nr", "CPU", "COMM"}},
        calls);
}

// Signed numbers of 32 bits: an ignored signal to ourselves, with any code.
BOOST_AUTO_TEST_CASE(the_evaluator_agrees_about_signed_numbers) {
    const EventFormat event = format_of("signal:signal_generate");
    constexpr int kLowest = -2147483647 - 1, kHighest = 2147483647;
    const int values[] = {kLowest, kLowest + 1, -7, -1, 0, 1, 2, kHighest};
    test::ExprGenerator random(event, {});
    std::vector<Call> calls;
    for (int i = 0; i < 24; ++i) {
        const int code = values[random.below(8)], error = values[random.below(8)];
        Call call{[=] {
                      siginfo_t info;
                      std::memset(&info, 0, sizeof info);
                      info.si_code = code;
                      info.si_errno = error;
                      ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::gettid(), SIGURG, &info);
                  },
                  test::RecordMaker(event)};
        const auto bits = [](int n) { return static_cast<std::uint32_t>(n); };
        call.record.number("code", bits(code)).number("errno", bits(error)).number("sig", SIGURG);
        call.record.number("pid", bits(::gettid())).number("common_pid", bits(::gettid()));
        call.record.text("comm", "expr-test");
        calls.push_back(call);
    }
    expect_agreement(
        "signal:signal_generate", "signal_generate: ",
        {.symbol = {}, .fields = {"code", "errno", "sig", "comm", "pid", "common_pid", "CPU"}},
        calls);
}

// Texts: a new name for this thread, and back.
BOOST_AUTO_TEST_CASE(the_evaluator_agrees_about_texts,
                     *ut::precondition(test::has_file{"events/task/task_rename/format"})) {
    const EventFormat event = format_of("task:task_rename");
    test::ExprGenerator random(event, {});
    std::vector<Call> calls;
    for (int i = 0; i < 24; ++i) {
        std::string name(1, "ab0"[random.below(3)]);
        for (std::size_t n = random.below(i % 4 == 0 ? 15 : 6); n > 0; --n)
            name += "ab0*!]-\\"[random.below(8)];
        Call call{[=] { ::prctl(PR_SET_NAME, name.c_str()); }, test::RecordMaker(event)};
        call.record.text("oldcomm", "expr-test").text("newcomm", name);
        call.record.number("common_pid", static_cast<std::uint64_t>(::gettid()));
        calls.push_back(call);
        // Back again: without a record of its own that could be taken for the next one's.
        calls.push_back({[] { ::prctl(PR_SET_NAME, "expr-test"); }, test::RecordMaker(event)});
        calls.back().record.text("oldcomm", name).text("newcomm", "expr-test");
        calls.back().record.number("common_pid", static_cast<std::uint64_t>(::gettid()));
    }
    expect_agreement("task:task_rename", "task_rename: ",
                     {.symbol = {}, .fields = {"oldcomm", "newcomm", "common_pid"}}, calls);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
