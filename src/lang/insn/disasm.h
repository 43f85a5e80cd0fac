#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lang/insn/isa.h"

namespace gpufs {

struct DisasmOptions {
    // True: jumps name labels, "goto L12", which LLVM's assembler accepts at any distance. False:
    // "goto +3", and local calls "call pc+3", as the kernel prints them.
    bool labels = true;
    // Gives the name of the map whose number a 16-byte load holds; if empty or returning "", the
    // number is printed. LLVM does not accept a map's name.
    std::function<std::string(const bpf_insn& first)> map_name = {};
    // For disassembly(): an additional label and a replacement comment for the instruction at a
    // slot; "" for none.
    std::function<std::string(std::size_t slot)> name = {};
    std::function<std::string(std::size_t slot)> note = {};
};

// One instruction or one piece of data of a program.
struct DisasmLine {
    std::size_t index = 0;  // of its first slot
    std::size_t slots = 1;  // 2 for a 16-byte load
    std::string label;      // set if a jump leads here
    std::string text;       // assembles to the same bytes
    std::string comment;    // for the reader: a helper's name
};

// Accepts any bytes: what is not an instruction, or has no LLVM syntax, becomes ".quad 0x..." with
// a comment. The text assembles to the same bytes with gpufs and with LLVM's assembler (llvm-mc
// -triple=bpfel -mcpu=v4; 20 or newer for load_acquire, store_release).
std::vector<DisasmLine> disassemble(std::span<const bpf_insn> insns,
                                    const DisasmOptions& options = {});

// The same of one instruction, without labels; `imm64` is the immediate of a 16-byte load.
DisasmLine disassemble_one(bpf_insn insn, std::int64_t imm64);

// The lines as one text: labels in the first column, instructions indented, comments behind '#'. A
// label behind the last instruction gets its own line.
std::string disassembly(std::span<const bpf_insn> insns, const DisasmOptions& options = {});

}  // namespace gpufs
