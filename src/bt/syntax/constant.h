#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "bt/syntax/ast.h"

namespace gpufs::bt {

// The value of an expression of numbers, as programs compute it in 64 bits: with a sign, but for a
// literal of 2^63 or more and what comes of such a number and one that is not negative. `leaf`
// gives the value of what is neither a number nor an operator: of an identifier, of sizeof. Absent
// where it is no constant, as for a division by zero.
std::optional<std::int64_t> constant_value(
    const Expr& expr, const std::function<std::optional<std::int64_t>(const Expr&)>& leaf);

// Whether the result of an operator and its operands, which are constants, does not fit in 64 bits,
// or a shift is one of 64 and more.
bool overflows(const Expr& expr,
               const std::function<std::optional<std::int64_t>(const Expr&)>& leaf);

}  // namespace gpufs::bt
