#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bt/syntax/ast.h"

// The words of the language.
namespace gpufs::bt {

// Names of values that need no call: "pid", "nsecs", "arg0".
bool is_builtin(std::string_view name);
// All of them, without those with numbers.
std::vector<std::string> builtin_names();
// Names of functions of the language: "printf", "count".
bool is_function(std::string_view name);
// A type by one word, of the language or as C and the kernel's headers name it: "uint64", "char",
// "u32", "size_t".
bool is_type_word(std::string_view name);
// One of several words that make a type together: "unsigned", "long".
bool is_c_type_part(std::string_view name);
// Whether a word can be no name: "if", "let".
bool is_reserved(std::string_view name);

// By the long name in any case, the short one, or one of former times; null if there is none.
const Provider* find_provider(std::string_view word);
std::span<const std::string> provider_names();
// Whether a '/' may be in an attach point behind so many ':'.
bool may_have_path(Provider provider, std::size_t colons);

// Whether it is the begin, the end or an instruction of a function, whose arguments are in
// registers.
bool is_at_function(Provider provider);
// Whether it is in a program or a library.
bool is_in_file(Provider provider);

}  // namespace gpufs::bt
