#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/results/map_contents.h"
#include "engine/results/running_program.h"
#include "engine/results/stack_maps.h"

namespace gpufs {

// What a thread's time went into.
enum class TimeUse : std::uint32_t {
    cpu,      // on a CPU
    ready,    // waiting for a CPU
    blocked,  // in the kernel, on something else than a fence
    fence,    // waiting for a fence of which no more is known, or that was signalled already
    queued,   // waiting for the fence of a job that had not begun on its ring
    runs,     // waiting for the fence of a job that was on its ring
    moves,    // moving a buffer, or waiting for the fence of a job that did
    unseen,   // not known: the kernel left out a switch
};

// Time that threads of one process spent in one way.
struct TimePart {
    TimeUse use = TimeUse::cpu;
    std::uint64_t ns = 0;
    std::string driver, timeline;  // of the fence
    // Whose process made the fence; of `queued`, whose job had the ring before. 0: not known, or
    // nobody's.
    int pid = 0;
    std::string comm;  // of the task that did
    // Where it was blocked, innermost first: addresses, or names where /proc told them.
    std::vector<std::uint64_t> stack;
    std::vector<std::string> stack_names;
};

// A process, or a COMMAND with all that it started.
struct TimeAccount {
    int pid = 0;
    std::string comm;         // empty: of a recording
    std::size_t threads = 0;  // that lived in the time told
    std::vector<TimePart> parts;

    // The time of its threads, each from its begin to its end, as far as both lie in the time told.
    std::uint64_t total_ns() const;
};

// The accounts that bpf_asm/lib/why.bpf keeps.
class TimeAccounts {
public:
    // Keeps a reference. Throws Error where the program's maps are not laid out as they are read.
    explicit TimeAccounts(RunningProgram& running);

    // Watches a process from now on; the program is attached. Throws Error where there are more
    // threads than it has room for.
    void watch(int pid, const std::string& comm);
    // Watches a process that has not executed its program yet, from when it does.
    void watch_command(int pid, const std::string& comm);
    // Watches a process of a recording, which is to be asked for its name.
    void watch_recorded(int pid);

    // Whether a thread is left that is watched.
    bool has_threads() const;
    // Adds what is under way, until now.
    void add_under_way() { running_.run_each(); }
    // What was added since the last call, in the order in which processes were named.
    std::vector<TimeAccount> take();

    // For what the program counted as lost.
    MapReader& maps() noexcept { return maps_; }

private:
    struct Root {
        int pid = 0;
        std::string comm;
    };
    void add_thread(int tid, std::uint32_t root, std::uint64_t since_ns);
    void leave_out(int tid);
    void look_at(int tid);
    TimePart part_of(const MapEntry& entry) const;

    RunningProgram& running_;
    MapReader maps_;
    StackMaps stacks_;
    std::vector<Root> roots_;
    std::vector<std::vector<std::string>> seeds_;  // stacks of threads that were blocked at first
};

}  // namespace gpufs
