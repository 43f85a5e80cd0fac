#include "lang/insn/parse.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/hex.h"
#include "base/suggest.h"
#include "lang/insn/parser.h"

namespace gpufs {
namespace {

constexpr std::string_view kRegisters =
    "registers are r0 to r10, and w0 to w10 for their low 32 bits";
constexpr Int128 kMax32 = std::numeric_limits<__u32>::max();

bool looks_like_register(std::string_view word) {
    return word.size() > 1 && std::string_view("rwRW").find(word[0]) != word.npos &&
           std::ranges::all_of(word.substr(1), is_digit);
}

}  // namespace

ParsedInsn InsnParser::parse() {
    const AsmToken first = tokens_.peek();
    statement();
    tokens_.expect_end();
    made_.span = tokens_.since(first);
    return std::move(made_);
}

ParsedInsn InsnParser::parse_assigned(RegName dst) {
    const AsmToken first = tokens_.peek();
    assign({dst, first.span});
    tokens_.expect_end();
    made_.span = tokens_.since(first);
    return std::move(made_);
}

void InsnParser::statement() {
    const AsmToken first = tokens_.peek();
    if (first.is("*")) return store();
    if (!first.is_word()) {
        if (first.is("(") && tokens_.source().text.substr(first.span.begin, 9) == "(unknown)")
            fail_rewritten({first.span.begin, first.span.begin + 9});
        tokens_.fail_expected("an instruction");
    }
    if (find_register(first.text)) return assignment();
    if (first.text.starts_with("BUG_"))
        tokens_.fail(first.span, "the program that printed this did not know the instruction");
    if (first.is("nospec")) fail_rewritten(first.span);
    if (!std::ranges::count(statement_words(), first.text)) return unknown_statement();
    if (first.is("call")) return call();
    tokens_.next();
    if (first.is("if")) return jump_if();
    if (first.is("callx")) return call_register();
    if (first.is("exit")) return emit(insn::leave());
    if (first.is("zero") || first.is("copy"))
        tokens_.fail(first.span, cat("'", first.text, "' needs a text with declarations"),
                     "bare instructions and logs have no variables");
    if (first.is("lock")) return lock();
    if (first.is("store_release")) return store_release();
    if (first.is("ld_pseudo")) return pseudo();
    if (first.is(".quad")) return data();
    return jump(first);
}

void InsnParser::unknown_statement() {
    refuse_unknown_register();
    const AsmToken word = tokens_.next();
    if (tokens_.is("s") || (!tokens_.at_end() && tokens_.peek().text.ends_with('=')))
        tokens_.fail(word.span, cat("no register is named '", word.text, "'"),
                     std::string(kRegisters));
    tokens_.fail(word.span, cat("no instruction begins with '", word.text, "'"),
                 did_you_mean(word.text, statement_words()));
}

void InsnParser::load(const Operand& dst) {
    tokens_.expect("*");
    Address at;
    access_type(at);
    if (tokens_.is("skb")) return load_packet(dst, at);
    tokens_.expect("(");
    base_and_offset(at);
    tokens_.expect(")");
    if (at.type.is_signed) {
        require_full(dst, "a signed load fills the whole register");
        return emit(insn::load_signed(at.type.width, dst.reg(), at.base, at.off));
    }
    if (at.type.width == Width::dw) require_full(dst, "this loads 64 bits");
    emit(insn::load(at.type.width, dst.reg(), at.base, at.off));
}

// r0 = *(u32 *)skb[12], skb[r3] as LLVM writes it and skb[r3 + 0] as the kernel does.
void InsnParser::load_packet(const Operand& dst, const Address& at) {
    if (dst.name != RegName{Reg::r0, false})
        tokens_.fail(dst.span, "a packet load goes to r0 always");
    if (at.type.is_signed || at.type.width == Width::dw)
        tokens_.fail(at.type_span, "a packet load is of u8, u16 or u32");
    tokens_.next();
    tokens_.expect("[");
    if (const auto index = accept_register()) {
        require_full(*index, "an index has 64 bits");
        __s32 more = 0;
        if (!tokens_.is("]"))
            more = static_cast<__s32>(in_range(plain_value(), kMin31, kMax31, "an offset"));
        emit(insn::load_packet(at.type.width, index->reg(), more));
    } else {
        emit(insn::load_packet(at.type.width, static_cast<__s32>(in_range(plain_value(), kMin31,
                                                                          kMax31, "an offset"))));
    }
    tokens_.expect("]");
}

void InsnParser::store() {
    tokens_.expect("*");
    const Address at = address();
    if (at.type.is_signed)
        tokens_.fail(at.type_span, "a store has no sign",
                     cat("write ", to_text(AccessType{at.type.width, false})));
    tokens_.expect("=");
    if (tokens_.peek().is_word() && find_register(tokens_.peek().text))
        return emit(insn::store(at.type.width, at.base, at.off, stored_register(at).reg()));
    const AsmValue value = noted(parse_asm_value(tokens_, names_), InsnRef::Slot::imm);
    __s32 imm = 0;
    if (at.type.width == Width::dw) {
        imm = extended_immediate(value);
    } else if (opcode_ || at.type.width == Width::w) {
        imm = low_immediate(value);
    } else {
        const Int128 limit = Int128{1} << (bytes_of(at.type.width) * 8);
        imm = static_cast<__s32>(in_range(value, -limit / 2, limit - 1, to_text(at.type)));
    }
    emit(insn::store(at.type.width, at.base, at.off, imm));
}

// ld_pseudo r1, 1, 5: LLVM's syntax for 16-byte loads with a pseudo source register.
void InsnParser::pseudo() {
    const Operand dst = expect_register();
    require_full(dst, "this loads 64 bits");
    tokens_.expect(",");
    const Int128 what =
        in_range(plain_value(), 0, static_cast<int>(Pseudo::map_idx_value), "a pseudo register");
    tokens_.expect(",");
    const Int128 low = in_range(plain_value(), kMin31, kMax32, "its number");
    emit(insn::load_pseudo(dst.reg(), static_cast<Pseudo>(what), static_cast<__s32>(low)));
}

void InsnParser::data() {
    do emit(insn_of(static_cast<std::uint64_t>(plain_value().number)));
    while (tokens_.accept(","));
}

std::optional<InsnParser::Operand> InsnParser::accept_register() {
    const AsmToken token = tokens_.peek();
    if (!token.is_word()) return {};
    const auto name = find_register(token.text);
    if (!name) return {};
    tokens_.next();
    return Operand{*name, token.span};
}

InsnParser::Operand InsnParser::expect_register() {
    if (const auto reg = accept_register()) return *reg;
    refuse_unknown_register();
    tokens_.fail_expected("a register");
}

// Reports misspelled registers such as r11 and R1.
void InsnParser::refuse_unknown_register() {
    const AsmToken& word = tokens_.peek();
    if (!word.is_word() || !looks_like_register(word.text)) return;
    if (opcode_ && word.text.ends_with("11")) fail_rewritten(word.span);
    tokens_.fail(word.span, cat("no register is named '", word.text, "'"), std::string(kRegisters));
}

void InsnParser::require_full(const Operand& reg, std::string_view why) {
    if (reg.is_low())
        tokens_.fail(reg.span, cat("'", to_text(reg.name), "' has 32 bits: ", why),
                     cat("write ", to_text(RegName{reg.reg(), false})));
}

void InsnParser::require_same(const Operand& a, const Operand& b, std::string_view why) {
    if (a.name != b.name)
        tokens_.fail(b.span, cat("'", to_text(b.name), "' is not '", to_text(a.name), "': ", why));
}

void InsnParser::refuse_mixed(const Operand& a, const Operand& b) {
    if (a.is_low() == b.is_low()) return;
    tokens_.fail(b.span,
                 cat("'", to_text(a.name), "' has ", a.is_low() ? 32 : 64, " bits and '",
                     to_text(b.name), "' ", b.is_low() ? 32 : 64),
                 cat("write ", to_text(RegName{b.reg(), a.is_low()})));
}

std::string InsnParser::operator_text(Span& span) {
    const AsmToken first = tokens_.peek();
    std::string text;
    if (first.is("s")) text = tokens_.next().text;
    if (tokens_.peek().kind == AsmToken::Kind::sign) text += tokens_.next().text;
    span = tokens_.since(first);
    return text;
}

void InsnParser::access_type(Address& at) {
    tokens_.expect("(");
    const AsmToken name = tokens_.expect_word("a type such as u32");
    const auto type = find_access_type(name.text);
    if (!type)
        tokens_.fail(name.span, cat("no type is named '", name.text, "'"),
                     did_you_mean(name.text, access_type_names()));
    tokens_.expect("*");
    tokens_.expect(")");
    at.type = *type;
    at.type_span = name.span;
}

void InsnParser::base_and_offset(Address& at) {
    const Operand base = expect_register();
    require_full(base, "an address has 64 bits");
    at.base = base.reg();
    if (!tokens_.is("+") && !tokens_.is("-")) return;
    const AsmValue value = noted(parse_asm_value(tokens_, names_), InsnRef::Slot::off);
    at.off = static_cast<__s16>(in_range(value, -32768, 32767, "an offset"));
}

InsnParser::Address InsnParser::address() {
    Address at;
    access_type(at);
    tokens_.expect("(");
    base_and_offset(at);
    tokens_.expect(")");
    return at;
}

InsnParser::Operand InsnParser::stored_register(const Address& at) {
    const Operand reg = expect_register();
    if (at.type.width == Width::dw) require_full(reg, "this works on 64 bits");
    return reg;
}

Int128 InsnParser::in_range(const AsmValue& value, Int128 low, Int128 high, std::string_view what,
                            std::string_view hint) {
    if (value.number < low || value.number > high)
        tokens_.fail(value.span,
                     cat(to_text(value.number), " is out of range: ", what, " goes from ",
                         to_text(low), " to ", to_text(high)),
                     hint);
    return value.number;
}

__s32 InsnParser::extended_immediate(const AsmValue& value, std::string_view hint) {
    std::string sign;
    if (value.number > kMax31 && value.number <= kMax32 && hint.empty())
        sign = cat("its 32 bits are sign-extended to 64: ", to_text(value.number - kMax32 - 1),
                   " is what they can say");
    return static_cast<__s32>(
        in_range(value, kMin31, kMax31, "an immediate", sign.empty() ? hint : sign));
}

__s32 InsnParser::low_immediate(const AsmValue& value) {
    return static_cast<__s32>(in_range(value, kMin31, kMax32, "an immediate of 32 bits"));
}

AsmValue InsnParser::plain_value() {
    AsmValue value = parse_asm_value(tokens_, names_);
    if (value.later)
        tokens_.fail(value.later_span, cat("'", tokens_.text_of(value.later_span),
                                           "' is not known yet: a constant belongs here"));
    return value;
}

AsmValue InsnParser::noted(AsmValue value, InsnRef::Slot slot) {
    if (!value.later) return value;
    if (value.number > std::numeric_limits<std::int64_t>::max())
        tokens_.fail(value.span, "the value does not fit 64 bits");
    InsnRef ref{*value.later, value.later_span, slot};
    ref.to.addend += static_cast<std::int64_t>(std::exchange(value.number, 0));
    made_.refs.push_back(std::move(ref));
    return value;
}

void InsnParser::note(Relocation::Kind kind, const AsmToken& name, InsnRef::Slot slot,
                      std::int64_t addend) {
    InsnRef ref{{}, name.span, slot};
    ref.to.kind = kind;
    ref.to.name = name.text;
    ref.to.addend = addend;
    made_.refs.push_back(std::move(ref));
}

void InsnParser::fail_rewritten(Span at) {
    tokens_.fail(at,
                 cat("'", tokens_.text_of(at),
                     "' is the kernel's own: this is the program as the "
                     "kernel rewrote it"),
                 "assemble its source, or what the verifier's log shows of it");
}

ParsedInsn parse_insn(AsmTokens& tokens, const AsmNames& names) {
    return InsnParser(tokens, names).parse();
}

ParsedInsn parse_assigned(AsmTokens& tokens, RegName dst, const AsmNames& names) {
    return InsnParser(tokens, names).parse_assigned(dst);
}

ParsedInsn parse_insn_line(const SourceText& source, const AsmLine& line, const AsmNames& names) {
    AsmTokens tokens(source, line.code);
    InsnParser parser(tokens, names, line.opcode);
    ParsedInsn parsed = parser.parse();
    if (!line.opcode) return parsed;
    if (parsed.insns[0].code != *line.opcode)
        throw SourceError(source, line.opcode_span,
                          cat("the log says opcode ", hex(*line.opcode, 2), ", but this text is ",
                              hex(parsed.insns[0].code, 2)));
    if (!parsed.is_wide() || parsed.insns[0].src_reg != 0 || !parsed.refs.empty()) return parsed;

    const Reg dst = static_cast<Reg>(parsed.insns[0].dst_reg);
    const RegState state =
        find_state(cat(tokens.text_of(tokens.comment()), " ", tokens.text_of(line.states)), dst);
    switch (state.kind) {
        case RegState::Kind::number:
            return parsed;
        case RegState::Kind::unsaid: {
            // Map addresses are in the upper half of the address space, below the kernel's text.
            const __u32 high = static_cast<__u32>(parsed.insns[1].imm);
            parsed.is_kernel_address = high >= 0xff000000 && high != 0xffffffff;
            return parsed;
        }
        case RegState::Kind::map:
        case RegState::Kind::map_value:
        case RegState::Kind::func:
        case RegState::Kind::other:
            break;
    }
    const bool is_value = state.kind == RegState::Kind::map_value;
    if (state.map.empty() || state.offset < 0 || state.offset > kMax31) {
        const bool is_func = state.kind == RegState::Kind::func;
        throw SourceError(
            source, parser.wide_number(), "the log shows an address here, not what was loaded",
            cat("name it: ", to_text(RegName{dst, false}),
                is_func ? " = subprog[NAME]" : " = map[NAME]", is_value ? "[0]" : ""));
    }
    const auto halves = insn::load_pseudo(dst, is_value ? Pseudo::map_value : Pseudo::map_fd, 0);
    parsed.insns.assign(halves.begin(), halves.end());
    InsnRef ref{{}, parser.wide_number(), InsnRef::Slot::imm64};
    ref.to.kind = is_value ? Relocation::Kind::map_value : Relocation::Kind::map;
    ref.to.name = state.map;
    ref.to.addend = state.offset;
    parsed.refs.push_back(std::move(ref));
    return parsed;
}

}  // namespace gpufs
