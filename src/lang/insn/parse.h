#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/insn/asm_line.h"
#include "lang/insn/insn.h"
#include "lang/insn/value.h"

namespace gpufs {

// A name in an instruction and the place it goes to.
struct InsnRef {
    enum class Slot {
        off,    // 16 bits: the distance of a jump, the offset of a memory access
        imm,    // 32 bits: an operand, the distance of gotol or of a call
        imm64,  // both halves of a 16-byte load
    };
    Relocation to;  // without its place; what is added to the name is `addend`
    Span span;
    Slot slot = Slot::off;
};

// One instruction as a value. Where a name's value goes there is 0 still; a helper's number is in.
struct ParsedInsn {
    std::vector<bpf_insn> insns;  // one; two for a 16-byte load; as many as .quad lists
    std::vector<InsnRef> refs;    // at most one for each slot
    Span span;
    // A verifier's log showed the address of a map or the like in place of what was written, and
    // did not say of what: another line of the log may.
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
// rewrote before it was printed is refused with these words. Immediates that the instruction would
// sign-extend to another 64-bit value, as in r1 = 0xffffffff, are refused; only a jump to pc+N,
// which is how the kernel prints them, may have one.
ParsedInsn parse_insn(AsmTokens& tokens, const AsmNames& names);

// The same for a line that split_asm_line found to be code. Of a line from a log, the opcode says
// whether a number has 64 bits, and is compared with the result; the comment behind it says which
// map is meant where the log shows an address.
ParsedInsn parse_insn_line(const SourceText& source, const AsmLine& line, const AsmNames& names);

}  // namespace gpufs
