#include "lang/insn/disasm.h"

#include <algorithm>
#include <optional>

#include "base/cat.h"
#include "base/hex.h"
#include "base/text.h"
#include "lang/insn/helpers.h"
#include "lang/insn/insn.h"
#include "lang/insn/names.h"

namespace gpufs {
namespace {

constexpr std::string_view kNoInsn = "no instruction";

bool is_label(std::string_view target) {
    return target[0] == 'L' || target[0] == 'F';
}

// Masks read better in hexadecimal.
std::string mask_text(__s32 imm) {
    return imm > 9 ? hex(static_cast<std::uint64_t>(imm)) : cat(imm);
}

// "r3", "w3". For a number above 10, which is no register, the whole reading is discarded later.
std::string r(unsigned reg) {
    return cat('r', reg);
}
std::string w(unsigned reg) {
    return cat('w', reg);
}

std::string address(Width width, bool is_signed, unsigned base, __s16 off) {
    return cat('(', to_text(AccessType{width, is_signed}), " *)(", r(base), off < 0 ? " - " : " + ",
               off < 0 ? -off : off, ')');
}

// An instruction's text, and the instruction that this text assembles to. If they differ, the
// original has a bit set that the text cannot express, and becomes data.
struct Reading {
    std::string text;
    bpf_insn made{};
    bool llvm_reads_it = true;
};
using MaybeReading = std::optional<Reading>;

MaybeReading read_move(const bpf_insn& one, bool is_low) {
    const Reg dst{one.dst_reg}, src{one.src_reg};
    const std::string to = is_low ? w(one.dst_reg) : r(one.dst_reg);
    const std::string from = is_low ? w(one.src_reg) : r(one.src_reg);
    if (one.off == 0)
        return Reading{cat(to, " = ", from),
                       is_low ? insn::alu32(AluOp::mov, dst, src) : insn::mov(dst, src)};
    if (one.off == kBpfAddrSpaceCast && !is_low) {
        const auto spaces = static_cast<__u32>(one.imm);
        const auto left = static_cast<__u16>(spaces >> 16), right = static_cast<__u16>(spaces);
        return Reading{cat(to, " = addr_space_cast(", from, ", ", left, ", ", right, ')'),
                       insn::addr_space_cast(dst, src, left, right)};
    }
    if (one.off != 8 && one.off != 16 && (one.off != 32 || is_low)) return {};
    return Reading{
        cat(to, " = (s", one.off, ')', from),
        is_low ? insn::mov_signed32(dst, one.off, src) : insn::mov_signed64(dst, one.off, src)};
}

MaybeReading read_swap(const bpf_insn& one, bool is_low) {
    if (one.imm != 16 && one.imm != 32 && one.imm != 64) return {};
    const Reg dst{one.dst_reg};
    const bool is_be = BPF_SRC(one.code) == BPF_TO_BE;
    const std::string_view name = !is_low ? "bswap" : is_be ? "be" : "le";
    return Reading{cat(r(one.dst_reg), " = ", name, one.imm, ' ', r(one.dst_reg)),
                   !is_low ? insn::bswap(dst, one.imm)
                   : is_be ? insn::to_be(dst, one.imm)
                           : insn::to_le(dst, one.imm)};
}

MaybeReading read_alu(const bpf_insn& one) {
    const bool is_low = BPF_CLASS(one.code) == BPF_ALU;
    const bool has_src = BPF_SRC(one.code) == BPF_X;
    const Reg dst{one.dst_reg}, src{one.src_reg};
    const std::string to = is_low ? w(one.dst_reg) : r(one.dst_reg);
    const int code = BPF_OP(one.code);
    if (code == BPF_END) return read_swap(one, is_low);
    if (code == BPF_NEG)
        return Reading{cat(to, " = -", to), is_low ? insn::neg32(dst) : insn::neg64(dst)};
    if (code == BPF_MOV && has_src) return read_move(one, is_low);

    const bool may_be_signed = code == BPF_DIV || code == BPF_MOD;
    const auto op = static_cast<AluOp>(code | (may_be_signed && one.off == 1 ? 0x100 : 0));
    const std::string_view sign = sign_of(op);
    if (sign.empty()) return {};
    if (has_src)
        return Reading{cat(to, ' ', sign, ' ', is_low ? w(one.src_reg) : r(one.src_reg)),
                       is_low ? insn::alu32(op, dst, src) : insn::alu64(op, dst, src)};
    const bool is_mask = op == AluOp::and_ || op == AluOp::or_ || op == AluOp::xor_;
    return Reading{cat(to, ' ', sign, ' ', is_mask ? mask_text(one.imm) : cat(one.imm)),
                   is_low ? insn::alu32(op, dst, one.imm) : insn::alu64(op, dst, one.imm)};
}

MaybeReading read_load(const bpf_insn& one) {
    const Width width = width_of(one);
    const Reg dst{one.dst_reg}, src{one.src_reg};
    const bool is_signed = BPF_MODE(one.code) == kBpfMemsx;
    if ((BPF_MODE(one.code) != BPF_MEM && !is_signed) || (is_signed && width == Width::dw))
        return {};
    return Reading{cat(r(one.dst_reg), " = *", address(width, is_signed, one.src_reg, one.off)),
                   is_signed ? insn::load_signed(width, dst, src, one.off)
                             : insn::load(width, dst, src, one.off)};
}

// The packet loads. LLVM has no syntax for an index register with an offset.
MaybeReading read_packet_load(const bpf_insn& one) {
    const Width width = width_of(one);
    if (width == Width::dw) return {};
    const std::string type = to_text(AccessType{width, false});
    if (BPF_MODE(one.code) == BPF_ABS)
        return Reading{cat("r0 = *(", type, " *)skb[", one.imm, ']'),
                       insn::load_packet(width, one.imm)};
    if (BPF_MODE(one.code) != BPF_IND) return {};
    const std::string more =
        one.imm ? cat(one.imm < 0 ? " - " : " + ", one.imm < 0 ? -std::int64_t{one.imm} : one.imm)
                : "";
    return Reading{cat("r0 = *(", type, " *)skb[", r(one.src_reg), more, ']'),
                   insn::load_packet(width, Reg{one.src_reg}, one.imm), one.imm == 0};
}

MaybeReading read_store(const bpf_insn& one) {
    const Width width = width_of(one);
    const Reg base{one.dst_reg}, src{one.src_reg};
    if (BPF_MODE(one.code) != BPF_MEM) return {};
    const std::string to = cat('*', address(width, false, one.dst_reg, one.off), " = ");
    if (BPF_CLASS(one.code) == BPF_STX)
        return Reading{to + r(one.src_reg), insn::store(width, base, one.off, src)};
    // Assembly text cannot express an immediate wider than the store.
    const std::int64_t limit = std::int64_t{1} << std::min<std::size_t>(32, bytes_of(width) * 8);
    const bool fits = one.imm >= -limit / 2 && one.imm < limit;
    return Reading{cat(to, one.imm), insn::store(width, base, one.off, one.imm), fits};
}

MaybeReading read_atomic(const bpf_insn& one) {
    const Width width = width_of(one);
    const Reg base{one.dst_reg}, src{one.src_reg};
    const bool is_low = width != Width::dw;
    const std::string operand = is_low ? w(one.src_reg) : r(one.src_reg);
    if (one.imm == kBpfLoadAcquire)
        return Reading{cat(is_low ? w(one.dst_reg) : r(one.dst_reg), " = load_acquire(",
                           address(width, false, one.src_reg, one.off), ')'),
                       insn::load_acquire(width, base, src, one.off)};
    const std::string at = address(width, false, one.dst_reg, one.off);
    if (one.imm == kBpfStoreRelease)
        return Reading{cat("store_release(", at, ", ", operand, ')'),
                       insn::store_release(width, base, one.off, src)};
    if (bytes_of(width) < 4) return {};

    const auto op = static_cast<AtomicOp>(one.imm);
    const bpf_insn made = insn::atomic(op, width, base, one.off, src);
    const std::string_view suffix = is_low ? "32_32(" : "_64(";
    // LLVM's exchange operations have no type on the address.
    const std::string plain = at.substr(at.rfind('(') + 1, at.size() - at.rfind('(') - 2);
    switch (op) {
        case AtomicOp::xchg:
            return Reading{cat(operand, " = xchg", suffix, plain, ", ", operand, ')'), made};
        case AtomicOp::cmpxchg: {
            const std::string r0 = is_low ? "w0" : "r0";
            return Reading{cat(r0, " = cmpxchg", suffix, plain, ", ", r0, ", ", operand, ')'),
                           made};
        }
        case AtomicOp::fetch_add:
        case AtomicOp::fetch_or:
        case AtomicOp::fetch_and:
        case AtomicOp::fetch_xor: {
            const std::string_view name = op == AtomicOp::fetch_add   ? "add"
                                          : op == AtomicOp::fetch_or  ? "or"
                                          : op == AtomicOp::fetch_and ? "and"
                                                                      : "xor";
            return Reading{cat(operand, " = atomic_fetch_", name, '(', at, ", ", operand, ')'),
                           made};
        }
        case AtomicOp::add:
        case AtomicOp::or_:
        case AtomicOp::and_:
        case AtomicOp::xor_:
            return Reading{
                cat("lock *", at, ' ', sign_of(static_cast<AluOp>(one.imm)), ' ', operand), made};
    }
    return {};
}

MaybeReading read_call(const bpf_insn& one, const std::string& target) {
    if (BPF_SRC(one.code) == BPF_X)
        return Reading{cat("callx ", r(one.dst_reg)), insn::call_reg(Reg{one.dst_reg})};
    if (one.src_reg == BPF_PSEUDO_CALL)
        return Reading{cat("call ", target), insn::call_local(one.imm), is_label(target)};
    if (one.src_reg == BPF_PSEUDO_KFUNC_CALL && one.imm >= 0) {
        bpf_insn made = insn::call_kernel(one.imm);
        made.off = one.off;  // selects the BTF: the kernel's or a module's
        return Reading{cat("call kernel-function#", one.imm), made, false};
    }
    return Reading{cat("call ", one.imm), insn::call(one.imm)};
}

MaybeReading read_jump(const bpf_insn& one, const std::string& target) {
    const bool is_low = BPF_CLASS(one.code) == BPF_JMP32;
    const int code = BPF_OP(one.code);
    if (code == BPF_JA)
        return is_low ? Reading{cat("gotol ", target), insn::go_long(one.imm),
                                is_label(target) || one.imm == static_cast<__s16>(one.imm)}
                      : Reading{cat("goto ", target), insn::go(one.off)};
    if (!is_low && code == BPF_CALL) return read_call(one, target);
    if (!is_low && code == BPF_EXIT) return Reading{"exit", insn::leave()};
    if (!is_low && code == kBpfJcond)
        return Reading{cat("may_goto ", target), insn::may_go(one.off)};

    const auto op = static_cast<JumpOp>(code);
    const std::string_view sign = sign_of(op);
    if (sign.empty()) return {};
    const Reg left{one.dst_reg}, right{one.src_reg};
    const std::string name = is_low ? w(one.dst_reg) : r(one.dst_reg);
    if (BPF_SRC(one.code) == BPF_X)
        return Reading{cat("if ", name, ' ', sign, ' ', is_low ? w(one.src_reg) : r(one.src_reg),
                           " goto ", target),
                       is_low ? insn::jump32(op, left, right, one.off)
                              : insn::jump64(op, left, right, one.off)};
    return Reading{cat("if ", name, ' ', sign, ' ',
                       op == JumpOp::set ? mask_text(one.imm) : cat(one.imm), " goto ", target),
                   is_low ? insn::jump32(op, left, one.imm, one.off)
                          : insn::jump64(op, left, one.imm, one.off)};
}

// Absent when the 8 bytes are not an instruction. `target` is the jump's target as text.
MaybeReading read_insn(const bpf_insn& one, const std::string& target) {
    MaybeReading reading;
    switch (BPF_CLASS(one.code)) {
        case BPF_ALU:
        case BPF_ALU64:
            reading = read_alu(one);
            break;
        case BPF_JMP:
        case BPF_JMP32:
            reading = read_jump(one, target);
            break;
        case BPF_LDX:
            reading = read_load(one);
            break;
        case BPF_LD:
            reading = read_packet_load(one);
            break;
        case BPF_ST:
            reading = read_store(one);
            break;
        case BPF_STX:
            reading = BPF_MODE(one.code) == BPF_ATOMIC ? read_atomic(one) : read_store(one);
            break;
    }
    const unsigned last = static_cast<unsigned>(Reg::r10);
    if (!reading || !same_insn(reading->made, one) || one.dst_reg > last || one.src_reg > last)
        return {};
    return reading;
}

class Disassembler {
public:
    Disassembler(std::span<const bpf_insn> insns, const DisasmOptions& options)
        : insns_(insns), options_(options), names_(insns.size() + 1, '\0') {
        std::vector<bool> begins(insns.size() + 1, false);
        for (std::size_t at = 0; at < insns.size(); at += slots_at(at)) begins[at] = true;
        begins[insns.size()] = true;
        if (!options.labels) return;
        for (std::size_t at = 0; at < insns.size(); ++at) {
            const auto to = begins[at] ? target_of(at) : std::nullopt;
            if (!to || !begins[*to]) continue;
            const bool is_call = BPF_OP(insns[at].code) == BPF_CALL;
            if (is_call || !names_[*to]) names_[*to] = is_call ? 'F' : 'L';
        }
    }

