#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lang/print_fmt/expr.h"

namespace gpufs {

// The words of the C that stands in a "print fmt".
struct CToken {
    enum class Kind { end, word, number, text, character, sign };
    Kind kind = Kind::end;
    std::string_view text;  // as written; a string or character without its quotes
};

// Splits a text into tokens, one ahead. Cheap to copy: a copy is a place to come back to.
class CTokens {
public:
    // Throws Error when a quote is not closed, as does advance().
    explicit CTokens(std::string_view text) : rest_(text) { advance(); }

    const CToken& peek() const { return token_; }
    void advance();
    bool at_end() const { return token_.kind == CToken::Kind::end; }

    bool is(std::string_view sign) const {
        return token_.kind == CToken::Kind::sign && token_.text == sign;
    }
    bool is_word() const { return token_.kind == CToken::Kind::word; }
    // Steps over the sign, if it stands here.
    bool accept(std::string_view sign);
    // Throw Error when something else stands here.
    void expect(std::string_view sign);
    std::string_view expect_word();
    // Steps over a type, if one stands here. A pointer type is Kind::bytes with the size of what it
    // points at; a type nobody knows has size 0.
    std::optional<CType> accept_type();

private:
    void take(CToken::Kind kind, std::size_t length);
    void take_quoted(CToken::Kind kind, char quote);

    std::string_view rest_;
    CToken token_;
};

// The character that a backslash and the front of `rest` mean; steps over it.
char unescaped(std::string_view& rest);
void append_unescaped(std::string& out, std::string_view text);

}  // namespace gpufs
