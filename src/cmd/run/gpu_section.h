#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "engine/gpu/usage.h"
#include "kernel/host/gpus.h"
#include "view/columns.h"

namespace gpufs {

// What processes did with the GPUs in each interval of a run, by their drivers' own counters.
class GpuSection {
public:
    // Whose use of the GPUs is shown.
    struct Choice {
        int pid = 0;      // only this process; 0: all
        int command = 0;  // only this process and all that it starts; 0: all
    };
    // Begins the first interval.
    explicit GpuSection(Choice choice);

    // Ends an interval and begins the next one.
    void take();
    // The tables of the last interval, with an empty line between them; empty if nobody has a GPU
    // open.
    std::string text(const Screen& screen) const;
    // The same as objects of gpufs-json(5), a line each.
    std::string json() const;
    // "3 processes of other users ...", how many could not be looked at; empty if all could.
    std::string note() const;

private:
    GpuClients read();
    bool is_chosen(int pid);

    Choice choice_;
    std::set<int> command_;  // the processes of the command, as far as seen
    std::vector<Gpu> gpus_;
    std::size_t unreadable_ = 0;  // the most of a time
    GpuUsage usage_;
    std::vector<GpuUse> uses_;
};

// How many could not be looked at, for people; empty if that is 0.
std::string unreadable_text(std::size_t processes);

}  // namespace gpufs
