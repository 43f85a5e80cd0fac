#include "engine/stall/cpu_occupancy.h"

#include <algorithm>

namespace gpufs {
namespace {

constexpr std::size_t kMostStretches = 8192;
constexpr std::size_t kMostNames = 16384;

}  // namespace

void CpuOccupancy::add_up_oldest(Cpu& cpu) {
    const std::size_t n = cpu.stretches.size() / 2;
    Sum sum{cpu.stretches.front().begin_ns, cpu.stretches[n - 1].end_ns, {}};
    for (std::size_t i = 0; i < n; ++i)
        sum.ns[cpu.stretches[i].pid] += cpu.stretches[i].end_ns - cpu.stretches[i].begin_ns;
    cpu.stretches.erase(cpu.stretches.begin(), cpu.stretches.begin() + static_cast<long>(n));
    cpu.sums.push_back(std::move(sum));
}

void CpuOccupancy::on_switch(std::uint64_t ns, int cpu, int next_pid, std::string_view next_comm) {
    Cpu& c = cpus_[cpu];
    if (c.pid >= 0 && ns > c.since_ns) c.stretches.push_back({c.since_ns, ns, c.pid});
    if (c.stretches.size() > kMostStretches) add_up_oldest(c);
    c.since_ns = ns;
    c.pid = next_pid;
    if (names_.size() > kMostNames) names_.clear();
    std::string& name = names_[next_pid];
    if (name != next_comm) name = next_comm;
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
    for (const Sum& sum : it->second.sums) {
        // A sum that the question covers in part is taken in proportion.
        const std::uint64_t part = overlap(sum.begin_ns, sum.end_ns);
        if (part == 0) continue;
        const double share =
            static_cast<double>(part) / static_cast<double>(sum.end_ns - sum.begin_ns);
        for (const auto& [pid, t] : sum.ns)
            ns[pid] += static_cast<std::uint64_t>(static_cast<double>(t) * share);
    }
    for (const Stretch& s : it->second.stretches)
        if (const auto t = overlap(s.begin_ns, s.end_ns)) ns[s.pid] += t;
    if (it->second.pid >= 0)
        if (const auto t = overlap(it->second.since_ns, end_ns)) ns[it->second.pid] += t;
    std::vector<CpuUse> uses;
    for (const auto& [pid, t] : ns) {
        const auto name = names_.find(pid);
        uses.push_back({pid, name == names_.end() ? std::string() : name->second, t});
    }
    std::ranges::sort(uses, [](const CpuUse& a, const CpuUse& b) {
        return a.ns != b.ns ? a.ns > b.ns : a.pid < b.pid;
    });
    return uses;
}

}  // namespace gpufs
