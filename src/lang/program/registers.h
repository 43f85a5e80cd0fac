#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace gpufs {

// Where struct pt_regs of this architecture has a register, in bytes, by the kernel's names
// (arch/*/include/uapi/asm/ptrace.h): x86-64's also with an r in front ("ax" and "rax"), arm64's as
// r0 or x0, and on both "ip" and "sp". Absent for a name of none, and on other architectures.
std::optional<std::size_t> register_offset(std::string_view name);

}  // namespace gpufs
