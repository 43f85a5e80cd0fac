#pragma once

#include <string>
#include <string_view>

namespace gpufs {

// A function's name for people, from a symbol table's: a C++ name (_Z...) is taken apart, and loses
// its parameters and the type it returns: "std::vector<int, std::allocator<int> >::push_back". The
// hash behind a Rust name goes too. Every other name stays as it is.
std::string function_name(const std::string& symbol);

// "void f<int>(int) const" is "f<int>": a demangled name without parameters and returned type.
// "operator()", "(anonymous namespace)::f" and "f()::{lambda(int)#1}::operator()" keep what is part
// of the name. A name of no such form stays whole.
struct BareName {
    std::string_view name;
    std::string_view clone;  // " [clone .cold]"
};
BareName without_types(std::string_view demangled);

}  // namespace gpufs