    std::vector<DisasmLine> run() const {
        std::vector<DisasmLine> lines;
        for (std::size_t at = 0; at < insns_.size(); at += lines.back().slots) {
            lines.push_back(slots_at(at) == 2 ? wide(at) : narrow(at));
            lines.back().index = at;
            lines.back().label = label(at);
        }
        return lines;
    }
    std::string label(std::size_t at) const { return names_[at] ? cat(names_[at], at) : ""; }

private:
    std::size_t slots_at(std::size_t at) const {
        const bpf_insn& one = insns_[at];
        if (!is_wide(one) || at + 1 >= insns_.size()) return 1;
        if (one.dst_reg > static_cast<unsigned>(Reg::r10) || one.off != 0 ||
            one.src_reg > static_cast<unsigned>(Pseudo::map_idx_value))
            return 1;
        return same_insn(insns_[at + 1], insn::make(0, 0, 0, 0, insns_[at + 1].imm)) ? 2 : 1;
    }

    // The slot that a jump leads to; absent when it is not a jump or leaves the program.
    std::optional<std::size_t> target_of(std::size_t at) const {
        const auto distance = jump_distance(insns_[at]);
        if (!distance || !read_insn(insns_[at], "L")) return {};
        const std::int64_t to = static_cast<std::int64_t>(at) + 1 + *distance;
        if (to < 0 || to > static_cast<std::int64_t>(insns_.size())) return {};
        return static_cast<std::size_t>(to);
    }

