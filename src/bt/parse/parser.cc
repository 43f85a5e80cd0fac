// What all of the parser's parts use: its tokens, its mistakes, its depth.

#include "bt/parse/parser.h"

#include <algorithm>

#include "base/cat.h"

namespace gpufs::bt {
namespace {

// A probe's text nests a dozen levels; this many fit any stack.
constexpr std::size_t kMostNested = 200;

std::string description_of(const Token& token) {
    if (token.kind == Token::Kind::end) return "the end of the script";
    constexpr std::size_t kShown = 40;
    if (token.text.size() <= kShown) return cat("'", token.text, "'");
    return cat("'", token.text.substr(0, kShown), "...'");
}

}  // namespace

const Token& Parser::peek(std::size_t ahead) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
}
bool Parser::is(std::string_view word_or_sign, std::size_t ahead) const {
    return peek(ahead).is(word_or_sign);
}
Token Parser::take() {
    const Token token = peek();
    if (next_ + 1 < tokens_.size()) ++next_;
    return token;
}
bool Parser::take_if(std::string_view word_or_sign) {
    if (!is(word_or_sign)) return false;
    take();
    return true;
}
bool Parser::at_end() const {
    return peek().kind == Token::Kind::end;
}

// The place just behind what was taken last.
SourceRef Parser::behind() const {
    if (next_ == 0) return peek().at;
    const SourceRef last = tokens_[next_ - 1].at;
    return {last.source, {last.span.end, last.span.end + 1}};
}

// From the beginning of `first` to the end of what was taken last.
SourceRef Parser::from(SourceRef first) const {
    if (next_ > 0 && tokens_[next_ - 1].at.source == first.source)
        first.span.end = std::max(first.span.end, tokens_[next_ - 1].at.span.end);
    return first;
}

void Parser::fail(const Token& token, std::string_view message, std::string_view hint) const {
    throw Mistake{token.at, cat(description_of(token), " ", message), std::string(hint)};
}
void Parser::fail_missing(std::string_view what, std::string_view hint) const {
    throw Mistake{behind(), cat(what, " is missing here"), std::string(hint)};
}

void Parser::expect(std::string_view sign, std::string_view where) {
    if (take_if(sign)) return;
    fail_missing(cat("the '", sign, "' ", where));
}
Token Parser::expect_word(std::string_view what) {
    if (peek().kind != Token::Kind::word) fail_missing(what);
    return take();
}

Parser::Deeper::Deeper(Parser& parser) : parser_(parser) {
    if (parser.depth_ >= kMostNested)
        throw Mistake{parser.peek().at, "more than 200 levels are nested here", ""};
    ++parser.depth_;
}
void Parser::check_height(std::uint32_t height) const {
    if (height > kMostHeight)
        throw Mistake{peek().at, "more than 600 operators are chained here", "use variables"};
}

}  // namespace gpufs::bt
