#include "lang/insn/value.h"

#include <algorithm>
#include <limits>

#include "base/suggest.h"
#include "lang/insn/names.h"

namespace gpufs {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::string_view kTooLarge = "the value does not fit 64 bits";
constexpr Int128 kMin = std::numeric_limits<std::int64_t>::min();
constexpr Int128 kMax = std::numeric_limits<std::uint64_t>::max();

// Operators of one family have equal precedence and associate to the left.
enum class Family { none, times, plus, shift, bit_and, bit_xor, bit_or };

struct Operator {
    std::string_view sign;
    Family family;
    int precedence;
};
constexpr Operator kOperators[] = {
    {"|", Family::bit_or, 1}, {"^", Family::bit_xor, 2}, {"&", Family::bit_and, 3},
    {"<<", Family::shift, 4}, {">>", Family::shift, 4},  {"+", Family::plus, 5},
    {"-", Family::plus, 5},   {"*", Family::times, 6},   {"/", Family::times, 6},
    {"%", Family::times, 6},
};

const Operator* find_operator(const AsmToken& token) {
    const auto it =
        std::ranges::find_if(kOperators, [&](const Operator& op) { return token.is(op.sign); });
    return it == std::end(kOperators) ? nullptr : it;
}

// True if C and LLVM's assembler agree on grouping `inner` below `outer`. LLVM's precedence is * /
// % << >> first, then & | ^, then + -.
bool groups_alike(Family outer, Family inner) {
    if (inner == Family::none || inner == outer) return true;
    const bool outer_is_bits =
        outer == Family::bit_and || outer == Family::bit_xor || outer == Family::bit_or;
    if (inner == Family::times) return outer == Family::plus || outer_is_bits;
    return inner == Family::shift && outer_is_bits;
}

class ValueParser {
public:
    ValueParser(AsmTokens& tokens, const AsmNames& names) : tokens_(tokens), names_(names) {}

    AsmValue parse() { return binary(0).value; }

private:
    // `family` is that of the outermost operator, none inside parentheses.
    struct Term {
        AsmValue value;
        Family family = Family::none;
    };

    Term binary(int above) {
        Term left = unary();
        for (;;) {
            const Operator* op = find_operator(tokens_.peek());
            if (!op || op->precedence <= above) return left;
            const AsmToken sign = tokens_.next();
            Term right = binary(op->precedence);
            for (const Term* side : {&left, &right})
                if (!groups_alike(op->family, side->family))
                    tokens_.fail(sign.span, "this needs parentheses",
                                 "C and LLVM's assembler would group it differently");
            left.value = apply(*op, sign, left.value, right.value);
            left.family = op->family;
        }
    }

    Term unary() {
        // A loop, not recursion: a thousand signs need no stack.
        std::string signs;
        const AsmToken first = tokens_.peek();
        while (tokens_.is("-") || tokens_.is("+") || tokens_.is("~")) signs += tokens_.next().text;
        AsmValue value = primary();
        const Span at{first.span.begin, value.span.end};
        for (; !signs.empty(); signs.pop_back()) {
            if (signs.back() == '+') continue;
            refuse_later(value, signs.back() == '-' ? "negated" : "inverted");
            value.number = signs.back() == '-' ? -value.number : ~value.number;
            check_size(at, value.number);
        }
        value.span = at;
        return {value, Family::none};
    }

    AsmValue primary() {
        const AsmToken token = tokens_.peek();
        if (token.is_number()) {
            tokens_.next();
            return {static_cast<Int128>(token.number), {}, token.span, {}};
        }
        if (token.is("(")) {
            tokens_.next();
            AsmValue value = inner(token);
            tokens_.expect(")");
            value.span = tokens_.since(token);
            return value;
        }
        if (!token.is_word()) tokens_.fail_expected("a number");
        return name();
    }

    // Parses the value inside parentheses; `open` is the opening one.
    AsmValue inner(const AsmToken& open) {
        if (++depth_ > kMaxDepth) tokens_.fail(open.span, "too many parentheses");
        AsmValue value = binary(0).value;
        --depth_;
        return value;
    }

    Int128 fallback() {
        const AsmValue value = inner(tokens_.peek());
        refuse_later(value, "a fallback");
        return value.number;
    }

