#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/recipe/recipe.h"

namespace gpufs {

// A parsed argument or default of a parameter.
struct RecipeValue {
    std::string given;  // as written
    std::string word;   // the text to substitute in a word: numbers in the parameter's unit
    std::vector<Literal>
        literals;  // the values to substitute in a condition: one, or one per thread of a pid
};

// Throws UsageError, naming the parameter.
RecipeValue parse_value(const RecipeParameter& parameter, std::string_view text);

// The span of the next $NAME at or behind `from`, including the '$', relative to the word's begin.
// "$stack0" is one name. An empty span at the word's end when there is none.
Span find_reference(std::string_view word, std::size_t from);

}  // namespace gpufs
