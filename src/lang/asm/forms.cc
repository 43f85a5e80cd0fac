#include "lang/asm/forms.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/suggest.h"
#include "lang/asm/form_parser.h"

namespace gpufs {
namespace {

constexpr Reg kScratch = Reg::r5;       // what is copied goes through it
constexpr std::size_t kMaxBytes = 512;  // of one zero or copy

// "u64 *)(r10 + v.key + 8": what an access to `more` bytes behind a path's begin looks like.
std::string access_text(Width width, Reg base, std::string_view path, std::size_t more) {
    std::string text =
        cat("*(", to_text(AccessType{width, false}), " *)(", to_text(RegName{base, false}));
    // A structure begins at 0, which has no name.
    const bool is_named = path.find_first_of("@.") != path.npos;
    if (is_named) text += cat(" + ", path);
    if (more != 0 || !is_named) text += cat(" + ", more);
    return text + ')';
}

std::optional<Width> width_of_number(std::size_t bytes) {
    for (const Width width : {Width::b, Width::h, Width::w, Width::dw})
        if (bytes_of(width) == bytes) return width;
    return {};
}

bool is_field_name(const AsmToken& token) {
    return token.is_word() && token.text[0] == '@';
}

}  // namespace

FormParser::FormParser(AsmWork& work, std::size_t source, Span line)
    : work_(work),
      source_(work.sources[source]),
      tokens_(source_, line),
      names_(work.symbols.names_for(source_)) {}

std::optional<std::vector<FormStep>> FormParser::parse() {
    const AsmToken first = tokens_.peek();
    if (!first.is_word()) return {};
    if (const auto reg = find_register(first.text)) {
        tokens_.next();
        if (!tokens_.accept("=")) return {};
        const Target dst{*reg, first.span};
        if (!(tokens_.is("call") && call(&dst)) && !value(tokens_, dst)) return {};
    } else if (first.is("zero")) {
        zero();
    } else if (first.is("copy")) {
        copy();
    } else if (first.is("add")) {
        add();
    } else if (!(first.is("call") && call()) && !(first.is("exit") && leave())) {
        return {};
    }
    tokens_.expect_end();
    for (FormStep& step : steps_) step.insn.span = tokens_.since(first);
    return std::move(steps_);
}

// What stands behind "r1 =", where it is a form.
bool FormParser::value(AsmTokens& tokens, const Target& dst) {
    if (tokens.peek().kind == AsmToken::Kind::text) return text(tokens, dst);
    AsmTokens ahead = tokens;
    if (ahead.accept("&") && ahead.peek().is_word() && !is_field_name(ahead.peek())) {
        address(tokens, dst);
        return true;
    }
    return field(tokens, dst);
}

bool FormParser::field(AsmTokens& tokens, const Target& dst) {
    AsmTokens ahead = tokens;
    CodeItem::Kind kind = CodeItem::Kind::load_field;
    if (ahead.accept("&"))
        kind = CodeItem::Kind::field_address;
    else if (ahead.accept("sizeof"))
        kind = CodeItem::Kind::field_length;
    if (!is_field_name(ahead.peek())) return false;
    const AsmToken name = ahead.next();
    refuse_half_path(ahead);
    if (kind == CodeItem::Kind::load_field && !ahead.is("(")) return false;  // as a number
    tokens = ahead;
    tokens.expect("(");
    const Span base = tokens.peek().span;
    const Reg src = record_register(tokens);
    tokens.expect(")");
    require_writable(dst);
    if (kind == CodeItem::Kind::field_address && src == dst.reg())
        tokens.fail(base, "the address needs a register of its own",
                    "the one that points at the record is still used when it is written");
    step(kind, insn::make(0, dst.reg(), src, 0, 0), Relocation::Kind::field_offset, name);
    steps_.back().insn.refs[0].to.name.erase(0, 1);  // the '@'
    return true;
}

// The name of a field has taken all steps that are whole.
void FormParser::refuse_half_path(AsmTokens tokens) {
    const AsmToken sign = tokens.peek();
    if (!sign.glued || !(tokens.accept("-") ? tokens.is(">") : sign.is("[") || sign.is(":")))
        return;
    tokens.fail({sign.span.begin, tokens.peek().span.end}, "no part of a variable is named here",
                "write names with '->', '.' and [NUMBER]: @req->parts[2].len(r6)");
}

Reg FormParser::record_register(AsmTokens& tokens) {
    const AsmToken base = tokens.expect_word("the register that points at the record");
    const auto reg = find_register(base.text);
    if (!reg || reg->is_low)
        tokens.fail(base.span, cat("'", base.text, "' cannot point at the record"),
                    "a register from r1 to r9 does");
    return reg->reg;
}

bool FormParser::text(AsmTokens& tokens, const Target& dst) {
    const AsmToken text = tokens.next();
    require_writable(dst);
    if (text.text.find('\\') != text.text.npos)
        tokens.fail(text.span, "a text in the program has no escapes");
    const auto halves = insn::load_imm64(dst.reg(), 0);
    step(CodeItem::Kind::insn, halves[0], Relocation::Kind::constant, text);
    steps_.back().insn.insns.push_back(halves[1]);
    return true;
}

void FormParser::address(AsmTokens& tokens, const Target& dst) {
    tokens.expect("&");
    const Operand to = operand(tokens);
    require_writable(dst);
    const std::string name = to_text(dst.name);
    if (to.base != dst.reg())
        step(insn::mov(dst.reg(), to.base), cat(name, " = ", to_text(RegName{to.base, false})));
    if (to.offset != 0)
        step(insn::alu64(AluOp::add, dst.reg(), static_cast<__s32>(to.offset)),
             cat(name, " += ", to.path));
    pointed_bytes_ = to.bytes;
    if (to.base == Reg::fp)
        pointed_alignment_ = std::size_t{1}
                             << std::countr_zero(static_cast<std::uint64_t>(to.offset));
}

void FormParser::require_writable(const Target& dst) const {
    if (dst.name.is_low)
        throw SourceError(source_, dst.span,
                          cat("'", to_text(dst.name), "' has 32 bits: this fills the register"),
                          cat("write ", to_text(RegName{dst.reg(), false})));
    if (dst.reg() == Reg::fp)
        throw SourceError(source_, dst.span, "r10 is the frame pointer and cannot be written");
}

FormParser::Operand FormParser::operand(AsmTokens& tokens) const {
    const AsmToken path = tokens.expect_word("a variable or a member");
    const AsmSymbols::Place* place = work_.symbols.find_place(path.text);
    if (!place && work_.symbols.is_forgiven(path.text)) throw AlreadyTold();
    if (!place)
        tokens.fail(path.span, cat("no variable or member is named '", path.text, "'"),
                    did_you_mean(path.text, work_.symbols.places()));
    Operand made{Reg::fp, place->offset, place->bytes, std::string(path.text), path.span};
    if (tokens.is("(")) {
        const AsmToken open = tokens.next();
        const AsmToken base = tokens.expect_word("the register that points at the structure");
        const auto reg = find_register(base.text);
        if (!reg || reg->is_low)
            tokens.fail(base.span, cat("'", base.text, "' cannot point at the structure"),
                        "a register from r0 to r9 does");
        tokens.expect(")");
        if (place->is_on_stack)
            tokens.fail(tokens.since(open),
                        cat("'", path.text, "' is on the stack, where r10 points"),
                        cat("write ", path.text, " alone"));
        made.base = reg->reg;
        made.span = tokens.since(path);
    } else if (!place->is_on_stack) {
        tokens.fail(path.span,
                    cat("'", path.text, "' needs the register that points at the structure"),
                    cat("as in ", path.text, "(r7)"));
    }
    return made;
}

// exit NUMBER
bool FormParser::leave() {
    const AsmToken word = tokens_.next();
    if (tokens_.at_end()) return false;
    const AsmToken first = tokens_.peek();
    FormStep set;
    set.insn = parse_assigned(tokens_, {Reg::r0, false}, names_);
    set.text = cat("r0 = ", tokens_.text_of(tokens_.since(first)));
    steps_.push_back(std::move(set));
    step(insn::leave(), std::string(word.text));
    return true;
}

void FormParser::zero() {
    tokens_.next();
    const Operand to = operand(tokens_);
    require_accessible(to);
    for_each_access(to, to, [&](std::size_t at, Width width) {
        const auto more = static_cast<std::int64_t>(at);
        step(insn::store(width, to.base, static_cast<__s16>(to.offset + more), 0),
             cat(access_text(width, to.base, to.path, at), " = 0"));
    });
}

void FormParser::copy() {
    tokens_.next();
    const Operand to = operand(tokens_);
    tokens_.expect(",");
    if (is_field_name(tokens_.peek())) return copy_field(to);
    const Operand from = operand(tokens_);
    require_copyable(to);
    require_copyable(from);
    if (to.bytes != from.bytes)
        tokens_.fail(
            {to.span.begin, from.span.end},
            cat("'", to.path, "' has ", to.bytes, " bytes, '", from.path, "' has ", from.bytes));
    for_each_access(to, from, [&](std::size_t at, Width width) {
        const auto more = static_cast<std::int64_t>(at);
        step(insn::load(width, kScratch, from.base, static_cast<__s16>(from.offset + more)),
             cat("r5 = ", access_text(width, from.base, from.path, at)));
        step(insn::store(width, to.base, static_cast<__s16>(to.offset + more), kScratch),
             cat(access_text(width, to.base, to.path, at), " = r5"));
    });
}

// copy OPERAND, @FIELD(r6). Numbers take the operand's width, whatever the field's is. Texts are
// copied as if the field began at a multiple of 8: the linker checks that, and that the field has
// so many bytes.
void FormParser::copy_field(const Operand& to) {
    const AsmToken field = tokens_.next();
    refuse_half_path(tokens_);
    tokens_.expect("(");
    const Reg base = record_register(tokens_);
    tokens_.expect(")");
    require_copyable(to);
    if (const auto width = width_of_number(to.bytes)) {
        step(CodeItem::Kind::load_field, insn::make(0, kScratch, base, 0, 0),
             Relocation::Kind::field_offset, field);
        steps_.back().insn.refs[0].to.name.erase(0, 1);  // the '@'
        steps_.back().text = cat("r5 = ", field.text, '(', to_text(RegName{base, false}), ')');
        return step(insn::store(*width, to.base, static_cast<__s16>(to.offset), kScratch),
                    cat(access_text(*width, to.base, to.path, 0), " = r5"));
    }
    const Operand from{base, 0, to.bytes, std::string(field.text), field.span};
    for_each_access(to, from, [&](std::size_t at, Width width) {
        step(insn::load(width, kScratch, base, 0),
             cat("r5 = ", access_text(width, base, field.text, at)));
        InsnRef ref{{}, field.span, InsnRef::Slot::off};
        ref.to.kind = Relocation::Kind::field_offset;
        ref.to.name = field.text.substr(1);
        ref.to.addend = static_cast<std::int64_t>(at);
        steps_.back().insn.refs = {std::move(ref)};
        step(insn::store(width, to.base,
                         static_cast<__s16>(to.offset + static_cast<std::int64_t>(at)), kScratch),
             cat(access_text(width, to.base, to.path, at), " = r5"));
    });
}

// The widest that are aligned in both, as if the registers pointed at multiples of 8: r10 does, and
// so do values of maps.
template <class Take>
void FormParser::for_each_access(const Operand& a, const Operand& b, Take take) {
    for (std::size_t at = 0; at < a.bytes;) {
        Width width = Width::b;
        for (const Width wider : {Width::h, Width::w, Width::dw}) {
            const auto bytes = static_cast<std::int64_t>(bytes_of(wider));
            const auto more = static_cast<std::int64_t>(at);
            const bool is_aligned =
                (a.offset + more) % bytes == 0 && (b.offset + more) % bytes == 0;
            if (is_aligned && at + bytes_of(wider) <= a.bytes) width = wider;
        }
        take(at, width);
        at += bytes_of(width);
    }
}

void FormParser::require_accessible(const Operand& operand) const {
    if (operand.bytes > kMaxBytes)
        throw SourceError(source_, operand.span,
                          cat("'", operand.path, "' has ", operand.bytes, " bytes: this takes ",
                              kMaxBytes, " at most"),
                          "copy more with probe_read_kernel");
    const std::int64_t end = operand.offset + static_cast<std::int64_t>(operand.bytes);
    if (end > std::numeric_limits<__s16>::max())
        throw SourceError(source_, operand.span,
                          cat("'", operand.path, "' ends ", end, " bytes behind ",
                              to_text(RegName{operand.base, false}), ": an access reaches 32767"),
                          "put its address into a register");
}

void FormParser::require_copyable(const Operand& operand) const {
    require_accessible(operand);
    if (operand.base == kScratch)
        throw SourceError(source_, operand.span, "a copy goes through r5",
                          "point with another register");
}

void FormParser::step(const bpf_insn& one, std::string said) {
    FormStep made;
    made.insn.insns = {one};
    made.text = std::move(said);
    steps_.push_back(std::move(made));
}

void FormParser::step(CodeItem::Kind kind, const bpf_insn& one, Relocation::Kind relocation,
                      const AsmToken& name) {
    FormStep made;
    made.kind = kind;
    made.insn.insns = {one};
    InsnRef ref{{}, name.span, InsnRef::Slot::imm};
    ref.to.kind = relocation;
    ref.to.name = name.text;
    made.insn.refs = {std::move(ref)};
    steps_.push_back(std::move(made));
}

std::optional<std::vector<FormStep>> parse_form(AsmWork& work, std::size_t source, Span line) {
    return FormParser(work, source, line).parse();
}

}  // namespace gpufs
