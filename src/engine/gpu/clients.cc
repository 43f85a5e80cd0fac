#include "engine/gpu/clients.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/cat.h"

namespace gpufs {
namespace {

// The GPU of a device file; gpus.size() if there is none.
std::size_t gpu_of(const std::vector<Gpu>& gpus, std::string_view node) {
    const auto found = std::ranges::find_if(
        gpus, [&](const Gpu& gpu) { return std::ranges::count(gpu.nodes, node) > 0; });
    return static_cast<std::size_t>(found - gpus.begin());
}

// A driver that numbers no clients leaves only the descriptors; NVIDIA's counts nothing, so that
// its process is enough.
std::string identity_of(const DrmClient& stats, int pid, const GpuProcess::File& file) {
    if (stats.id) return cat("client ", *stats.id);
    if (stats.driver.empty()) return cat("process ", pid);
    return cat("process ", pid, " fd ", file.fd);
}

}  // namespace

GpuClients join_gpu_clients(const std::vector<Gpu>& gpus, const GpuProcesses& found) {
    GpuClients joined;
    joined.holders.resize(gpus.size());
    joined.unreadable = found.unreadable;
    joined.taken_ns = found.taken_ns;
    std::set<std::pair<std::size_t, std::string>> seen;
    for (const GpuProcess& process : found.processes) {
        std::set<std::size_t> held;
        for (const GpuProcess::File& file : process.files) {
            const std::size_t gpu = gpu_of(gpus, file.node);
            if (gpu == gpus.size()) continue;
            held.insert(gpu);
            DrmClient stats = parse_drm_client(file.fdinfo).value_or(DrmClient{});
            std::string identity = identity_of(stats, process.pid, file);
            if (!seen.emplace(gpu, identity).second) continue;
            joined.clients.push_back({gpu, process.pid, process.comm, file.read_ns,
                                      std::move(identity), std::move(stats)});
        }
        for (const std::size_t gpu : held) ++joined.holders[gpu];
    }
    return joined;
}

GpuClients read_gpu_clients(const std::vector<Gpu>& gpus) {
    return join_gpu_clients(gpus, find_gpu_processes());
}

}  // namespace gpufs
