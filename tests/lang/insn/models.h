#pragma once

// Every form of instruction, each as a small function of two numbers beside what it computes.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lang/insn/isa.h"

namespace gpufs::test {

struct InsnModel {
    std::string name;
    // Takes r1 and r2, may use r3 to r5 and the stack, leaves its result in r0.
    std::vector<bpf_insn> body;
    std::function<std::uint64_t(std::uint64_t a, std::uint64_t b)> model;
    enum class Needs { nothing, atomics, isa_v4, acquire_release } needs = Needs::nothing;
};
std::vector<InsnModel> insn_models();

// Operands where instructions differ.
const std::vector<std::uint64_t>& model_operands();

// The instruction in a program for which r1 = {a, b}; r0 is its result, folded to 32 bits.
std::vector<bpf_insn> program_of(const InsnModel& insn);
std::uint32_t folded(std::uint64_t result);

}  // namespace gpufs::test
