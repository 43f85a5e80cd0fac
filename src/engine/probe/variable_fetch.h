#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "engine/probe/code_spots.h"
#include "engine/symbols/debug_info.h"
#include "lang/dwarf/location.h"
#include "lang/dwarf/scope.h"
#include "lang/dwarf/type.h"
#include "lang/probe/variable_path.h"

namespace gpufs {

// What a tracefs argument reads for a variable at one place of the code.
struct VariableFetch {
    std::string fetch;   // "+8(+0(%bp))"
    std::string type;    // "s32", "string"
    std::string c_type;  // "int", "char[16]"
    std::string place;   // where it is, by DWARF: "[[%bp-24]+8]"
    std::vector<std::string> notes;

    std::string to_text(const std::string& name) const;
};

// The fetch for what a path names, at a spot of the file's code. Throws SourceError, at the part of
// the path that is not there or that no fetch can read, with the reason and what to do; for a
// variable that is optimized out, the nearest line where it is not. `place`: of the spot, as the
// user writes it.
VariableFetch fetch_variable(DebugInfo& info, const SourceText& source, const VariablePath& path,
                             const CodeSpot& spot, const std::string& place);

// The same; absent where no fetch can read it.
std::optional<VariableFetch> find_fetch(DebugInfo& info, const VariablePath& path,
                                        const CodeSpot& spot);

// Whether a parameter of the function lies in its frame for all of the code, as compilers leave it
// without optimization: it is there only behind what makes the frame. What callers put on the stack
// is not in it.
bool keeps_parameters_in_frame(const DwarfEntry& function);

// A variable as `gpufs probe vars` lists it.
struct ListedVariable {
    std::string name, c_type, place;
    std::string scope;    // "parameter", "local", "global", the function it is inlined from
    std::string fetch;    // "-20(%bp):s32"; empty if tracefs cannot read it
    std::string trouble;  // then why
    std::string program;  // how a program reads it, "(%ax << 1):s32"; empty if none can
};
// Those of the innermost function, and with `globals` those of its unit.
std::vector<ListedVariable> list_variables(DebugInfo& info, const CodeSpot& spot, bool globals);

}  // namespace gpufs
