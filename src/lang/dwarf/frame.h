#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lang/dwarf/call_frames.h"

namespace gpufs {

// Where a function's frame is at an address ("CFA" in the standard): the address above the return
// address that its caller pushed. A register plus an offset, or an expression.
struct FrameAddress {
    unsigned reg = 0;  // DWARF's number
    std::int64_t offset = 0;
    std::string_view expression;  // if not empty
};
// Absent if no rule of the section is for that address, or it is damaged.
std::optional<FrameAddress> frame_address_at(const FrameSection& section, std::uint64_t address);

}  // namespace gpufs
