#pragma once

#include <vector>

#include "lang/program/program.h"

namespace gpufs {

// Merges programs into one that does what all of them do. They share one ring, as large as the
// largest of theirs, so that their records are in one order, and are loaded and detached together.
// A single program is returned unchanged, unless its names are to be as they are beside others.
//
// Declarations from an included text are kept once, under their own name; such a parameter has one
// value for all. A program's own names, which are those of its text and of texts named after it
// (lib/xe-memory.bpf of xe), get its name as a prefix: "drm.min_us". The order of programs and
// declarations is kept.
//
// Throws UsageError when two programs have the same name, when included texts of the same name
// differ or two texts declare the same name, and when only some licences are GPL-compatible.
enum class MergedNames { own_if_single, prefixed };
Program merge_programs(std::vector<Program> programs,
                       MergedNames names = MergedNames::own_if_single);

}  // namespace gpufs
