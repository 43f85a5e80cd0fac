#include <algorithm>

#include "base/scan.h"
#include "bt/parse/parse.h"
#include "bt/syntax/tokens.h"

namespace gpufs::bt {
namespace {

// $N wherever it stands: attach points have it among other letters.
void look_at(std::string_view text, ArgumentsAsked& asked) {
    for (std::size_t at = 0; (at = text.find('$', at)) != text.npos;) {
        Scan scan(text.substr(++at));
        if (scan.rest().starts_with('#')) asked.counts = true;
        if (const auto number = scan.take_number<std::size_t>())
            asked.most = std::max(asked.most, *number);
    }
}

}  // namespace

ArgumentsAsked arguments_asked(const SourceText& source) {
    ArgumentsAsked asked;
    const SourceRef whole{0, {0, source.text.size()}};
    Lexer lexer(source, whole, Lexer::Mode::script, [](const Mistake&) {});
    for (Token token = lexer.next(); token.kind != Token::Kind::end; token = lexer.next()) {
        using Kind = Token::Kind;
        if (token.kind == Kind::positional || token.kind == Kind::positional_count ||
            token.kind == Kind::attach_point || token.kind == Kind::directive)
            look_at(token.text, asked);
    }
    return asked;
}

}  // namespace gpufs::bt
