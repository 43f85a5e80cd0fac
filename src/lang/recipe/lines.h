#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/recipe/recipe.h"

namespace gpufs {

// The text without its comments, and with each continued line as one: what is masked is replaced by
// spaces, so every offset is still one of the file. A line is continued behind a comma, && or ||.
std::string mask_recipe(std::string_view text);

// Takes a line of a recipe apart, from the left. All spans are of the file.
class RecipeLine {
public:
    // `masked` is the whole of mask_recipe's text, `line` a stretch of it. Both texts are borrowed.
    RecipeLine(const SourceText& source, std::string_view masked, Span line);

    // The first word.
    const RecipeWord& directive() const { return directive_; }
    // What the directive looks like, for hints.
    void set_usage(std::string_view usage) { usage_ = usage; }

    bool at_end();
    // Does the next word read so? Takes it, if it does.
    bool take(std::string_view word);
    // Takes the word. Throws SourceError when the next is another.
    void keyword(std::string_view word);
    // The same as take() for one character, which need not stand alone.
    bool take(char c);
    // Up to the next space. Throws SourceError when there is none, saying that `what` is missing.
    RecipeWord word(std::string_view what);
    // Letters, digits and _, with a letter first; with dashes too where they are `dashed`.
    RecipeWord name(std::string_view what, bool dashed = false);
    // In double quotes; the span is with, the text without them.
    RecipeWord quoted(std::string_view what);
    bool is_at_quote();
    // Words separated by commas, up to the word `if` or the end.
    std::vector<RecipeWord> list(std::string_view what);
    // All the rest.
    Span rest(std::string_view what);
    // Throws SourceError when something is left.
    void end();

    [[noreturn]] void fail(Span at, std::string_view message, std::string hint = {}) const;

private:
    void skip_space();
    std::string_view text_of(Span span) const {
        return masked_.substr(span.begin, span.end - span.begin);
    }
    Span next_word();
    void require(std::string_view what);

    const SourceText& source_;
    std::string_view masked_;
    std::size_t at_, end_;
    RecipeWord directive_;
    std::string_view usage_;
};

}  // namespace gpufs
