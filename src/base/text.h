#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

std::string_view trim(std::string_view text);

// The word in brackets of a list in which the kernel marks what is set, "local [mono] boot"; a text
// without brackets as it is, trimmed.
std::string_view chosen_word(std::string_view words);

// The non-empty parts between separators.
std::vector<std::string> split(std::string_view text, char separator);

// The lines of a text without their newlines; the last newline may be missing.
std::vector<std::string_view> lines_of(std::string_view text);

std::string join(const std::vector<std::string>& parts, std::string_view separator);
// The names with commas; of more than twelve the first twelve, and how many more there are.
std::string listed_names(std::vector<std::string> names);

// The names that braces stand for, as in a shell: "a{b,,c}d" is "abd", "ad", "acd". Several pairs
// multiply; none is in another. A brace without its other half is a character.
std::vector<std::string> expand_braces(std::string_view name);

// Where a text goes on behind the parentheses, or the angle brackets of a template, that begin at
// `at`, with all that they have in them; `at` itself where none begin, or where they have no end.
std::size_t past_brackets(std::string_view text, std::size_t at);

// With capitals for the letters of ASCII.
std::string upper_case(std::string_view text);
std::string lower_case(std::string_view text);

// One word of a POSIX shell command line, quoted if necessary.
std::string shell_quote(std::string_view word);

// "+112", "-16".
std::string with_sign(std::int64_t number);

// "1 event", "2 events".
std::string counted(std::size_t n, std::string_view singular);

}  // namespace gpufs
