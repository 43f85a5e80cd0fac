#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lang/insn/isa.h"

namespace gpufs {

struct DisasmOptions {
    // Jumps go to labels, "goto L12", which LLVM's assembler reads whatever the distance; or, when
    // false, to "+3", and calls of local functions to "pc+3" as the kernel prints them.
    bool labels = true;
    // Names the map that a 16-byte load names by number; an empty answer, or none, leaves the
    // number. LLVM does not read a map's name.
    std::function<std::string(const bpf_insn& first)> map_name = {};
    // What disassembly() puts to the instruction at a slot, if it is not empty: a further label,
    // and a comment in the place of its own.
    std::function<std::string(std::size_t slot)> name = {};
    std::function<std::string(std::size_t slot)> note = {};
};

// One instruction, or a stretch of data, of a program.
struct DisasmLine {
    std::size_t index = 0;  // of its first slot
    std::size_t slots = 1;  // 2 for a 16-byte load
    std::string label;      // its own, if it is a jump's target
    std::string text;       // what assembles to it
    std::string comment;    // for the reader: a helper's name
};

// Takes any bytes, so it never fails: what is no instruction, or one that LLVM's assembler has no
// words for, becomes ".quad 0x..." with a comment. The text assembles to the same bytes, here and
// by LLVM's assembler (llvm-mc -triple=bpfel -mcpu=v4; 20 or newer for load_acquire,
// store_release).
std::vector<DisasmLine> disassemble(std::span<const bpf_insn> insns,
                                    const DisasmOptions& options = {});

// The lines as one text: labels at the left, instructions indented, comments behind '#'. A label
// behind the last instruction has a line of its own.
std::string disassembly(std::span<const bpf_insn> insns, const DisasmOptions& options = {});

}  // namespace gpufs
