#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// What kind of code a frame is. `key`: none, but what stands in front of a stack: the name of a
// task. `gpu`: a GPU's driver in the kernel, or a library that gives GPUs work.
enum class FrameKind { key, user, kernel, gpu, jit, inlined };
inline constexpr std::size_t kFrameKinds = 6;

struct StackFrame {
    std::string name;
    FrameKind kind = FrameKind::user;

    auto operator<=>(const StackFrame&) const = default;
};

// A stack, the outermost frame first, and what it weighs.
struct CountedStack {
    std::vector<StackFrame> frames;
    std::uint64_t weight = 0;
};

// What a frame of a process's or of the kernel's stack is, by its text (view/trace/frame_text.h).
FrameKind user_frame_kind(std::string_view text);
FrameKind kernel_frame_kind(std::string_view text);

}  // namespace gpufs
