#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// Source lines from the units of an ELF file's .debug_line section: DWARF 2 to 5, of either offset
// size, in this machine's byte order, for processors of one operation an instruction. A unit is a
// header and a program that writes a table of addresses and lines; it is run for each question, so
// that nothing is kept. Damaged bytes have no lines; nothing here throws.

// How many bytes the unit takes that begins here, of which 12 are enough to tell; 0: there is none.
std::uint64_t line_unit_bytes(std::string_view begin);

// A stretch of code, [begin, end).
struct CodeSpan {
    std::uint64_t begin = 0, end = 0;
    bool operator==(const CodeSpan&) const = default;
};

// The stretches that a unit knows lines for, in its order. Those that the linker left out, which
// lie at address 0 or at the end of the address space, are not among them.
std::vector<CodeSpan> line_unit_spans(std::string_view unit);

// The texts that a unit refers to by their place in another section, empty where there is none.
struct LineTexts {
    std::function<std::string(std::uint64_t)> line_str;  // .debug_line_str
    std::function<std::string(std::uint64_t)> str;       // .debug_str
};

struct SourceLine {
    std::string file;  // without its directory
    std::uint64_t line = 0;
    bool operator==(const SourceLine&) const = default;
};

// The line that an address is code of. Absent where the unit does not know, or where the code is
// the compiler's own (line 0).
std::optional<SourceLine> find_source_line(std::string_view unit, const LineTexts& texts,
                                           std::uint64_t address);

}  // namespace gpufs
