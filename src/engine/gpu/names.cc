#include "engine/gpu/names.h"

#include <algorithm>

#include "base/cat.h"
#include "base/file.h"
#include "lang/gpu/pci_ids.h"

namespace gpufs {
namespace {

std::string pci_ids() {
    for (const char* path : {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"})
        if (auto text = read_file_if_readable(path)) return std::move(*text);
    return {};
}

bool wants_name(const Gpu& gpu) {
    return gpu.model.empty() && !gpu.device.empty();
}

}  // namespace

std::vector<Gpu> find_named_gpus() {
    std::vector<Gpu> gpus = find_gpus();
    if (!std::ranges::any_of(gpus, wants_name)) return gpus;
    const std::string list = pci_ids();
    for (Gpu& gpu : gpus) {
        if (!wants_name(gpu)) continue;
        gpu.model = pci_name(list, gpu.device);
        if (gpu.model.empty()) gpu.model = gpu_maker(gpu.device);
    }
    return gpus;
}

}  // namespace gpufs
