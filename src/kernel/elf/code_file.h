#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "kernel/elf/plt_stubs.h"
#include "kernel/elf/section_bytes.h"
#include "kernel/host/root_directory.h"

namespace gpufs {

// The symbols and segments of a program or library, by file offset and thus independent of the load
// address. For a stripped file the separate debug file is used (see find_functions()). Takes 12
// bytes per function; names are read from the file, which stays open.
class CodeFile {
public:
    enum class Lines { no, yes, and_inlined };

    // Reads the symbols of `file`, whose path as seen from `root` is `path`. Ignores a symbol table
    // larger than 1 GB. Throws SysError, and Error if the file is not ELF.
    CodeFile(Fd file, const std::string& path, const RootDirectory& root, Lines lines);

    struct Function {
        std::string name;        // mangled, without its version ("@@GLIBC_2.34")
        std::uint64_t past = 0;  // offset from the function's first byte
    };
    // The function that contains this byte of the file. Among several names of one address, chooses
    // the one with the fewest leading underscores, then the alphabetically first: "write" of
    // "__GI___write", "__write" and "write". A stub of the procedure linkage table is "write@plt".
    std::optional<Function> find(std::uint64_t offset) const;

    // The link-time address of this byte of the file, as addr2line takes it. Absent if no segment
    // contains it.
    std::optional<std::uint64_t> address_of(std::uint64_t offset) const;

    // Its bytes, of the note .note.gnu.build-id; empty without one.
    const std::string& build_id() const noexcept { return build_id_; }

    // Empty without Lines::yes, and if the file has no such sections.
    struct LineSections {
        SectionBytes line;      // .debug_line
        SectionBytes line_str;  // .debug_line_str
        SectionBytes str;       // .debug_str
    };
    const LineSections& lines() const noexcept { return lines_; }

    std::size_t size() const noexcept { return functions_.size(); }
    int file() const noexcept { return file_.get(); }
    // Releases the file. Lookups find nothing afterwards.
    Fd take_file() noexcept { return std::move(file_); }

private:
    std::optional<Function> stub_at(std::uint64_t address) const;

    struct Entry {
        std::uint32_t start;  // relative to base_
        std::uint32_t size;
        std::uint32_t name;  // offset in names_
    };
    struct Segment {
        std::uint64_t address, offset, bytes;
    };
    struct Loader;

    Fd file_, debug_file_;
    std::string build_id_;
    std::vector<Segment> segments_;
    std::uint64_t base_ = 0;
    std::vector<Entry> functions_;  // sorted by start
    std::vector<PltStub> stubs_;
    SectionBytes names_;
    LineSections lines_;
};

// The path of the vDSO among what processes map.
inline constexpr std::string_view kVdsoPath = "[vdso]";
// A copy of the vDSO of this machine's own word size, which the kernel maps into every process.
// Empty if there is none.
Fd open_vdso();

}  // namespace gpufs
