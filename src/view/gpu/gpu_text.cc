#include "view/gpu/gpu_text.h"

#include "base/cat.h"
#include "base/printable.h"
#include "view/json.h"

namespace gpufs {
namespace {

std::string holders_text(std::size_t holders) {
    if (holders == 0) return "open in no process";
    return cat("open in ", holders, holders == 1 ? " process" : " processes");
}

}  // namespace

std::string gpu_text(const Gpu& gpu, std::size_t holders) {
    std::string text = cat(gpu.name, ": ", gpu.driver.empty() ? "no driver bound" : gpu.driver);
    if (!gpu.model.empty()) text += cat(", ", gpu.model);
    if (!gpu.device.empty()) text += cat(gpu.model.empty() ? ", " : " ", gpu.device);
    // What has no place of its own: "vgem" at "vgem".
    if (gpu.slot != gpu.name && gpu.slot != gpu.driver) text += cat(", at ", gpu.slot);
    for (const std::string& node : gpu.nodes)
        if (node != gpu.name) text += cat(", ", node);
    if (!gpu.nodes.empty()) text += cat(", ", holders_text(holders));
    return printable(text);
}

std::string gpu_json(const Gpu& gpu, std::size_t holders) {
    JsonArray nodes;
    for (const std::string& node : gpu.nodes) nodes.add_text(node);
    JsonObject line;
    line.text("gpu", gpu.name).text_or_null("driver", gpu.driver).text("device", gpu.device);
    line.text("slot", gpu.slot).text_or_null("model", gpu.model);
    return line.raw("nodes", nodes.done()).number("holders", holders).done();
}

std::string gpu_note(const Gpu& gpu) {
    if (gpu.driver != "nvidia") return {};
    return cat(gpu.name, ": nvidia schedules jobs by itself, drm does not see them; ",
               gpu.has_drm_node()
                   ? "fence and vblank see the fences and frames of nvidia-drm"
                   : "fence and vblank see nothing of it while nvidia-drm is not loaded");
}

}  // namespace gpufs
