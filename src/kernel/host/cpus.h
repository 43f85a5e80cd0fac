#pragma once

#include <vector>

namespace gpufs {

// The CPUs this machine can ever have (/sys/devices/system/cpu/possible), by number, ascending. A
// per-CPU map value has one copy for each of them, in this order, also for those that are offline.
const std::vector<unsigned>& possible_cpus();

// The CPUs that run now. Read anew at each call: CPUs come and go.
std::vector<unsigned> online_cpus();

}  // namespace gpufs
