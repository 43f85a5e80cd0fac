#include "lang/insn/tokens.h"

#include <algorithm>
#include <charconv>

namespace gpufs {
namespace {

constexpr std::string_view kSigns[] = {"<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "|=", "&=",
                                       "^=",  "==",  "!=", "<=", ">=", "<<", ">>", "&&", "||"};

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

std::size_t name_length(std::string_view text, std::size_t from = 0) {
    std::size_t n = from;
    while (n < text.size() && is_name_char(text[n])) ++n;
    return n - from;
}

// Of what steps from a variable to a part of it: "->len", "::count", "[3].id"; 0 if it is no step.
std::size_t step_length(std::string_view text) {
    if (text.starts_with("->") || text.starts_with("::")) {
        const std::size_t name = name_length(text, 2);
        return name == 0 ? 0 : 2 + name;
    }
    if (!text.starts_with('[')) return 0;
    std::size_t n = 1;
    while (n < text.size() && is_digit(text[n])) ++n;
    if (n == 1 || n == text.size() || text[n] != ']') return 0;
    return n + 1 + name_length(text, n + 1);
}

// Of a word that begins with '@'.
std::size_t path_length(std::string_view text) {
    std::size_t n = 1;
    while (n < text.size() && text[n] == '*') ++n;
    const std::size_t name = name_length(text, n);
    n += name;
    if (name == 0) return n;
    while (const std::size_t step = step_length(text.substr(n))) n += step;
    return n;
}

std::size_t sign_length(std::string_view text) {
    constexpr std::string_view kSeconds = "<>=&|";  // of all longer signs; most signs are short
    if (text.size() < 2 || kSeconds.find(text[1]) == text.npos) return 1;
    const auto sign = std::ranges::find_if(
        kSigns, [&](std::string_view candidate) { return text.starts_with(candidate); });
    return sign == std::end(kSigns) ? 1 : sign->size();
}

}  // namespace

bool is_name_char(char c) {
    return is_word_char(c) || c == '.' || c == '$';
}

AsmTokens::AsmTokens(const SourceText& source, Span range)
    : source_(&source),
      at_(range.begin),
      end_(std::min(range.end, source.text.size())),
      last_end_(range.begin) {
    read();
    token_.glued = false;
    if (token_.is_end()) token_.span = {at_, at_};
}

std::string_view AsmTokens::rest() const {
    return std::string_view(source_->text).substr(at_, end_ - at_);
}

std::string_view AsmTokens::text_of(Span span) const {
    return std::string_view(source_->text).substr(span.begin, span.end - span.begin);
}

void AsmTokens::skip_blank() {
    while (at_ < end_) {
        const char c = source_->text[at_];
        if (is_blank(c)) {
            ++at_;
            continue;
        }
        if (c != ';' && c != '#') return;
        if (c == '#' && hash_is_sign_ && at_ == last_end_ && at_ + 1 < end_ &&
            !is_blank(source_->text[at_ + 1]))
            return;
        const std::size_t eol = std::min(source_->text.find('\n', at_), end_);
        comment_ = {at_ + 1, eol};
        at_ = eol;
    }
}

void AsmTokens::take(AsmToken::Kind kind, std::size_t length) {
    token_.kind = kind;
    token_.text = rest().substr(0, length);
    token_.span = {at_, at_ + length};
    at_ += length;
}

void AsmTokens::read() {
    const std::size_t before = at_;
    skip_blank();
    token_ = AsmToken{};
    token_.glued = at_ == before;
    if (at_ >= end_) {
        // An error about something missing points right behind the last token.
        token_.span = {last_end_, last_end_};
        return;
    }
    const std::string_view text = rest();
    if (is_digit(text[0])) return read_number();
    if (text[0] == '@') {
        take(AsmToken::Kind::word, path_length(text));
        if (token_.text.ends_with('@') || token_.text.ends_with('*'))
            fail(token_.span, "expected a field's name behind '@'");
        return;
    }
    if (const std::size_t n = name_length(text)) return take(AsmToken::Kind::word, n);
    if (text[0] == '"') {
        std::size_t n = 1;
        while (n < text.size() && text[n] != '"' && text[n] != '\n') n += text[n] == '\\' ? 2 : 1;
        if (n >= text.size() || text[n] != '"') fail({at_, at_ + 1}, "this quote is never closed");
        take(AsmToken::Kind::text, n + 1);
        token_.text = token_.text.substr(1, n - 1);
        return;
    }
    take(AsmToken::Kind::sign, sign_length(text));
}

void AsmTokens::read_number() {
    take(AsmToken::Kind::number, name_length(rest()));
    std::string_view digits = token_.text;
    const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
    if (is_hex)
        digits.remove_prefix(2);
    else if (digits.size() > 1 && digits[0] == '0' && std::ranges::all_of(digits, is_digit))
        fail(token_.span, cat("'", digits, "' begins with 0"),
             "LLVM would read it as octal; write it in decimal or with 0x");
    const char* const last = digits.data() + digits.size();
    const auto [stop, error] =
        std::from_chars(digits.data(), last, token_.number, is_hex ? 16 : 10);
    if (error == std::errc::result_out_of_range)
        fail(token_.span, cat("'", token_.text, "' does not fit 64 bits"));
    if (error != std::errc() || stop != last)
        fail(token_.span, cat("'", token_.text, "' is neither a number nor a name"),
             digits.ends_with("ll") ? "a blank belongs in front of 'll'" : "");
}

AsmToken AsmTokens::next() {
    AsmToken token = token_;
    if (!token.is_end()) last_end_ = token.span.end;
    read();
    return token;
}

bool AsmTokens::accept(std::string_view word_or_sign) {
    if (!is(word_or_sign)) return false;
    next();
    return true;
}

AsmToken AsmTokens::expect(std::string_view word_or_sign) {
    if (!is(word_or_sign)) fail_expected(cat("'", word_or_sign, "'"));
    return next();
}

AsmToken AsmTokens::expect_word(std::string_view what) {
    if (!token_.is_word()) fail_expected(what);
    return next();
}

void AsmTokens::expect_end() {
    if (!at_end()) fail_expected("the end of the line");
}

void AsmTokens::fail_expected(std::string_view what, std::string_view hint) const {
    const std::string found =
        token_.is_end() ? "the end of the line" : cat("'", text_of(token_.span), "'");
    fail(token_.span, cat("expected ", what, ", found ", found), hint);
}

void AsmTokens::fail(Span at, std::string_view message, std::string_view hint) const {
    throw SourceError(*source_, at, message, hint);
}

}  // namespace gpufs
