#include <algorithm>
#include <limits>
#include <utility>

#include "lang/insn/parser.h"

namespace gpufs {

void InsnParser::assignment() {
    const Operand dst = expect_register();
    Span span;
    const std::string text = operator_text(span);
    if (text.empty()) tokens_.fail_expected("an operator such as '='");
    const auto op = find_alu_op(text);
    if (!op) tokens_.fail(span, cat("no operator is written '", text, "'"));
    if (op == AluOp::mov) return assign(dst);
    compute(dst, *op);
}

void InsnParser::compute(const Operand& dst, AluOp op) {
    if (const auto src = accept_register()) {
        refuse_mixed(dst, *src);
        return emit(dst.is_low() ? insn::alu32(op, dst.reg(), src->reg())
                                 : insn::alu64(op, dst.reg(), src->reg()));
    }
    const AsmValue value = noted(parse_asm_value(tokens_, names_), InsnRef::Slot::imm);
    emit(dst.is_low() ? insn::alu32(op, dst.reg(), low_immediate(value))
                      : insn::alu64(op, dst.reg(), extended_immediate(value)));
}

void InsnParser::assign(const Operand& dst) {
    if (tokens_.is("*")) return load(dst);
    AsmTokens ahead = tokens_;
    const AsmToken first = ahead.next();
    if (first.is("&")) fail_rewritten(first.span);  // &(void __percpu *)(r0)
    if (first.is("(") && ahead.peek().is_word() && find_access_type(ahead.peek().text))
        return extend_sign(dst);
    if (first.is("-") && ahead.peek().is_word() && find_register(ahead.peek().text))
        return negate(dst);
    if (const auto src = accept_register()) {
        refuse_mixed(dst, *src);
        return emit(dst.is_low() ? insn::alu32(AluOp::mov, dst.reg(), src->reg())
                                 : insn::mov(dst.reg(), src->reg()));
    }
    if (first.is_word()) return assign_word(dst);
    assign_value(dst);
}

void InsnParser::assign_word(const Operand& dst) {
    AsmTokens ahead = tokens_;
    const AsmToken word = ahead.next();
    if (ahead.is("[")) {
        if (word.is("map")) return assign_map(dst);
        if (word.is("subprog")) return assign_subprogram(dst);
    }
    if (word.is("addr_space_cast")) return cast_spaces(dst);
    if (word.is("load_acquire")) return load_acquire(dst);
    if (swap_bytes(dst) || atomic(dst)) return;
    refuse_unknown_register();
    assign_value(dst);
}

void InsnParser::assign_value(const Operand& dst) {
    // LLVM writes `r1 = NAME ll` for the address of a map; a constant of that name takes
    // precedence.
    AsmTokens ahead = tokens_;
    const AsmToken word = ahead.next();
    if (word.is_word() && ahead.is("ll") &&
        names_.meaning_of({word.text, {}, word.span}).kind == NameMeaning::Kind::unknown) {
        require_full(dst, "'ll' loads 64 bits");
        note(Relocation::Kind::map, word, InsnRef::Slot::imm64);
        tokens_.next();
        tokens_.next();
        return emit(insn::load_pseudo(dst.reg(), Pseudo::map_fd, 0));
    }
    const AsmValue written = parse_asm_value(tokens_, names_);
    // The kernel does not print `ll`; the opcode in the log's line distinguishes the forms.
    if (tokens_.accept("ll") || opcode_ == (BPF_LD | BPF_IMM | BPF_DW)) {
        require_full(dst, "this loads 64 bits");
        wide_number_ = written.span;
        const AsmValue value = noted(written, InsnRef::Slot::imm64);
        return emit(insn::load_imm64(dst.reg(), static_cast<__u64>(value.number)));
    }
    const AsmValue value = noted(written, InsnRef::Slot::imm);
    if (dst.is_low()) return emit(insn::alu32(AluOp::mov, dst.reg(), low_immediate(value)));
    emit(insn::mov(dst.reg(), extended_immediate(value, "write 'll' behind a number of 64 bits")));
}

// map[id:5], map[fd:5], map[idx:5], map[NAME]; followed by [0], +OFFSET or both for the map's
// value.
void InsnParser::assign_map(const Operand& dst) {
    require_full(dst, "this loads 64 bits");
    const AsmToken word = tokens_.next();
    tokens_.expect("[");
    const AsmToken name = tokens_.expect_word("a map's name");
    const bool is_index = name.is("idx");
    std::optional<AsmValue> number;
    if ((is_index || name.is("id") || name.is("fd")) && tokens_.accept(":")) number = plain_value();
    tokens_.expect("]");

    bool is_value = false;
    if (tokens_.accept("[")) {
        is_value = true;
        const AsmValue element = plain_value();
        if (element.number != 0)
            tokens_.fail(element.span, "only element 0 has an address",
                         "reach the others by an offset: map[NAME][0]+OFFSET");
        tokens_.expect("]");
    }
    __s32 offset = 0;
    if (tokens_.is("+")) {
        is_value = true;
        offset =
            static_cast<__s32>(in_range(plain_value(), 0, kMax31, "an offset into a map's value"));
    }
    const Pseudo what = is_index && number ? (is_value ? Pseudo::map_idx_value : Pseudo::map_idx)
                                           : (is_value ? Pseudo::map_value : Pseudo::map_fd);
    __s32 low = 0;
    if (number)
        low = static_cast<__s32>(in_range(*number, kMin31, kMax31, "a map's number"));
    else
        note(is_value ? Relocation::Kind::map_value : Relocation::Kind::map, name,
             InsnRef::Slot::imm64, std::exchange(offset, 0));
    wide_number_ = tokens_.since(word);
    emit(insn::load_pseudo(dst.reg(), what, low, offset));
}

// subprog[+3], as bpftool prints it, and subprog[NAME].
void InsnParser::assign_subprogram(const Operand& dst) {
    require_full(dst, "this loads 64 bits");
    tokens_.next();
    tokens_.expect("[");
    __s32 distance = 0;
    if (tokens_.peek().is_word())
        note(Relocation::Kind::callback, tokens_.next(), InsnRef::Slot::imm);
    else
        distance = static_cast<__s32>(in_range(plain_value(), kMin31, kMax31, "a distance"));
    tokens_.expect("]");
    emit(insn::load_pseudo(dst.reg(), Pseudo::func, distance));
}

void InsnParser::extend_sign(const Operand& dst) {
    Address cast;
    const AsmToken open = tokens_.expect("(");
    cast.type = *find_access_type(tokens_.next().text);
    tokens_.expect(")");
    cast.type_span = tokens_.since(open);
    const Operand src = expect_register();
    refuse_mixed(dst, src);
    if (!cast.type.is_signed)
        tokens_.fail(cast.type_span, "only (s8), (s16) and (s32) extend",
                     "an unsigned one is an '&=', or w1 = w1 for 32 bits");
    const int bits = static_cast<int>(bytes_of(cast.type.width)) * 8;
    if (dst.is_low() && bits == 32)
        tokens_.fail(cast.type_span, "32 bits extend into a 64-bit register only");
    emit(dst.is_low() ? insn::mov_signed32(dst.reg(), bits, src.reg())
                      : insn::mov_signed64(dst.reg(), bits, src.reg()));
}

void InsnParser::negate(const Operand& dst) {
    tokens_.expect("-");
    require_same(dst, expect_register(), "a register can only be negated in place");
    emit(dst.is_low() ? insn::neg32(dst.reg()) : insn::neg64(dst.reg()));
}

// be16, le32, bswap64 and so on; false when none is next.
bool InsnParser::swap_bytes(const Operand& dst) {
    std::string_view word = tokens_.peek().text;
    bpf_insn (*make)(Reg, int) = nullptr;
    for (const auto& [prefix, maker] :
         {std::pair("be", &insn::to_be), std::pair("le", &insn::to_le),
          std::pair("bswap", &insn::bswap)})
        if (word.starts_with(prefix)) {
            word.remove_prefix(std::string_view(prefix).size());
            make = maker;
            break;
        }
    const int bits = word == "16" ? 16 : word == "32" ? 32 : word == "64" ? 64 : 0;
    if (!make || !bits) return false;
    tokens_.next();
    require_full(dst, "bytes are swapped in the whole register");
    require_same(dst, expect_register(), "bytes can only be swapped in place");
    emit(make(dst.reg(), bits));
    return true;
}

void InsnParser::cast_spaces(const Operand& dst) {
    tokens_.next();
    tokens_.expect("(");
    const Operand src = expect_register();
    require_full(dst, "an address has 64 bits");
    require_full(src, "an address has 64 bits");
    __u16 spaces[2] = {};
    for (__u16& space : spaces) {
        tokens_.expect(",");
        space = static_cast<__u16>(in_range(plain_value(), 0, 0xffff, "an address space"));
    }
    tokens_.expect(")");
    emit(insn::addr_space_cast(dst.reg(), src.reg(), spaces[0], spaces[1]));
}

}  // namespace gpufs
