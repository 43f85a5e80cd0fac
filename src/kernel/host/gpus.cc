#include "kernel/host/gpus.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "base/cat.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

namespace fs = std::filesystem;

// The value after `name` in a uevent file ("NAME=value") or a file of NVIDIA ("Name: value").
std::string value_of(std::string_view text, std::string_view name) {
    for (const std::string_view line : lines_of(text))
        if (line.starts_with(name)) return std::string(trim(line.substr(name.size())));
    return {};
}

std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(directory, none))
        names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
}

// Accepts "card0" but not its connectors, "card0-DP-1". Compute-only devices have no card, only a
// "renderD" node.
bool is_device(std::string_view name) {
    for (const std::string_view kind : {"card", "renderD"})
        if (name.starts_with(kind)) return std::ranges::all_of(name.substr(kind.size()), is_digit);
    return false;
}

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

}  // namespace

std::vector<Gpu> find_gpus(const std::string& sys, const std::string& nvidia) {
    std::vector<Gpu> gpus;
    const auto find = [&](const std::string& slot) {
        return std::ranges::find(gpus, slot, &Gpu::slot);
    };
    for (const std::string& name : names_in(sys + "/class/drm")) {
        if (!is_device(name)) continue;
        const std::string device = cat(sys, "/class/drm/", name, "/device");
        const auto uevent = read_file_if_readable(device + "/uevent");
        if (!uevent) continue;
        Gpu gpu;
        gpu.name = name;
        gpu.driver = value_of(*uevent, "DRIVER=");
        gpu.device = lower(value_of(*uevent, "PCI_ID="));
        gpu.slot = value_of(*uevent, "PCI_SLOT_NAME=");
        std::error_code none;
        if (gpu.slot.empty()) gpu.slot = fs::canonical(device, none).filename();
        if (find(gpu.slot) == gpus.end()) gpus.push_back(std::move(gpu));
    }
    std::size_t number = 0;
    for (const std::string& slot : names_in(nvidia + "/gpus")) {
        const auto text = read_file_if_readable(cat(nvidia, "/gpus/", slot, "/information"));
        auto gpu = find(slot);
        if (gpu == gpus.end()) {
            gpus.push_back({cat("nvidia", number), "nvidia", {}, slot, {}});
            gpu = gpus.end() - 1;
        }
        if (text) gpu->model = value_of(*text, "Model:");
        ++number;
    }
    return gpus;
}

}  // namespace gpufs
