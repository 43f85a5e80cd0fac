#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lang/insn/effects.h"
#include "vm/interpreter.h"

// Checks made once, before a program runs: instructions exist, jumps stay in the program, 16-byte
// loads refer to known objects.
namespace gpufs {
namespace {

// The only undefined jump operation.
constexpr int kNoJump = 0xf0;

bool is_known_alu(const bpf_insn& insn) {
    const bool is_64 = BPF_CLASS(insn.code) == BPF_ALU64, from_register = BPF_SRC(insn.code) != 0;
    switch (BPF_OP(insn.code)) {
        case BPF_END:
            return (!is_64 || !from_register) && insn.off == 0 &&
                   (insn.imm == 16 || insn.imm == 32 || insn.imm == 64);
        case BPF_NEG:
            return !from_register && insn.off == 0;
        case BPF_DIV:
        case BPF_MOD:
            return insn.off == 0 || insn.off == 1;
        case BPF_MOV:
            if (!from_register) return insn.off == 0;
            return insn.off == 0 || insn.off == 8 || insn.off == 16 || (is_64 && insn.off == 32);
        case BPF_ADD:
        case BPF_SUB:
        case BPF_MUL:
        case BPF_OR:
        case BPF_AND:
        case BPF_XOR:
            return insn.off == 0;
        case BPF_LSH:
        case BPF_RSH:
        case BPF_ARSH:
            return insn.off == 0 &&
                   (from_register || (insn.imm >= 0 && insn.imm < (is_64 ? 64 : 32)));
        default:
            return false;
    }
}

bool is_known_atomic(const bpf_insn& insn) {
    const Width width = width_of(insn);
    if (insn.imm == kBpfLoadAcquire || insn.imm == kBpfStoreRelease) return true;
    if (width != Width::w && width != Width::dw) return false;
    switch (insn.imm & ~BPF_FETCH) {
        case BPF_ADD:
        case BPF_OR:
        case BPF_AND:
        case BPF_XOR:
            return true;
        default:
            return insn.imm == BPF_XCHG || insn.imm == BPF_CMPXCHG;
    }
}

bool is_known_jump(const bpf_insn& insn) {
    const bool is_32 = BPF_CLASS(insn.code) == BPF_JMP32, from_register = BPF_SRC(insn.code) != 0;
    switch (BPF_OP(insn.code)) {
        case BPF_CALL:
            return !is_32 && !from_register &&
                   (insn.src_reg == 0 || insn.src_reg == BPF_PSEUDO_CALL);
        case BPF_EXIT:
            return !is_32 && !from_register;
        case BPF_JA:
            return !from_register;
        case kBpfJcond:
            return !is_32 && !from_register && insn.src_reg == 0;
        default:
            return BPF_OP(insn.code) != kNoJump;  // the rest are the eleven comparisons
    }
}

bool is_known(const bpf_insn& insn) {
    switch (BPF_CLASS(insn.code)) {
        case BPF_ALU:
        case BPF_ALU64:
            return is_known_alu(insn);
        case BPF_LD:
            return is_wide(insn);
        case BPF_LDX:
            return BPF_MODE(insn.code) == BPF_MEM ||
                   (BPF_MODE(insn.code) == kBpfMemsx && width_of(insn) != Width::dw);
        case BPF_ST:
            return BPF_MODE(insn.code) == BPF_MEM;
        case BPF_STX:
            return BPF_MODE(insn.code) == BPF_MEM ||
                   (BPF_MODE(insn.code) == BPF_ATOMIC && is_known_atomic(insn));
        default:
            return is_known_jump(insn);
    }
}

bool writes_frame_pointer(const bpf_insn& insn) {
    const BpfEffects e = effects_of(insn);
    return (e.writes_dst && insn.dst_reg == kFramePointer) ||
           (e.writes_src && insn.src_reg == kFramePointer);
}

// The distance to the code that an instruction jumps to, calls, or names as a function for helpers
// to call; of other instructions absent.
std::optional<std::int64_t> distance_to_code(const bpf_insn& insn) {
    if (is_wide(insn) && insn.src_reg == BPF_PSEUDO_FUNC) return insn.imm;
    return jump_distance(insn);
}

bool is_call(const bpf_insn& insn) {
    return is_wide(insn) || insn.code == (BPF_JMP | BPF_CALL);
}

// The address of the value of a one-element array, which programs may load directly.
std::uint64_t value_address(std::size_t slot, InterpretedMap& map) {
    const BpfMapSpec& spec = map.spec();
    if (spec.type != BPF_MAP_TYPE_ARRAY || spec.max_entries != 1)
        throw BpfFault(slot, cat("map '", spec.name, "' is not an array of one value"));
    return map.address_of(0, 0);
}

}  // namespace

void Interpreter::check() const {
    std::vector<bool> is_second_half(insns_.size() + 1);
    for (std::size_t i = 0; i < insns_.size(); ++i)
        if (is_wide(insns_[i]) && !is_second_half[i]) is_second_half[i + 1] = true;
    if (insns_.empty() || is_second_half[insns_.size()])
        throw BpfFault(0, "the program is cut off");

    for (std::size_t i = 0; i < insns_.size(); ++i) {
        const bpf_insn& insn = insns_[i];
        if (is_second_half[i]) {
            if (insn.code != 0) throw BpfFault(i, "the second half of a 16-byte load is missing");
            continue;
        }
        if (!is_known(insn)) throw BpfFault(i, cat("no such instruction: opcode ", insn.code));
        if (insn.dst_reg > kFramePointer || insn.src_reg > kFramePointer)
            throw BpfFault(i, "no such register");
        if (writes_frame_pointer(insn)) throw BpfFault(i, "the frame pointer cannot be written");
        if (const auto distance = distance_to_code(insn)) {
            const auto target = static_cast<std::int64_t>(i) + 1 + *distance;
            const auto end = static_cast<std::int64_t>(insns_.size());
            if (target < 0 || target >= end || is_second_half[static_cast<std::size_t>(target)])
                throw BpfFault(i, cat(is_call(insn) ? "calls " : "jumps to ", target,
                                      ", which is no instruction"));
        }
    }
    const bpf_insn& last = insns_.back();
    const bool jumps = jump_distance(last) && BPF_OP(last.code) == BPF_JA;
    if (!jumps && last.code != (BPF_JMP | BPF_EXIT))
        throw BpfFault(insns_.size() - 1, "the program's last instruction is no exit");
}

void Interpreter::resolve() {
    for (std::size_t i = 0; i + 1 < insns_.size(); ++i) {
        const bpf_insn& insn = insns_[i];
        if (insn.code == (BPF_JMP | BPF_CALL) && insn.src_reg == 0) {
            const auto helper = world_.helpers.find(insn.imm);
            if (helper != world_.helpers.end()) helpers_[i] = &helper->second;
        }
        if (!is_wide(insn)) continue;
        const auto low = static_cast<std::uint32_t>(insn.imm);
        const auto high = static_cast<std::uint32_t>(insns_[i + 1].imm);
        const auto number = static_cast<std::uint32_t>(insn.imm);
        const bool names_map =
            insn.src_reg == BPF_PSEUDO_MAP_FD || insn.src_reg == BPF_PSEUDO_MAP_VALUE;
        if (names_map && number >= world_.maps.size())
            throw BpfFault(i, cat("there is no map ", insn.imm));
        switch (insn.src_reg) {
            case 0:
                wide_[i] = std::uint64_t{high} << 32 | low;
                break;
            case BPF_PSEUDO_MAP_FD:
                wide_[i] = VmState::handle_of(insn.imm);
                break;
            case BPF_PSEUDO_MAP_VALUE:
                wide_[i] = value_address(i, world_.map(insn.imm)) + high;
                break;
            case BPF_PSEUDO_FUNC:
                // The distance may be negative.
                wide_[i] = kCodeBase + i + 1 + static_cast<std::uint64_t>(std::int64_t{insn.imm});
                break;
            default:
                throw BpfFault(i, "what this loads is known to a kernel only");
        }
        ++i;
    }
}

}  // namespace gpufs
