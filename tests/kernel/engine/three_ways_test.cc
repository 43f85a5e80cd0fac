// A condition means the same everywhere: as the filter of a tracefs event, in front of a program,
// and to the evaluator over decoded records. On real events, that all three see.

#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/cat.h"
#include "base/file.h"
#include "engine/trace/raw_buffer.h"
#include "kernel/lang/link_support.h"
#include "kernel/perf/attach.h"
#include "lang/expr/bpf.h"
#include "lang/expr/eval.h"
#include "support/needs.h"
#include "support/skip.h"
#include "support/trace_instance.h"

namespace gpufs {
namespace {

namespace ut = boost::unit_test;

constexpr const char* kComm = "ab0";

// Makes an event happen in its own thread, and only when told: otherwise it sleeps. Its thread and
// the one that tells it share a CPU, so that it is off that CPU whenever the other runs.
class CountedWorker {
public:
    explicit CountedWorker(std::function<void(int)> work) {
        check(::pipe2(go_, O_CLOEXEC), [] { return "make a pipe"; });
        check(::pipe2(done_, O_CLOEXEC), [] { return "make a pipe"; });
        thread_ = std::thread([this, work = std::move(work)] {
            tid_ = ::gettid();
            ::prctl(PR_SET_NAME, kComm);
            char word = 'x';
            tell(done_);
            for (int round = 0; ::read(go_[0], &word, 1) == 1 && word == 'g'; ++round) {
                work(round);
                tell(done_);
            }
        });
        wait();
    }
    ~CountedWorker() {
        const char stop = 's';
        static_cast<void>(!::write(go_[1], &stop, 1));
        thread_.join();
        for (const int fd : {go_[0], go_[1], done_[0], done_[1]}) ::close(fd);
    }
    CountedWorker(const CountedWorker&) = delete;
    CountedWorker& operator=(const CountedWorker&) = delete;

    std::uint32_t tid() const { return static_cast<std::uint32_t>(tid_); }
    void run() {
        tell(go_);
        wait();
    }

private:
    static void tell(const int (&pipe)[2]) {
        const char word = 'g';
        static_cast<void>(!::write(pipe[1], &word, 1));
    }
    // Until it has told that it is done, and sleeps.
    void wait() {
        char word;
        static_cast<void>(!::read(done_[0], &word, 1));
        const std::string stat = cat("/proc/self/task/", tid_, "/stat");
        for (int quiet = 0; quiet < 20; ::sched_yield())
            quiet = read_file(stat).find(") S ") == std::string::npos ? 0 : quiet + 1;
    }

    int go_[2], done_[2];
    pid_t tid_ = 0;
    std::thread thread_;
};

// The worker's records that an instance has now. They are gone from it then.
std::vector<std::vector<std::byte>> take_records(const test::TraceInstance& instance,
                                                 const EventFormat& event, std::uint32_t tid) {
    std::vector<std::vector<std::byte>> records;
    RawBuffer buffer(instance.tracefs());
    buffer.drain_rest();
    const std::size_t pid_at = event.find("common_pid")->offset;
    while (const TraceRecord* record = buffer.next()) {
        std::uint32_t pid = 0;
        if (record->id() != event.id) continue;
        std::memcpy(&pid, record->bytes.data() + pid_at, sizeof pid);
        if (pid == tid) records.emplace_back(record->bytes.begin(), record->bytes.end());
    }
    return records;
}

// The program that counts, for each condition, the worker's hits for which it holds.
Fd load_counters(const test::Seen& seen, const EventFormat& event, std::uint32_t tid,
                 const std::vector<Expression>& conditions) {
    ir::Code code;
    const ir::Temp context = code.argument(1);
    const ir::Label end = code.new_label();
    const ir::Temp own = code.convert(code.call(BPF_FUNC_get_current_pid_tgid, {}), ir::kU32);
    code.branch(ir::Cmp::ne, ir::kU32, own, tid, end);
    for (std::size_t i = 0; i < conditions.size(); ++i) {
        const ir::Label next = code.new_label();
        append_condition(code, context, next, conditions[i], event);
        test::Seen::count(code, i);
        code.bind(next);
    }
    code.bind(end);
    code.leave(0);
    LinkTarget target;
    target.context = LinkTarget::Context::record;
    target.event = &event;
    return seen.load(BPF_PROG_TYPE_TRACEPOINT, code, target);
}

// False where this kernel's filters do not know the words: lists of CPUs came with Linux 6.6.
bool set_filter(const test::TraceInstance& instance, const std::string& event,
                const std::string& filter) try {
    instance.set(event_directory(event) + "/filter", filter);
    return true;
} catch (const SysError&) {
    if (filter.find("CPUS{") == std::string::npos) throw;
    return false;
}

void send_to_self(int code, int error) {
    siginfo_t info;
    std::memset(&info, 0, sizeof info);
    info.si_code = code;
    info.si_errno = error;
    ::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), ::gettid(), SIGURG, &info);
}

