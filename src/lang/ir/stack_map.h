#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "lang/program/program.h"

namespace gpufs {

// Code that keeps whole stacks: a function for each map of type `stacks`, which programs call
// instead of the kernel's get_stackid.
//
// The kernel's stack_trace map has one place for all stacks that share the low bits of their hash:
// it keeps the first one and refuses the others, however empty it is. A map of whole stacks is a
// hash map, whose values are a 64-bit hash of the frames and the frames. A stack's id, the key, is
// made of 31 bits of that hash; where another stack has the id already, the next one is tried.
// So an id fits where get_stackid's does, and two stacks share one only if all 64 bits are equal.
//
// The frames are taken into memory of the CPU. It has room for several stacks at a time, because
// programs interrupt each other and, on new kernels, are preempted.
//
// The code takes a bounded loop (Linux 5.3). The function falls back to the kernel's get_stackid on
// kernels without it, where the map is a stack_trace map (MapDeclaration::keeps_stacks).

// "get_stackid.NAME"
std::string stack_function(const MapDeclaration& map);

// Adds the function to the program, "NAME.scratch", the memory of the CPUs, and "NAME.refused",
// which counts the stacks that found no room. Its arguments: the context; the flags of get_stackid;
// and, of a map that has callers, where the function that begins returns to, which kernels before
// 6.12 leave out of its user stack, or 0. It returns the stack's id or, as get_stackid, a negative
// errno: -E2BIG where the map is full. The kernel's own get_stackid, where it is used, leaves the
// caller out.
void define_stack_function(Program& program, const MapDeclaration& map);

// Adds a function to the program, where it has none yet, that is given the id of a stack in the map
// and returns how many frames the stack has; 0 for a negative errno. Takes bounded loops. Returns
// its name, "stack_depth.NAME".
std::string depth_function(Program& program, const MapDeclaration& map);

// Another way to take a user stack than the kernel's, which follows frame pointers.
struct UserStackWay {
    // Defines the function for a map, and returns its name. It is given the memory for one stack:
    // `frames_at` bytes from its begin it puts the frames, with a 0 behind them where there is
    // room; from `memory_at` on it may use `memory_bytes`. It is also given where the function that
    // begins returns to, or 0. It returns the bytes of the frames, or 0
    // where the kernel's way is to be taken.
    std::function<std::string(Program&, const MapDeclaration&, std::int64_t frames_at,
                              std::int64_t memory_at)>
        define;
    std::size_t memory_bytes = 0;
};
// Lets all functions that are defined take user stacks so, on kernels with bounded loops.
void take_user_stacks(Program& program, const UserStackWay& way);

// Declares a map of at most so many stacks of so many frames, with its function.
void declare_stacks(Program& program, std::string name, std::uint64_t stacks, std::size_t frames);

}  // namespace gpufs