    static DisasmLine raw(std::span<const bpf_insn> insns, std::string_view comment) {
        DisasmLine line;
        line.slots = insns.size();
        for (const bpf_insn& one : insns)
            line.text += cat(line.text.empty() ? ".quad " : ", ", hex(bits_of(one), 16));
        line.comment = comment;
        return line;
    }

    DisasmLine narrow(std::size_t at) const {
        const bpf_insn& one = insns_[at];
        std::string target;
        if (const auto distance = jump_distance(one)) {
            const auto to = target_of(at);
            if (to) target = label(*to);
            if (target.empty())
                target = cat(BPF_OP(one.code) == BPF_CALL ? "pc" : "", with_sign(*distance));
        }
        const MaybeReading reading = read_insn(one, target);
        if (!reading) return raw(insns_.subspan(at, 1), kNoInsn);
        const bool is_far = !options_.labels && jump_distance(one);
        if (!reading->llvm_reads_it && !is_far) return raw(insns_.subspan(at, 1), reading->text);
        DisasmLine line;
        line.text = reading->text;
        if (one.code == (BPF_JMP | BPF_CALL) && one.src_reg == 0)
            line.comment = helper_name(one.imm);
        return line;
    }

    DisasmLine wide(std::size_t at) const {
        const bpf_insn& low = insns_[at];
        const __s32 high = insns_[at + 1].imm;
        const auto what = static_cast<Pseudo>(low.src_reg);
        const std::string assign = cat(r(low.dst_reg), " = ");
        DisasmLine line;
        line.slots = 2;
        if (what == Pseudo::number) {
            const auto number =
                std::uint64_t{static_cast<__u32>(high)} << 32 | static_cast<__u32>(low.imm);
            line.text = cat(assign, hex(number), " ll");
            return line;
        }
        const std::string meaning = pseudo_text(what, low, high);
        const bool is_map = what == Pseudo::map_fd || what == Pseudo::map_value;
        const std::string name = is_map && options_.map_name ? options_.map_name(low) : "";
        if (!name.empty() && (what == Pseudo::map_fd ? high == 0 : high >= 0)) {
            line.text = cat(assign, "map[", name, ']');
            if (what == Pseudo::map_value) line.text += cat("[0]+", high);
            return line;
        }
        if (high != 0) return raw(insns_.subspan(at, 2), assign + meaning);
        line.text = cat("ld_pseudo ", r(low.dst_reg), ", ", low.src_reg, ", ", low.imm);
        line.comment = meaning;
        return line;
    }

