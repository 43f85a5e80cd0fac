#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/cat.h"
#include "lang/insn/isa.h"

namespace gpufs {

// Which registers an instruction reads and writes. A call writes r0 and clobbers r1 to r5; the
// argument registers that it reads are not in its encoding.
struct BpfEffects {
    bool reads_dst = false, writes_dst = false;
    bool reads_src = false, writes_src = false;
    bool reads_r0 = false, writes_r0 = false;  // implicitly
    bool is_call = false;
};

// As the instruction's parts say it; effects_of() looks it up.
constexpr BpfEffects find_effects(const bpf_insn& insn) {
    BpfEffects e;
    const int kind = BPF_CLASS(insn.code), op = BPF_OP(insn.code), mode = BPF_MODE(insn.code);
    const bool from_register = BPF_SRC(insn.code) == BPF_X;
    if (kind == BPF_ALU || kind == BPF_ALU64) {
        e.writes_dst = true;
        e.reads_dst = op != BPF_MOV;
        e.reads_src = from_register && op != BPF_END && op != BPF_NEG;
    } else if (kind == BPF_LD) {
        e.writes_dst = true;
    } else if (kind == BPF_LDX) {
        e.reads_src = e.writes_dst = true;
    } else if (kind == BPF_ST) {
        e.reads_dst = true;
    } else if (kind == BPF_STX) {
        const bool is_atomic = mode == BPF_ATOMIC;
        const bool is_load = is_atomic && insn.imm == kBpfLoadAcquire;
        const bool is_exchange = is_atomic && insn.imm == BPF_CMPXCHG;
        e.reads_src = true;
        e.reads_dst = !is_load;
        e.writes_dst = is_load;
        e.reads_r0 = e.writes_r0 = is_exchange;
        e.writes_src = is_atomic && !is_load && !is_exchange && insn.imm != kBpfStoreRelease &&
                       (insn.imm & BPF_FETCH);
    } else if (op == BPF_CALL) {
        e.is_call = e.writes_r0 = true;
    } else if (op == BPF_EXIT) {
        e.reads_r0 = true;
    } else if (op != BPF_JA && op != kBpfJcond) {
        e.reads_dst = true;
        e.reads_src = from_register;
    }
    return e;
}

inline constexpr auto kEffects = [] {
    std::array<BpfEffects, 256> by_code;
    for (std::size_t code = 0; code < by_code.size(); ++code) {
        bpf_insn insn{};
        insn.code = static_cast<__u8>(code);
        by_code[code] = find_effects(insn);
    }
    return by_code;
}();

// All code is walked by this, several times. Those of an atomic operation are in its immediate.
constexpr BpfEffects effects_of(const bpf_insn& insn) {
    const bool is_atomic = BPF_CLASS(insn.code) == BPF_STX && BPF_MODE(insn.code) == BPF_ATOMIC;
    return is_atomic ? find_effects(insn) : kEffects[insn.code];
}

// Why the kernel refuses `value` as the immediate operand of this instruction; completes "... is
// VALUE". Empty when it is accepted.
inline std::string refused_operand(const bpf_insn& insn, std::int64_t value) {
    const int kind = BPF_CLASS(insn.code), op = BPF_OP(insn.code);
    if ((kind != BPF_ALU && kind != BPF_ALU64) || BPF_SRC(insn.code) != BPF_K) return {};
    if (op == BPF_DIV || op == BPF_MOD)
        return value == 0 ? "the kernel refuses to divide by it" : "";
    const int bits = kind == BPF_ALU64 ? 64 : 32;
    const bool shifts = op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH;
    return shifts && (value < 0 || value >= bits) ? cat("shifts go from 0 to ", bits - 1, " bits")
                                                  : "";
}

}  // namespace gpufs
