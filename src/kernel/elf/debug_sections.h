#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/elf/elf_file.h"

namespace gpufs {

// The section of this name that has bytes in the file. ".zdebug_info" is ".debug_info", packed as
// it was before ELF had a flag for it.
std::optional<ElfFile::Section> find_section(const ElfFile& file, std::string_view name);
bool is_packed(const ElfFile::Section& section);
// The section's bytes, unpacked if they are packed; empty where they cannot be, or are more than
// `most`.
std::string unpacked_bytes(const ElfFile::Section& section, std::uint64_t most);

// The sections of an ELF file by name, unpacked (zlib, zstd, and the older ".zdebug_…").
class DebugSections {
public:
    explicit DebugSections(std::unique_ptr<ElfFile> file) : file_(std::move(file)) {}

    const ElfFile& file() const noexcept { return *file_; }
    // Empty if the file has none of this name, none of its bytes, or they cannot be unpacked. Valid
    // as long as this object.
    std::string_view bytes(std::string_view name);
    bool has(std::string_view name) const;
    // Where a section is in memory, as the file was linked; 0 if there is none.
    std::uint64_t address(std::string_view name) const;

private:
    std::unique_ptr<ElfFile> file_;
    std::map<std::string, std::string, std::less<>> unpacked_;  // by name
};

// The file that has the DWARF of a program or library: itself, or its separate debug file; null if
// neither has. Throws SysError and Error as ElfFile does.
std::unique_ptr<DebugSections> open_debug_sections(const std::string& path);

// What dwz moved out of several debug files (.gnu_debugaltlink), by build id or its path; null if
// there is none or it cannot be found.
std::unique_ptr<DebugSections> open_shared_sections(DebugSections& of);

// The file with this path, or null if it cannot be read as ELF.
std::unique_ptr<DebugSections> try_debug_sections(const std::string& path);

}  // namespace gpufs
