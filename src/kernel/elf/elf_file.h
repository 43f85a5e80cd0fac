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
    // Throws SysError, and Error for what is no ELF file.
    explicit ElfFile(const std::string& path);
    // Reads what is open already; `path` is its name in errors.
    ElfFile(Fd file, std::string path);

    const std::string& path() const noexcept { return path_; }
    Elf* elf() const noexcept { return elf_.get(); }
    int fd() const noexcept { return fd_.get(); }
    // The file itself, for who reads on without libelf. Nothing is read here after that.
    Fd take_file() noexcept { return std::move(fd_); }

    struct Section {
        Elf_Scn* handle;
        GElf_Shdr header;
        std::string_view name;
    };
    // Each section that has a name; false stops.
    void for_each_section(const std::function<bool(const Section&)>& visit) const;

    // Where the byte of an address is in the file; absent where nothing is loaded from it.
    std::optional<std::uint64_t> file_offset(std::uint64_t address) const;
    // What the file asks to have loaded (PT_LOAD).
    const std::vector<GElf_Phdr>& segments() const noexcept { return segments_; }

    // The bytes of NT_GNU_BUILD_ID; empty where there is none.
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

// What a section holds, as it is in the file; empty where it has no bytes.
std::string_view section_bytes(const ElfFile::Section& section);

// The words of libelf's last error.
std::string elf_words();

}  // namespace gpufs
