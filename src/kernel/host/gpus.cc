#include "kernel/host/gpus.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/cat.h"
#include "base/file.h"
#include "base/path.h"
#include "base/scan.h"
#include "base/sorted.h"
#include "base/text.h"
#include "kernel/host/gpu_files.h"

namespace gpufs {
namespace {

// The value after `name` in a uevent file ("NAME=value") or a file of NVIDIA ("Name: value").
std::string value_of(std::string_view text, std::string_view name) {
    for (const std::string_view line : lines_of(text))
        if (line.starts_with(name)) return std::string(trim(line.substr(name.size())));
    return {};
}

// Sorted, numbers at their ends by size: "card2", "card10".
std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names = list_directory_if_readable(directory);
    sort_stably(names, {}, [](const std::string& name) {
        return std::pair(name.size(), std::string_view(name));
    });
    return names;
}

// include/linux/pci_ids.h: PCI_BASE_CLASS_DISPLAY, PCI_BASE_CLASS_ACCELERATOR. The class as in
// uevent, "30000".
bool is_gpu_class(std::string_view pci_class) {
    const auto number = Scan(pci_class).take_number<unsigned>(16);
    return number && (*number >> 16 == 0x03 || *number >> 16 == 0x12);
}

// Virtio's GPU is a device of its own below the PCI device, whose driver only carries it.
std::string virtio_driver(const std::string& device) {
    for (const std::string& name : names_in(device)) {
        if (!name.starts_with("virtio")) continue;
        const auto uevent = read_file_if_readable(cat(device, '/', name, "/uevent"));
        if (uevent) return value_of(*uevent, "DRIVER=");
    }
    return {};
}

// A device that nobody but its driver made is called after that, with a number where there may be
// several: "vgem", "toy.1". Since Linux 6.14 there is a bus for such, whose driver says nothing.
std::string driver_of(std::string_view uevent, const std::string& path) {
    std::string driver = value_of(uevent, "DRIVER="), device(file_name(path));
    if (driver == "virtio-pci") return virtio_driver(path);
    if (!driver.empty() && driver != "faux_driver") return driver;
    const std::size_t dot = device.rfind('.');
    const bool has_number = dot != device.npos && dot + 1 < device.size() &&
                            std::ranges::all_of(std::string_view(device).substr(dot + 1), is_digit);
    return device.substr(0, has_number ? dot : device.npos);
}

// The device behind a node of a class, with its PCI device where it has one: virtio's, and that of
// firmware's framebuffer, are children of the PCI device. A screen behind USB is none of these.
std::optional<Gpu> gpu_behind(const std::string& node) {
    const auto device = real_path(node + "/device");
    const auto own = device ? read_file_if_readable(*device + "/uevent") : std::nullopt;
    if (!own) return std::nullopt;
    Gpu gpu;
    gpu.driver = driver_of(*own, *device);
    gpu.slot = file_name(*device);
    for (std::string at = *device; at != "/"; at = parent_directory(at)) {
        const auto uevent = read_file_if_readable(at + "/uevent");
        if (!uevent) continue;
        const std::string slot = value_of(*uevent, "PCI_SLOT_NAME=");
        if (slot.empty()) continue;
        if (at != *device && !is_gpu_class(value_of(*uevent, "PCI_CLASS="))) break;
        gpu.slot = slot;
        gpu.device = lower_case(value_of(*uevent, "PCI_ID="));
        gpu.model = trim(read_file_if_readable(at + "/product_name").value_or(""));
        break;
    }
    return gpu;
}

// Gathers devices by their slots.
class Gpus {
public:
    // A device with one of its nodes, or without.
    Gpu& add(Gpu gpu, const std::string& node) {
        auto known = std::ranges::find(gpus_, gpu.slot, &Gpu::slot);
        if (known == gpus_.end()) known = gpus_.insert(known, std::move(gpu));
        if (!node.empty()) known->nodes.push_back(node);
        return *known;
    }
    std::vector<Gpu> done() && {
        for (Gpu& gpu : gpus_) gpu.name = gpu.nodes.empty() ? gpu.slot : gpu.nodes.front();
        std::stable_partition(gpus_.begin(), gpus_.end(),
                              [](const Gpu& gpu) { return !gpu.nodes.empty(); });
        return std::move(gpus_);
    }

private:
    std::vector<Gpu> gpus_;
};

// Of a class, whose device files are in `files`; its directory also has a card's connectors.
void add_nodes(Gpus& gpus, const std::string& directory, std::string_view files) {
    for (const std::string& name : names_in(directory))
        if (!gpu_node_of(cat(files, name)).empty())
            if (auto gpu = gpu_behind(cat(directory, '/', name))) gpus.add(std::move(*gpu), name);
}

void add_nvidia(Gpus& gpus, const std::string& directory) {
    std::size_t number = 0;
    for (const std::string& slot : names_in(directory)) {
        const std::string text =
            read_file_if_readable(cat(directory, '/', slot, "/information")).value_or("");
        const std::string minor = value_of(text, "Device Minor:");
        Gpu& gpu = gpus.add({{}, "nvidia", {}, slot, {}, {}},
                            cat("nvidia", minor.empty() ? cat(number) : minor));
        if (const std::string model = value_of(text, "Model:"); !model.empty()) gpu.model = model;
        ++number;
    }
}

void add_pci(Gpus& gpus, const std::string& directory) {
    for (const std::string& slot : names_in(directory)) {
        const auto uevent = read_file_if_readable(cat(directory, '/', slot, "/uevent"));
        if (!uevent || !is_gpu_class(value_of(*uevent, "PCI_CLASS="))) continue;
        const bool has_driver = !value_of(*uevent, "DRIVER=").empty();
        const std::string driver = has_driver ? driver_of(*uevent, cat(directory, '/', slot)) : "";
        Gpu& gpu = gpus.add({{}, driver, {}, slot, {}, {}}, {});
        gpu.device = lower_case(value_of(*uevent, "PCI_ID="));
    }
}

}  // namespace

bool Gpu::has_drm_node() const {
    return !std::ranges::all_of(nodes,
                                [](const std::string& node) { return node.starts_with("nvidia"); });
}

std::vector<Gpu> find_gpus(const std::string& sys, const std::string& nvidia) {
    Gpus gpus;
    add_nodes(gpus, sys + "/class/drm", "/dev/dri/");
    add_nodes(gpus, sys + "/class/accel", "/dev/accel/");
    add_nvidia(gpus, nvidia + "/gpus");
    add_pci(gpus, sys + "/bus/pci/devices");
    return std::move(gpus).done();
}

}  // namespace gpufs
