#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/cat.h"
#include "base/scan.h"
#include "lang/expr/expr.h"

namespace gpufs {
namespace {

constexpr std::size_t kMaxDepth = 64;

// Characters of an unquoted value: those of names, paths, patterns and addresses, and all non-ASCII
// bytes (UTF-8).
bool is_bare(char c) {
    return is_word_char(c) || static_cast<unsigned char>(c) >= 0x80 ||
           (c != '\0' && std::string_view("*?[].:/-+@%,#^$\\").find(c) != std::string_view::npos);
}

struct OpWord {
    std::string_view word;
    CompareOp op;
    std::string_view flipped;  // the operator to use when its sides are swapped
};
// Longer operators first: the first match is taken.
constexpr std::array kOps{
    OpWord{"==", CompareOp::eq, "=="},    OpWord{"!=", CompareOp::ne, "!="},
    OpWord{"<=", CompareOp::le, ">="},    OpWord{">=", CompareOp::ge, "<="},
    OpWord{"<", CompareOp::lt, ">"},      OpWord{">", CompareOp::gt, "<"},
    OpWord{"&", CompareOp::bit_and, "&"}, OpWord{"~", CompareOp::glob, "~"},
};

// Operators of other languages, and the hint to give for each.
struct Slip {
    std::string_view word, meant;
};
constexpr std::array kOpSlips{
    Slip{"=~", "write ~ to compare with a pattern"},
    Slip{"!~", "write !(FIELD ~ PATTERN)"},
    Slip{"=>", "write >="},
    Slip{"=<", "write <="},
    Slip{"<>", "write != for 'is not'"},
    Slip{"=", "write == to compare"},
};
constexpr std::array kWordSlips{
    Slip{"and", "write &&"}, Slip{"AND", "write &&"}, Slip{"or", "write ||"},
    Slip{"OR", "write ||"},  Slip{"not", "write !"},  Slip{"NOT", "write !"},
};
constexpr std::string_view kQuotesHint =
    "put quotes around a text with spaces or other signs in it";
constexpr std::string_view kOpsHint = "the operators are == != < <= > >= & ~";

template <std::size_t N>
std::string hint_for(const std::array<Slip, N>& slips, std::string_view word) {
    const auto it = std::ranges::find(slips, word, &Slip::word);
    return it == slips.end() ? std::string() : std::string(it->meant);
}

// Decimal, 0x hexadecimal or 0 octal, as kstrtoull(base 0) reads them. Absent when the word is not
// a number; `fits` is false when the number exceeds 64 bits.
struct Number {
    std::uint64_t magnitude = 0;
    bool is_negative = false, fits = true;
};
std::optional<Number> parse_number(std::string_view word) {
    Number number;
    if (word.starts_with('-')) {
        number.is_negative = true;
        word.remove_prefix(1);
    }
    int base = 10;
    if (word.starts_with("0x") || word.starts_with("0X")) {
        base = 16;
        word.remove_prefix(2);
    } else if (word.size() > 1 && word[0] == '0') {
        base = 8;
    }
    if (word.empty() || word[0] == '-') return std::nullopt;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number.magnitude, base);
    if (error == std::errc::invalid_argument || stop != end) return std::nullopt;
    constexpr std::uint64_t kLowest = std::uint64_t{1} << 63;
    number.fits = error == std::errc() && !(number.is_negative && number.magnitude > kLowest);
    if (number.magnitude == 0) number.is_negative = false;
    return number;
}

class Parser {
public:
    explicit Parser(const SourceText& source) : source_(source), text_(source.text) {}

    ExprNode parse() {
        if (const auto nul = text_.find('\0'); nul != text_.npos)
            fail({nul, nul + 1}, "a NUL byte does not belong here");
        skip_space();
        if (at_end())
            throw SourceError(source_, {0, 0}, "the condition is empty",
                              "a condition is FIELD OPERATOR VALUE, for example prev_state == 2");
        ExprNode root = any_of();
        if (!at_end()) fail_after_condition();
        return root;
    }

private:
    // Each function below starts at a token and stops at the next one, with blanks skipped.

    ExprNode any_of() { return chain(ExprNode::Kind::any_of, "||"); }
    ExprNode all_of() { return chain(ExprNode::Kind::all_of, "&&"); }

