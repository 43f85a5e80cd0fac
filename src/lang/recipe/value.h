#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/recipe/recipe.h"

namespace gpufs {

// A parameter's argument or default, read.
struct RecipeValue {
    std::string given;              // as written
    std::string word;               // what it is inside a word: numbers in the parameter's unit
    std::vector<Literal> literals;  // what it is in a condition: one, or each thread of a pid
};

// Throws UsageError, naming the parameter.
RecipeValue parse_value(const RecipeParameter& parameter, std::string_view text);

// A positive decimal number. Throws UsageError, naming `what`.
unsigned long parse_positive(std::string_view what, std::string_view text);

// The next $NAME in the word, from `from` on; its span counts from the word's begin, and the '$'
// belongs to it. The whole of "$stack0" is one name. Empty at the word's end when there is none.
Span find_reference(std::string_view word, std::size_t from);

}  // namespace gpufs
