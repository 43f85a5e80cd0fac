#include "engine/gpu/usage.h"

#include <algorithm>
#include <tuple>

#include "base/find_by_name.h"
#include "base/sorted.h"

namespace gpufs {
namespace {

std::uint64_t increase(std::uint64_t from, std::uint64_t to) {
    return to > from ? to - from : 0;
}

std::optional<double> part(double of, double all) {
    return all > 0 ? std::optional(of / all) : std::nullopt;
}

void add_engine(std::vector<EngineUse>& engines, const EngineUse& more) {
    EngineUse& engine = find_or_add_by_name(engines, more.name);
    engine.capacity = more.capacity;
    add_known(engine.busy_ns, more.busy_ns);
    add_known(engine.share, more.share);
}

void add_region(std::vector<DrmClient::Region>& regions, const DrmClient::Region& more) {
    using Region = DrmClient::Region;
    constexpr std::optional<std::uint64_t> Region::*kAmounts[] = {
        &Region::total, &Region::shared, &Region::resident, &Region::active, &Region::purgeable};
    if (std::ranges::all_of(kAmounts, [&](auto amount) { return (more.*amount).value_or(0) == 0; }))
        return;
    Region& region = find_or_add_by_name(regions, more.name);
    for (const auto amount : kAmounts) add_known(region.*amount, more.*amount);
}

double busy(const ProcessUse& process) {
    double sum = 0;
    for (const EngineUse& engine : process.engines) sum += engine.share.value_or(0);
    return sum;
}

std::uint64_t memory(const ProcessUse& process) {
    std::uint64_t sum = 0;
    for (const DrmClient::Region& region : process.regions) sum += region.bytes().value_or(0);
    return sum;
}

void sort(std::vector<ProcessUse>& processes) {
    sort_stably(processes, [](const ProcessUse& a, const ProcessUse& b) {
        return std::tuple(busy(b), memory(b), a.pid) < std::tuple(busy(a), memory(a), b.pid);
    });
}

}  // namespace

// `before` is null for a new client. Sets `now` to what the next interval is measured from.
EngineUse GpuUsage::measure(const DrmClient::Engine& engine, const GpuClients::Client& client,
                            const Counter* before, Counter& now) const {
    const Counter old = before ? *before : Counter{0, 0, 0, taken_ns_};
    now = {std::max(old.busy_ns, engine.busy_ns.value_or(0)),
           std::max(old.cycles, engine.cycles.value_or(0)),
           std::max(old.all_cycles, engine.all_cycles.value_or(0)), client.read_ns};
    EngineUse use{engine.name, engine.capacity, std::nullopt, std::nullopt};
    if (taken_ns_ == 0) return use;
    const auto capacity = static_cast<double>(engine.capacity);
    const double during_ns = static_cast<double>(increase(old.read_ns, client.read_ns)) * capacity;
    const auto cycles = static_cast<double>(increase(old.cycles, now.cycles));
    if (engine.busy_ns) {
        use.busy_ns = increase(old.busy_ns, now.busy_ns);
        // Its file may be older than it is known here: sent from one process to another.
        if (!before) use.busy_ns = std::min(*use.busy_ns, static_cast<std::uint64_t>(during_ns));
        use.share = part(static_cast<double>(*use.busy_ns), during_ns);
    } else if (engine.cycles && engine.all_cycles) {
        const auto others = all_cycles_.find({client.gpu, engine.name});
        std::optional<std::uint64_t> from;
        if (before)
            from = old.all_cycles;
        else if (others != all_cycles_.end())
            from = others->second;
        if (from)
            use.share =
                part(cycles, static_cast<double>(increase(*from, now.all_cycles)) * capacity);
    } else if (engine.cycles && engine.max_hz) {
        constexpr double kNanoseconds = 1e9;
        use.share = part(cycles * kNanoseconds, static_cast<double>(*engine.max_hz) * during_ns);
    }
    return use;
}

std::vector<GpuUse> GpuUsage::take(const GpuClients& clients) {
    std::map<ClientOf, Counters> counted;
    std::map<EngineOf, std::uint64_t> all_cycles;
    std::map<std::size_t, std::map<int, ProcessUse>> uses;
    for (const GpuClients::Client& client : clients.clients) {
        ProcessUse& process = uses[client.gpu][client.pid];
        process.pid = client.pid;
        process.comm = client.comm;
        ++process.clients;
        const ClientOf key{client.gpu, client.identity};
        const auto known = clients_.find(key);
        Counters& counters = counted[key];
        for (const DrmClient::Engine& engine : client.stats.engines) {
            const Counter* before = nullptr;
            if (known != clients_.end())
                if (const auto old = known->second.find(engine.name); old != known->second.end())
                    before = &old->second;
            Counter& now = counters[engine.name];
            const EngineUse use = measure(engine, client, before, now);
            if (engine.all_cycles) {
                std::uint64_t& all = all_cycles[{client.gpu, engine.name}];
                all = std::max(all, *engine.all_cycles);
            }
            if (now.busy_ns + now.cycles > 0) add_engine(process.engines, use);
        }
        for (const DrmClient::Region& region : client.stats.regions)
            add_region(process.regions, region);
    }
    clients_ = std::move(counted);
    all_cycles_ = std::move(all_cycles);
    taken_ns_ = clients.taken_ns;
    std::vector<GpuUse> taken;
    for (auto& [gpu, processes] : uses) {
        taken.push_back({gpu, {}});
        for (auto& [pid, process] : processes) taken.back().processes.push_back(std::move(process));
        sort(taken.back().processes);
    }
    return taken;
}

}  // namespace gpufs
