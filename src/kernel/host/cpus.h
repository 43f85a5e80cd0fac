#pragma once

#include <cstddef>
#include <vector>

namespace gpufs {

// The possible CPUs (/sys/devices/system/cpu/possible), ascending. A per-CPU map value has one copy
// for each of them, in this order, including offline ones.
const std::vector<unsigned>& possible_cpus();

// The online CPUs. Read again at each call, because CPUs can be hotplugged.
std::vector<unsigned> online_cpus();

// How many CPUs this process may run on; at least 1.
std::size_t usable_cpus();

}  // namespace gpufs
