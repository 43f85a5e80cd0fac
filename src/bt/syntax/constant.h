#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bt/syntax/ast.h"

namespace gpufs::bt {

// The value of an expression of numbers, as C computes it in 64 bits with a sign. `name` gives the
// value of an identifier. Absent where it is no constant, as for a division by zero.
std::optional<std::int64_t> constant_value(
    const Expr& expr, const std::function<std::optional<std::int64_t>(const std::string&)>& name);

}  // namespace gpufs::bt
