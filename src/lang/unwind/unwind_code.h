#pragma once

#include <cstdint>
#include <optional>

#include "lang/ir/stack_map.h"
#include "lang/program/program.h"
#include "lang/unwind/machine.h"

namespace gpufs {

// The code that walks user stacks by tables of rules (rule.h), which a reader fills while it runs.
//
// It begins with the registers with which the running task entered the kernel, whatever the program
// is attached to. Of a process without tables it takes nothing, and asks for them. Where a place
// has no rule, it follows the frame pointer for one step.

// The maps, which are the reader's: programs only refer to them.
inline constexpr const char* kUnwindProcesses = "unwind.processes";  // u32 process: UnwindProcess
inline constexpr const char* kUnwindRanges = "unwind.ranges";        // blocks of UnwindRange
inline constexpr const char* kUnwindPages = "unwind.pages";          // UnwindPage
inline constexpr const char* kUnwindRows = "unwind.rows";            // slabs of blocks of rows
inline constexpr const char* kUnwindRules = "unwind.rules";          // UnwindRule
// The processes (u32) that were asked for, each once until the reader removes it, and the ring that
// tells them.
inline constexpr const char* kUnwindAsked = "unwind.asked";
inline constexpr const char* kUnwindAsks = "unwind.asks";

// What a kernel has that the code needs.
struct UnwindKernel {
    const UnwindMachine* machine = kOwnUnwindMachine;  // borrowed
    // The bits of user addresses. In the others of a return address arm64's code keeps a signature.
    std::uint64_t address_mask = ~std::uint64_t{0};
    bool has_callbacks = false;  // bpf_loop(); else the loop is a bounded one
    // bpf_task_pt_regs(); else, on x86-64, the registers are found at the end of the kernel stack,
    // which is so far into task_struct.
    bool has_task_registers = false;
    std::int64_t stack_offset = 0;
};

// Lets the program take user stacks so. Counts stacks that end before the outermost function.
void unwind_user_stacks(Program& program, const UnwindKernel& kernel);

}  // namespace gpufs
