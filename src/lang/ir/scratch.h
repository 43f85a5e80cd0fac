#pragma once

#include <string>

#include "lang/ir/ir.h"
#include "lang/program/program.h"

namespace gpufs {

// Memory of a program's own, larger than a stack: the elements of a per-CPU array. The first word
// of an element says whether a program uses it now: one that comes on top of another, or after one
// that was preempted, takes the next element.

// Declares the array, with elements of `bytes`, the first word included.
MapDeclaration scratch_map(std::string name, std::size_t bytes, const SourceRef& at = {});

// The address of an element that is free, which is then in use; where all are, jumps to `none`.
// `has_atomics`: whether the kernel has the atomic exchange (5.12).
ir::Temp append_claim(ir::Code& code, const std::string& map, bool has_atomics, ir::Label none);
void append_release(ir::Code& code, ir::Temp element);

}  // namespace gpufs
