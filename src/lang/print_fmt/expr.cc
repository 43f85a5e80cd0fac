#include "lang/print_fmt/expr.h"

#include <algorithm>
#include <optional>

#include "base/scan.h"
#include "lang/print_fmt/kernel_printf.h"
#include "lang/print_fmt/parser.h"

namespace gpufs {

using Op = CNode::Op;
using Kind = CType::Kind;

struct PrintParser::Operator {
    std::string_view sign;
    int level;  // higher binds tighter
    Op op;
    bool compares = false;
    bool swaps = false;  // compute a > b as b < a
};

namespace {

// Formats may come from untrusted files: neither parser nor evaluation may exhaust the stack.
constexpr int kMaxNesting = 200;
constexpr std::uint16_t kMaxDepth = 500;
// They must not run forever either: locals are evaluated at each use, so a few lines could require
// 2^60 loads. Limits one value as well as the sum of a format's values.
constexpr std::size_t kMostSteps = 100'000;
// For each quote that might end the format, all the rest is parsed.
constexpr int kMostQuotes = 100;

class Nested {
public:
    explicit Nested(int& level) : level_(level) {
        if (level_ >= kMaxNesting) throw Error("nests too deeply");
        ++level_;
    }
    ~Nested() { --level_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

private:
    int& level_;
};

// C's usual arithmetic conversions; the result is at least an int.
CType common_type(CType a, CType b) {
    const auto promoted = [](CType t) {
        if (t.kind != Kind::integer) return kUnsignedLong;
        return t.size < 4 ? kInt : t;
    };
    a = promoted(a);
    b = promoted(b);
    if (a.size != b.size) return a.size > b.size ? a : b;
    return a.is_signed ? b : a;
}

// True for operators that can be evaluated without a record.
bool folds(Op op) {
    return op != Op::constant && op <= Op::cast && op != Op::load;
}

// The number of values that the format takes.
std::size_t values_of(std::string_view format) {
    std::size_t count = 0;
    Conversion c;
    for (auto at = format.find('%'); at != format.npos; at = format.find('%', at)) {
        at = parse_conversion(format, at + 1, c);
        count += static_cast<std::size_t>(c.takes_width) + c.takes_precision + (c.letter != '%');
    }
    return count;
}

}  // namespace

std::vector<CNodeId> PrintParser::arguments() {
    std::vector<CNodeId> values;
    std::size_t steps = 0;
    while (!tokens_.at_end()) {
        values.push_back(argument());
        steps += steps_[values.back()];
        if (steps > kMostSteps) throw Error("takes too many steps");
        if (tokens_.at_end()) break;
        tokens_.expect(",");
    }
    return values;
}

// Parses one argument. One that needs a kernel variable ("jiffies") or how large a kernel's
// structure is becomes unknown, so that the rest of the line can still be printed.
CNodeId PrintParser::argument() {
    const CTokens start = tokens_;
    try {
        return expression();
    } catch (const UnknownName&) {
        tokens_ = start;
    }
    for (int depth = 0; !tokens_.at_end() && (depth > 0 || !tokens_.is(",")); tokens_.advance()) {
        if (tokens_.is("(") || tokens_.is("{")) ++depth;
        if (tokens_.is(")") || tokens_.is("}")) --depth;
    }
    return add({.op = Op::unknown, .type = kText});
}

CNodeId PrintParser::add(CNode node) {
    bool all_constant = folds(node.op);
    std::uint16_t depth = 0;
    std::size_t steps = 1;
    for (const CNodeId child : {node.a, node.b, node.c}) {
        if (child == kNoNode) continue;
        depth = std::max(depth, depths_[child]);
        steps += steps_[child];
        all_constant = all_constant && tree_.nodes[child].op == Op::constant;
    }
    if (depth >= kMaxDepth) throw Error("nests too deeply");
    if (steps > kMostSteps) throw Error("takes too many steps");
    tree_.nodes.push_back(node);
    depths_.push_back(static_cast<std::uint16_t>(depth + 1));
    steps_.push_back(static_cast<std::uint32_t>(steps));
    const auto id = static_cast<CNodeId>(tree_.nodes.size() - 1);
    if (all_constant) {
        tree_.nodes[id] = {.op = Op::constant, .type = node.type, .value = tree_.integer(id, {})};
        depths_[id] = 1;
        steps_[id] = 1;
    }
    return id;
}

CNodeId PrintParser::constant(std::uint64_t value, CType type) {
    return add({.op = Op::constant, .type = type, .value = value});
}

CNodeId PrintParser::cast_to(CType type, CNodeId a) {
    const CType from = type_of(a);
    if (from.kind == type.kind && from.size == type.size && from.is_signed == type.is_signed &&
        from.is_bool == type.is_bool)
        return a;
    if (from.kind == Kind::text) return a;
    return add({.op = Op::cast, .type = type, .a = a});
}

CNodeId PrintParser::as_number(CNodeId id) const {
    if (kind_of(id) == Kind::text || kind_of(id) == Kind::bytes)
        throw Error("computes with a place in the record");
    return id;
}

CNodeId PrintParser::as_bytes(CNodeId id) const {
    if (kind_of(id) != Kind::bytes) throw Error("needs the bytes of a field");
    return id;
}

CNodeId PrintParser::binary(Op op, CType type, CNodeId a, CNodeId b) {
    return add({.op = op, .type = type, .a = a, .b = b});
}

CNodeId PrintParser::arithmetic(Op op, CNodeId a, CNodeId b) {
    as_number(a), as_number(b);
    if (op == Op::shift_left || op == Op::shift_right) {
        const CType type = common_type(type_of(a), kInt);
        return binary(op, type, cast_to(type, a), b);
    }
    const CType type = common_type(type_of(a), type_of(b));
    return binary(op, type, cast_to(type, a), cast_to(type, b));
}

CNodeId PrintParser::comparison(Op op, CNodeId a, CNodeId b) {
    const CNodeId id = arithmetic(op, a, b);
    tree_.nodes[id].type = kInt;
    return id;
}

CNodeId PrintParser::expression() {
    const Nested here(nesting_);
    const CNodeId condition = binary_above(0);
    if (!tokens_.accept("?")) return condition;
    as_number(condition);
    const CNodeId yes = expression();
    tokens_.expect(":");
    const CNodeId no = expression();
    const auto is_number = [&](CNodeId id) {
        return kind_of(id) == Kind::integer || kind_of(id) == Kind::address;
    };
    CNode node{.op = Op::choose, .type = kText, .a = condition, .b = yes, .c = no};
    if (is_number(yes) && is_number(no)) {
        node.type = kind_of(yes) == Kind::address || kind_of(no) == Kind::address
                        ? kAddress
                        : common_type(type_of(yes), type_of(no));
        node.b = cast_to(node.type, yes);
        node.c = cast_to(node.type, no);
    } else {
        node.type =
            kind_of(yes) == Kind::bytes && kind_of(no) == Kind::bytes ? type_of(yes) : kText;
    }
    return add(node);
}

CNodeId PrintParser::binary_above(int level) {
    static constexpr Operator kOperators[] = {
        {"||", 1, Op::logical_or},
        {"&&", 2, Op::logical_and},
        {"|", 3, Op::bit_or},
        {"^", 4, Op::bit_xor},
        {"&", 5, Op::bit_and},
        {"==", 6, Op::equal, true},
        {"!=", 6, Op::not_equal, true},
        {"<", 7, Op::less, true},
        {">", 7, Op::less, true, true},
        {"<=", 7, Op::less_equal, true},
        {">=", 7, Op::less_equal, true, true},
        {"<<", 8, Op::shift_left},
        {">>", 8, Op::shift_right},
        {"+", 9, Op::add},
        {"-", 9, Op::subtract},
        {"*", 10, Op::multiply},
        {"/", 10, Op::divide},
        {"%", 10, Op::modulo},
    };
    CNodeId left = unary();
    for (;;) {
        const auto* const found = std::ranges::find_if(
            kOperators, [&](const Operator& o) { return tokens_.is(o.sign) && o.level > level; });
        if (found == std::end(kOperators)) return left;
        tokens_.advance();
        const CNodeId right = binary_above(found->level);
        left = combine(*found, left, right);
    }
}

CNodeId PrintParser::combine(const Operator& o, CNodeId left, CNodeId right) {
    if (o.op == Op::logical_and || o.op == Op::logical_or)
        return binary(o.op, kInt, as_number(left), as_number(right));
    if (o.compares) {
        return o.swaps ? comparison(o.op, right, left) : comparison(o.op, left, right);
    }
    if (o.op == Op::add && kind_of(right) == Kind::bytes) std::swap(left, right);
    if (o.op == Op::add && kind_of(left) == Kind::bytes)
        return binary(Op::plus_bytes, type_of(left), left, as_number(right));
    return arithmetic(o.op, left, right);
}

CNodeId PrintParser::unary() {
    const Nested here(nesting_);
    if (tokens_.accept("-")) return unary_number(Op::negate);
    if (tokens_.accept("~")) return unary_number(Op::complement);
    if (tokens_.accept("+")) return unary();
    if (tokens_.accept("!")) {
        const CNodeId a = as_number(unary());
        return add({.op = Op::logical_not, .type = kInt, .a = a});
    }
    if (tokens_.accept("&")) {
        const CNodeId a = unary();
        CNode& node = tree_.nodes[a];
        // The address of a scalar: undo the load.
        if (node.op == Op::load) {
            node.op = Op::field_bytes;
            node.type.kind = Kind::bytes;
        }
        return as_bytes(a);
    }
    if (tokens_.accept("*")) return element(unary(), constant(0, kInt));
    if (tokens_.is_word() && tokens_.peek().text == "sizeof") return size_of();
    return postfix(primary());
}

CNodeId PrintParser::unary_number(Op op) {
    const CNodeId a = as_number(unary());
    const CType type = common_type(type_of(a), kInt);
    return add({.op = op, .type = type, .a = cast_to(type, a)});
}

CNodeId PrintParser::size_of() {
    tokens_.advance();
    tokens_.expect("(");
    std::size_t size = 0;
    if (const auto type = tokens_.accept_type()) {
        size = type->kind == Kind::integer ? type->size : 8;
    } else {
        const CNode& node = tree_.nodes[expression()];
        size = node.op == Op::field_bytes ? node.size : node.type.size;
    }
    tokens_.expect(")");
    if (size == 0) throw UnknownName("sizeof something of unknown size");
    return constant(size, kUnsignedLong);
}

CNodeId PrintParser::element(CNodeId from, CNodeId at) {
    const CType bytes = type_of(as_bytes(from));
    if (bytes.size != 1 && bytes.size != 2 && bytes.size != 4 && bytes.size != 8)
        throw Error("takes an element of unknown size");
    const CNode &place = tree_.nodes[from], &index = tree_.nodes[at];
    // A field's element at a constant index is read like a field.
    if (place.op == Op::field_bytes && index.op == Op::constant && index.value < 1000) {
        const auto offset = static_cast<std::uint32_t>(index.value * bytes.size);
        return add({.op = Op::load,
                    .type = {Kind::integer, bytes.size, bytes.is_signed},
                    .offset = place.offset + offset,
                    .size = bytes.size});
    }
    return add({.op = Op::index,
                .type = {Kind::integer, bytes.size, bytes.is_signed},
                .a = from,
                .b = as_number(at)});
}

CNodeId PrintParser::postfix(CNodeId id) {
    for (;;) {
        if (tokens_.accept("->") || tokens_.accept(".")) {
            const std::string_view name = tokens_.expect_word();
            id = tree_.nodes[id].op == Op::record ? field(name) : rect_member(id, name);
        } else if (tokens_.accept("[")) {
            id = element(id, expression());
            tokens_.expect("]");
        } else {
            return id;
        }
    }
}

CNodeId PrintParser::primary() {
    if (tokens_.peek().kind == CToken::Kind::text) return text();
    if (tokens_.peek().kind == CToken::Kind::number) return number();
    if (tokens_.peek().kind == CToken::Kind::character) return character();
    if (tokens_.accept("(")) return parenthesis();
    return named(tokens_.expect_word());
}

CNodeId PrintParser::character() {
    std::string_view rest = tokens_.peek().text;
    if (rest.empty()) throw Error("has an empty character");
    char c = rest.front();
    rest.remove_prefix(1);
    if (c == '\\' && !rest.empty()) c = unescaped(rest);
    tokens_.advance();
    return constant(static_cast<std::uint64_t>(c), kInt);
}

CNodeId PrintParser::text() {
    std::string joined;
    for (; tokens_.peek().kind == CToken::Kind::text; tokens_.advance())
        append_unescaped(joined, tokens_.peek().text);
    return literal(joined);
}

CNodeId PrintParser::literal(std::string_view joined) {
    const std::size_t at = tree_.literals.size();
    tree_.literals += joined;
    return add({.op = Op::literal,
                .type = kText,
                .value = at,
                .size = static_cast<std::uint32_t>(joined.size())});
}

CNodeId PrintParser::number() {
    std::string_view digits = tokens_.peek().text;
    std::string_view suffix;
    while (!digits.empty() && std::string_view("uUlL").find(digits.back()) != digits.npos) {
        suffix = tokens_.peek().text.substr(digits.size() - 1);
        digits.remove_suffix(1);
    }
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
        digits.remove_prefix(2);
        base = 16;
    } else if (digits.size() > 1 && digits.starts_with('0')) {
        base = 8;
    }
    const auto number = whole_number<std::uint64_t>(digits, base);
    if (!number) throw Error(cat("'", tokens_.peek().text, "' is no number"));
    const std::uint64_t value = *number;
    const bool is_unsigned = suffix.find_first_of("uU") != suffix.npos;
    const bool is_long = suffix.find_first_of("lL") != suffix.npos;
    tokens_.advance();
    // C's rule for literals: the first type of its list that can hold the value.
    const bool is_decimal = base == 10;
    if (!is_long && !is_unsigned && value <= 0x7fffffff) return constant(value, kInt);
    if (!is_long && (is_unsigned || !is_decimal) && value <= 0xffffffff)
        return constant(value, {Kind::integer, 4, false});
    if (!is_unsigned && value <= 0x7fffffffffffffff)
        return constant(value, {Kind::integer, 8, true});
    return constant(value, kUnsignedLong);
}

CNodeId PrintParser::parenthesis() {
    if (tokens_.accept("{")) return statement_expression();
    if (const auto type = tokens_.accept_type()) {
        tokens_.expect(")");
        const CNodeId a = unary();
        return converted(*type, a);
    }
    const CNodeId inside = expression();
    tokens_.expect(")");
    return inside;
}

// (type)value; a pointer type determines how an array in the record is read.
CNodeId PrintParser::converted(CType type, CNodeId a) {
    const Kind from = kind_of(a);
    if (from == Kind::bytes && type.kind == Kind::bytes)
        return add({.op = Op::cast, .type = type, .a = a});
    if (from == Kind::bytes || from == Kind::text) return a;
    if (type.kind == Kind::bytes) return cast_to(kAddress, a);
    return type.size == 0 ? a : cast_to(type, a);  // size 0: a type nobody knows
}

// ({ type name = value; ...; value; }): the expansion of min() and max().
CNodeId PrintParser::statement_expression() {
    for (;;) {
        if (const auto type = tokens_.accept_type()) {
            const std::string name(tokens_.expect_word());
            tokens_.expect("=");
            locals_[name] = converted(*type, expression());
            tokens_.expect(";");
            continue;
        }
        const CNodeId value = expression();
        tokens_.accept(";");
        tokens_.expect("}");
        tokens_.expect(")");
        return value;
    }
}

PrintArguments parse_print_arguments(const EventFormat& event, CTree& tree) {
    const std::string_view text = event.print_format;
    if (!text.starts_with('"')) throw Error("does not start with a string");
    // The kernel writes the format unescaped though the arguments are escaped, so it may contain a
    // quote. The string ends at the first quote behind which the rest can be parsed.
    std::string format;
    std::optional<Error> reason;
    int quotes = 0;
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) {
            std::string_view rest = text.substr(++i);
            format += unescaped(rest);
            continue;
        }
        if (text[i] != '"') {
            format += text[i];
            continue;
        }
        const auto next = text.find_first_not_of(" \n", i + 1);
        if (next != text.npos && text[next] == '"' && next > i + 1) {
            i = next;  // "one" "two"
            continue;
        }
        if (next == text.npos || text[next] == ',') {
            if (++quotes > kMostQuotes) throw Error("has too many quotes that may end its string");
            tree = {};
            try {
                PrintArguments found;
                if (next != text.npos)
                    found.values = PrintParser(event, tree, text.substr(next + 1)).arguments();
                if (found.values.size() < values_of(format))
                    throw Error("has fewer values than conversions");
                found.format = std::move(format);
                return found;
            } catch (const Error& error) {
                if (!reason) reason = error;
            }
        }
        format += '"';
    }
    throw reason ? *reason : Error("has a string that is not closed");
}

}  // namespace gpufs
