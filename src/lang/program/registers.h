#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// Where struct pt_regs of this architecture has a register, in bytes, by the kernel's names
// (arch/*/include/uapi/asm/ptrace.h): x86-64's also with an r in front ("ax" and "rax"), arm64's as
// r0 or x0, and on both "ip" ("pc") and "sp". Absent for a name of none, and on other
// architectures.
std::optional<std::size_t> register_offset(std::string_view name);

// The same for the names that assembly has for registers and their lower parts, with or without a
// '%' in front: "%eax" and "al" are of ax, "r8d" of r8, "w4" of x4.
std::optional<std::size_t> register_of_operand(std::string name);

// The registers as tracefs takes them in arguments of probes (regs_query_register_offset() in
// arch/*/kernel/ptrace.c), without the '%': all, whether a name is one, and the name of the one at
// an offset in struct pt_regs. On architectures whose registers are not known, each may be one.
std::vector<std::string> tracefs_registers();
bool is_tracefs_register(std::string_view name);
std::optional<std::string> tracefs_register(std::size_t offset);

// The name of the register that DWARF has this number for (the psABI's table), as tracefs takes it;
// absent for one that is not in struct pt_regs, such as those of floating point numbers.
std::optional<std::string> register_of_dwarf(unsigned number);

// The register by which a thread finds what it has of its own, and where the kernel keeps it of a
// task, as a path of BTF. x86-64's kernel has what the task set last. arm64's has what the register
// was when the task last left a CPU: a program's first thread, which sets it without the kernel,
// has none before.
struct ThreadPointer {
    std::string_view name, kept_in;
};
ThreadPointer thread_pointer_register();

}  // namespace gpufs
