#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernel/elf/code_file.h"
#include "lang/dwarf/lines.h"

namespace gpufs {

// The source lines of a file's code. On first use, reads all units of .debug_line, one at a time,
// and stores the code range of each: 24 bytes per range. After that, a query reads one unit.
class SourceLines {
public:
    // `sections` must outlive this object.
    explicit SourceLines(const CodeFile::LineSections& sections) : sections_(sections) {}

    // `address`: link-time address (CodeFile::address_of).
    std::optional<SourceLine> find(std::uint64_t address);

private:
    struct Stretch {
        CodeSpan span;
        std::uint64_t unit;  // offset in .debug_line
    };
    void index();

    const CodeFile::LineSections& sections_;
    bool is_indexed_ = false;
    std::vector<Stretch> stretches_;  // sorted by begin
};

}  // namespace gpufs
