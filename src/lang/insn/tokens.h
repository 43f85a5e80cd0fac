#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/scan.h"
#include "base/source.h"

namespace gpufs {

// A piece of assembly text.
struct AsmToken {
    enum class Kind {
        end,     // the end of the range; comments are skipped
        word,    // a name: letters, digits, '_', '.', '$'; it may begin with '@' or '.'. Behind '@'
                 // also a path: "@req->len", "@table[3]", "@ns::head", "@*next"
        number,  // decimal, or hexadecimal with 0x: `number`
        text,    // "in quotes": `text` without them, backslashes as written
        sign,    // an operator or a bracket, the longest that fits: "<<=", "==", "+", "("
    };
    Kind kind = Kind::end;
    std::string_view text;
    Span span;
    std::uint64_t number = 0;
    bool glued = false;  // no blank between the token before and this one

    bool is_word() const { return kind == Kind::word; }
    bool is_number() const { return kind == Kind::number; }
    bool is_end() const { return kind == Kind::end; }
    // A word or sign that reads exactly so.
    bool is(std::string_view word_or_sign) const {
        return (kind == Kind::word || kind == Kind::sign) && text == word_or_sign;
    }
};

// Splits a range of a source text, usually one line, into tokens, with one token of lookahead.
// Blanks and newlines separate tokens; ';' and '#' start a comment to the end of the line. Keeps a
// reference to the source. Cheap to copy; a copy saves the position, to backtrack to. All members
// that advance throw SourceError at an invalid token: "12abc", "010" (octal to LLVM, ten to a
// reader), an unclosed quote.
class AsmTokens {
public:
    AsmTokens(const SourceText& source, Span range);

    const AsmToken& peek() const { return token_; }
    bool at_end() const { return token_.is_end(); }
    bool is(std::string_view word_or_sign) const { return token_.is(word_or_sign); }

    // Consumes the token and returns it.
    AsmToken next();
    // Consumes the word or sign if it is next.
    bool accept(std::string_view word_or_sign);
    // Throws SourceError "expected X, found Y" when something else is next.
    AsmToken expect(std::string_view word_or_sign);
    // `what` completes "expected ...", for example "a label".
    AsmToken expect_word(std::string_view what);
    void expect_end();

    // From now on, a '#' without blanks around it is a sign, as in "call bpf_map_lookup_elem#1".
    void take_hash_as_sign() { hash_is_sign_ = true; }

    // The last comment skipped, without its ';' or '#'.
    Span comment() const { return comment_; }

    const SourceText& source() const { return *source_; }
    std::string_view text_of(Span span) const;
    // From the begin of `from` to the end of the last token consumed.
    Span since(const AsmToken& from) const { return {from.span.begin, last_end_}; }

    // Throws SourceError "expected `what`, found ..." at the next token.
    [[noreturn]] void fail_expected(std::string_view what, std::string_view hint = {}) const;
    [[noreturn]] void fail(Span at, std::string_view message, std::string_view hint = {}) const;

private:
    void skip_blank();
    void read();
    void read_number();
    void take(AsmToken::Kind kind, std::size_t length);
    std::string_view rest() const;

    const SourceText* source_;
    std::size_t at_, end_;
    std::size_t last_end_;
    bool hash_is_sign_ = false;
    Span comment_;
    AsmToken token_;
};

// True for characters of a name. A name does not begin with a digit.
bool is_name_char(char c);

}  // namespace gpufs