struct Case {
    const char* event;
    std::vector<std::string> fields;
    void (*work)(int round);
};
std::ostream& operator<<(std::ostream& out, const Case& one) {
    return out << one.event;
}
const Case kCases[] = {
    {"sched:sched_switch",
     {"prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "common_pid",
      "CPU", "COMM"},
     [](int) {
         for (int i = 0; i < 4; ++i) {
             ::usleep(100);
             ::sched_yield();
         }
     }},
    {"signal:signal_generate",
     {"sig", "errno", "code", "comm", "pid", "group", "result", "COMM"},
     [](int round) {
         for (int i = -3; i < 4; ++i) send_to_self(-1 - (i & round), i);
     }},
    {"task:task_rename",
     {"pid", "oldcomm", "newcomm", "oom_score_adj"},
     [](int round) {
         for (int i = 0; i < 6; ++i)
             ::prctl(PR_SET_NAME, cat("a", std::string(1, "b0*!]-"[(round + i) % 6])).c_str());
         ::prctl(PR_SET_NAME, kComm);
     }},
    {"raw_syscalls:sys_enter",
     {"id", "common_pid", "CPU", "COMM"},
     [](int) {
         for (int i = 0; i < 4; ++i) ::syscall(SYS_getppid);
         ::syscall(-1L);
     }},
};

BOOST_AUTO_TEST_SUITE(kernel, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(three_ways)

BOOST_DATA_TEST_CASE(filter_program_and_evaluator_agree_on_real_events, ut::data::make(kCases), c) {
    if (!test::top().has(event_directory(c.event) + "/format"))
        return test::skip(cat("needs the event ", c.event));
    const auto count = static_cast<std::size_t>(std::max(12, test::scaled(50)));
    const EventFormat event = test::format_of(c.event);
    std::vector<std::string> fields;
    for (const std::string& field : c.fields)
        if (event.find(field) || field == "CPU" || field == "COMM") fields.push_back(field);
    const test::OwnTask thread;
    const std::uint32_t cpu = thread.cpu(1);
    thread.become({cpu, 0, "three-ways"});
    test::ExprGenerator generator(
        event, {.cpus = static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_CONF)),
                .symbol = "",
                .fields = fields});
    std::vector<Expression> conditions;
    for (std::size_t i = 0; i < count; ++i) conditions.push_back(generator.expression());

    CountedWorker worker(c.work);
    const test::TraceInstance all, filtered;
    const std::string enable = event_directory(c.event) + "/enable";
    const test::Seen seen(count * 8);
    const Fd program = load_counters(seen, event, worker.tid(), conditions);
    const Attachment attachment = attach_tracepoint(program.get(), test::id_of(c.event));
    for (const auto* instance : {&all, &filtered}) {
        instance->set(enable, "1");
        instance->set("tracing_on", "1");
    }
    std::vector<std::uint64_t> before = seen.counts();
    std::size_t held = 0, records_seen = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string filter = to_filter(conditions[i], event);
        const bool has_filter = set_filter(filtered, c.event, filter);
        take_records(filtered, event, worker.tid());
        worker.run();
        const auto records = take_records(all, event, worker.tid());
        const auto passed = take_records(filtered, event, worker.tid());
        const std::vector<std::uint64_t> after = seen.counts();
        for (std::size_t j = 0; j < count; ++j) {
            const Condition condition(conditions[j], event);
            std::size_t expected = 0;
            for (const auto& record : records)
                expected += condition.holds(record, {static_cast<int>(cpu), kComm}) ? 1 : 0;
            BOOST_TEST(after[j] - before[j] == expected, to_filter(conditions[j], event));
            if (j == i && has_filter) BOOST_TEST(passed.size() == expected, filter);
            if (j == i) held += expected;
        }
        records_seen += records.size();
        before = after;
    }
    BOOST_TEST(records_seen >= count);
    BOOST_TEST(held > records_seen / 10);
    BOOST_TEST(held < records_seen * 9 / 10);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
