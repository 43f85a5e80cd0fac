#pragma once

#include <vector>

#include "kernel/host/gpus.h"

namespace gpufs {

// find_gpus() of this machine, all with a model that can be known: from the driver, else from the
// list of PCI devices where that is installed (/usr/share/misc/pci.ids), else the maker with the
// id.
std::vector<Gpu> find_named_gpus();

}  // namespace gpufs
