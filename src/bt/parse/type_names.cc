// Types as scripts write them, in casts, sizeof() and declarations.

#include <algorithm>
#include <array>

#include "base/cat.h"
#include "bt/parse/parser.h"
#include "bt/syntax/words.h"

namespace gpufs::bt {
namespace {

// Words that change nothing about where a value lies.
constexpr auto kQualifiers = std::to_array<std::string_view>(
    {"const",     "volatile",      "static",        "extern",   "inline",       "register",
     "restrict",  "__restrict",    "__user",        "__kernel", "__rcu",        "__percpu",
     "__iomem",   "__inline",      "__inline__",    "__const",  "__volatile__", "__restrict__",
     "_Noreturn", "__extension__", "_Thread_local", "__thread"});

bool is_qualifier(const Token& token) {
    return token.kind == Token::Kind::word &&
           std::ranges::find(kQualifiers, token.text) != kQualifiers.end();
}
bool is_keyword_of_type(const Token& token) {
    return token.is("struct") || token.is("union") || token.is("enum");
}
TypeName::Kind kind_of(const Token& keyword) {
    if (keyword.is("struct")) return TypeName::Kind::structure;
    return keyword.is("union") ? TypeName::Kind::union_ : TypeName::Kind::enumeration;
}

// Longer ones are no cast: whether one is ahead is asked at each parenthesis.
constexpr std::size_t kLongestTypeof = 100;

}  // namespace

void Parser::qualifiers() {
    while (is_qualifier(peek()) || attribute() || alignas_())
        if (is_qualifier(peek())) take();
}

// "struct sock *", "unsigned int", "uint8[4]", "typeof($x)".
TypeName Parser::type_name() {
    const Deeper deeper(*this);
    const Token first = peek();
    TypeName type;
    qualifiers();
    if (is_keyword_of_type(peek())) {
        const Token keyword = take();
        type.kind = kind_of(keyword);
        type.name = expect_word(cat("the name of the ", keyword.text)).text;
    } else if (take_if("typeof")) {
        expect("(", "behind typeof");
        if (is_type_ahead(0))
            type = type_name();
        else
            type.of = expression();
        expect(")", "of typeof");
    } else if (peek().kind == Token::Kind::word && is_c_type_part(peek().text)) {
        while (peek().kind == Token::Kind::word &&
               (is_c_type_part(peek().text) || is_qualifier(peek()))) {
            const Token part = take();
            if (is_qualifier(part)) continue;
            type.name += cat(type.name.empty() ? "" : " ", part.text);
        }
    } else if (peek().kind == Token::Kind::word && !is_reserved(peek().text)) {
        type.name = take().text;
    } else {
        fail_missing("a type", "types are written uint64, struct task_struct *, string[16]");
    }
    type_suffix(type, true);
    type.at = from(first);
    return type;
}

void Parser::type_suffix(TypeName& type, bool may_have_dimensions) {
    for (;;) {
        qualifiers();
        if (is("*")) {
            if (!type.dimensions.empty()) fail(peek(), "cannot point to an array");
            take();
            ++type.pointers;
        } else if (may_have_dimensions && is("[")) {
            take();
            type.dimensions.push_back(is("]") ? 0 : length("the length of the array"));
            expect("]", "behind the length of the array");
        } else {
            return;
        }
    }
}

// The tokens ahead that a type takes, from `ahead` on: the index behind it; 0 where there is none.
std::size_t Parser::behind_type(std::size_t ahead) const {
    while (is_qualifier(peek(ahead))) ++ahead;
    if (peek(ahead).kind != Token::Kind::word) return 0;
    if (is_keyword_of_type(peek(ahead))) {
        ahead += 2;
    } else if (is("typeof", ahead)) {
        std::size_t depth = 0;
        const std::size_t begin = ahead;
        do {
            ++ahead;
            depth += is("(", ahead) ? 1 : 0;
            depth -= depth > 0 && is(")", ahead) ? 1 : 0;
        } while (depth > 0 && ahead - begin < kLongestTypeof);
        ++ahead;
    } else if (is_c_type_part(peek(ahead).text)) {
        while (peek(ahead).kind == Token::Kind::word &&
               (is_c_type_part(peek(ahead).text) || is_qualifier(peek(ahead))))
            ++ahead;
    } else if (is_reserved(peek(ahead).text)) {
        return 0;
    } else {
        ++ahead;
    }
    for (;;) {
        if (is("*", ahead) || is_qualifier(peek(ahead)))
            ++ahead;
        else if (is("[", ahead) && is("]", ahead + 1))
            ahead += 2;
        else if (is("[", ahead) && is("]", ahead + 2))
            ahead += 3;
        else
            return ahead;
    }
}

// Whether what is ahead can be nothing but a type.
bool Parser::is_type_ahead(std::size_t ahead) const {
    const Token& token = peek(ahead);
    if (is_keyword_of_type(token) || token.is("typeof") || is_qualifier(token)) return true;
    if (token.kind != Token::Kind::word || is("(", ahead + 1)) return false;
    return is_type_word(token.text) || is_c_type_part(token.text) ||
           work_.typedefs.contains(token.text);
}

// Whether "(TYPE)" is ahead: for a name that need not be one of a type, what follows decides.
bool Parser::is_cast_ahead() const {
    const std::size_t end = behind_type(1);
    if (end == 0 || !is(")", end)) return false;
    if (is_type_ahead(1) || is("*", end - 1)) return true;
    using Kind = Token::Kind;
    const Token& next = peek(end + 1);
    switch (next.kind) {
        case Kind::word:
            return !is_reserved(next.text) || next.is("sizeof") || next.is("offsetof");
        case Kind::variable:
        case Kind::map:
        case Kind::positional:
        case Kind::positional_count:
        case Kind::number:
        case Kind::string:
            return true;
        case Kind::sign:
            return next.is("(") || next.is("~") || next.is("!");
        default:
            return false;
    }
}

}  // namespace gpufs::bt
