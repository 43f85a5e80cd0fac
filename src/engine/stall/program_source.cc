#include "engine/stall/program_source.h"

#include <poll.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/kernel_abi.h"
#include "base/sorted.h"
#include "engine/monitor/load_linked.h"
#include "engine/places/monitor_files.h"
#include "kernel/host/cpus.h"
#include "kernel/host/kallsyms.h"
#include "kernel/host/proc_task.h"
#include "lang/symbols/kernel_functions.h"

namespace gpufs {
namespace {

constexpr std::string_view kText = "lib/stall.bpf";
constexpr std::uint64_t kMs = 1'000'000;
// Stacks of a task in states that are not rare.
constexpr std::uint64_t kStackGapNs = kMs;
// Looks at what is under way follow each other no closer, and take at most 1/50 of the time.
constexpr std::uint64_t kLookGapNs = 4 * kMs, kLookShare = 50;
constexpr std::uint64_t kMostTasks = 4096;
// As in the text.
constexpr std::uint64_t kRuns = 2048;

struct RunRecord {
    std::uint64_t begin = 0, end = 0, ns = 0;
    std::uint32_t pid = 0, unused = 0;
    std::array<char, kCommBytes> comm{};
};
struct LogRecord {
    std::uint64_t since = 0, count = 0;
    std::uint32_t pid = 0, unused = 0;
};
struct OtherRecord {
    std::uint64_t count = 0, longest = 0;
};

template <class T>
T value_from(std::span<const std::byte> bytes) {
    T value;
    if (bytes.size() < sizeof value) throw Error("a record of the stall program is too short");
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

template <class T>
std::optional<T> lookup(const ProgramMap& map, std::uint32_t key) {
    T value;
    if (!map.lookup(bytes_of(key), std::as_writable_bytes(std::span(&value, 1))))
        return std::nullopt;
    return value;
}

Program stall_program(bool wants_waits) {
    Program program = assemble_shipped(kText);
    // It tells only on which CPU a task waits.
    if (!wants_waits)
        std::erase_if(program.programs, [](const ProbeProgram& p) { return p.name == "wakeup"; });
    const RecordLayout* task = program.find_record("task");
    if (!task || task->layout.bytes != sizeof(TaskRecord) ||
        task->layout.find("stack")->offset != offsetof(TaskRecord, stack))
        throw Error(cat("'", kText, "' does not lay its records out as they are read"));
    return program;
}

// In sched_switch's prev_state, with 0x100 for R.
std::int64_t bits_of(const StateSet& states) {
    std::int64_t bits = 0;
    for (unsigned bit = 1; bit <= 0x100; bit <<= 1)
        if (states.has(state_of_switch(bit))) bits |= bit;
    return bits;
}

// Where each CPU keeps some of the kernel's variables; only differences tell something. Of the
// kernel's symbols where its BTF has no variables, as that of Debian's Linux 5.10.
using PerCpuPlaces = std::map<std::string, std::int64_t, std::less<>>;
PerCpuPlaces per_cpu_places(const Btf& btf) {
    constexpr std::string_view kQueues = "runqueues";
    constexpr std::string_view kWanted[] = {kQueues, "__preempt_count", "pcpu_hot"};
    PerCpuPlaces places;
    if (btf.per_cpu_offset(kQueues)) {
        for (const std::string_view name : kWanted)
            if (const auto at = btf.per_cpu_offset(name)) places.emplace(name, *at);
        return places;
    }
    for_each_line(kallsyms_if_readable(), [&](std::string_view line) {
        const auto symbol = parse_kallsyms_line(line);
        if (symbol && symbol->module.empty() && std::ranges::count(kWanted, symbol->name) > 0)
            places.emplace(symbol->name, static_cast<std::int64_t>(symbol->address));
    });
    return places;
}

// Where the kernel counts what interrupts a task, for the program to find, and in which bits: NMIs,
// hard interrupts, and bit 8, serving a soft one.
void find_preempt_count(const Btf& btf, ParameterValues& values) {
    // Linux 7 counts in bits 16 to 23 who disabled interrupts, and moved hard ones and NMIs up.
    constexpr std::int64_t kMovedUp = 0x7f000100;
    if (btf.per_cpu_offset("local_interrupt_disable_state"))
        values.numbers["interrupt_bits"] = kMovedUp;
    const auto member = [&](std::string_view path) -> std::optional<std::int64_t> {
        try {
            return btf.resolve(path).offset;
        } catch (const Error&) {
            return std::nullopt;  // another kernel's
        }
    };
    if (const auto in_task = member("task_struct.thread_info.preempt_count")) {
        values.numbers["count_is_in_task"] = 1;
        values.numbers["count_at"] = *in_task;
        return;
    }
    const PerCpuPlaces places = per_cpu_places(btf);
    const auto queues = places.find("runqueues"), hot = places.find("pcpu_hot");
    auto count = places.find("__preempt_count");
    std::int64_t within = 0;
    if (count == places.end() && hot != places.end())  // Linux 6.2 to 6.14
        if (const auto at = member("pcpu_hot.preempt_count")) {
            count = hot;
            within = *at;
        }
    if (queues == places.end() || count == places.end() || queues->second == count->second ||
        !member("cfs_rq.rq"))
        throw UnsupportedError("this kernel does not tell where it counts interrupts");
    values.numbers["count_at"] = count->second + within - queues->second;
}

ParameterValues parameters_for(KernelFacts& machine, const StallTracker::Choice& choice,
                               bool logs_runs) {
    const Btf* btf = machine.btf();
    if (!btf)
        throw UnsupportedError("this kernel has no BTF", "a kernel with CONFIG_DEBUG_INFO_BTF=y");
    ParameterValues values;
    values.numbers = {
        {"over", static_cast<std::int64_t>(choice.over_ns)},
        {"asked", bits_of(choice.states)},
        {"children", choice.children},
        {"stack_gap", static_cast<std::int64_t>(kStackGapNs)},
        {"logs_runs", logs_runs},
        // The ends of a wait may lie within such a step.
        {"run_step", static_cast<std::int64_t>(choice.over_ns / 16)},
        {"arguments_at", static_cast<std::int64_t>(call_arguments().at)},
        {"entries", static_cast<std::int64_t>(kMostTasks)},
    };
    if (logs_runs) {
        const std::int64_t cpus = possible_cpus().back() + 1;
        values.numbers["cpus"] = cpus;
        values.numbers["runs_kept"] = cpus * static_cast<std::int64_t>(kRuns);
    }
    // (data, preempt, prev, next, prev_state) since Linux 5.18.
    constexpr std::size_t kParameters = 5;
    const auto traced = btf->function("__traceiter_sched_switch");
    values.numbers["state_is_given"] = traced && traced->parameters.size() == kParameters;
    find_preempt_count(*btf, values);
    return values;
}

}  // namespace

ProgramSource::ProgramSource(const Tracefs& top, StallTracker& tracker,
                             const StallTracker::Choice& choice)
    : tracker_(tracker),
      choice_(choice),
      logs_runs_(choice.states.has(TaskState::runnable)),
      machine_(top),
      user_stacks_(machine_),
      records_(tracker) {
    const ParameterValues parameters = parameters_for(machine_, choice, logs_runs_);
    const auto make = [&] {
        Program program = stall_program(logs_runs_);
        Monitor::Choice how;
        how.parameters = parameters;
        how.others = user_stacks_.prepare(program);
        monitor_ = std::make_unique<Monitor>(std::move(program), std::move(how), machine_);
    };
    try {
        make();
    } catch (const RefusedProgram&) {
        user_stacks_.give_up_tables();
        make();
    }
    reader_.emplace(*monitor_);
    user_stacks_.attach(*monitor_);
    for (const int fd : user_stacks_.fds()) reader_->wake_for(fd);
    monitor_->attach();
}

void ProgramSource::follow(const std::vector<int>& tids) {
    const BpfMap& tasks = monitor_->bpf_map("tasks");
    for (const int tid : tids) {
        TaskRecord task;
        task.tid = static_cast<std::uint32_t>(tid);
        if (proc::tgid(tid) == tid) user_stacks_.know(task.tid);
        if (tracker_.is_alone(tid)) task.flags = TaskRecord::kAlone;
        try {
            // The program may know it already: started by a task that is followed.
            tasks.update(bytes_of(task.tid), bytes_of(task), BPF_NOEXIST);
        } catch (const SysError& e) {
            if (e.code() != E2BIG) throw;
            throw Error(cat("more than ", kMostTasks, " tasks cannot be watched at a time"),
                        "name fewer processes");
        }
    }
}

bool ProgramSource::wait(int stop_fd, std::chrono::milliseconds limit) {
    if (stop_fd != -1 && stop_fd_ == -1) reader_->wake_for(stop_fd_ = stop_fd);
    const std::uint64_t now = monotonic_ns();
    const auto until_look = next_look_ns_ > now ? (next_look_ns_ - now) / kMs + 1 : 0;
    reader_->wait(std::min(limit, std::chrono::milliseconds(until_look)));
    pollfd stop{stop_fd, POLLIN, 0};
    return ::poll(&stop, 1, 0) <= 0;
}

void ProgramSource::take(const RecordLayout& layout, std::span<const std::byte> record) {
    const auto number = [&](std::string_view name) {
        return value_from<std::uint32_t>(record.subspan(layout.layout.find(name)->offset));
    };
    const auto pid = [&](std::string_view name) { return static_cast<int>(number(name)); };
    if (layout.name == "task") {
        const auto task = value_from<TaskRecord>(record);
        last_ns_ = task.back;
        records_.take(task, user_stack(task));
    } else if (layout.name == "newtask") {
        const auto comm = value_from<std::array<char, kCommBytes>>(
            record.subspan(layout.layout.find("comm")->offset));
        records_.take_newtask(
            pid("parent"), pid("tid"), up_to_nul(comm),
            value_from<std::uint64_t>(record.subspan(layout.layout.find("flags")->offset)));
    } else if (layout.name == "exec") {
        records_.take_exec(pid("tid"), pid("old_tid"));
    } else if (layout.name == "ended") {
        records_.take_exit(pid("tid"));
    }
}

std::vector<Frame> ProgramSource::user_stack(const TaskRecord& task) {
    return user_stacks_.frames(task.tgid, task.user, task.out);
}

void ProgramSource::read() {
    user_stacks_.work();
    reader_->drain([&](const RecordLayout& layout, std::span<const std::byte> record) {
        take(layout, record);
    });
    if (monotonic_ns() >= next_look_ns_) look();
}

void ProgramSource::look() {
    const std::uint64_t now = monotonic_ns();
    const std::uint64_t refused = count_refused();
    const bool has_lost = std::exchange(refused_, refused) != refused;
    if (has_lost) tracker_.on_loss(last_ns_);
    std::uint64_t next = now + choice_.over_ns;
    std::vector<int> cpus;
    monitor_->bpf_map("tasks").for_each(
        [&](std::span<const std::byte>, std::span<const std::byte> value) {
            const auto task = value_from<TaskRecord>(value);
            if (has_lost) records_.resume(task, now);
            records_.forget_unsent(task);
            if (task.out == 0) return;
            if (task.out + choice_.over_ns > now) {
                next = std::min(next, task.out + choice_.over_ns);
                return;
            }
            if (!records_.knows(task)) records_.look(task, user_stack(task));
            if (!logs_runs_) return;
            const Stall* stall = tracker_.open_stall(static_cast<int>(task.tid));
            if (stall && stall->state == TaskState::runnable) cpus.push_back(stall->cpu_waited);
        });
    // Before what they keep of a long wait is overwritten.
    sort_unique(cpus);
    for (const int cpu : cpus) read_runs(cpu);
    const std::uint64_t took = monotonic_ns() - now;
    next_look_ns_ = std::max(next, now + std::max(kLookGapNs, took * kLookShare));
}

void ProgramSource::stop() {
    monitor_->detach();
    reader_->drain([&](const RecordLayout& layout, std::span<const std::byte> record) {
        take(layout, record);
    });
    look();
}

// The last two runs of a CPU may still be added to.
void ProgramSource::read_runs(int cpu) {
    constexpr std::uint64_t kOpen = 2;
    if (cpu < 0) return;
    const auto number = static_cast<std::uint32_t>(cpu);
    const auto log = lookup<LogRecord>(*monitor_->map("logs"), number);
    if (!log) return;
    const ProgramMap& kept = *monitor_->map("runs");
    const std::uint64_t open = log->count - std::min(kOpen, log->count);
    std::uint64_t& read = runs_read_[cpu];
    // Those that are overwritten while they are read are not among them.
    constexpr std::uint64_t kMargin = 64;
    if (log->count > kRuns - kMargin) read = std::max(read, log->count - (kRuns - kMargin));
    std::vector<RunRecord> last;
    const auto value = [](const RunRecord& run) {
        return CpuOccupancy::Run{run.begin, run.end, run.ns, static_cast<int>(run.pid),
                                 up_to_nul(run.comm)};
    };
    for (std::uint64_t i = read; i < log->count; ++i) {
        const auto run =
            lookup<RunRecord>(kept, static_cast<std::uint32_t>(number * kRuns + i % kRuns));
        if (!run) break;
        if (i < open)
            runs_.on_run(cpu, value(*run));
        else
            last.push_back(*run);
    }
    read = std::max(read, open);
    std::vector<CpuOccupancy::Run> runs;
    for (const RunRecord& run : last) runs.push_back(value(run));
    const int pid = static_cast<int>(log->pid);
    runs_.on_last_runs(cpu, runs, log->since, pid, pid == 0 ? "swapper" : proc::comm(pid));
}

bool ProgramSource::add_runs(Stall& wait, bool) {
    read_runs(wait.cpu_waited);
    wait.ran_meanwhile = runs_.who_ran(wait.cpu_waited, wait.begin_ns, wait.end_ns);
    return true;
}

void ProgramSource::add_others(StallTracker::Others& others) const {
    const ProgramMap& map = *monitor_->map("others");
    std::vector<std::byte> value(map.whole_value_bytes());
    for (std::uint32_t bit = 0; bit < 9; ++bit) {
        if (!map.lookup(bytes_of(bit), value)) continue;
        for (std::size_t at = 0; at + sizeof(OtherRecord) <= value.size(); at += map.copy_bytes()) {
            const auto one = value_from<OtherRecord>(std::span(value).subspan(at));
            if (one.count == 0) continue;
            StallTracker::Other& sum = others[state_of_switch(std::uint64_t{1} << bit)];
            sum.count += one.count;
            if (one.longest <= sum.longest_ns) continue;
            sum.longest_ns = one.longest;
            sum.is_longest_ongoing = false;
        }
    }
}

std::uint64_t ProgramSource::count_refused() const {
    std::uint64_t all = 0;
    for (const char* counter : {"unsent", "unwatched"})
        all += lookup<std::uint64_t>(*monitor_->map(counter), 0).value_or(0);
    return all;
}

LossLedger ProgramSource::losses() const {
    MapReader maps(*monitor_);
    return read_losses(reader_->losses(), *monitor_, maps);
}

std::uint64_t ProgramSource::buffer_bytes() const {
    std::uint64_t all = 0;
    for (const char* name : {"events", "tasks", "runs"}) {
        const BpfMapSpec& spec = monitor_->bpf_map(name).spec();
        all += spec.type == BPF_MAP_TYPE_RINGBUF
                   ? spec.max_entries
                   : std::uint64_t{spec.max_entries} * (spec.key_bytes + spec.value_bytes);
    }
    return all;
}

std::string ProgramSource::described() const {
    return "a BPF program, which sends what lasted too long";
}

}  // namespace gpufs
