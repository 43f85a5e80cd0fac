#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "kernel/elf/section_bytes.h"
#include "kernel/host/root_directory.h"

namespace gpufs {

// What the file of a program or library says about its code, by offset in the file: the same
// whether it is loaded where it was linked for or not. Where it is stripped, its separate debug
// file says it (see find_functions()). 12 bytes a function; names stay in the file, which is held
// open.
class CodeFile {
public:
    enum class Lines { no, yes };

    // Reads the symbols of `file`, whose path as seen from `root` is `path`. A symbol table of more
    // than 1 GB is none. Throws SysError, and Error for what is no ELF file.
    CodeFile(Fd file, const std::string& path, const RootDirectory& root, Lines lines);

    struct Function {
        std::string name;        // as linked, mangled, without its version ("@@GLIBC_2.34")
        std::uint64_t past = 0;  // from its first byte on
    };
    // The function that a byte of the file belongs to. Of several names for one place the one with
    // the fewest underscores in front is taken, the first by name of those: "write" of
    // "__GI___write", "__write" and "write".
    std::optional<Function> find(std::uint64_t offset) const;

    // The address that the file's own headers have for a byte of it: what addr2line takes. Absent
    // where nothing is loaded from there.
    std::optional<std::uint64_t> address_of(std::uint64_t offset) const;

    // Empty without Lines::yes, and where there are none.
    struct LineSections {
        SectionBytes line;      // .debug_line
        SectionBytes line_str;  // .debug_line_str
        SectionBytes str;       // .debug_str
    };
    const LineSections& lines() const noexcept { return lines_; }

    std::size_t size() const noexcept { return functions_.size(); }
    // Gives the file back. Nothing is found after that.
    Fd take_file() noexcept { return std::move(file_); }

private:
    struct Entry {
        std::uint32_t start;  // from base_
        std::uint32_t size;
        std::uint32_t name;  // in names_
    };
    struct Segment {
        std::uint64_t address, offset, bytes;
    };
    struct Loader;

    Fd file_, debug_file_;
    std::vector<Segment> segments_;
    std::uint64_t base_ = 0;
    std::vector<Entry> functions_;  // by start
    SectionBytes names_;
    LineSections lines_;
};

// The code that the kernel maps into every process of this machine's own word size, "[vdso]". An
// empty descriptor where there is none.
Fd open_vdso();

}  // namespace gpufs
