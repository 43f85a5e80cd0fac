#pragma once

#include <string>

#include "bt/syntax/ast.h"
#include "bt/types/typed.h"

namespace gpufs::bt {

// Maps, then for each instance its variables and what each expression is, as text: `gpufs bt -d
// types`.
std::string types_text(const Script& script, const Typed& typed);

}  // namespace gpufs::bt
