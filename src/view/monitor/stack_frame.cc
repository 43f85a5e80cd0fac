#include "view/monitor/stack_frame.h"

#include "lang/event/gpu_systems.h"

namespace gpufs {
namespace {

// What stands between the last of these brackets; empty where there are none.
std::string_view module_in(std::string_view text, std::string_view open, char close) {
    const auto at = text.rfind(open);
    if (at == text.npos) return {};
    text.remove_prefix(at + open.size());
    return text.substr(0, text.find(close));
}

}  // namespace

FrameKind user_frame_kind(std::string_view text) {
    if (module_in(text, " [", ']') == "jit") return FrameKind::jit;
    return is_gpu_library(module_in(text, " (", ')')) ? FrameKind::gpu : FrameKind::user;
}

FrameKind kernel_frame_kind(std::string_view text) {
    return is_gpu_module(module_in(text, " [", ']')) ? FrameKind::gpu : FrameKind::kernel;
}

}  // namespace gpufs
