#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/recipe/recipe.h"

namespace gpufs {

// Replaces comments, and the newlines of continued lines, by spaces, so that offsets remain those
// of the file. A line is continued if it ends with a comma, && or ||.
std::string mask_recipe(std::string_view text);

// Parses a line of a recipe from the left. All spans are offsets in the file.
class RecipeLine {
public:
    // `masked` is the result of mask_recipe() for the whole file, `line` a span in it. Keeps
    // references to both texts.
    RecipeLine(const SourceText& source, std::string_view masked, Span line);

    // The first word.
    const RecipeWord& directive() const { return directive_; }
    // Sets the directive's syntax, for hints.
    void set_usage(std::string_view usage) { usage_ = usage; }

    bool at_end();
    // Consumes the next word if it equals `word`, and returns whether it did.
    bool take(std::string_view word);
    // Consumes the word. Throws SourceError when the next word is another.
    void keyword(std::string_view word);
    // Like take() for one character, which need not be a separate word.
    bool take(char c);
    // The text up to the next space. Throws SourceError "`what` is missing" at the end of the line.
    RecipeWord word(std::string_view what);
    // A name: letters, digits and _, a letter first; also dashes if `dashed`.
    RecipeWord name(std::string_view what, bool dashed = false);
    // A text in double quotes; the span includes the quotes, the text does not.
    RecipeWord quoted(std::string_view what);
    bool is_at_quote();
    // Words separated by commas, up to the word `if` or the end of the line.
    std::vector<RecipeWord> list(std::string_view what);
    // The rest of the line.
    Span rest(std::string_view what);
    // Throws SourceError unless at the end of the line.
    void end();

    [[noreturn]] void fail(Span at, std::string_view message, std::string_view hint = {}) const;

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
