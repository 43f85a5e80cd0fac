#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "bt/syntax/mistake.h"

namespace gpufs::bt {

// A word of a script. `text` is a part of its source, as written.
struct Token {
    enum class Kind {
        end,
        word,              // pid, if, struct
        variable,          // $x
        map,               // @, @x
        positional,        // $1
        positional_count,  // $#
        number,            // 12, 0x1f, 5ms: whatever begins with a digit
        string,            // with its quotes
        character,         // 'a', with its quotes: in C and in directives
        sign,              // the longest that fits: <<=, ->, {
        attach_point,      // kprobe:vfs_*, with quotes and $1 as written
        predicate_end,     // the second / of a predicate
        directive,         // a line that begins with #, with those that it goes on in
        strange,           // what begins no other: in C and in directives, where it may be unused
    };
    Kind kind = Kind::end;
    bool begins_item = false;       // a probe, a definition
    bool has_blank_before = false;  // a blank, a comment or a line's begin
    bool is_in_function = false;    // between the braces of a function in C
    std::uint8_t pack = 0;          // of #pragma pack, where the token is used; 0: none
    SourceRef at;
    std::string_view text;

    // Whether it is this word or sign.
    bool is(std::string_view word_or_sign) const {
        return (kind == Kind::word || kind == Kind::sign) && text == word_or_sign;
    }
};

// What is said of characters outside of C.
inline constexpr const char* kNoQuotes = "single quotes mean nothing here";
inline constexpr const char* kNoQuotesHint = "texts stand in \"double quotes\"";

// Takes a script apart. Which words are possible depends on the place: attach points are read raw,
// and what a '/' is depends on whether a predicate is open; so it follows braces and items.
class Lexer {
public:
    enum class Mode {
        script,  // as described
        header,  // all of it is C
        line,    // the inside of a directive: no items; a backslash at a line's end is a blank
    };
    // Reads source.text[part]. Mistakes go to `report`, and what they are about is skipped.
    Lexer(const SourceText& source, SourceRef part, Mode mode, std::function<void(Mistake)> report);

    // A token of kind `end` at the end, again and again.
    Token next();
    // Goes to the next line that begins with #, or to the end.
    void skip_to_directive();

private:
    enum class Place { item, points, predicate, body, declaration };

    char at(std::size_t offset) const { return offset < end_ ? text_[offset] : '\0'; }
    bool is_among_points() const { return mode_ == Mode::script && place_ <= Place::points; }
    bool skip_blanks();
    std::size_t after_blanks(std::size_t from) const;
    void skip_comment();
    bool begins_line() const;
    Token token(Token::Kind kind, std::size_t begin) const;
    void report(std::size_t begin, std::size_t end, std::string message,
                std::string_view hint = {});

    bool is_in_c() const {
        return mode_ == Mode::header || (place_ == Place::declaration && is_c_definition_);
    }
    // Where the text or the character in quotes that begins here ends; 0 where none does, or it has
    // no end in its line.
    std::size_t quoted_end() const;
    Token directive();
    Token attach_point();
    Token string();
    Token dollar();
    Token sign();
    void follow(const Token& token);
    void follow_c(const Token& token);
    void follow_brace(bool opens);
    bool goes_on_behind_brace() const;
    bool looks_like_probe() const;

    std::string_view text_;
    std::size_t source_, at_, end_;
    Mode mode_;
    std::function<void(Mistake)> report_;
    Place place_ = Place::item;
    std::size_t braces_ = 0;         // open ones
    bool is_c_definition_ = false;   // the declaration is a C one, which ends at a ';'
    bool is_behind_braces_ = false;  // … whose braces were closed
    bool is_function_ = false;       // … of a function, in whose braces the text is
    // In front of the braces: open parentheses, whether those that were opened last are parameters,
    // and the last words and signs.
    std::size_t parentheses_ = 0;
    bool are_parameters_ = false;
    std::string_view last_, before_last_;
    bool behind_operand_ = false;  // the last token ends an operand
};

}  // namespace gpufs::bt
