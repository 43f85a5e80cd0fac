#pragma once

#include <cstdint>
#include <deque>
#include <map>
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
    // A task came onto a CPU. In the order of their time for each CPU.
    void on_switch(std::uint64_t ns, int cpu, int next_pid, std::string_view next_comm);
    // Nobody will ask about the time before.
    void forget_before(std::uint64_t ns);

    // Who ran on the CPU between the two times, the longest first. The idle task is pid 0.
    std::vector<CpuUse> who_ran(int cpu, std::uint64_t begin_ns, std::uint64_t end_ns) const;
    // What happened on this CPU is known up to here.
    std::uint64_t known_to(int cpu) const;

private:
    struct Stretch {
        std::uint64_t begin_ns, end_ns;
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
    };
    static void add_up_oldest(Cpu& cpu);

    std::map<int, Cpu> cpus_;
    std::unordered_map<int, std::string> names_;
};

}  // namespace gpufs
