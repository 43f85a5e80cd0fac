#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernel/elf/elf_symbols.h"

namespace gpufs {

// The functions of a program or library that a name means: what find_functions() takes, which are
// symbols; or, where there is no such symbol, the readable name of a function of C++ or Rust, with
// its parameters or without, "ns::Class::method", "ns::f(int, char const*)", or a pattern of such
// names, "ns::Class::*". Where the compiler
// left no whole function of the name, those are the copies that it made, "f.isra.0". Throws
// UsageError for a name without parameters where functions with several lists of them have it, and
// what find_functions() does.
std::vector<ElfFunction> find_functions_named(const std::string& path, const std::string& name);

// A hint for who gave a name that no function has: those of C++ and Rust that end in it, or one
// that is written alike; empty where there are none. Absent where the file has no names at all.
// Throws what find_functions() does.
std::optional<std::string> hint_for_function(const std::string& path, const std::string& name);

// The functions at different offsets whose readable name is this one, whatever their parameters, or
// matches it as a shell pattern, in which there are no parameters.
std::vector<ElfFunction> find_readable_functions(const std::string& path, const std::string& name);

}  // namespace gpufs
