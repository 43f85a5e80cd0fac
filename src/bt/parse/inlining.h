#pragma once

#include <cstddef>

#include "bt/parse/work.h"

namespace gpufs::bt {

// The body of a function as the value of one of its calls, whose arguments it takes: they become
// variables, and so does what it returns. `number` tells this call from others: variables are named
// "NAME#NUMBER".
ExprPtr inlined(Work& work, const Function& function, Expr& call, std::size_t number);

}  // namespace gpufs::bt
