#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/stall/stall.h"

namespace gpufs {

// Who ran on which CPU when, from every task's switches. Keeps no more than somebody still wants to
// ask about, and of that at most a few thousand stretches a CPU: older ones are then added up.
class CpuOccupancy {
public:
    struct Task {
        int pid = 0;
        std::string_view comm;
    };
    // `prev` left a CPU, and `next` came. In the order of their time for each CPU. Where the switch
    // to `prev` was not seen (Linux 6.18 leaves out one now and then), all since the last one is
    // its.
    void on_switch(std::uint64_t ns, int cpu, Task prev, Task next);
    // Or somebody else kept the runs of a CPU. `ns` is less than end_ns - begin_ns where several
    // short ones of the task are told as one.
    struct Run {
        std::uint64_t begin_ns = 0, end_ns = 0, ns = 0;
        int pid = 0;
        std::string_view comm;
    };
    void on_run(int cpu, const Run& run);
    // The last of them, which may still change: they hold until the next call. After them the task
    // `pid` has run since then.
    void on_last_runs(int cpu, std::span<const Run> runs, std::uint64_t since_ns, int pid,
                      std::string_view comm);
    // Nobody will ask about the time before.
    void forget_before(std::uint64_t ns);

    // Who ran on the CPU between the two times, the longest first. The idle task is pid 0.
    std::vector<CpuUse> who_ran(int cpu, std::uint64_t begin_ns, std::uint64_t end_ns) const;
    // What happened on this CPU is known up to here.
    std::uint64_t known_to(int cpu) const;

private:
    struct Stretch {
        std::uint64_t begin_ns, end_ns, ns;
        int pid;
    };
    struct Sum {
        std::uint64_t begin_ns, end_ns;
        std::unordered_map<int, std::uint64_t> ns;  // by pid
    };
    struct Cpu {
        std::uint64_t since_ns = 0;  // the task now on it
        int pid = -1;
        std::deque<Sum> sums;
        std::deque<Stretch> stretches;
        std::vector<Stretch> last;
    };
    static void add_up_oldest(Cpu& cpu);
    void add(Cpu& cpu, const Stretch& stretch);
    void name(int pid, std::string_view comm);

    std::map<int, Cpu> cpus_;
    std::unordered_map<int, std::string> names_;
};

}  // namespace gpufs
