#include "engine/stall/cpu_occupancy.h"

#include <algorithm>

#include "base/sorted.h"

namespace gpufs {
namespace {

constexpr std::size_t kMostStretches = 8192;
constexpr std::size_t kMostNames = 16384;

}  // namespace

void CpuOccupancy::add_up_oldest(Cpu& cpu) {
    const std::size_t n = cpu.stretches.size() / 2;
    Sum sum{cpu.stretches.front().begin_ns, cpu.stretches[n - 1].end_ns, {}};
    for (std::size_t i = 0; i < n; ++i) sum.ns[cpu.stretches[i].pid] += cpu.stretches[i].ns;
    cpu.stretches.erase(cpu.stretches.begin(), cpu.stretches.begin() + static_cast<long>(n));
    cpu.sums.push_back(std::move(sum));
}

void CpuOccupancy::on_switch(std::uint64_t ns, int cpu, Task prev, Task next) {
    Cpu& c = cpus_[cpu];
    if (c.pid >= 0 && ns > c.since_ns) {
        if (c.pid != prev.pid) name(prev.pid, prev.comm);
        add(c, {c.since_ns, ns, ns - c.since_ns, prev.pid});
    }
    c.since_ns = ns;
    c.pid = next.pid;
    name(next.pid, next.comm);
}

void CpuOccupancy::on_run(int cpu, const Run& run) {
    add(cpus_[cpu], {run.begin_ns, run.end_ns, run.ns, run.pid});
    name(run.pid, run.comm);
}

void CpuOccupancy::on_last_runs(int cpu, std::span<const Run> runs, std::uint64_t since_ns, int pid,
                                std::string_view comm) {
    Cpu& c = cpus_[cpu];
    c.last.clear();
    for (const Run& run : runs) {
        c.last.push_back({run.begin_ns, run.end_ns, run.ns, run.pid});
        name(run.pid, run.comm);
    }
    c.since_ns = since_ns;
    c.pid = pid;
    name(pid, comm);
}

void CpuOccupancy::add(Cpu& cpu, const Stretch& stretch) {
    cpu.stretches.push_back(stretch);
    if (cpu.stretches.size() > kMostStretches) add_up_oldest(cpu);
}

void CpuOccupancy::name(int pid, std::string_view comm) {
    if (names_.size() > kMostNames) names_.clear();
    std::string& name = names_[pid];
    if (name != comm) name = comm;
}

void CpuOccupancy::forget_before(std::uint64_t ns) {
    for (auto& [number, cpu] : cpus_) {
        while (!cpu.sums.empty() && cpu.sums.front().end_ns <= ns) cpu.sums.pop_front();
        while (!cpu.stretches.empty() && cpu.stretches.front().end_ns <= ns)
            cpu.stretches.pop_front();
    }
}

std::uint64_t CpuOccupancy::known_to(int cpu) const {
    const auto it = cpus_.find(cpu);
    return it == cpus_.end() ? 0 : it->second.since_ns;
}

std::vector<CpuUse> CpuOccupancy::who_ran(int cpu, std::uint64_t begin_ns,
                                          std::uint64_t end_ns) const {
    const auto it = cpus_.find(cpu);
    if (it == cpus_.end()) return {};
    std::unordered_map<int, std::uint64_t> ns;
    const auto overlap = [&](std::uint64_t begin, std::uint64_t end) {
        begin = std::max(begin, begin_ns);
        end = std::min(end, end_ns);
        return end > begin ? end - begin : 0;
    };
    // What the question covers in part is taken in proportion.
    const auto share = [&](const auto& what, std::uint64_t all) {
        const std::uint64_t part = overlap(what.begin_ns, what.end_ns);
        const std::uint64_t whole = what.end_ns - what.begin_ns;
        if (part == 0 || part == whole) return part == 0 ? 0 : all;
        return static_cast<std::uint64_t>(static_cast<double>(all) * static_cast<double>(part) /
                                          static_cast<double>(whole));
    };
    for (const Sum& sum : it->second.sums)
        for (const auto& [pid, t] : sum.ns)
            if (const auto part = share(sum, t)) ns[pid] += part;
    for (const Stretch& s : it->second.last)
        if (const auto t = share(s, s.ns)) ns[s.pid] += t;
    for (const Stretch& s : it->second.stretches)
        if (const auto t = share(s, s.ns)) ns[s.pid] += t;
    if (it->second.pid >= 0)
        if (const auto t = overlap(it->second.since_ns, end_ns)) ns[it->second.pid] += t;
    std::vector<CpuUse> uses;
    for (const auto& [pid, t] : ns) {
        const auto name = names_.find(pid);
        uses.push_back({pid, name == names_.end() ? std::string() : name->second, t});
    }
    sort_stably(uses, [](const CpuUse& a, const CpuUse& b) {
        return a.ns != b.ns ? a.ns > b.ns : a.pid < b.pid;
    });
    return uses;
}

}  // namespace gpufs
