#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/insn/asm_line.h"
#include "lang/insn/insn.h"
#include "lang/insn/names.h"
#include "lang/insn/value.h"

namespace gpufs {

// A symbolic operand of an instruction, and the part of the encoding that its value is for.
struct InsnRef {
    enum class Slot {
        off,    // 16 bits: the distance of a jump, the offset of a memory access
        imm,    // 32 bits: an operand, the distance of gotol or of a call
        imm64,  // both halves of a 16-byte load
    };
    Relocation to;  // `at` is not set; `addend` is added to the symbol's value
    Span span;
    Slot slot = Slot::off;
};

// A parsed instruction. Parts that symbols will fill are 0; helper calls have their number.
struct ParsedInsn {
    std::vector<bpf_insn> insns;  // one; two for a 16-byte load; as many as .quad lists
    std::vector<InsnRef> refs;    // at most one for each slot
    Span span;
    // The verifier's log printed a kernel address in place of the operand (of a map, for example)
    // without naming the object; another line of the log may name it.
    bool is_kernel_address = false;

    bool is_wide() const { return insns.size() == 2 && gpufs::is_wide(insns[0]); }
};

// Parses one instruction, in the kernel's spelling or LLVM's:
//
//   r1 += r2    w1 s/= 3    r1 = -r1    r1 = (s8)r2    r1 = be16 r1    r1 = bswap32 r1
//   r1 = 0x1122334455667788 ll     r1 = map[NAME]    r1 = map[NAME][0]+8    r1 = subprog[NAME]
//   r1 = *(u32 *)(r2 + 8)    r1 = *(s8 *)(r2 - 1)    *(u64 *)(r10 - 8) = r1    *(u8 *)(r1 + 0) = 5
//   lock *(u64 *)(r1 + 0) += r2    r2 = atomic_fetch_or((u64 *)(r1 + 0), r2)    and so on
//   if r1 s> 5 goto LABEL    goto +3    gotol LABEL    may_goto -2    call NAME    callx r1    exit
//   .quad 0x95    raw data, 8 bytes each
//
// The whole of `tokens` must be one instruction. Throws SourceError; an instruction that the kernel
// rewrote before printing it is refused, and the message says so. Immediates that sign extension
// would change, as in r1 = 0xffffffff, are refused, except in a jump to pc+N, the kernel's own
// spelling.
ParsedInsn parse_insn(AsmTokens& tokens, const AsmNames& names);

// Parses the right side of an assignment: the instruction that sets `dst` to it.
ParsedInsn parse_assigned(AsmTokens& tokens, RegName dst, const AsmNames& names);

// The same as parse_insn() for a line that split_asm_line() classified as code. In a line from a
// log, the opcode tells whether a number has 64 bits and is checked against the result; where the
// log shows an address, the register state behind the instruction gives the map.
ParsedInsn parse_insn_line(const SourceText& source, const AsmLine& line, const AsmNames& names);

}  // namespace gpufs
