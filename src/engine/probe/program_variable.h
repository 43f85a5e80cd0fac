#pragma once

#include <optional>
#include <string>

#include "base/source.h"
#include "engine/probe/code_spots.h"
#include "engine/symbols/debug_info.h"
#include "lang/probe/variable_path.h"
#include "lang/program/types.h"
#include "lang/variable/variable_value.h"

namespace gpufs {

// What a program reads for a variable at one place of the code.
struct ProgramVariable {
    VariableValue value;
    std::string type;         // as tracefs calls it: "s32", "string"
    std::string c_type;       // "int", "char[16]"
    std::string place;        // where it is, by DWARF: "[[%bp-24]+8]"
    bool is_address = false;  // a pointer's
    EnumWords words;          // of an enumeration

    // "(%ax << 1):s32"
    std::string to_text() const;
};

// What reads what a path names, at a spot of the file's code. Programs can all that tracefs can,
// and compute; arrays and structures as a whole only by their address. Throws SourceError as
// fetch_variable() does.
ProgramVariable read_variable(DebugInfo& info, const SourceText& source, const VariablePath& path,
                              const CodeSpot& spot, VariableUse use = VariableUse::number);
// The same; absent if no program can read it.
std::optional<ProgramVariable> find_in_program(DebugInfo& info, const VariablePath& path,
                                               const CodeSpot& spot);
std::optional<ProgramVariable> find_in_program(DebugInfo& info, const DwarfEntry& variable,
                                               const CodeSpot& spot);

}  // namespace gpufs
