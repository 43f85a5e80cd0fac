#include "lang/print_fmt/c_tokens.h"

#include <algorithm>

#include "base/c_integer.h"
#include "base/error.h"
#include "base/scan.h"

namespace gpufs {
namespace {

using Kind = CType::Kind;

std::optional<CType> find_type(std::string_view name) {
    const auto found = find_integer_typedef(name);
    if (!found) return std::nullopt;
    return CType{Kind::integer, found->bytes, found->is_signed, found->is_bool};
}

// A type of one word: "u32", "void", or any "..._t", whose size is unknown.
std::optional<CType> find_whole_type(std::string_view word) {
    if (const auto known = find_type(word)) return known;
    if (word == "void" || word.ends_with("_t")) return CType{Kind::integer, 0, false};
    return std::nullopt;
}

std::size_t word_length(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::find_if_not(text, is_word_char) - text.begin());
}

}  // namespace

void CTokens::advance() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
    if (rest_.empty()) {
        token_ = {};
        return;
    }
    const char c = rest_.front();
    if (is_digit(c)) return take(CToken::Kind::number, word_length(rest_));
    if (is_word_char(c)) return take(CToken::Kind::word, word_length(rest_));
    if (c == '"') return take_quoted(CToken::Kind::text, '"');
    if (c == '\'') return take_quoted(CToken::Kind::character, '\'');
    for (const std::string_view sign : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->"})
        if (rest_.starts_with(sign)) return take(CToken::Kind::sign, 2);
    take(CToken::Kind::sign, 1);
}

void CTokens::take(CToken::Kind kind, std::size_t length) {
    token_ = {kind, rest_.substr(0, length)};
    rest_.remove_prefix(length);
}

void CTokens::take_quoted(CToken::Kind kind, char quote) {
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != quote) end += rest_[end] == '\\' ? 2 : 1;
    if (end >= rest_.size()) throw Error("has a quote that is not closed");
    token_ = {kind, rest_.substr(1, end - 1)};
    rest_.remove_prefix(end + 1);
}

bool CTokens::accept(std::string_view sign) {
    if (!is(sign)) return false;
    advance();
    return true;
}

void CTokens::expect(std::string_view sign) {
    if (!accept(sign)) throw Error(cat("expected '", sign, "' before '", token_.text, "'"));
}

std::string_view CTokens::expect_word() {
    if (!is_word()) throw Error(cat("expected a name before '", token_.text, "'"));
    const std::string_view name = token_.text;
    advance();
    return name;
}

std::optional<CType> CTokens::accept_type() {
    const CTokens start = *this;
    std::optional<CType> type;
    bool is_unsigned = false, is_signed = false, is_int = false, is_long = false;
    for (; is_word(); advance()) {
        const std::string_view word = token_.text;
        if (word == "const" || word == "volatile" || word == "static" || word == "__force") {
            continue;
        } else if (word == "unsigned") {
            is_unsigned = true;
        } else if (word == "signed") {
            is_signed = true;
        } else if (word == "long") {
            is_long = true;
        } else if (word == "int") {
            is_int = true;
        } else if (word == "short") {
            type = CType{Kind::integer, 2, true};
        } else if (word == "char") {
            type = CType{Kind::integer, 1, true};
        } else if (word == "struct" || word == "union" || word == "enum") {
            type = CType{Kind::integer, word == "enum" ? std::uint8_t{4} : std::uint8_t{0}, false};
            advance();  // the name of the struct, union or enum
        } else {
            // A one-word type, if no type was seen before.
            const bool has_type = type || is_unsigned || is_signed || is_long || is_int;
            const auto whole = has_type && word != "void" ? std::nullopt : find_whole_type(word);
            if (!whole) break;
            type = whole;
        }
    }
    const bool is_basic = is_unsigned || is_signed || is_long || is_int;
    if (!type && !is_basic) {
        *this = start;
        return std::nullopt;
    }
    if (!type) type = CType{Kind::integer, is_long ? std::uint8_t{8} : std::uint8_t{4}, true};
    if (is_unsigned) type->is_signed = false;
    if (is_signed) type->is_signed = true;
    int stars = 0;
    for (; is("*") || (is_word() && token_.text == "const"); advance()) stars += is("*");
    if (stars > 1) return CType{Kind::address, 8, false};
    if (stars == 1) type->kind = Kind::bytes;
    return type;
}

char unescaped(std::string_view& rest) {
    const char c = rest.front();
    rest.remove_prefix(1);
    switch (c) {
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case 'r':
            return '\r';
        case '0':
            return '\0';
        default:
            return c;  // a quote, a backslash, or an escape that C does not have
    }
}

void append_unescaped(std::string& out, std::string_view text) {
    while (!text.empty()) {
        const char c = text.front();
        text.remove_prefix(1);
        out += c == '\\' && !text.empty() ? unescaped(text) : c;
    }
}

}  // namespace gpufs
