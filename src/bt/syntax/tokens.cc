#include "bt/syntax/tokens.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/c_integer.h"
#include "base/cat.h"
#include "base/scan.h"
#include "bt/syntax/words.h"

namespace gpufs::bt {
namespace {

// Longer ones first: the first match is taken.
constexpr std::array<std::string_view, 46> kSigns{
    "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=",
    "*=",  "/=",  "%=", "&=", "|=", "^=", "++", "--", "->", "..", "##", "(",
    ")",   "[",   "]",  "{",  "}",  ";",  ",",  ".",  ":",  "?",  "+",  "-",
    "*",   "/",   "%",  "&",  "|",  "^",  "!",  "~",  "<",  ">",
};
constexpr std::string_view kLastSigns = "=#";
// Editors put it in front of a text in UTF-8.
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The words that items other than probes begin with.
constexpr auto kCWords = std::to_array<std::string_view>({
    "struct",
    "union",
    "enum",
    "typedef",
    "static",
    "extern",
    "inline",
    "__inline",
    "__inline__",
    "const",
    "volatile",
    "void",
    "_Noreturn",
    "__extension__",
    "__attribute__",
    "_Static_assert",
    "static_assert",
});
constexpr std::array<std::string_view, 5> kItemWords{"config", "import", "let", "macro", "fn"};

// Parentheses behind these words, and behind the name of a structure, are of no function.
constexpr std::array<std::string_view, 3> kAttributes{"__attribute__", "_Alignas", "typeof"};
constexpr std::array<std::string_view, 3> kTags{"struct", "union", "enum"};

bool is_one_of(std::string_view word, auto& words) {
    return std::ranges::find(words, word) != words.end();
}

bool begins_c(std::string_view word) {
    return is_one_of(word, kCWords) || is_c_type_part(word) || find_c_integer(word);
}

}  // namespace

Lexer::Lexer(const SourceText& source, SourceRef part, Mode mode,
             std::function<void(Mistake)> report)
    : text_(source.text),
      source_(part.source),
      at_(part.span.begin),
      end_(part.span.end),
      mode_(mode),
      report_(std::move(report)) {
    if (mode != Mode::script || at_ != 0) return;
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    if (text_.substr(at_).starts_with("#!")) at_ = std::min(text_.find('\n'), end_);
}

void Lexer::report(std::size_t begin, std::size_t end, std::string message, std::string_view hint) {
    report_({{source_, {begin, end}}, std::move(message), std::string(hint)});
}

Token Lexer::token(Token::Kind kind, std::size_t begin) const {
    Token token;
    token.kind = kind;
    token.at = {source_, {begin, at_}};
    token.text = text_.substr(begin, at_ - begin);
    return token;
}

// Where the comment that begins at `from` ends.
void Lexer::skip_comment() {
    const bool is_line = text_[at_ + 1] == '/';
    const std::size_t begin = at_;
    const std::size_t stop = text_.find(is_line ? "\n" : "*/", at_ + 2);
    if (stop == text_.npos && !is_line && mode_ != Mode::line)
        report(begin, begin + 2, "the comment is not closed", "*/ closes it");
    at_ = stop == text_.npos ? end_ : std::min(end_, stop + (is_line ? 0 : 2));
}

// Whether there were any.
bool Lexer::skip_blanks() {
    const std::size_t begin = at_;
    for (;;) {
        if (is_space(at(at_)))
            ++at_;
        else if (at(at_) == '/' && (at(at_ + 1) == '/' || at(at_ + 1) == '*'))
            skip_comment();
        else if (mode_ == Mode::line && at(at_) == '\\' && is_space(at(at_ + 1)))
            at_ += 2;
        else
            break;
    }
    return at_ != begin || begin == 0;
}

std::size_t Lexer::after_blanks(std::size_t from) const {
    Lexer ahead = *this;
    ahead.report_ = [](const Mistake&) {};
    ahead.at_ = from;
    ahead.skip_blanks();
    return ahead.at_;
}

// Whether only blanks are in front of this place in its line.
bool Lexer::begins_line() const {
    std::string_view before = text_.substr(0, at_);
    if (before.starts_with(kByteOrderMark)) before.remove_prefix(kByteOrderMark.size());
    const std::size_t last = before.find_last_not_of(" \t\r");
    return last == before.npos || before[last] == '\n';
}

Token Lexer::next() {
    for (;;) {
        const bool has_blank = skip_blanks();
        if (at_ >= end_) return token(Token::Kind::end, at_);
        const std::size_t begin = at_;
        const char c = text_[at_];
        if (braces_ > 0 && looks_like_probe()) {
            place_ = Place::item;
            braces_ = 0;
            is_function_ = false;
        }
        const bool begins_item = mode_ != Mode::line && place_ == Place::item;
        Token token;
        if (mode_ != Mode::line && c == '#' && begins_line()) {
            token = directive();
        } else if (c == '"' && !is_among_points()) {
            token = string();
        } else if (const std::size_t stop = c == '\'' ? quoted_end() : 0;
                   stop != 0 && (mode_ == Mode::line || is_in_c())) {
            at_ = stop;
            token = this->token(Token::Kind::character, begin);
        } else if (is_word_start(c) || is_digit(c)) {
            while (at_ < end_ && is_word_char(text_[at_])) ++at_;
            token = this->token(is_digit(c) ? Token::Kind::number : Token::Kind::word, begin);
            const bool is_item_word =
                begins_item && (begins_c(token.text) || is_one_of(token.text, kItemWords));
            if (is_among_points() && !is_item_word) {
                at_ = begin;
                token = attach_point();
            }
        } else if (c == '@') {
            ++at_;
            while (at_ < end_ && is_word_char(text_[at_])) ++at_;
            token = this->token(Token::Kind::map, begin);
        } else if (c == '$') {
            token = is_among_points() ? attach_point() : dollar();
        } else {
            token = sign();
        }
        if (token.kind == Token::Kind::end) continue;  // a mistake, skipped
        token.has_blank_before = has_blank;
        if (token.kind != Token::Kind::directive && mode_ != Mode::line) {
            token.begins_item = begins_item;
            token.is_in_function = is_function_;
            follow(token);
            token.is_in_function = token.is_in_function && is_function_;  // but for the braces
        }
        return token;
    }
}

// From the # to the end of the line, and of those behind a backslash or inside a comment.
Token Lexer::directive() {
    const std::size_t begin = at_;
    while (at_ < end_ && text_[at_] != '\n') {
        if (text_[at_] == '\\') {
            at_ = std::min(at_ + (at(at_ + 1) == '\r' ? 3 : 2), end_);
        } else if (text_[at_] == '/' && (at(at_ + 1) == '/' || at(at_ + 1) == '*')) {
            skip_comment();
        } else if (const std::size_t stop = quoted_end(); stop != 0) {
            at_ = stop;
        } else {
            ++at_;
        }
    }
    return token(Token::Kind::directive, begin);
}

std::size_t Lexer::quoted_end() const {
    const char quote = at(at_);
    if (quote != '\'' && quote != '"') return 0;
    std::size_t i = at_ + 1;
    while (at(i) != quote && at(i) != '\n' && i < end_) i += at(i) == '\\' ? 2 : 1;
    return at(i) == quote ? i + 1 : 0;
}

void Lexer::skip_to_directive() {
    while (at_ < end_) {
        if (text_[at_] == '#' && begins_line()) return;
        if (text_[at_] == '/' && (at(at_ + 1) == '/' || at(at_ + 1) == '*'))
            skip_comment();
        else
            ++at_;
    }
}

// Up to a ',', the block or the predicate. A '/' belongs to it where a path may be; otherwise, and
// behind a blank, it begins the predicate. Blanks around a ':' are part of it.
Token Lexer::attach_point() {
    const std::size_t begin = at_;
    const Provider* provider = nullptr;
    std::size_t colons = 0;
    for (; at_ < end_; ++at_) {
        const char c = text_[at_];
        if (c == '"') {
            const std::size_t stop = text_.find_first_of("\"\n", at_ + 1);
            if (stop == text_.npos || stop >= end_ || text_[stop] == '\n') {
                report(at_, at_ + 1, "the quotes are not closed");
                at_ = std::min(stop, end_);
                break;
            }
            at_ = stop;
        } else if (c == ':') {
            if (++colons == 1) provider = find_provider(text_.substr(begin, at_ - begin));
        } else if (c == '/') {
            if (provider == nullptr || !may_have_path(*provider, colons)) break;
        } else if (is_space(c)) {
            std::size_t next = at_;
            while (is_space(at(next))) ++next;
            const bool goes_on = at(next) == ':' || text_[at_ - 1] == ':';
            if (!goes_on || std::string_view(",{}; ").find(at(next)) != std::string_view::npos)
                break;
            at_ = next - 1;
        } else if (c == ',' || c == '{' || c == '}' || c == ';') {
            break;
        }
    }
    return token(Token::Kind::attach_point, begin);
}

Token Lexer::string() {
    const std::size_t begin = at_++;
    while (at(at_) != '"' && at(at_) != '\n' && at_ < end_) {
        const bool is_escape = at(at_) == '\\' && at_ + 1 < end_ && at(at_ + 1) != '\n';
        at_ += is_escape ? 2 : 1;
    }
    if (at(at_) == '"') {
        ++at_;
    } else if (mode_ == Mode::line) {
        return token(Token::Kind::strange, begin);
    } else {
        report(begin, at_, "the text is not closed on its line",
               "\" closes it; a newline in it is written \\n");
    }
    return token(Token::Kind::string, begin);
}

Token Lexer::dollar() {
    const std::size_t begin = at_++;
    if (at(at_) == '#') {
        ++at_;
        return token(Token::Kind::positional_count, begin);
    }
    const bool is_number = is_digit(at(at_));
    while (is_number ? is_digit(at(at_)) : is_word_char(at(at_))) ++at_;
    if (at_ == begin + 1 && mode_ != Mode::script) return token(Token::Kind::strange, begin);
    if (at_ == begin + 1) {
        report(begin, at_, "a name or a number is missing behind the '$'",
               "a variable is $NAME, an argument $1");
        return {};
    }
    return token(is_number ? Token::Kind::positional : Token::Kind::variable, begin);
}

Token Lexer::sign() {
    const std::size_t begin = at_;
    const std::string_view rest = text_.substr(at_, end_ - at_);
    if (rest[0] == '/' && is_among_points()) {
        ++at_;
        return token(Token::Kind::sign, begin);
    }
    if (rest[0] == '/' && place_ == Place::predicate && mode_ == Mode::script &&
        at(after_blanks(at_ + 1)) == '{') {
        ++at_;
        return token(Token::Kind::predicate_end, begin);
    }
    const auto sign =
        std::ranges::find_if(kSigns, [&](std::string_view s) { return rest.starts_with(s); });
    if (sign != kSigns.end() || kLastSigns.find(rest[0]) != kLastSigns.npos) {
        at_ += sign != kSigns.end() ? sign->size() : 1;
        return token(Token::Kind::sign, begin);
    }
    if (is_among_points() && rest[0] != '/') {
        Token point = attach_point();
        if (!point.text.empty()) return point;
    }
    // All of it that is of no use here is one mistake.
    const auto is_strange = [](char c) {
        return !is_word_char(c) && !is_space(c) &&
               std::string_view("\"$@=#()[]{};,.:?+-*/%&|^!~<>").find(c) == std::string_view::npos;
    };
    at_ = std::max(at_, begin);
    while (at_ < end_ && is_strange(text_[at_])) ++at_;
    if (at_ == begin) ++at_;
    if (mode_ != Mode::script) return token(Token::Kind::strange, begin);
    if (rest[0] == '\'' && is_in_c()) {
        report(begin, at_, "the quotes are not closed");
        return {};
    }
    if (rest[0] == '\'') {
        // To the other one, if it is in the same line.
        const std::size_t stop = text_.find_first_of("'\n", at_);
        if (stop < end_ && text_[stop] == '\'') at_ = stop + 1;
        report(begin, at_, kNoQuotes, kNoQuotesHint);
        return {};
    }
    report(begin, at_, cat("'", text_.substr(begin, at_ - begin), "' does not belong here"));
    return {};
}

// Moves on to the place behind a token.
void Lexer::follow(const Token& token) {
    using Kind = Token::Kind;
    const bool was_behind_operand = behind_operand_;
    behind_operand_ = (token.kind != Kind::sign && token.kind != Kind::predicate_end) ||
                      token.is(")") || token.is("]") || token.is("}");
    if (place_ == Place::item) {
        const bool is_end = token.is("}") || token.is(";");
        if (token.kind == Kind::word || (mode_ == Mode::header && !is_end)) {
            place_ = Place::declaration;
            is_c_definition_ = mode_ == Mode::header || begins_c(token.text);
            is_behind_braces_ = is_function_ = are_parameters_ = false;
            parentheses_ = 0;
            last_ = before_last_ = {};
        } else if (token.kind != Kind::sign || !is_end) {
            place_ = Place::points;
        }
    }
    if (token.is("/") && place_ == Place::points)
        place_ = Place::predicate;
    else if (token.kind == Kind::predicate_end)
        place_ = Place::points;
    else if (token.is("{") && braces_ == 0 &&
             (place_ == Place::points || (place_ == Place::predicate && was_behind_operand)))
        place_ = Place::body;
    if (place_ == Place::declaration && is_c_definition_ && braces_ == 0) follow_c(token);
    if (token.is("{") || token.is("}")) follow_brace(token.is("{"));
    const bool ends_attribute = token.is(")") && place_ == Place::declaration && braces_ == 0 &&
                                is_behind_braces_ && at(after_blanks(at_)) != ')';
    if (ends_attribute && !goes_on_behind_brace()) place_ = Place::item;
    if (token.is(";") && braces_ == 0 && place_ != Place::body) place_ = Place::item;
}

// Outside of braces: whether those that are opened are a function's.
void Lexer::follow_c(const Token& token) {
    if (token.is("(") && parentheses_++ == 0)
        are_parameters_ = !is_one_of(last_, kAttributes) && !is_one_of(before_last_, kTags);
    if (token.is(")") && parentheses_ > 0) --parentheses_;
    is_function_ = token.is("{") && last_ == ")" && parentheses_ == 0 && are_parameters_;
    before_last_ = std::exchange(last_, token.text);
}

void Lexer::follow_brace(bool opens) {
    if (opens) {
        ++braces_;
        return;
    }
    if (braces_ > 0) --braces_;
    if (braces_ > 0 || place_ == Place::predicate) return;
    is_behind_braces_ = true;
    if (std::exchange(is_function_, false)) {
        place_ = Place::item;
        return;
    }
    if (place_ == Place::declaration && is_c_definition_ && goes_on_behind_brace()) return;
    place_ = Place::item;
}

// Whether a line begins with "kprobe:" or "BEGIN {", which nothing in braces does: a brace is
// missing.
bool Lexer::looks_like_probe() const {
    if (mode_ != Mode::script || (at_ > 0 && text_[at_ - 1] != '\n') || !is_word_start(text_[at_]))
        return false;
    std::size_t end = at_;
    while (is_word_char(at(end))) ++end;
    const Provider* provider = find_provider(text_.substr(at_, end - at_));
    if (provider == nullptr) return false;
    if (*provider == Provider::begin || *provider == Provider::end)
        return at(after_blanks(end)) == '{';
    return at(end) == ':';
}

// Whether a C definition has more than its braces: "} name;", "} __attribute__((packed));", "};".
bool Lexer::goes_on_behind_brace() const {
    std::size_t next = after_blanks(at_);
    if (at(next) == ';' || at(next) == '*' || (mode_ == Mode::header && at(next) == ','))
        return true;
    const std::size_t word = next;
    while (is_word_char(at(next))) ++next;
    if (text_.substr(word, next - word) == "__attribute__") return true;
    const std::size_t then = after_blanks(next);
    if (next != word && text_.substr(then).starts_with("__attribute__")) return true;
    const char behind = at(then);
    return next != word && (behind == ';' || behind == ',' || behind == '[' || behind == '=') &&
           text_.substr(word, next - word) != "config";
}

}  // namespace gpufs::bt