    ExprNode chain(ExprNode::Kind kind, std::string_view connective) {
        const auto term = [&] { return kind == ExprNode::Kind::any_of ? all_of() : unary(); };
        ExprNode first = term();
        if (!looking_at(connective)) return first;
        ExprNode node;
        node.kind = kind;
        add_term(node, std::move(first));
        while (looking_at(connective)) {
            take(connective.size());
            add_term(node, term());
        }
        return node;
    }

    // Flattens `a && (b && c)` to `a && b && c`, one node.
    static void add_term(ExprNode& node, ExprNode term) {
        if (term.kind == node.kind)
            std::ranges::move(term.terms, std::back_inserter(node.terms));
        else
            node.terms.push_back(std::move(term));
    }

    ExprNode unary() {
        const std::size_t begin = at_;
        if (looking_at("!") && !looking_at("!=") && !looking_at("!~")) {
            deeper();
            take(1);
            ExprNode node;
            node.kind = ExprNode::Kind::negation;
            node.terms.push_back(unary());
            --depth_;
            return node;
        }
        if (looking_at("(")) {
            deeper();
            take(1);
            if (looking_at(")")) fail({begin, at_ + 1}, "there is no condition in the parentheses");
            ExprNode node = any_of();
            if (at_end()) fail({begin, begin + 1}, "this '(' is never closed", "add a ')'");
            if (!looking_at(")")) fail_after_condition();
            take(1);
            --depth_;
            return node;
        }
        ExprNode node;
        node.predicate = predicate();
        return node;
    }

    void deeper() {
        if (++depth_ > kMaxDepth)
            fail({at_, at_ + 1}, cat("parentheses and ! nest deeper than ", kMaxDepth));
    }

    Predicate predicate() {
        Predicate p;
        p.field_span = field();
        p.field = text_of(p.field_span);
        if (looking_at(".")) {
            p.suffix_span = suffix();
            p.suffix = text_of(p.suffix_span).substr(1);
        }
        skip_space();
        p.op_span = {at_, at_};
        p.op = compare_op(p);
        p.op_span.end = at_;
        last_ = p.op_span;
        skip_space();
        p.value = value();
        last_ = p.value.span;
        bare_text_ = p.value.kind == Literal::Kind::text && !p.value.is_quoted;
        compared_bits_ = p.op == CompareOp::bit_and;
        skip_space();
        return p;
    }

    Span field() {
        const Span here{at_, at_ + 1};
        if (at_end() || looking_at(")") || looking_at("&&") || looking_at("||")) {
            if (last_.end > 0)
                fail(last_, cat("a condition is missing after '", text_of(last_), "'"));
            if (looking_at(")")) fail(here, "this ')' closes nothing");
            fail({at_, at_ + 2}, cat("a condition is missing before '", text_.substr(at_, 2), "'"));
        }
        const Span name = run(is_word_char);
        if (name.end > name.begin && is_word_start(text_[name.begin])) {
            at_ = name.end;
            if (text_of(name) == "not" || text_of(name) == "NOT") {
                skip_space();
                if (!at_end() && (looking_at("(") || is_word_start(text_[at_])))
                    fail(name, cat("'", text_of(name), "' is no operator here"),
                         hint_for(kWordSlips, text_of(name)));
                at_ = name.end;
            }
            return name;
        }
        if (looking_at("\"") || looking_at("'") || is_digit(text_[at_]) || looking_at("-"))
            fail_value_first();
        fail(this_character(),
             cat("a field's name was expected, not '", text_of(this_character()), "'"),
             looking_at("$") ? "a field has no '$' in front: retval, arg0" : "");
    }

    Span suffix() {
        const std::size_t begin = at_++;
        const Span name = run(is_word_char);
        at_ = name.end;
        const Span whole{begin, name.end};
        if (text_of(name) != "ustring" && text_of(name) != "function")
            fail(whole, cat("'", text_of(whole), "' is unknown behind a field"),
                 "there are .ustring (text in user memory) and .function (an address)");
        return whole;
    }

