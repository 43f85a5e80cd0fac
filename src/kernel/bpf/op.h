#pragma once

#include <linux/bpf.h>

#include <cstdint>

// Instructions of the small programs that this layer loads for itself. It does not know lang/insn.
namespace gpufs::op {

constexpr bpf_insn make(int code, int dst, int src, int off, std::int32_t imm) {
    bpf_insn made{};
    made.code = static_cast<__u8>(code);
    made.dst_reg = static_cast<__u8>(dst) & 0xf;
    made.src_reg = static_cast<__u8>(src) & 0xf;
    made.off = static_cast<__s16>(off);
    made.imm = imm;
    return made;
}
constexpr bpf_insn mov(int dst, std::int32_t value) {
    return make(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value);
}
constexpr bpf_insn copy(int dst, int src) {
    return make(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}
constexpr bpf_insn add(int dst, std::int32_t value) {
    return make(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value);
}
constexpr bpf_insn load(int width, int dst, int base, int off) {
    return make(BPF_LDX | BPF_MEM | width, dst, base, off, 0);
}
constexpr bpf_insn store(int width, int base, int off, int src) {
    return make(BPF_STX | BPF_MEM | width, base, src, off, 0);
}
constexpr bpf_insn store_value(int width, int base, int off, std::int32_t value) {
    return make(BPF_ST | BPF_MEM | width, base, 0, off, value);
}
constexpr bpf_insn call(unsigned helper) {
    return make(BPF_JMP | BPF_CALL, 0, 0, 0, static_cast<std::int32_t>(helper));
}
constexpr bpf_insn leave() {
    return make(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

}  // namespace gpufs::op
