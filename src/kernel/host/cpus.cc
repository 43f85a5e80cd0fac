#include "kernel/host/cpus.h"

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

}  // namespace gpufs
