#pragma once

#include <cstdint>
#include <string>

#include "lang/program/program.h"

namespace gpufs {

// An instruction with its symbolic operand, as a reader of assembly expects it: "r1 = @x",
// "if r0 != 0 goto .3", "call add.@n".
std::string insn_text(const bpf_insn& insn, std::int64_t imm64, const Relocation& operand);

// A program that is not linked yet: each probe's program with its targets, and the functions, whose
// names are in the first column, an instruction a line. What stands under a guard has the guard
// behind it.
std::string program_text(const Program& program);

}  // namespace gpufs
