#pragma once

#include <array>

#include "lang/insn/isa.h"

namespace gpufs {

// Functions that encode one instruction each. `off` of a jump counts 8-byte slots from the next
// instruction.
namespace insn {

constexpr bpf_insn make(int code, int dst, int src, __s16 off, __s32 imm) {
    bpf_insn made{};
    made.code = static_cast<__u8>(code);
    made.dst_reg = static_cast<__u8>(dst) & 0xf;
    made.src_reg = static_cast<__u8>(src) & 0xf;
    made.off = off;
    made.imm = imm;
    return made;
}
constexpr bpf_insn make(int code, Reg dst, Reg src, __s16 off, __s32 imm) {
    return make(code, static_cast<int>(dst), static_cast<int>(src), off, imm);
}

constexpr bpf_insn alu(int alu_class, AluOp op, Reg dst, Reg src) {
    const int code = static_cast<int>(op);
    return make(alu_class | (code & 0xff) | BPF_X, dst, src, static_cast<__s16>(code >> 8), 0);
}
constexpr bpf_insn alu(int alu_class, AluOp op, Reg dst, __s32 imm) {
    const int code = static_cast<int>(op);
    return make(alu_class | (code & 0xff), dst, Reg::r0, static_cast<__s16>(code >> 8), imm);
}
constexpr bpf_insn alu64(AluOp op, Reg dst, Reg src) {
    return alu(BPF_ALU64, op, dst, src);
}
constexpr bpf_insn alu64(AluOp op, Reg dst, __s32 imm) {
    return alu(BPF_ALU64, op, dst, imm);
}
constexpr bpf_insn alu32(AluOp op, Reg dst, Reg src) {
    return alu(BPF_ALU, op, dst, src);
}
constexpr bpf_insn alu32(AluOp op, Reg dst, __s32 imm) {
    return alu(BPF_ALU, op, dst, imm);
}
constexpr bpf_insn mov(Reg dst, Reg src) {
    return alu64(AluOp::mov, dst, src);
}
constexpr bpf_insn mov(Reg dst, __s32 imm) {
    return alu64(AluOp::mov, dst, imm);
}

// Sign-extends the low `bits` of src: 8 or 16, and for 64-bit moves 32.
constexpr bpf_insn mov_signed64(Reg dst, int bits, Reg src) {
    return make(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, static_cast<__s16>(bits), 0);
}
constexpr bpf_insn mov_signed32(Reg dst, int bits, Reg src) {
    return make(BPF_ALU | BPF_MOV | BPF_X, dst, src, static_cast<__s16>(bits), 0);
}
constexpr bpf_insn neg64(Reg dst) {
    return make(BPF_ALU64 | BPF_NEG, dst, Reg::r0, 0, 0);
}
constexpr bpf_insn neg32(Reg dst) {
    return make(BPF_ALU | BPF_NEG, dst, Reg::r0, 0, 0);
}

// Convert the low `bits` (16, 32, 64) to little endian, to big endian, or swap their bytes.
constexpr bpf_insn to_le(Reg dst, int bits) {
    return make(BPF_ALU | BPF_END | BPF_TO_LE, dst, Reg::r0, 0, bits);
}
constexpr bpf_insn to_be(Reg dst, int bits) {
    return make(BPF_ALU | BPF_END | BPF_TO_BE, dst, Reg::r0, 0, bits);
}
constexpr bpf_insn bswap(Reg dst, int bits) {
    return make(BPF_ALU64 | BPF_END, dst, Reg::r0, 0, bits);
}
// Converts an arena pointer to another address space.
constexpr bpf_insn addr_space_cast(Reg dst, Reg src, __u16 to, __u16 from) {
    const __u32 spaces = static_cast<__u32>(to) << 16 | from;
    return make(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, kBpfAddrSpaceCast,
                static_cast<__s32>(spaces));
}

constexpr bpf_insn load(Width width, Reg dst, Reg base, __s16 off) {
    return make(BPF_LDX | BPF_MEM | static_cast<int>(width), dst, base, off, 0);
}
constexpr bpf_insn load_signed(Width width, Reg dst, Reg base, __s16 off) {
    return make(BPF_LDX | kBpfMemsx | static_cast<int>(width), dst, base, off, 0);
}
constexpr bpf_insn store(Width width, Reg base, __s16 off, Reg src) {
    return make(BPF_STX | BPF_MEM | static_cast<int>(width), base, src, off, 0);
}
constexpr bpf_insn store(Width width, Reg base, __s16 off, __s32 imm) {
    return make(BPF_ST | BPF_MEM | static_cast<int>(width), base, Reg::r0, off, imm);
}
constexpr bpf_insn atomic(AtomicOp op, Width width, Reg base, __s16 off, Reg operand) {
    return make(BPF_STX | BPF_ATOMIC | static_cast<int>(width), base, operand, off,
                static_cast<__s32>(op));
}
constexpr bpf_insn load_acquire(Width width, Reg dst, Reg base, __s16 off) {
    return make(BPF_STX | BPF_ATOMIC | static_cast<int>(width), dst, base, off, kBpfLoadAcquire);
}
constexpr bpf_insn store_release(Width width, Reg base, __s16 off, Reg src) {
    return make(BPF_STX | BPF_ATOMIC | static_cast<int>(width), base, src, off, kBpfStoreRelease);
}
// The packet loads of classic BPF: into r0, from network byte order, from the packet in r6.
constexpr bpf_insn load_packet(Width width, __s32 at) {
    return make(BPF_LD | BPF_ABS | static_cast<int>(width), Reg::r0, Reg::r0, 0, at);
}
constexpr bpf_insn load_packet(Width width, Reg index, __s32 at) {
    return make(BPF_LD | BPF_IND | static_cast<int>(width), Reg::r0, index, 0, at);
}

constexpr bpf_insn jump64(JumpOp op, Reg left, Reg right, __s16 off) {
    return make(BPF_JMP | static_cast<int>(op) | BPF_X, left, right, off, 0);
}
constexpr bpf_insn jump64(JumpOp op, Reg left, __s32 right, __s16 off) {
    return make(BPF_JMP | static_cast<int>(op), left, Reg::r0, off, right);
}
constexpr bpf_insn jump32(JumpOp op, Reg left, Reg right, __s16 off) {
    return make(BPF_JMP32 | static_cast<int>(op) | BPF_X, left, right, off, 0);
}
constexpr bpf_insn jump32(JumpOp op, Reg left, __s32 right, __s16 off) {
    return make(BPF_JMP32 | static_cast<int>(op), left, Reg::r0, off, right);
}
constexpr bpf_insn go(__s16 off) {
    return make(BPF_JMP | BPF_JA, 0, 0, off, 0);
}
constexpr bpf_insn go_long(__s32 off) {
    return make(BPF_JMP32 | BPF_JA, 0, 0, 0, off);
}
constexpr bpf_insn may_go(__s16 off) {
    return make(BPF_JMP | kBpfJcond, 0, 0, off, 0);
}

constexpr bpf_insn call(__s32 helper) {
    return make(BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}
constexpr bpf_insn call_local(__s32 off) {
    return make(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, off);
}
constexpr bpf_insn call_kernel(__s32 btf_id) {
    return make(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 0, btf_id);
}
constexpr bpf_insn call_reg(Reg target) {
    return make(BPF_JMP | BPF_CALL | BPF_X, target, Reg::r0, 0, 0);
}
constexpr bpf_insn leave() {
    return make(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

// The two halves of the only 16-byte instruction. For a pseudo value, `low` identifies the object
// and `high` is an offset into a map's value.
constexpr std::array<bpf_insn, 2> load_pseudo(Reg dst, Pseudo what, __s32 low, __s32 high = 0) {
    return {make(BPF_LD | BPF_IMM | BPF_DW, static_cast<int>(dst), static_cast<int>(what), 0, low),
            make(0, 0, 0, 0, high)};
}
constexpr std::array<bpf_insn, 2> load_imm64(Reg dst, __u64 value) {
    return load_pseudo(dst, Pseudo::number, static_cast<__s32>(value),
                       static_cast<__s32>(value >> 32));
}

}  // namespace insn

// The encodings are kernel ABI.
static_assert(insn::load(Width::w, Reg::r6, Reg::r1, 16).code == 0x61);
static_assert(insn::alu64(AluOp::sdiv, Reg::r1, Reg::r2).off == 1);
static_assert(insn::alu64(AluOp::mov, Reg::r0, 0).code == 0xb7);
static_assert(insn::leave().code == 0x95);

}  // namespace gpufs