    CompareOp compare_op(const Predicate& p) {
        if (at_end() || looking_at(")") || looking_at("&&") || looking_at("||")) {
            const std::string_view op = text_of(last_) == "!" ? "==" : "!=";
            fail({p.field_span.begin, std::max(p.field_span.end, p.suffix_span.end)},
                 cat("'", p.field, "' is not compared with anything"),
                 p.suffix.empty() ? cat("write for example ", p.field, ' ', op, " 0")
                                  : std::string(kOpsHint));
        }
        for (const Slip& slip : kOpSlips) {
            const bool is_equal_sign = slip.word == "=";
            if (looking_at(slip.word) && !(is_equal_sign && looking_at("==")))
                fail({at_, at_ + slip.word.size()}, cat("'", slip.word, "' is no operator here"),
                     std::string(slip.meant));
        }
        for (const OpWord& op : kOps) {
            if (!looking_at(op.word)) continue;
            at_ += op.word.size();
            return op.op;
        }
        const Span found = is_word_char(text_[at_]) ? run(is_word_char) : this_character();
        fail(found,
             cat("an operator was expected after '", p.field, "', not '", text_of(found), "'"),
             std::string(kOpsHint));
    }

    Literal value() {
        Literal value;
        value.span = {at_, at_};
        if (at_end() || looking_at(")") || looking_at("&&") || looking_at("||"))
            fail(last_, cat("a value is missing after '", text_of(last_), "'"));
        if (looking_at("\"") || looking_at("'"))
            quoted(value);
        else if (looking_at("CPUS{"))
            cpu_list(value);
        else
            bare(value);
        value.span.end = at_;
        return value;
    }

    void quoted(Literal& value) {
        const auto close = text_.find(text_[at_], at_ + 1);
        if (close == text_.npos)
            fail({at_, at_ + 1}, "this quote is never closed", cat("add a ", text_[at_]));
        value.kind = Literal::Kind::text;
        value.is_quoted = true;
        value.text = text_.substr(at_ + 1, close - at_ - 1);
        at_ = close + 1;
    }

    void cpu_list(Literal& value) {
        const std::size_t open = at_ + 4;
        const auto close = text_.find('}', open);
        if (close == text_.npos) fail({open, open + 1}, "this '{' is never closed", "add a '}'");
        value.kind = Literal::Kind::cpu_list;
        value.text = text_.substr(open + 1, close - open - 1);
        if (!parse_kernel_cpu_list(value.text))
            fail({at_, close + 1}, cat("'", value.text, "' is not a list of CPUs"),
                 "write CPUs as numbers and ranges: CPUS{0-3,7}");
        at_ = close + 1;
    }

    void bare(Literal& value) {
        // Typographic “quotes” copied from a web page; each is three bytes of UTF-8.
        for (const std::string_view quote : {"\u201c", "\u201d", "\u2018", "\u2019"})
            if (looking_at(quote))
                fail({at_, at_ + quote.size()}, cat("'", quote, "' is no quote here"),
                     "write \" around a text");
        const Span word = run(is_bare);
        if (word.end == word.begin) {
            const bool is_operator = looking_at("=") || looking_at("<") || looking_at(">");
            fail(this_character(),
                 cat("a value was expected after '", text_of(last_), "', not '",
                     text_of(this_character()), "'"),
                 is_operator ? "" : std::string(kQuotesHint));
        }
        value.text = text_of(word);
        if (value.text == "CPUS")
            fail(word, "CPUS needs a list in braces", "for example CPUS{0-3,7}");
        at_ = word.end;
        const auto number = parse_number(value.text);
        value.kind = number ? Literal::Kind::number : Literal::Kind::text;
        if (!number) return;
        if (!number->fits) fail(word, cat(value.text, " does not fit in 64 bits"));
        value.magnitude = number->magnitude;
        value.is_negative = number->is_negative;
    }

    // `2 == prev_state`: the kernel wants the field first.
    [[noreturn]] void fail_value_first() {
        const Span found = looking_at("\"") || looking_at("'") ? this_character() : run(is_bare);
        const std::string message = cat("a field's name was expected, not '", text_of(found), "'");
        std::string hint = "a condition begins with the field's name";
        Literal literal;
        literal.span = {at_, at_};
        if (is_digit(text_[at_]) || looking_at("-"))
            at_ = found.end;
        else
            quoted(literal);
        literal.span.end = at_;
        skip_space();
        for (const OpWord& op : kOps) {
            if (!looking_at(op.word)) continue;
            at_ += op.word.size();
            skip_space();
            const Span name = run(is_word_char);
            if (name.end > name.begin && is_word_start(text_[name.begin]))
                hint = cat("write ", text_of(name), ' ', op.flipped, ' ', text_of(literal.span));
            break;
        }
        fail(found, message, hint);
    }

