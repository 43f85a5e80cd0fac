#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/source.h"
#include "lang/program/program.h"

namespace gpufs {

// Gives the text of a file that another one includes; `file` is as it was written there. What it
// throws as Error is shown at the .include.
using IncludeReader = std::function<SourceText(std::string_view file, const SourceText& from)>;

// How much of a text becomes a program.
enum class AsmScope {
    checked,    // all; code that no machine would take is a mistake, as check_code() finds it
    unchecked,  // all, of a text that was checked before
    outline,    // of a text that was checked: name, summary, parameters, programs' targets
};

// Makes a program of a .bpf text; gpufs-asm(5) has the grammar. Declarations use what stands above
// them, code uses everything. Nothing is asked of a machine: what only a kernel knows (fields,
// features, kernel structures) stays symbolic for the linker.
//
// Throws UsageError with every mistake of the text and of what it includes, each with its line, a
// caret and, where there is one, a hint.
Program assemble(SourceText source, const IncludeReader& read = {},
                 AsmScope scope = AsmScope::checked);

// Does the text have a directive such as .prog, or is it bare instructions (assemble_bare)?
bool has_directives(const SourceText& source);

}  // namespace gpufs
