#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/elf/debug_sections.h"
#include "kernel/elf/elf_file.h"
#include "lang/dwarf/frame.h"
#include "lang/dwarf/info.h"
#include "lang/dwarf/lines.h"
#include "lang/dwarf/location.h"

namespace gpufs {

// The DWARF of a program or library, wherever it lies: in the file, in a separate debug file, in
// what dwz shares, in split files (.dwo) or a package of them (.dwp). Read as it is asked for.
class DebugInfo {
public:
    // Null if there is none. Throws SysError and Error as ElfFile does.
    static std::unique_ptr<DebugInfo> open(const std::string& file);

    const std::string& path() const noexcept { return program_.path(); }
    const ElfFile& program() const noexcept { return program_; }
    // Whether the program runs at the addresses that it was linked for.
    bool is_fixed() const;

    // The root entry of the unit with code at this address, as linked; absent if none has any.
    DwarfEntry unit_at(std::uint64_t address);
    // Calls visit(root) for each unit until it returns false.
    void for_each_unit(const std::function<bool(const DwarfEntry& root)>& visit);
    // The same for those that have one type each, of the split files, too, that were read.
    void for_each_type_unit(const std::function<bool(const DwarfEntry& root)>& visit);

    std::optional<FrameAddress> frame_address(std::uint64_t address);
    // Of the program's own thread-local variables.
    const ThreadBlockPlace& thread_block();

    // A unit of .debug_line.
    struct LineUnit {
        std::string_view bytes;
        std::vector<std::string> files;  // by their numbers in rows; as the compiler was given them
        std::string directory;           // in which it ran
    };
    const std::vector<LineUnit>& line_units();
    // A file by the number that an entry's unit has for it, without its directory; empty if it has
    // none.
    std::string source_file(const DwarfEntry& entry, std::uint64_t number) const;

    // Split files that are missing, each once.
    const std::vector<std::string>& missing() const noexcept { return missing_; }

private:
    DebugInfo(const std::string& file, std::unique_ptr<DebugSections> sections);

    struct Split {
        std::unique_ptr<DebugSections> sections;  // null: a package's
        std::unique_ptr<DwarfInfo> info;
    };
    DwarfEntry root(const DwarfUnit& unit);
    Split open_split(const DwarfUnit& unit);
    DebugSections* package();
    LineTexts line_texts() const;

    struct UnitCode {
        CodeSpan span;
        const DwarfUnit* unit;
    };
    std::optional<std::vector<UnitCode>> code_of_units_;  // sorted by begin
    ElfFile program_;
    std::unique_ptr<DebugSections> own_sections_;  // the program's, for its frames
    std::unique_ptr<DebugSections> sections_, shared_sections_;
    std::unique_ptr<DwarfInfo> shared_, info_;
    std::map<const DwarfUnit*, Split> splits_;
    std::optional<std::unique_ptr<DebugSections>> package_;
    std::optional<std::vector<LineUnit>> line_units_;
    std::optional<ThreadBlockPlace> thread_block_;
    std::vector<std::string> missing_;
};

}  // namespace gpufs