    static std::string pseudo_text(Pseudo what, const bpf_insn& low, __s32 high) {
        switch (what) {
            case Pseudo::map_fd:
                return cat("map[fd:", low.imm, ']');
            case Pseudo::map_value:
                return cat("map[fd:", low.imm, "][0]+", high);
            case Pseudo::map_idx:
                return cat("map[idx:", low.imm, ']');
            case Pseudo::map_idx_value:
                return cat("map[idx:", low.imm, "]+", high);
            case Pseudo::func:
                return cat("subprog[", with_sign(low.imm), ']');
            case Pseudo::btf_id:
                return cat("kernel variable, BTF id ", low.imm);
            case Pseudo::number:
                break;
        }
        return {};
    }

    std::span<const bpf_insn> insns_;
    const DisasmOptions& options_;
    std::string
        names_;  // by slot: 'L' for a jump's target, 'F' for a local function's begin, else '\0'
};

}  // namespace

std::vector<DisasmLine> disassemble(std::span<const bpf_insn> insns, const DisasmOptions& options) {
    return Disassembler(insns, options).run();
}

DisasmLine disassemble_one(bpf_insn insn, std::int64_t imm64) {
    std::array<bpf_insn, 2> slots{insn, bpf_insn{}};
    if (is_wide(insn)) {
        slots[0].imm = static_cast<std::int32_t>(imm64);
        slots[1].imm = static_cast<std::int32_t>(imm64 >> 32);
    }
    DisasmOptions options;
    options.labels = false;
    return disassemble(std::span(slots).first(is_wide(insn) ? 2 : 1), options).front();
}

std::string disassembly(std::span<const bpf_insn> insns, const DisasmOptions& options) {
    const Disassembler program(insns, options);
    std::string text;
    for (const DisasmLine& line : program.run()) {
        const std::string name = options.name ? options.name(line.index) : "";
        const std::string note = options.note ? options.note(line.index) : "";
        for (const std::string& label : {name, line.label})
            if (!label.empty()) text += cat(label, ":\n");
        text += cat("    ", line.text);
        const std::string& comment = note.empty() ? line.comment : note;
        text += cat(comment.empty() ? "" : "  # ", comment, '\n');
    }
    const std::string last = program.label(insns.size());
    if (!last.empty()) text += cat(last, ":\n");
    return text;
}

}  // namespace gpufs
