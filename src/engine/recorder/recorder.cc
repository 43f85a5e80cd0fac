#include "engine/recorder/recorder.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/error.h"
#include "base/file.h"
#include "base/read_at.h"
#include "engine/trace/live_trace.h"
#include "engine/trace/raw_buffer.h"
#include "kernel/host/pid_namespace.h"
#include "kernel/host/proc_task.h"
#include "kernel/tracefs/raw_pages.h"

namespace gpufs {
namespace {

// The kernel's own text has about 160 bytes, with large numbers 100 more.
constexpr std::size_t kStatisticsRoom = 384;
// For at least 3,000 tasks more than there are at the start: a name takes up to 25 bytes, and the
// task's process up to 15.
constexpr std::size_t kNamesRoom = 128 << 10;

// Taken from one CPU before the next has its turn.
constexpr std::uint64_t kAtOnce = 4 << 20;

// The tasks there are: those that sleep until something happens are in no list of the tracer's yet.
TaskNames tasks_now(const Tracefs& top) {
    TaskNames tasks = kernel_task_names(top);
    // In another pid namespace /proc has other numbers than the records.
    if (own_pid_namespace().is_initial())
        for (const int pid : proc::processes())
            for (const int tid : proc::threads(pid))
                if (const std::string comm = proc::comm(tid); !comm.empty()) {
                    tasks.add(tid, comm);
                    tasks.add_process(tid, pid);
                }
    tasks.refresh();
    return tasks;
}

std::uint64_t records_of(std::string_view pages, const PageLayout& layout) {
    std::uint64_t count = 0;
    for (; pages.size() >= layout.page_bytes; pages.remove_prefix(layout.page_bytes)) {
        const std::string_view bytes = pages.substr(0, layout.page_bytes);
        RingPage page(std::as_bytes(std::span(bytes)), layout);
        for (RingRecord record; page.next(record);) ++count;
    }
    return count;
}

}  // namespace

Recorder::Recorder(const Tracefs& at, const Tracefs& top)
    : at_(at), layout_(page_layout(at)), mover_(layout_.page_bytes), tasks_(tasks_now(top)) {
    for (const int number : buffer_cpus(at))
        cpus_.push_back({static_cast<std::size_t>(number),
                         open_raw_pages(at.path(cat("per_cpu/cpu", number)))});
    if (cpus_.empty()) throw UnsupportedError(cat("there is no buffer in '", at.root(), "'"));
}

void Recorder::complete(trace_dat::Head& head, std::size_t names_bytes) const {
    head.cpus = cpus_.back().number + 1;
    head.names_room = names_bytes + kNamesRoom;
    head.stats_room = kStatisticsRoom;
}

void Recorder::take_room(RecordingFile& file, trace_dat::Head head) {
    complete(head, tasks_.to_recorded().size());
    file.take_room(head);
}

void Recorder::begin(RecordingFile& file, trace_dat::Head head, std::uint64_t most) {
    const std::string known = tasks_.to_recorded();
    complete(head, known.size());
    file.begin(head, most);
    file.set_names(known);
}

bool Recorder::wait(int stop_fd, std::chrono::milliseconds limit) {
    std::vector<pollfd> fds{{stop_fd, POLLIN, 0}};
    // poll(2) passes a negative descriptor over.
    for (const Cpu& cpu : cpus_) fds.push_back({cpu.can_wait ? cpu.raw.get() : -1, POLLIN, 0});
    const int n = ::poll(fds.data(), fds.size(), static_cast<int>(limit.count()));
    if (n == -1 && errno != EINTR) check(n, [] { return std::string("wait for trace records"); });
    for (std::size_t i = 0; i < cpus_.size(); ++i)
        if ((fds[i + 1].revents & POLLERR) != 0) cpus_[i].can_wait = false;
    return fds[0].revents == 0;
}

bool Recorder::move_with(Move how, RecordingFile& file, std::uint64_t most) {
    bool has_room = true;
    for (Cpu& cpu : cpus_) {
        const std::uint64_t room =
            std::min(most - std::min(most, file.bytes()), file.room_left(cpu.number));
        bool is_all = false;
        try {
            is_all =
                !(mover_.*how)(cpu.raw.get(), file.target(cpu.number), std::min(room, kAtOnce));
        } catch (const SysError&) {
            cpu.unwritten += records_of(mover_.unwritten(), layout_);
            is_full_ = true;
            throw;
        }
        if (!is_all && room <= kAtOnce) has_room = false;
    }
    return has_room;
}

bool Recorder::move(RecordingFile& file, std::uint64_t most) {
    return move_with(&PageMover::move_complete, file, most);
}

bool Recorder::move_all(RecordingFile& file, std::uint64_t most) {
    return move_with(&PageMover::move_all, file, most);
}

bool Recorder::move_rest(RecordingFile& file, std::uint64_t most) {
    bool has_room = true;
    for (std::uint64_t before = ~std::uint64_t{0}; has_room && file.bytes() != before;) {
        before = file.bytes();
        has_room = move_all(file, most);
    }
    return has_room;
}

void Recorder::forget_overwritten(RecordingFile& file) const {
    std::string head(layout_.data_offset, '\0');
    for (const Cpu& cpu : cpus_) {
        const PageMover::Target& target = file.target(cpu.number);
        if (target.bytes == 0) continue;
        const auto bytes = std::as_writable_bytes(std::span(head));
        read_at(target.file, target.at, bytes, file.path());
        clear_lost(bytes, layout_);
        write_all_at(target.file, head, target.at, file.path());
    }
}

void Recorder::update(RecordingFile& file) {
    file.commit();
    for (const Cpu& cpu : cpus_)
        file.set_statistics(cpu.number, cat("CPU: ", cpu.number, "\n", statistics(cpu)));
    tasks_.refresh();
    file.set_names(tasks_.to_recorded());
}

std::vector<Recorder::Counts> Recorder::counts() const {
    std::vector<Counts> counts;
    for (const Cpu& cpu : cpus_) {
        const BufferCounts all = parse_buffer_counts(statistics(cpu));
        counts.push_back({all, cpu.number, all.read - cpu.unwritten});
    }
    return counts;
}

std::string Recorder::statistics(const Cpu& cpu) const {
    std::string text = at_.read_if_readable(cat("per_cpu/cpu", cpu.number, "/stats")).value_or("");
    const std::uint64_t left = is_full_ ? parse_buffer_counts(text).entries : 0;
    if (cpu.unwritten + left != 0) text += cat("unwritten: ", cpu.unwritten + left, '\n');
    return text;
}

}  // namespace gpufs
