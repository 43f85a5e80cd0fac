#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lang/print_fmt/expr.h"

namespace gpufs {

// A token of the C code in a "print fmt".
struct CToken {
    enum class Kind { end, word, number, text, character, sign };
    Kind kind = Kind::end;
    std::string_view text;  // as written; a string or character without its quotes
};

// Splits a text into tokens, with one token of lookahead. Cheap to copy; a copy saves the position,
// to backtrack to.
class CTokens {
public:
    // Like advance(), throws Error when a quote is not closed.
    explicit CTokens(std::string_view text) : rest_(text) { advance(); }

    const CToken& peek() const { return token_; }
    void advance();
    bool at_end() const { return token_.kind == CToken::Kind::end; }

    bool is(std::string_view sign) const {
        return token_.kind == CToken::Kind::sign && token_.text == sign;
    }
    bool is_word() const { return token_.kind == CToken::Kind::word; }
    // Consumes the sign if it is next.
    bool accept(std::string_view sign);
    // Both throw Error when something else is next.
    void expect(std::string_view sign);
    std::string_view expect_word();
    // Consumes a C type if one is next. A pointer type is Kind::bytes with the size of its target;
    // an unknown type has size 0.
    std::optional<CType> accept_type();

private:
    void take(CToken::Kind kind, std::size_t length);
    void take_quoted(CToken::Kind kind, char quote);

    std::string_view rest_;
    CToken token_;
};

// Decodes the escape sequence whose backslash was just consumed, and removes it from `rest`.
char unescaped(std::string_view& rest);
void append_unescaped(std::string& out, std::string_view text);

}  // namespace gpufs
