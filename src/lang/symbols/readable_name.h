#pragma once

#include <string>
#include <string_view>

namespace gpufs {

// The name of a function as people write it: a symbol, or of C++ and Rust the readable name, with
// its parameters or without, "ns::Class::method", "ns::f(int, char const*)". Blanks do not count.
class ReadableName {
public:
    explicit ReadableName(std::string_view name);

    // Whether a symbol is of a function with this name, or of a copy that the compiler made of it:
    // "f.isra.0".
    bool is_of(const std::string& symbol) const;

    // "ns::f(int)", not "ns::f".
    bool has_parameters() const noexcept { return has_parameters_; }

private:
    std::string name_, wanted_;  // the latter without blanks
    std::string word_;           // which such a symbol has in it; empty where none is sure
    bool has_parameters_ = false;
};

}  // namespace gpufs
