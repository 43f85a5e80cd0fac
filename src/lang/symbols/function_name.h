#pragma once

#include <string>
#include <string_view>

namespace gpufs {

// The readable form of a symbol's name: demangles a C++ name (_Z...) and removes its parameters and
// return type, "std::vector<int, std::allocator<int> >::push_back"; removes the hash of a Rust
// name, of the old form (_ZN...) and of the new one (_R...). Other names are unchanged.
std::string function_name(const std::string& symbol);

// The same with parameters and what else the symbol tells, but the return type that those of
// templates have: "ns::f(int) const", "ns::twice<int>(int)".
std::string function_signature(const std::string& symbol);

// Removes parameters and return type of a demangled name: "f<int>" for "void f<int>(int) const".
// "operator()", "(anonymous namespace)::f" and "f()::{lambda(int)#1}::operator()" keep the parts
// that belong to the name. Unrecognized names are unchanged.
struct BareName {
    std::string_view name;
    std::string_view clone;  // " [clone .cold]"
};
BareName without_types(std::string_view demangled);

}  // namespace gpufs