    AsmValue name() {
        const AsmToken word = tokens_.next();
        if (find_register(word.text))
            tokens_.fail(word.span, cat("'", word.text, "' is a register; a number belongs here"));
        NameUse use{word.text, {}, word.span};
        if (tokens_.is("(") && tokens_.peek().glued) {
            tokens_.next();
            const AsmToken argument = tokens_.expect_word("a name");
            while (tokens_.accept(":")) tokens_.expect_word("the name in the module");
            if (tokens_.accept("[")) {
                if (!tokens_.peek().is_number()) tokens_.fail_expected("a number");
                tokens_.next();
                tokens_.expect("]");
            }
            use.argument_span = tokens_.since(argument);
            use.argument = tokens_.text_of(use.argument_span);
            if (tokens_.accept("?")) use.fallback = fallback();
            tokens_.expect(")");
            use.span = tokens_.since(word);
        }
        const NameMeaning meaning = names_.meaning_of(use);
        if (meaning.kind == NameMeaning::Kind::number) return {meaning.number, {}, use.span, {}};
        if (meaning.kind == NameMeaning::Kind::later)
            return {0, meaning.relocation, use.span, use.span};
        const std::vector<std::string> known =
            names_.known ? names_.known() : std::vector<std::string>();
        tokens_.fail(use.span, cat("no constant is named '", tokens_.text_of(use.span), "'"),
                     did_you_mean(use.name, known));
    }

    AsmValue apply(const Operator& op, const AsmToken& sign, const AsmValue& a, const AsmValue& b) {
        AsmValue result{0, {}, {a.span.begin, b.span.end}, {}};
        if (a.later || b.later) {
            const AsmValue& named = a.later ? a : b;
            const bool may_move =
                op.sign == "+" ? !(a.later && b.later) : op.sign == "-" && !b.later;
            if (!may_move) refuse_later(named, cat("combined by '", op.sign, "'"));
            result.later = named.later;
            result.later_span = named.later_span;
        }
        result.number = compute(op, sign, a.number, b);
        check_size(result.span, result.number);
        return result;
    }

    Int128 compute(const Operator& op, const AsmToken& sign, Int128 a, const AsmValue& right) {
        const Int128 b = right.number;
        switch (sign.text[0]) {
            case '+':
                return a + b;
            case '-':
                return a - b;
            case '*':
                // The product might not fit in 128 bits.
                if (bits(a) + bits(b) > 126) tokens_.fail(sign.span, kTooLarge);
                return a * b;
            case '/':
            case '%':
                if (b == 0) tokens_.fail(right.span, "division by zero");
                return op.sign == "/" ? a / b : a % b;
            case '&':
                return a & b;
            case '^':
                return a ^ b;
            case '|':
                return a | b;
        }
        if (b < 0 || b > 63) tokens_.fail(right.span, "a shift moves by 0 to 63 bits");
        if (op.sign == ">>" && a < 0)
            tokens_.fail(sign.span, "a negative number is not shifted right",
                         "C keeps its sign and LLVM's assembler does not; divide instead");
        return op.sign == "<<" ? a * (static_cast<Int128>(1) << b) : a >> b;
    }

    static int bits(Int128 number) {
        int n = 0;
        for (Int128 rest = number < 0 ? -number : number; rest != 0; rest >>= 1) ++n;
        return n;
    }

    void refuse_later(const AsmValue& value, std::string_view how) {
        if (!value.later) return;
        tokens_.fail(
            value.later_span,
            cat("'", tokens_.text_of(value.later_span), "' is not known yet and cannot be ", how),
            "it may stand alone, or with a number added to it");
    }

    void check_size(Span at, Int128 number) {
        if (number < kMin || number > kMax) tokens_.fail(at, kTooLarge);
    }

    AsmTokens& tokens_;
    const AsmNames& names_;
    int depth_ = 0;
};

}  // namespace

AsmValue parse_asm_value(AsmTokens& tokens, const AsmNames& names) {
    return ValueParser(tokens, names).parse();
}

bool begins_value(const AsmToken& token) {
    if (token.is_word()) return !find_register(token.text);
    return token.is_number() || token.is("(") || token.is("-") || token.is("+") || token.is("~");
}

std::string to_text(Int128 number) {
    std::string digits;
    const bool is_negative = number < 0;
    do {
        const int digit = static_cast<int>(number % 10);
        digits.insert(digits.begin(), static_cast<char>('0' + (digit < 0 ? -digit : digit)));
        number /= 10;
    } while (number != 0);
    return is_negative ? '-' + digits : digits;
}

}  // namespace gpufs
