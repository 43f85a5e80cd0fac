#include <utility>

#include "base/cat.h"
#include "lang/event/event_format.h"
#include "lang/expr/expr.h"

namespace gpufs {
namespace {

// A filter is set with one write(2), and the kernel accepts less than a page.
constexpr std::size_t kMaxFilter = 4095;

// Precedence of a node; a term needs parentheses inside a node of higher precedence.
int tightness(ExprNode::Kind kind) {
    switch (kind) {
        case ExprNode::Kind::any_of:
            return 1;
        case ExprNode::Kind::all_of:
            return 2;
        case ExprNode::Kind::negation:
        case ExprNode::Kind::predicate:
            break;
    }
    return 3;
}

// Rewrites a pattern that the kernel would match wrongly; expr.h lists the cases.
std::string working_pattern(std::string_view pattern, const Subject& subject) {
    const std::string_view bang = pattern.starts_with('!') ? "!" : "";
    pattern.remove_prefix(bang.size());
    if (pattern.find_first_of("*?[\\") == pattern.npos) return cat(bang, pattern);

    if (pattern[0] >= '0' && pattern[0] <= '9')
        return cat(bang, '[', pattern[0], ']', pattern.substr(1));
    // A second star in front makes the kernel use its general matcher, which stops at the text's
    // NUL.
    const bool is_array = subject.kind == Subject::Kind::comm ||
                          (subject.kind == Subject::Kind::text && !subject.field->is_dynamic());
    const bool begins_with_one_star =
        pattern[0] == '*' && pattern.size() > 1 && pattern.find_first_not_of('*') == 1;
    const auto inner = pattern.find_first_of("*?[\\", 1);
    const bool is_simple =
        inner == pattern.npos || (pattern[inner] == '*' && inner == pattern.size() - 1);
    if (is_array && begins_with_one_star && is_simple) return cat(bang, '*', pattern);
    return cat(bang, pattern);
}

class Writer {
public:
    explicit Writer(const EventFormat& event) : event_(event) {}

    void write(const ExprNode& node) {
        switch (node.kind) {
            case ExprNode::Kind::predicate:
                return write(node.predicate);
            case ExprNode::Kind::negation:
                // The kernel would accept `!a == 1`, but people read that as (!a) == 1.
                out_ += '!';
                for (const ExprNode& term : node.terms)
                    write(term, term.kind != ExprNode::Kind::negation);
                return;
            case ExprNode::Kind::all_of:
            case ExprNode::Kind::any_of:
                break;
        }
        const std::string_view between = node.kind == ExprNode::Kind::all_of ? " && " : " || ";
        bool is_first = true;
        for (const ExprNode& term : node.terms) {
            if (!std::exchange(is_first, false)) out_ += between;
            write(term, tightness(term.kind) < tightness(node.kind));
        }
    }

    std::string take() { return std::move(out_); }

private:
    void write(const ExprNode& node, bool in_parentheses) {
        if (in_parentheses) out_ += '(';
        write(node);
        if (!in_parentheses) return;
        // A function's name reaches up to the next space, so a ')' behind it would belong to it.
        if (ends_in_symbol_) out_ += ' ';
        out_ += ')';
        ends_in_symbol_ = false;
    }

    void write(const Predicate& p) {
        out_ += p.field;
        if (!p.suffix.empty()) out_ += '.' + p.suffix;
        append(out_, ' ');
        out_ += to_text(p.op);
        append(out_, ' ');
        ends_in_symbol_ = false;
        switch (p.value.kind) {
            case Literal::Kind::number:
                write_number(p.value);
                return;
            case Literal::Kind::cpu_list:
                out_ += cat("CPUS{", p.value.text, '}');
                return;
            case Literal::Kind::text:
                break;
        }
        if (p.suffix == "function") {
            out_ += p.value.text;
            ends_in_symbol_ = true;
            return;
        }
        const std::string text = p.op == CompareOp::glob
                                     ? working_pattern(p.value.text, *find_subject(event_, p.field))
                                     : p.value.text;
        const char quote = text.find('"') == text.npos ? '"' : '\'';
        out_ += quote;
        out_ += text;
        out_ += quote;
    }

    void write_number(const Literal& number) {
        // Keep the user's spelling, unless it is too long for the kernel's 24-byte buffer or is
        // "-0".
        const bool is_plain = number.text.empty() || number.text.size() > 23 ||
                              (number.magnitude == 0 && number.text[0] == '-');
        if (is_plain)
            out_ += cat(number.is_negative ? "-" : "", number.magnitude);
        else
            out_ += number.text;
    }

    const EventFormat& event_;
    std::string out_;
    bool ends_in_symbol_ = false;
};

}  // namespace

std::string to_filter(const Expression& expression, const EventFormat& event) {
    check_expression(expression, event);
    Writer writer(event);
    writer.write(expression.root);
    std::string filter = writer.take();
    if (filter.size() > kMaxFilter)
        throw SourceError(
            expression.source, {0, expression.source.text.size()},
            cat("the condition has ", filter.size(), " bytes; a filter has at most ", kMaxFilter));
    return filter;
}

}  // namespace gpufs
