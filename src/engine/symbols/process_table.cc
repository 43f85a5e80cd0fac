#include "engine/symbols/process_table.h"

#include <sys/sysmacros.h>

#include <algorithm>

#include "base/text.h"
#include "kernel/bpf/mapping.h"
#include "kernel/host/proc_task.h"
#include "lang/symbols/proc_maps.h"

namespace gpufs {
namespace {

// Of one process id: what it was in front of its last execs, and processes that had the number
// before.
constexpr std::size_t kMostLives = 4;
// Of processes that are gone, 40 bytes each: a shell has ten.
constexpr std::size_t kMostGoneRanges = 32 << 10;
// A compiler at run time maps without end.
constexpr std::size_t kMostRanges = 16 << 10;
constexpr std::size_t kMostNothing = 1024;

// Beside the one that the record tells of and the main thread, which stay below /proc for a while.
bool has_other_thread(const SideBandRecord& exit) {
    return std::ranges::any_of(proc::threads(static_cast<int>(exit.pid)), [&](int thread) {
        const auto tid = static_cast<std::uint32_t>(thread);
        return tid != exit.tid && tid != exit.pid;
    });
}

}  // namespace

ProcessTable::Process& ProcessTable::process_of(std::uint32_t pid) {
    Process& process = processes_[pid];
    if (process.lives.empty()) process.lives.emplace_back();
    return process;
}

void ProcessTable::add(Process& process, const Range& range) {
    auto& ranges = process.lives.back().ranges;
    process.nothing_at.clear();
    // A range that is mapped again, by mprotect(2) for example, moves to the front.
    const auto is_it = [&](const Range& r) {
        return r.start == range.start && r.end == range.end && r.offset == range.offset &&
               r.file == range.file;
    };
    const auto it = std::ranges::find_if(ranges, is_it);
    if (it != ranges.end() && std::next(it) == ranges.end()) return;
    if (it != ranges.end()) {
        const Range moved = *it;
        ranges.erase(it);
        ranges.push_back(moved);
        return;
    }
    if (ranges.size() >= kMostRanges)
        ranges.erase(ranges.begin(), ranges.begin() + kMostRanges / 2);
    ranges.push_back(range);
}

void ProcessTable::look_at_owner(std::uint32_t task, Process& process) {
    if (const auto user = proc::owner(static_cast<int>(task))) process.owner = user;
}

void ProcessTable::read_maps(std::uint32_t pid, Process& process) {
    look_at_owner(pid, process);
    std::vector<Range> ranges;
    const auto read_of = [&](int task) {
        const std::string text = proc::maps(task);
        for (const std::string_view line : lines_of(text)) {
            const auto map = parse_proc_map(line);
            if (!map || !map->is_executable) continue;
            const MappedFiles::Id file =
                files_.add(task, {map->start, map->end, map->offset,
                                  makedev(map->major, map->minor), map->inode, 0, map->path});
            ranges.push_back({map->start, map->end, map->offset, 0, file});
        }
        return !text.empty();
    };
    // A main thread that ended has nothing mapped; the others still have.
    const bool is_there = read_of(static_cast<int>(pid)) ||
                          std::ranges::any_of(proc::threads(static_cast<int>(pid)), read_of);
    process.nothing_at.clear();
    if (!is_there) return;
    process.is_complete = true;
    for (const Range& range : ranges) add(process, range);
}

void ProcessTable::remember(std::uint32_t pid) {
    Process& process = process_of(pid);
    if (!process.is_complete && !process.is_gone) read_maps(pid, process);
}

void ProcessTable::look_again(std::uint32_t pid) {
    Process& process = process_of(pid);
    if (!process.is_gone) read_maps(pid, process);
}

std::vector<ProcessTable::Mapped> ProcessTable::mapped_now(std::uint32_t pid) const {
    const auto process = processes_.find(pid);
    if (process == processes_.end() || process->second.lives.empty()) return {};
    // What is mapped later takes the place of what was there.
    std::map<std::uint64_t, Mapped> by_start;
    for (const Range& range : process->second.lives.back().ranges) {
        auto next = by_start.lower_bound(range.start);
        if (next != by_start.begin()) {
            Mapped& before = std::prev(next)->second;
            if (before.end > range.end)
                next = by_start.emplace_hint(
                    next, range.end,
                    Mapped{range.end, before.end, before.offset + (range.end - before.start),
                           before.file});
            before.end = std::min(before.end, range.start);
        }
        while (next != by_start.end() && next->second.start < range.end) {
            Mapped rest = next->second;
            next = by_start.erase(next);
            if (rest.end <= range.end) continue;
            rest.offset += range.end - rest.start;
            rest.start = range.end;
            by_start.emplace_hint(next, rest.start, rest);
            break;
        }
        by_start[range.start] = {range.start, range.end, range.offset, range.file};
    }
    std::vector<Mapped> mapped;
    for (const auto& [start, one] : by_start) mapped.push_back(one);
    return mapped;
}

const ProcessTable::Range* ProcessTable::find_range(const Process& process, std::uint64_t address,
                                                    std::uint64_t time_ns) {
    for (auto life = process.lives.rbegin(); life != process.lives.rend(); ++life) {
        if (life->begin_ns > time_ns) continue;
        for (auto range = life->ranges.rbegin(); range != life->ranges.rend(); ++range)
            if (address >= range->start && address < range->end && range->since_ns <= time_ns)
                return &*range;
    }
    return nullptr;
}

std::optional<ProcessTable::Place> ProcessTable::find(std::uint32_t pid, std::uint64_t address,
                                                      std::uint64_t time_ns) {
    if (!processes_.contains(pid))
        if (const int leader = proc::tgid(static_cast<int>(pid)); leader > 0)
            pid = static_cast<std::uint32_t>(leader);
    Process& process = process_of(pid);
    if (!process.is_complete && !process.is_gone) read_maps(pid, process);
    const Range* range = find_range(process, address, time_ns);
    if (!range && !process.is_gone) {
        // Mapped since, and there is no side-band to tell. Stacks end in garbage: each page is
        // looked for once.
        if (process.nothing_at.size() >= kMostNothing) process.nothing_at.clear();
        const std::uint64_t page = address / page_bytes();
        if (!process.nothing_at.contains(page)) {
            auto looked_for = std::move(process.nothing_at);
            read_maps(pid, process);
            range = find_range(process, address, time_ns);
            if (!range) process.nothing_at = std::move(looked_for);
            if (!range) process.nothing_at.insert(page);
        }
    }
    if (!range) return std::nullopt;
    return Place{pid, range->file, address - range->start + range->offset};
}

void ProcessTable::fork(const SideBandRecord& record) {
    if (record.parent == record.pid) return;  // a thread
    remember(record.parent);
    const Process& parent = processes_.at(record.parent);
    Process& child = process_of(record.pid);
    // CPUs write their records side by side: the child's first may come before this one.
    if (child.lives.back().begin_ns > record.time_ns) return;
    revive(record.pid, child);
    child.is_complete = parent.is_complete;
    child.owner = parent.owner;
    child.nothing_at.clear();
    child.lives.push_back({record.time_ns, parent.lives.back().ranges});
    if (child.lives.size() > kMostLives) child.lives.pop_front();
}

// The number belongs to a process that lives and has a main thread.
void ProcessTable::revive(std::uint32_t pid, Process& process) {
    process.has_no_leader = false;
    if (!process.is_gone) return;
    process.is_gone = false;
    std::erase(gone_, pid);
    for (const Life& life : process.lives) gone_ranges_ -= life.ranges.size();
}

void ProcessTable::exec(const SideBandRecord& record) {
    Process& process = process_of(record.pid);
    // A thread that execs ends all others first, then takes the main thread's place and number.
    revive(record.pid, process);
    process.is_complete = true;
    process.owner.reset();  // a set-user-ID program
    process.nothing_at.clear();
    process.lives.push_back({record.time_ns, {}});
    if (process.lives.size() > kMostLives) process.lives.pop_front();
}

void ProcessTable::exit(const SideBandRecord& record) {
    const auto it = processes_.find(record.pid);
    if (it == processes_.end() || it->second.is_gone) return;
    Process& process = it->second;
    if (record.tid == record.pid) process.has_no_leader = true;
    // A main thread that ended leaves the process to the others.
    if (!process.has_no_leader || has_other_thread(record)) return;
    process.is_gone = true;
    process.nothing_at.clear();
    gone_.push_back(record.pid);
    for (const Life& life : process.lives) gone_ranges_ += life.ranges.size();
    while (gone_ranges_ > kMostGoneRanges && gone_.size() > 1) {
        const auto oldest = processes_.find(gone_.front());
        for (const Life& life : oldest->second.lives) gone_ranges_ -= life.ranges.size();
        processes_.erase(oldest);
        gone_.pop_front();
    }
}

void ProcessTable::take(const SideBandRecord& record) {
    if (record.pid == 0) return;  // of another pid namespace
    switch (record.kind) {
        case SideBandRecord::Kind::map: {
            Process& process = process_of(record.pid);
            if (process.is_gone) return;
            // /proc/PID leads nowhere without a main thread.
            const std::uint32_t task = process.has_no_leader ? record.tid : record.pid;
            if (!process.owner) look_at_owner(task, process);
            const MappedFiles::Id file = files_.add(
                static_cast<int>(task), {record.start, record.end, record.offset, record.device,
                                         record.inode, record.generation, record.text});
            add(process, {record.start, record.end, record.offset, record.time_ns, file});
            return;
        }
        case SideBandRecord::Kind::exec:
            return exec(record);
        case SideBandRecord::Kind::fork:
            return fork(record);
        case SideBandRecord::Kind::exit:
            return exit(record);
        case SideBandRecord::Kind::comm:
            return;
    }
}

std::uint32_t ProcessTable::owner(std::uint32_t pid) {
    Process& process = process_of(pid);
    if (!process.is_gone) look_at_owner(pid, process);
    return process.owner.value_or(0);
}

bool ProcessTable::is_gone(std::uint32_t pid) const {
    const auto it = processes_.find(pid);
    return it != processes_.end() && it->second.is_gone;
}

}  // namespace gpufs
