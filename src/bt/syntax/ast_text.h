#pragma once

#include <string>

#include "bt/syntax/ast.h"

namespace gpufs::bt {

// The tree as text, a node a line, indented by its depth: `gpufs bt -d ast`.
std::string ast_text(const Script& script);

}  // namespace gpufs::bt
