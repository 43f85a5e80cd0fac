#pragma once

#include <cstdint>

namespace gpufs {

// What walking a stack depends on the processor for. Registers have their DWARF numbers.
struct UnwindMachine {
    // These are followed from callee to caller: the frame pointer, and one more. On x86-64 that is
    // rbx, on which the frames of functions hang that align their stack; on arm64 x30, in which
    // calls put the return address.
    std::uint8_t frame, other, stack;
    std::uint8_t registers;  // that can be the base of a CFA: those below this number, a power of 2
    std::uint8_t return_register;  // what call frame information names the return address
    bool pushes_return;            // calls push the return address; else it is in `other`
};
inline constexpr UnwindMachine kUnwindX86{6, 3, 7, 16, 16, true};
inline constexpr UnwindMachine kUnwindArm64{29, 30, 31, 32, 30, false};

// This program's; nullptr where stacks cannot be walked.
#if defined __x86_64__
inline constexpr const UnwindMachine* kOwnUnwindMachine = &kUnwindX86;
#elif defined __aarch64__
inline constexpr const UnwindMachine* kOwnUnwindMachine = &kUnwindArm64;
#else
inline constexpr const UnwindMachine* kOwnUnwindMachine = nullptr;
#endif

}  // namespace gpufs
