#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/symbols/debug_info.h"

namespace gpufs {

// An address of code that a source line or a function names, as linked.
struct CodeSpot {
    std::uint64_t address = 0;
    std::vector<DwarfEntry> scopes;  // as of scopes_at()
    std::string function;            // the innermost one's name; "?" where DWARF has none
};
CodeSpot spot_at(DebugInfo& info, std::uint64_t address);

// A source file by the end of its path: "sched.c", "src/sched.c".
bool has_source_file(DebugInfo& info, const std::string& file);
// The paths of all that end so, as find_line_spots() and source_lines() mean them.
std::vector<std::string> source_files(DebugInfo& info, const std::string& file);

// Where a line's code begins: in each function, inlined copy or block that has code of it, at the
// lowest address. Empty if the line has no code.
std::vector<CodeSpot> find_line_spots(DebugInfo& info, const std::string& file, std::uint64_t line);

// The lines of a source file that have code, in order.
std::vector<std::uint64_t> lines_with_code(DebugInfo& info, const std::string& file);

// A function, or a copy of it that was inlined into another.
struct NamedFunction {
    DwarfEntry entry;
    std::uint64_t address = 0;  // where it begins
    bool is_inlined = false;
};
// Those of this name: a symbol, one with namespaces and classes, "ns::Class::method", or any number
// of these left out in front, or one with its parameters, as ReadableName takes it. Ordered by
// address.
std::vector<NamedFunction> find_named_functions(DebugInfo& info, const std::string& name);
// "'f' is inlined at 3 places"; empty where it is at none.
std::string inlined_text(const std::string& name, const std::vector<NamedFunction>& functions);
// The same, with a line of it, which can be probed at these places; empty, too, without debug
// information.
std::string inlined_hint(const std::string& file, const std::string& name);
// A function's name by which others of its name differ: "ns::f(int)".
std::string telling_name(const DwarfEntry& function);

// Where the code of a function is written.
struct FunctionSource {
    std::string file;                   // as the compiler was given it
    std::string directory;              // in which the compiler ran
    std::uint64_t first = 0, last = 0;  // lines; of those with code, and of its declaration
};
std::optional<FunctionSource> source_of(DebugInfo& info, const DwarfEntry& function);

// The address in a function from which on its arguments are where DWARF says, in code that is not
// optimized: behind what makes its frame.
std::uint64_t behind_prologue(DebugInfo& info, const DwarfEntry& function, std::uint64_t begin);

// The file and line of an address.
struct SpotLine {
    std::string file;  // without its directory
    std::uint64_t line = 0;
};
std::optional<SpotLine> line_of(DebugInfo& info, std::uint64_t address);

// The addresses at which statements of a function begin, with their lines, ordered by address.
std::vector<std::pair<std::uint64_t, std::uint64_t>> statements_of(DebugInfo& info,
                                                                   const DwarfEntry& function);

}  // namespace gpufs
