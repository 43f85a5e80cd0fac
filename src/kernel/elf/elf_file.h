#pragma once

#include <gelf.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace gpufs {

// An ELF file, read through libelf.
class ElfFile {
public:
    // Throws SysError, and Error if the file is not ELF.
    explicit ElfFile(const std::string& path);
    // Takes an open file; `path` is its name in errors.
    ElfFile(Fd file, std::string path);

    const std::string& path() const noexcept { return path_; }
    Elf* elf() const noexcept { return elf_.get(); }
    int fd() const noexcept { return fd_.get(); }
    // Releases the file for use without libelf. Nothing may be read through this object afterwards.
    Fd take_file() noexcept { return std::move(fd_); }

    struct Section {
        Elf_Scn* handle;
        GElf_Shdr header;
        std::string_view name;
    };
    // Visits each named section; stops when `visit` returns false.
    void for_each_section(const std::function<bool(const Section&)>& visit) const;

    // The file offset of the byte at this address; absent if no segment contains it.
    std::optional<std::uint64_t> file_offset(std::uint64_t address) const;
    // The reverse: the address, as linked, of the byte at this offset of the file.
    std::optional<std::uint64_t> address_of(std::uint64_t file_offset) const;
    // The segments to load (PT_LOAD).
    const std::vector<GElf_Phdr>& segments() const noexcept { return segments_; }

    // It may be loaded to any address (ET_DYN): a library, or a program made like one.
    bool is_moved() const;
    // The bytes of NT_GNU_BUILD_ID; empty if there is none.
    std::string build_id() const;

private:
    struct End {
        void operator()(Elf* elf) const noexcept { elf_end(elf); }
    };
    std::string path_;
    Fd fd_;
    std::unique_ptr<Elf, End> elf_;
    std::vector<GElf_Phdr> segments_;
};

// The contents of a section as stored in the file; empty if it has none.
std::string_view section_bytes(const ElfFile::Section& section);

// The text of libelf's last error.
std::string elf_words();

}  // namespace gpufs
