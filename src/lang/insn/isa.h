#pragma once

#include <linux/bpf.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace gpufs {

// Constants of uapi/linux/bpf.h that older headers lack.
inline constexpr int kBpfMemsx = 0x80;          // BPF_MEMSX, 6.6: sign-extending load
inline constexpr int kBpfJcond = 0xe0;          // BPF_JCOND, 6.9: may_goto
inline constexpr int kBpfAddrSpaceCast = 1;     // BPF_ADDR_SPACE_CAST, 6.9: `off` of a mov
inline constexpr int kBpfLoadAcquire = 0x100;   // BPF_LOAD_ACQ, 6.15: `imm` of an atomic
inline constexpr int kBpfStoreRelease = 0x110;  // BPF_STORE_REL, 6.15

enum class Reg : __u8 { r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10, fp = r10 };
inline constexpr unsigned kFramePointer = static_cast<unsigned>(Reg::fp);
enum class Width : __u8 { b = BPF_B, h = BPF_H, w = BPF_W, dw = BPF_DW };

// Operations on registers. sdiv and smod are encoded with off = 1, here the high byte.
// clang-format off
enum class AluOp : __u16 {
    add = BPF_ADD, sub = BPF_SUB, mul = BPF_MUL, div = BPF_DIV, mod = BPF_MOD,
    or_ = BPF_OR, and_ = BPF_AND, xor_ = BPF_XOR,
    lsh = BPF_LSH, rsh = BPF_RSH, arsh = BPF_ARSH, mov = BPF_MOV,
    sdiv = 0x100 | BPF_DIV, smod = 0x100 | BPF_MOD,
};
// Comparisons. `set` is true when the operands share a bit; a leading s means signed.
enum class JumpOp : __u8 {
    eq = BPF_JEQ, ne = BPF_JNE, set = BPF_JSET,
    gt = BPF_JGT, ge = BPF_JGE, lt = BPF_JLT, le = BPF_JLE,
    sgt = BPF_JSGT, sge = BPF_JSGE, slt = BPF_JSLT, sle = BPF_JSLE,
};
// The fetch operations and xchg return the old value in the operand register, cmpxchg in r0.
enum class AtomicOp : __s32 {
    add = BPF_ADD, or_ = BPF_OR, and_ = BPF_AND, xor_ = BPF_XOR,
    fetch_add = BPF_ADD | BPF_FETCH, fetch_or = BPF_OR | BPF_FETCH,
    fetch_and = BPF_AND | BPF_FETCH, fetch_xor = BPF_XOR | BPF_FETCH,
    xchg = BPF_XCHG, cmpxchg = BPF_CMPXCHG,
};
// clang-format on
// The kind of value of a 16-byte load: src_reg of its first half.
enum class Pseudo : __u8 {
    number = 0,
    map_fd = BPF_PSEUDO_MAP_FD,
    map_value = BPF_PSEUDO_MAP_VALUE,
    btf_id = BPF_PSEUDO_BTF_ID,
    func = BPF_PSEUDO_FUNC,
    map_idx = BPF_PSEUDO_MAP_IDX,
    map_idx_value = BPF_PSEUDO_MAP_IDX_VALUE,
};

inline std::uint64_t bits_of(const bpf_insn& one) {
    return std::bit_cast<std::uint64_t>(one);
}
inline bpf_insn insn_of(std::uint64_t bits) {
    return std::bit_cast<bpf_insn>(bits);
}
inline bool same_insn(const bpf_insn& a, const bpf_insn& b) {
    return bits_of(a) == bits_of(b);
}

constexpr std::size_t bytes_of(Width width) {
    if (width == Width::dw) return 8;
    return width == Width::w ? 4 : width == Width::h ? 2 : 1;
}
// True for the first half of a 16-byte instruction.
constexpr bool is_wide(const bpf_insn& one) {
    return one.code == (BPF_LD | BPF_IMM | BPF_DW);
}
constexpr Width width_of(const bpf_insn& one) {
    return static_cast<Width>(BPF_SIZE(one.code));
}
// The distance of a jump or a local call, in slots from the next instruction; absent for other
// instructions.
constexpr std::optional<std::int64_t> jump_distance(const bpf_insn& one) {
    const int kind = BPF_CLASS(one.code), op = BPF_OP(one.code);
    if ((kind != BPF_JMP && kind != BPF_JMP32) || op == BPF_EXIT) return {};
    if (op != BPF_CALL) return one.code == (BPF_JMP32 | BPF_JA) ? one.imm : one.off;
    if (one.code != (BPF_JMP | BPF_CALL) || one.src_reg != BPF_PSEUDO_CALL) return {};
    return one.imm;
}

}  // namespace gpufs
