#pragma once

#include <string>
#include <vector>

#include "base/printable.h"
#include "cmd/shared/command.h"

namespace gpufs {

struct StaticProbeQuestion {
    std::vector<std::string> files;  // paths, programs in $PATH, names of libraries
    std::vector<int> pids;           // whatever these processes have mapped
    bool json = false;
    Controls controls = Controls::escaped;
};

// Prints the static probes (USDT) of files and processes, as 'probe add' takes them.
int print_static_probes(Context& ctx, const StaticProbeQuestion& question);

}  // namespace gpufs
