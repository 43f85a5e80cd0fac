#include "lang/expr/eval.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/bytes.h"
#include "base/cat.h"
#include "base/glob.h"

namespace gpufs {
namespace {

// Step indices that end the evaluation.
constexpr std::size_t kTrue = ~std::size_t{0};
constexpr std::size_t kFalse = kTrue - 1;

template <class T>
bool compare(CompareOp op, T a, T b) {
    switch (op) {
        case CompareOp::eq:
            return a == b;
        case CompareOp::ne:
            return a != b;
        case CompareOp::lt:
            return a < b;
        case CompareOp::le:
            return a <= b;
        case CompareOp::gt:
            return a > b;
        case CompareOp::ge:
            return a >= b;
        case CompareOp::bit_and:
            return (a & b) != 0;
        case CompareOp::glob:
            break;
    }
    return false;
}

bool contains(const std::vector<bool>& cpus, std::uint64_t cpu) {
    return cpu < cpus.size() && cpus[cpu];
}

// Reads a CPU's bit from a cpumask, an array of longs in this machine's byte order.
bool bit_of(RecordBytes mask, std::size_t cpu) {
    constexpr std::size_t kLong = sizeof(unsigned long);
    const std::size_t word = cpu / (kLong * 8) * kLong;
    const std::size_t byte = cpu / 8 % kLong;
    const std::size_t at =
        word + (std::endian::native == std::endian::little ? byte : kLong - 1 - byte);
    return at < mask.size() && (std::to_integer<unsigned>(mask[at]) >> (cpu % 8) & 1) != 0;
}

bool compare_cpus(CompareOp op, RecordBytes mask, const std::vector<bool>& cpus) {
    const std::size_t count = std::max(mask.size() * 8, cpus.size());
    bool is_equal = true, shares = false;
    for (std::size_t cpu = 0; cpu < count; ++cpu) {
        const bool in_mask = bit_of(mask, cpu), in_list = contains(cpus, cpu);
        is_equal = is_equal && in_mask == in_list;
        shares = shares || (in_mask && in_list);
    }
    return op == CompareOp::bit_and ? shares : is_equal == (op == CompareOp::eq);
}

// Compares like strncmp() over the field's bytes: when the field's text fills them without a NUL,
// the rest of `text` is ignored.
bool same_text(RecordBytes bytes, std::string_view text) {
    if (bytes.empty()) return text.empty();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char c = static_cast<char>(bytes[i]);
        if (c != (i < text.size() ? text[i] : '\0')) return false;
        if (c == '\0') break;
    }
    return true;
}

// The bytes of a text field. A `char buf[]` extends to the record's end.
RecordBytes text_bytes(const Field& field, RecordBytes record) {
    if (field.is_dynamic() || field.size > 0) return bytes_of(field, record);
    return field.offset <= record.size() ? record.subspan(field.offset) : RecordBytes{};
}

}  // namespace

SymbolLookup::Extent require_extent(const SymbolLookup* symbols, const SourceText& source,
                                    const Literal& function) {
    const bool is_name = function.kind == Literal::Kind::text;
    std::optional<SymbolLookup::Extent> extent;
    if (symbols && is_name && symbols->by_name) extent = symbols->by_name(function.text);
    if (symbols && !is_name && symbols->by_address)
        extent = symbols->by_address(function.magnitude);
    if (extent) return *extent;
    throw SourceError(source, function.span,
                      cat("no function ", is_name ? "named '" : "is known at ", function.text,
                          is_name ? "' is known" : ""));
}

bool filter_glob(std::string_view pattern, std::string_view text) {
    return glob_match(pattern, text, GlobRules::kernel);
}

// Compiles the tree to a list of steps with jumps, so that evaluation needs no recursion and stops
// at the first predicate that decides.
class ConditionCompiler {
public:
    ConditionCompiler(Condition& condition, const Expression& expression, const EventFormat& event,
                      const SymbolLookup* symbols)
        : condition_(condition), source_(expression.source), event_(event), symbols_(symbols) {}

    // Returns the index of the node's first step. Terms are compiled last to first, because each
    // needs the index of the next.
    std::size_t compile(const ExprNode& node, std::size_t if_true, std::size_t if_false) {
        std::size_t next = 0;
        switch (node.kind) {
            case ExprNode::Kind::negation:
                return compile(node.terms.at(0), if_false, if_true);
            case ExprNode::Kind::all_of:
                next = if_true;
                for (auto it = node.terms.rbegin(); it != node.terms.rend(); ++it)
                    next = compile(*it, next, if_false);
                return next;
            case ExprNode::Kind::any_of:
                next = if_false;
                for (auto it = node.terms.rbegin(); it != node.terms.rend(); ++it)
                    next = compile(*it, if_true, next);
                return next;
            case ExprNode::Kind::predicate:
                break;
        }
        Condition::Step step = make_step(node.predicate);
        step.if_true = if_true;
        step.if_false = if_false;
        condition_.steps_.push_back(std::move(step));
        return condition_.steps_.size() - 1;
    }

private:
    using Step = Condition::Step;
    using Test = Condition::Test;

