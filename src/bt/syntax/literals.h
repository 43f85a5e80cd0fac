#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bt/syntax/tokens.h"

namespace gpufs::bt {

// The value of a token of kind `number`: 12, 1_000, 017, 0x1f, 1e6, 5ms (ns), with C's suffixes.
// Throws Mistake.
std::uint64_t number_value(const Token& token);

// The value of a text in that form; throws Mistake with `at`.
std::uint64_t number_value(std::string_view text, SourceRef at);

// How many ns a unit of time is: ns us ms s m h d. Absent for another word.
std::optional<std::uint64_t> unit_size_of(std::string_view name);

// The value of a token of kind `character`, as C has it: 'a', '\n', 'ab'. Throws Mistake.
std::int64_t character_value(const Token& token);

// The text of a token of kind `string`, escapes resolved. Throws Mistake at the escape.
std::string string_value(const Token& token);

}  // namespace gpufs::bt
