#include "lang/recipe/lines.h"

#include <algorithm>

#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

constexpr std::string_view kSpaces = " \t\r";

// The offset of a line's comment, or of its end when there is none. A '#' inside quotes or inside a
// word does not start a comment.
std::size_t comment_in(std::string_view line) {
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote != '\0') {
            if (c == quote) quote = '\0';
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '#' && (i == 0 || kSpaces.find(line[i - 1]) != kSpaces.npos)) {
            return i;
        }
    }
    return line.size();
}

bool is_continued(std::string_view line) {
    line = line.substr(0, line.find_last_not_of(kSpaces) + 1);
    return line.ends_with(',') || line.ends_with("&&") || line.ends_with("||");
}

}  // namespace

std::string mask_recipe(std::string_view text) {
    std::string masked(text);
    bool continued = false;
    std::size_t last_newline = 0;
    for (std::size_t begin = 0; begin < masked.size();) {
        const std::size_t end = std::min(masked.find('\n', begin), masked.size());
        const std::string_view line = std::string_view(masked).substr(begin, end - begin);
        const auto comment = static_cast<std::ptrdiff_t>(begin + comment_in(line));
        std::fill(masked.begin() + comment, masked.begin() + static_cast<std::ptrdiff_t>(end), ' ');
        const bool is_blank = line.find_first_not_of(kSpaces) == line.npos;
        if (continued) masked[last_newline] = ' ';
        // A comment line does not end a continued line.
        if (!is_blank) continued = is_continued(line);
        last_newline = end;
        begin = end + 1;
    }
    return masked;
}

RecipeLine::RecipeLine(const SourceText& source, std::string_view masked, Span line)
    : source_(source), masked_(masked), at_(line.begin), end_(line.end) {
    skip_space();
    const Span word = next_word();
    directive_ = {std::string(text_of(word)), word};
    at_ = word.end;
}

void RecipeLine::skip_space() {
    while (at_ < end_ && kSpaces.find(masked_[at_]) != kSpaces.npos) ++at_;
}

Span RecipeLine::next_word() {
    skip_space();
    std::size_t end = at_;
    while (end < end_ && kSpaces.find(masked_[end]) == kSpaces.npos) ++end;
    return {at_, end};
}

bool RecipeLine::at_end() {
    skip_space();
    return at_ == end_;
}

void RecipeLine::fail(Span at, std::string_view message, std::string_view hint) const {
    throw SourceError(source_, at, message, hint);
}

void RecipeLine::require(std::string_view what) {
    if (at_end())
        fail(directive_.span, cat("'", directive_.text, "' needs ", what), cat("write: ", usage_));
}

bool RecipeLine::take(std::string_view word) {
    const Span next = next_word();
    if (text_of(next) != word) return false;
    at_ = next.end;
    return true;
}

void RecipeLine::keyword(std::string_view word) {
    require(cat("'", word, "'"));
    if (!take(word)) {
        const Span next = next_word();
        fail(next, cat("'", word, "' was expected, not '", text_of(next), "'"),
             cat("write: ", usage_));
    }
}

bool RecipeLine::take(char c) {
    if (at_end() || masked_[at_] != c) return false;
    ++at_;
    return true;
}

RecipeWord RecipeLine::word(std::string_view what) {
    require(what);
    const Span span = next_word();
    at_ = span.end;
    return {std::string(text_of(span)), span};
}

RecipeWord RecipeLine::name(std::string_view what, bool dashed) {
    require(what);
    Span span = next_word();
    // In "over=1ms" the name ends at the '='.
    if (const auto equals = text_of(span).find('='); equals != std::string_view::npos && equals > 0)
        span.end = span.begin + equals;
    const std::string_view text = text_of(span);
    const bool is_name = is_letter(text[0]) && std::ranges::all_of(text, [&](char c) {
                             return is_letter(c) || is_digit(c) || c == '_' || (dashed && c == '-');
                         });
    if (!is_name)
        fail(span, cat("'", text, "' cannot be ", what),
             dashed ? "letters, digits, - and _, with a letter first"
                    : "letters, digits and _, with a letter first");
    at_ = span.end;
    return {std::string(text), span};
}

bool RecipeLine::is_at_quote() {
    skip_space();
    return at_ < end_ && masked_[at_] == '"';
}

RecipeWord RecipeLine::quoted(std::string_view what) {
    require(what);
    if (!is_at_quote()) fail(next_word(), cat(what, " stands in double quotes"));
    const std::size_t close = masked_.find('"', at_ + 1);
    if (close == masked_.npos || close >= end_)
        fail({at_, at_ + 1}, "this \" is never closed", "add a \"");
    const Span span{at_, close + 1};
    at_ = close + 1;
    return {std::string(masked_.substr(span.begin + 1, close - span.begin - 1)), span};
}

std::vector<RecipeWord> RecipeLine::list(std::string_view what) {
    require(what);
    std::vector<RecipeWord> words;
    bool wants_more = true;
    while (!at_end() && text_of(next_word()) != "if") {
        const Span span = next_word();
        if (!wants_more) fail(span, cat("a comma or 'if' was expected, not '", text_of(span), "'"));
        // "a,b" and "a, b" and "a ,b".
        for (std::size_t begin = span.begin; begin < span.end;) {
            const std::size_t comma = std::min(masked_.find(',', begin), span.end);
            if (comma > begin)
                words.push_back(
                    {std::string(masked_.substr(begin, comma - begin)), Span{begin, comma}});
            wants_more = comma < span.end;
            begin = comma + 1;
        }
        at_ = span.end;
    }
    if (words.empty())
        fail(directive_.span, cat("'", directive_.text, "' needs ", what), cat("write: ", usage_));
    if (wants_more)
        fail(words.back().span, cat("nothing follows the comma behind '", words.back().text, "'"));
    return words;
}

Span RecipeLine::rest(std::string_view what) {
    require(what);
    const Span span{at_, masked_.find_last_not_of(kSpaces, end_ - 1) + 1};
    at_ = end_;
    return span;
}

void RecipeLine::end() {
    if (at_end()) return;
    const Span span = next_word();
    fail(span, cat("'", text_of(span), "' is one word too many"), cat("write: ", usage_));
}

}  // namespace gpufs
