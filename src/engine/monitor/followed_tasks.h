#pragma once

#include <cstdint>

#include "base/loss.h"
#include "engine/monitor/monitor.h"
#include "engine/places/kernel_facts.h"
#include "lang/ir/followed.h"

namespace gpufs {

// Knows the tasks of a COMMAND, from its exec on: all that it starts, whether threads or processes,
// and what these start; or the threads of a process that runs. Programs of monitors ask its map
// (lang/ir/followed.h).
class FollowedTasks {
public:
    enum class Of { command, process };
    // Nothing runs yet. Throws UnsupportedError in a pid namespace: the kernel tells new tasks by
    // ids that differ from those there. Borrows `machine`.
    FollowedTasks(KernelFacts& machine, Of what);

    const BpfMap& map() const { return monitor_.bpf_map(kFollowedMap); }
    // Follows the process, as a COMMAND one that is yet to exec. Call it once, before the monitor
    // is attached: what both see they see in this order.
    void follow(int pid);
    // Tasks that may not be followed because the kernel did not run the programs for them.
    LossLedger missed() const;

private:
    bool mark(int task, std::uint8_t as) const;

    Of what_;
    Monitor monitor_;
};

}  // namespace gpufs
