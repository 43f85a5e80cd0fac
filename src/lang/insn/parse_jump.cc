#include <limits>

#include "base/suggest.h"
#include "lang/insn/helpers.h"
#include "lang/insn/parser.h"

namespace gpufs {
namespace {

// The kernel's names of the fetch operations, and LLVM's where they differ. LLVM's exchange
// operations have the width in their name and no type.
struct Exchange {
    std::string_view name;
    AtomicOp op;
    int bits = 0;  // 0: what the type says
    bool is_untyped = false;
};
constexpr Exchange kExchanges[] = {
    {"atomic_fetch_add", AtomicOp::fetch_add},
    {"atomic_fetch_or", AtomicOp::fetch_or},
    {"atomic_fetch_and", AtomicOp::fetch_and},
    {"atomic_fetch_xor", AtomicOp::fetch_xor},
    {"atomic64_fetch_add", AtomicOp::fetch_add, 64},
    {"atomic64_fetch_or", AtomicOp::fetch_or, 64},
    {"atomic64_fetch_and", AtomicOp::fetch_and, 64},
    {"atomic64_fetch_xor", AtomicOp::fetch_xor, 64},
    {"atomic_xchg", AtomicOp::xchg},
    {"atomic64_xchg", AtomicOp::xchg, 64},
    {"atomic_cmpxchg", AtomicOp::cmpxchg},
    {"atomic64_cmpxchg", AtomicOp::cmpxchg, 64},
    {"xchg_64", AtomicOp::xchg, 64, true},
    {"xchg32_32", AtomicOp::xchg, 32, true},
    {"cmpxchg_64", AtomicOp::cmpxchg, 64, true},
    {"cmpxchg32_32", AtomicOp::cmpxchg, 32, true},
};

}  // namespace

void InsnParser::jump_if() {
    const Operand left = expect_register();
    Span span;
    const std::string sign = operator_text(span);
    if (sign.empty()) tokens_.fail_expected("a comparison such as '=='");
    const auto op = find_jump_op(sign);
    if (!op)
        tokens_.fail(span, cat("no comparison is written '", sign, "'"),
                     sign == "=" ? "did you mean '=='?" : "");
    if (const auto right = accept_register()) {
        refuse_mixed(left, *right);
        tokens_.expect("goto");
        const auto off = static_cast<__s16>(target(InsnRef::Slot::off));
        return emit(left.is_low() ? insn::jump32(*op, left.reg(), right->reg(), off)
                                  : insn::jump64(*op, left.reg(), right->reg(), off));
    }
    const AsmValue value = noted(parse_asm_value(tokens_, names_), InsnRef::Slot::imm);
    tokens_.expect("goto");
    bool is_kernels = opcode_.has_value();
    const auto off = static_cast<__s16>(target(InsnRef::Slot::off, &is_kernels));
    if (left.is_low()) return emit(insn::jump32(*op, left.reg(), low_immediate(value), off));
    const __s32 imm = is_kernels ? low_immediate(value) : extended_immediate(value);
    emit(insn::jump64(*op, left.reg(), imm, off));
}

void InsnParser::jump(const AsmToken& word) {
    if (word.is("gotol")) return emit(insn::go_long(target(InsnRef::Slot::imm)));
    const auto off = static_cast<__s16>(target(InsnRef::Slot::off));
    emit(word.is("goto") ? insn::go(off) : insn::may_go(off));
}

__s32 InsnParser::target(InsnRef::Slot slot, bool* is_kernels) {
    AsmTokens ahead = tokens_;
    const AsmToken first = ahead.next();
    const bool is_pc = first.is("pc") && (ahead.is("+") || ahead.is("-"));
    if (is_pc) {
        tokens_.next();
        if (is_kernels) *is_kernels = true;
    }
    if (is_pc || first.is("+") || first.is("-") || first.is_number()) {
        const bool is_long = slot == InsnRef::Slot::imm;
        return static_cast<__s32>(in_range(plain_value(), is_long ? kMin31 : -32768,
                                           is_long ? kMax31 : 32767, "a jump",
                                           is_long ? "" : "'gotol' reaches further"));
    }
    if (first.is_word() && find_register(first.text))
        tokens_.fail(first.span, cat("'", first.text, "' is a register; a label belongs here"));
    note(Relocation::Kind::label, tokens_.expect_word("a label"), slot);
    return 0;
}

void InsnParser::call() {
    tokens_.next();
    tokens_.take_hash_as_sign();
    AsmTokens ahead = tokens_;
    const AsmToken first = ahead.next();
    if (first.is_number() || first.is("-")) return call_number();
    if (first.is("+"))
        tokens_.fail(first.span, "a call of a local function has no '+' alone",
                     "write 'call pc+N', or 'call N' for a helper");
    if (!first.is_word()) tokens_.fail_expected("a function");
    if (first.is("pc") && (ahead.is("+") || ahead.is("-"))) return call_pc();
    if (first.is("kernel") && ahead.is("-") && ahead.peek().glued) return call_kernel();
    if (find_register(first.text))
        tokens_.fail(first.span, cat("'", first.text, "' is a register"),
                     cat("a call through a register is 'callx ", first.text, "'"));
    call_name();
}

// call 1. Refuses call 0xffffffff81234567#151168, a call that the kernel rewrote.
void InsnParser::call_number() {
    const AsmValue number = plain_value();
    if (number.number > kMax31 || call_tag()) fail_rewritten(number.span);
    emit(insn::call(static_cast<__s32>(in_range(number, kMin31, kMax31, "a helper's number"))));
}

// call pc+2, and call pc+2#bpf_prog_0123456789abcdef_name in a dump.
void InsnParser::call_pc() {
    tokens_.next();
    const auto off = static_cast<__s32>(in_range(plain_value(), kMin31, kMax31, "a call"));
    call_tag();
    emit(insn::call_local(off));
}

// call kernel-function#1234: a kernel function by its BTF id; the log has no name for it.
void InsnParser::call_kernel() {
    tokens_.next();
    tokens_.next();
    tokens_.expect("function");
    const auto id = call_tag();
    if (!id || *id < 0 || *id > kMax31) tokens_.fail_expected("'#' and a BTF id");
    emit(insn::call_kernel(static_cast<__s32>(*id)));
}

void InsnParser::call_name() {
    const AsmToken name = tokens_.next();
    const AsmToken hash = tokens_.peek();
    const auto tag = call_tag();
    const auto helper = find_helper(name.text);
    if (!helper) {
        if (tag)
            tokens_.fail(name.span,
                         name.is("unknown") ? "the kernel has no name for this function"
                                            : cat("'", name.text,
                                                  "' is no helper, but a function "
                                                  "of the kernel"),
                         cat("in a dump, the kernel put it in a helper's place; in the verifier's "
                             "log it may be 'call ",
                             name.is("unknown") ? "" : "kernel-function#", to_text(*tag), "'"));
        note(Relocation::Kind::subprogram, name, InsnRef::Slot::imm);
        return emit(insn::call_local(0));
    }
    // The tag in a log is the helper's number; in a dump it is the function's distance from the
    // kernel's base.
    if (tag && *tag != *helper && *tag == static_cast<int>(*tag)) {
        const std::string_view other = helper_name(static_cast<int>(*tag));
        if (!other.empty())
            tokens_.fail(tokens_.since(hash), cat("helper ", to_text(*tag), " is '", other, "', '",
                                                  name.text, "' is ", *helper));
    }
    emit(insn::call(*helper));
}

// The number behind a '#' without blanks. Skips a name, that of a function in a dump.
std::optional<Int128> InsnParser::call_tag() {
    if (!tokens_.is("#")) return {};
    tokens_.next();
    const bool is_negative = tokens_.accept("-");
    if (tokens_.at_end()) tokens_.fail_expected("a number");
    const AsmToken tag = tokens_.next();
    if (!tag.is_number() && !tag.is_word())
        tokens_.fail(tag.span, "expected a number behind '#'",
                     "a comment wants a blank in front of its '#'");
    const Int128 number = tag.number;
    return is_negative ? -number : number;
}

void InsnParser::call_register() {
    const Operand target = expect_register();
    require_full(target, "an address has 64 bits");
    emit(insn::call_reg(target.reg()));
}

void InsnParser::lock() {
    tokens_.expect("*");
    const Address at = address();
    Span span;
    const std::string sign = operator_text(span);
    const auto op = find_alu_op(sign);
    const AtomicOp atomic = op == AluOp::add    ? AtomicOp::add
                            : op == AluOp::or_  ? AtomicOp::or_
                            : op == AluOp::and_ ? AtomicOp::and_
                            : op == AluOp::xor_ ? AtomicOp::xor_
                                                : AtomicOp::xchg;
    if (atomic == AtomicOp::xchg)
        tokens_.fail(span, cat("no atomic operation is written '", sign, "'"),
                     "there are '+=', '|=', '&=' and '^='");
    const Operand operand = stored_register(at);
    require_atomic_width(at);
    emit(insn::atomic(atomic, at.type.width, at.base, at.off, operand.reg()));
}

void InsnParser::require_atomic_width(const Address& at) {
    if (at.type.is_signed || bytes_of(at.type.width) < 4)
        tokens_.fail(at.type_span, "only u32 and u64 have atomic operations");
}

bool InsnParser::atomic(const Operand& dst) {
    const AsmToken word = tokens_.peek();
    const Exchange* found = nullptr;
    for (const Exchange& exchange : kExchanges)
        if (word.is(exchange.name)) found = &exchange;
    if (!found) return false;
    tokens_.next();
    tokens_.expect("(");
    Address at;
    if (found->is_untyped) {
        at.type = {found->bits == 64 ? Width::dw : Width::w, false};
        base_and_offset(at);
    } else {
        at = address();
        require_atomic_width(at);
        if (found->bits == 64 && at.type.width != Width::dw)
            tokens_.fail(at.type_span, cat("'", found->name, "' works on u64"));
    }
    exchange(dst, found->op, at);
    return true;
}

// Parses what follows the address: the compared register, the operand, the bracket.
void InsnParser::exchange(const Operand& dst, AtomicOp op, const Address& at) {
    constexpr std::string_view kInR0 = "cmpxchg compares with r0 and leaves the old value there";
    if (at.type.width == Width::dw) require_full(dst, "this works on 64 bits");
    tokens_.expect(",");
    if (op == AtomicOp::cmpxchg) {
        const Operand r0{{Reg::r0, dst.is_low()}, dst.span};
        require_same(r0, dst, kInR0);
        require_same(r0, expect_register(), kInR0);
        tokens_.expect(",");
        const Operand operand = expect_register();
        refuse_mixed(dst, operand);
        emit(insn::atomic(op, at.type.width, at.base, at.off, operand.reg()));
    } else {
        require_same(dst, expect_register(), "the old value replaces the operand");
        emit(insn::atomic(op, at.type.width, at.base, at.off, dst.reg()));
    }
    tokens_.expect(")");
}

void InsnParser::load_acquire(const Operand& dst) {
    tokens_.next();
    tokens_.expect("(");
    const Address at = address();
    tokens_.expect(")");
    if (at.type.is_signed) tokens_.fail(at.type_span, "an acquiring load has no sign");
    if (at.type.width == Width::dw) require_full(dst, "this loads 64 bits");
    emit(insn::load_acquire(at.type.width, dst.reg(), at.base, at.off));
}

void InsnParser::store_release() {
    tokens_.expect("(");
    const Address at = address();
    if (at.type.is_signed) tokens_.fail(at.type_span, "a store has no sign");
    tokens_.expect(",");
    const Operand src = stored_register(at);
    tokens_.expect(")");
    emit(insn::store_release(at.type.width, at.base, at.off, src.reg()));
}

}  // namespace gpufs
