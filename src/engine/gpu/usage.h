#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/gpu/clients.h"

namespace gpufs {

// What a process, or all of them, did with an engine of a GPU in an interval.
struct EngineUse {
    std::string name;
    std::uint64_t capacity = 1;
    std::optional<std::uint64_t> busy_ns;  // absent if the driver counts cycles only
    // Busy part of the engine's capacity: 1 is all of it. Some drivers count a job from its begin
    // on the ring, also behind others: that may be more. Absent in the first interval of a client
    // whose cycles have nothing to compare with.
    std::optional<double> share;
};

struct ProcessUse {
    int pid = 0;
    std::string comm;
    std::size_t clients = 0;         // how many open files; shared ones are those of the lowest pid
    std::vector<EngineUse> engines;  // that have worked for it, since it opened the GPU
    std::vector<DrmClient::Region> regions;  // that it has memory in, now
};

struct GpuUse {
    std::size_t gpu = 0;                // its place in the vector of GPUs
    std::vector<ProcessUse> processes;  // the busiest first, then by memory
};

// Adds to a sum that is absent as long as nothing is known.
template <class T>
void add_known(std::optional<T>& sum, const std::optional<T>& more) {
    if (more) sum = sum.value_or(T{}) + *more;
}

// Differences of the counters of clients from one moment to the next.
class GpuUsage {
public:
    // Begins at this moment.
    explicit GpuUsage(const GpuClients& clients) { take(clients); }

    // What happened since the last moment, for each GPU that somebody has open. A client that is
    // new began after the last moment, and is counted from its beginning. One that is gone took
    // along what it did since. A counter that falls behind counts again when it has caught up.
    std::vector<GpuUse> take(const GpuClients& clients);

private:
    struct Counter {
        std::uint64_t busy_ns = 0, cycles = 0, all_cycles = 0, read_ns = 0;
        bool operator==(const Counter&) const = default;
    };
    using EngineOf = std::pair<std::size_t, std::string>;          // GPU, engine
    using ClientOf = std::pair<std::size_t, std::string>;          // GPU, identity
    using Counters = std::map<std::string, Counter, std::less<>>;  // by engine

    EngineUse measure(const DrmClient::Engine& engine, const GpuClients::Client& client,
                      const Counter* before, Counter& now) const;

    std::map<ClientOf, Counters> clients_;
    std::map<EngineOf, std::uint64_t> all_cycles_;  // of any client at the last moment
    std::uint64_t taken_ns_ = 0;
};

}  // namespace gpufs