    // Something other than && || or ) follows a complete condition.
    [[noreturn]] void fail_after_condition() {
        if (looking_at(")")) fail({at_, at_ + 1}, "this ')' closes nothing");
        if (looking_at("|")) fail({at_, at_ + 1}, "'|' is no operator here", "write ||");
        const bool is_comparison = std::ranges::any_of(
            kOps, [&](const OpWord& op) { return looking_at(op.word) && op.word != "&"; });
        if (is_comparison && compared_bits_)
            fail(operator_here(), cat("'", text_of(operator_here()), "' cannot follow an &"),
                 "FIELD & VALUE is true when any of the bits is set");
        if (is_comparison)
            fail(operator_here(), "a comparison cannot follow a comparison",
                 "join two conditions with &&");
        if (looking_at("&")) fail({at_, at_ + 1}, "'&' cannot join conditions", "write &&");
        const Span found = is_word_char(text_[at_]) ? run(is_word_char) : this_character();
        if (const std::string hint = hint_for(kWordSlips, text_of(found)); !hint.empty())
            fail(found, cat("'", text_of(found), "' is no operator here"), hint);
        fail(found, cat("&& or || was expected, not '", text_of(found), "'"),
             bare_text_ ? std::string(kQuotesHint) : "");
    }

    [[noreturn]] void fail(Span at, std::string_view message, std::string_view hint = {}) const {
        throw SourceError(source_, at, message, hint);
    }

    bool at_end() const { return at_ == text_.size(); }
    bool looking_at(std::string_view word) const { return text_.substr(at_).starts_with(word); }
    std::string_view text_of(Span span) const {
        return text_.substr(span.begin, span.end - span.begin);
    }
    void skip_space() {
        while (!at_end() && is_space(text_[at_])) ++at_;
    }
    // Steps over the next `n` bytes, a connective or a parenthesis.
    void take(std::size_t n) {
        last_ = {at_, at_ + n};
        at_ += n;
        skip_space();
    }
    Span run(bool (*belongs)(char)) const {
        std::size_t end = at_;
        while (end < text_.size() && belongs(text_[end])) ++end;
        return {at_, end};
    }
    Span operator_here() const {
        for (const OpWord& op : kOps)
            if (looking_at(op.word)) return {at_, at_ + op.word.size()};
        return this_character();
    }
    // One character, which in UTF-8 may be several bytes.
    Span this_character() const {
        std::size_t end = std::min(at_ + 1, text_.size());
        while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xc0) == 0x80) ++end;
        return {at_, end};
    }

    const SourceText& source_;
    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    Span last_;                   // the last token that needs an operand behind it
    bool bare_text_ = false;      // the last value was an unquoted text
    bool compared_bits_ = false;  // the last operator was &
};

void collect_fields(const ExprNode& node, std::vector<std::string>& names) {
    for (const ExprNode& term : node.terms) collect_fields(term, names);
    if (node.kind != ExprNode::Kind::predicate) return;
    const std::string& name = node.predicate.field;
    constexpr std::array<std::string_view, 4> kEverywhere{"CPU", "cpu", "COMM", "comm"};
    if (name.starts_with("common_") || std::ranges::count(kEverywhere, name)) return;
    if (!std::ranges::count(names, name)) names.push_back(name);
}

bool operator==(const Literal& a, const Literal& b) {
    if (a.kind != b.kind) return false;
    return a.kind == Literal::Kind::number ? a.bits() == b.bits() && a.is_negative == b.is_negative
                                           : a.text == b.text;
}

bool operator==(const Predicate& a, const Predicate& b) {
    return a.field == b.field && a.suffix == b.suffix && a.op == b.op && a.value == b.value;
}

}  // namespace

bool operator==(const ExprNode& a, const ExprNode& b) {
    if (a.kind != b.kind) return false;
    return a.kind == ExprNode::Kind::predicate ? a.predicate == b.predicate : a.terms == b.terms;
}

std::string_view to_text(CompareOp op) {
    return std::ranges::find(kOps, op, &OpWord::op)->word;
}

Expression parse_expression(SourceText source) {
    Expression expression{std::move(source), {}};
    expression.root = Parser(expression.source).parse();
    return expression;
}

std::vector<std::string> fields_of(const Expression& expression) {
    std::vector<std::string> names;
    collect_fields(expression.root, names);
    return names;
}

}  // namespace gpufs
