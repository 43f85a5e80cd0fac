#pragma once

#include <cstddef>
#include <span>

namespace gpufs {

// The length in bytes of the instruction of 64-bit x86 code that `code` begins with, by the opcode
// maps of Intel's manual (volume 2, appendix A), with VEX, EVEX and AMD's XOP. 0 where it is none
// that they have, or does not end within `code`.
std::size_t x86_instruction_length(std::span<const std::byte> code);

}  // namespace gpufs
