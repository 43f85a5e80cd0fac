#include "kernel/host/cpus.h"

#include <sched.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "base/units.h"

namespace gpufs {
namespace {

std::vector<unsigned> read_cpu_list(const std::string& path) {
    const std::string text = read_file(path);
    return parse_cpu_list(path, trim(text));
}

}  // namespace

const std::vector<unsigned>& possible_cpus() {
    static const auto cpus = read_cpu_list("/sys/devices/system/cpu/possible");
    return cpus;
}

std::vector<unsigned> online_cpus() {
    return read_cpu_list("/sys/devices/system/cpu/online");
}

// The kernel refuses sets that are smaller than its own (EINVAL); then there are many.
std::size_t usable_cpus() {
    cpu_set_t cpus;
    if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        return static_cast<std::size_t>(CPU_SETSIZE);
    return static_cast<std::size_t>(std::max(1, CPU_COUNT(&cpus)));
}

}  // namespace gpufs
