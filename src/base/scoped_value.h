#pragma once

#include <utility>

namespace gpufs {

// Gives a variable another value until the end of a scope.
template <class T>
class ScopedValue {
public:
    ScopedValue(T& variable, T value)
        : variable_(variable), outer_(std::exchange(variable, std::move(value))) {}
    ScopedValue(const ScopedValue&) = delete;
    ScopedValue& operator=(const ScopedValue&) = delete;
    ~ScopedValue() { variable_ = std::move(outer_); }

private:
    T& variable_;
    T outer_;
};

}  // namespace gpufs
