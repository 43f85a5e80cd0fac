#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/elf/code_file.h"
#include "lang/symbols/dwarf_lines.h"

namespace gpufs {

// The source lines of a file's code. At the first question every unit of .debug_line is looked
// through, one at a time, for what code it is about: 24 bytes are kept for each stretch. Then a
// question reads one unit.
class SourceLines {
public:
    // Borrows the sections.
    explicit SourceLines(const CodeFile::LineSections& sections) : sections_(sections) {}

    // `address` as the file's own headers count (CodeFile::address_of).
    std::optional<SourceLine> find(std::uint64_t address);

private:
    struct Stretch {
        CodeSpan span;
        std::uint64_t unit;  // where it begins in .debug_line
    };
    void index();

    const CodeFile::LineSections& sections_;
    bool is_indexed_ = false;
    std::vector<Stretch> stretches_;  // by begin
};

}  // namespace gpufs