    Step make_step(const Predicate& p) const {
        const Subject subject = find_subject(event_, p.field).value();
        Step step;
        step.op = p.op;
        if (subject.field) step.field = *subject.field;
        if (p.suffix == "function") {
            const SymbolLookup::Extent extent = require_extent(symbols_, source_, p.value);
            step.test = Test::extent;
            step.value = extent.begin;
            step.end = extent.end;
            return step;
        }
        if (p.value.kind == Literal::Kind::cpu_list)
            step.cpus = parse_kernel_cpu_list(p.value.text).value();
        step.value = p.value.bits();
        switch (subject.kind) {
            case Subject::Kind::integer:
                return integer_step(std::move(step));
            case Subject::Kind::cpu:
                step.test = step.cpus.empty() ? Test::cpu : Test::cpu_in_cpus;
                break;
            case Subject::Kind::cpumask:
                step.test = Test::cpumask;
                break;
            case Subject::Kind::text:
            case Subject::Kind::comm:
                step.test = subject.kind == Subject::Kind::text ? Test::text : Test::comm;
                return text_step(std::move(step), p);
            case Subject::Kind::text_pointer:
                throw SourceError(source_, p.field_span,
                                  cat("'", p.field,
                                      "' is the address of a text; a record has the "
                                      "address only"));
            case Subject::Kind::opaque:
                break;
        }
        return step;
    }

    // Compared with a CPU list, a field is unsigned. A list of one CPU is compared as a number in
    // all of the field's bits; for several CPUs the kernel truncates the field to an unsigned int.
    static Step integer_step(Step step) {
        if (!step.cpus.empty()) step.field.is_signed = false;
        const auto one = std::ranges::find(step.cpus, true);
        if (std::ranges::count(step.cpus, true) == 1) {
            step.value = static_cast<std::uint64_t>(one - step.cpus.begin());
            step.cpus.clear();
            if (step.op == CompareOp::bit_and) step.op = CompareOp::eq;
        }
        step.test = step.cpus.empty() ? Test::integer : Test::integer_in_cpus;
        return step;
    }

    static Step text_step(Step step, const Predicate& p) {
        step.text = p.value.text;
        if (p.op != CompareOp::glob) return step;
        step.is_inverted = step.text.starts_with('!');
        if (step.is_inverted) step.text.erase(0, 1);
        if (step.text.find_first_of("*?[\\") == step.text.npos) step.op = CompareOp::eq;
        return step;
    }

    Condition& condition_;
    const SourceText& source_;
    const EventFormat& event_;
    const SymbolLookup* symbols_;
};

Condition::Condition(const Expression& expression, const EventFormat& event,
                     const SymbolLookup* symbols) {
    check_expression(expression, event);
    first_ = ConditionCompiler(*this, expression, event, symbols)
                 .compile(expression.root, kTrue, kFalse);
}

bool Condition::needs_comm() const {
    return std::ranges::count(steps_, Test::comm, &Step::test) > 0;
}

bool Condition::holds(RecordBytes record, const RecordContext& context) const {
    std::size_t at = first_;
    while (at < kFalse) {
        const Step& step = steps_[at];
        at = test(step, record, context) ? step.if_true : step.if_false;
    }
    return at == kTrue;
}

bool Condition::test(const Step& step, RecordBytes record, const RecordContext& context) {
    const bool is_glob = step.op == CompareOp::glob;
    const bool is_denied = step.is_inverted || step.op == CompareOp::ne;
    switch (step.test) {
        case Test::integer: {
            const std::uint64_t value = integer_of(step.field, record);
            return step.field.is_signed ? compare(step.op, static_cast<std::int64_t>(value),
                                                  static_cast<std::int64_t>(step.value))
                                        : compare(step.op, value, step.value);
        }
        case Test::integer_in_cpus:
            return contains(step.cpus, static_cast<std::uint32_t>(integer_of(step.field, record)));
        case Test::extent: {
            const std::uint64_t address = integer_of(step.field, record);
            const bool is_inside = address >= step.value && address < step.end;
            return is_inside == (step.op == CompareOp::eq);
        }
        case Test::text: {
            const RecordBytes bytes = text_bytes(step.field, record);
            const bool is_match =
                is_glob ? filter_glob(step.text, up_to_nul(bytes)) : same_text(bytes, step.text);
            return is_match != is_denied;
        }
        case Test::cpumask:
            return compare_cpus(step.op, bytes_of(step.field, record), step.cpus);
        case Test::cpu:
            return compare(step.op, std::int64_t{context.cpu},
                           static_cast<std::int64_t>(step.value));
        case Test::cpu_in_cpus: {
            const bool is_in = contains(step.cpus, static_cast<std::uint32_t>(context.cpu));
            return is_in != is_denied;
        }
        case Test::comm: {
            const bool is_match =
                is_glob ? filter_glob(step.text, context.comm) : context.comm == step.text;
            return is_match != is_denied;
        }
    }
    return false;
}

}  // namespace gpufs
