#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "lang/insn/isa.h"

namespace gpufs {

// The parts of a line of assembly text around the instruction, which is not parsed here. A
// verifier's log and `bpftool prog dump xlated` print more than labels:
//
//   out: r0 = 0                        a label
//   12: (85) call bpf_foo#1 ; R0=1     index, opcode, and the states of registers
//   0: ..2....... (b7) r0 = 0          the table of live registers
//   3: (05) goto pc+2 6: R0=1          states at log_level 1, behind a jump
//   from 5 to 9: R0=1 R10=fp0          noise: nothing to assemble
struct AsmLine {
    enum class Kind {
        empty,  // nothing but labels or a comment
        code,   // an instruction, or a directive
        noise,  // a log's line without an instruction
    };
    Kind kind = Kind::empty;
    std::vector<Span> labels;          // without their colons
    Span code;                         // including the comment behind it
    Span states;                       // register states that a log prints behind a jump
    std::optional<std::size_t> index;  // the 12 of "12:"
    std::optional<unsigned> opcode;    // the 0x85 of "(85)"
    Span index_span, opcode_span;

    bool is_from_log() const { return kind == Kind::noise || index || opcode; }
};

// Splits a line. `after_log`: the previous line, not counting comments and blank lines, was from a
// log. Then the verifier's prose counts as noise, too, unless it looks like an instruction or a
// misspelled one.
AsmLine split_asm_line(const SourceText& source, Span line, bool after_log);

// The state of a register, as the verifier prints it behind an instruction:
// "R1=map_ptr(map=counts,ks=4,vs=8) R2_w=5".
struct RegState {
    enum class Kind { unsaid, number, map, map_value, func, other };
    Kind kind = Kind::unsaid;
    std::string map;          // the map's name; empty when the kernel is too old to print it
    std::int64_t offset = 0;  // into the map's value
};
RegState find_state(std::string_view words, Reg reg);

}  // namespace gpufs
