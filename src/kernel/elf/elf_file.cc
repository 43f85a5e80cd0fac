#include "kernel/elf/elf_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/error.h"
#include "base/file.h"

namespace gpufs {

// What debug information names can be anything: a pipe is not waited for.
ElfFile::ElfFile(const std::string& path) : ElfFile(open_file(path, O_RDONLY | O_NONBLOCK), path) {}

ElfFile::ElfFile(Fd file, std::string path) : path_(std::move(path)), fd_(std::move(file)) {
    struct stat is;
    if (::fstat(fd_.get(), &is) == 0 && S_ISDIR(is.st_mode))
        throw SysError(EISDIR, cat("read ", path_));
    elf_version(EV_CURRENT);
    // Read, not mapped: whoever can write a file could end us by SIGBUS, by making it shorter.
    elf_.reset(elf_begin(fd_.get(), ELF_C_READ, nullptr));
    if (!elf_) throw Error(cat("cannot read ", path_, ": ", elf_words()));
    if (elf_kind(elf_.get()) != ELF_K_ELF)
        throw Error(cat(path_, " is no program and no library"), "a script? name its interpreter");
    std::size_t count = 0;
    if (elf_getphdrnum(elf_.get(), &count) != 0)
        throw Error(cat("cannot read ", path_, ": ", elf_words()));
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf_.get(), static_cast<int>(i), &segment) && segment.p_type == PT_LOAD)
            segments_.push_back(segment);
    }
}

void ElfFile::for_each_section(const std::function<bool(const Section&)>& visit) const {
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf_.get(), &names) != 0) return;  // no section headers
    for (Elf_Scn* scn = elf_nextscn(elf_.get(), nullptr); scn; scn = elf_nextscn(elf_.get(), scn)) {
        Section section{scn, {}, {}};
        if (!gelf_getshdr(scn, &section.header)) continue;
        const char* name = elf_strptr(elf_.get(), names, section.header.sh_name);
        if (!name) continue;
        section.name = name;
        if (!visit(section)) return;
    }
}

bool ElfFile::is_moved() const {
    GElf_Ehdr header;
    return gelf_getehdr(elf_.get(), &header) && header.e_type == ET_DYN;
}

std::optional<std::uint64_t> ElfFile::file_offset(std::uint64_t address) const {
    for (const GElf_Phdr& segment : segments_)
        if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
            return address - segment.p_vaddr + segment.p_offset;
    return std::nullopt;
}

std::optional<std::uint64_t> ElfFile::address_of(std::uint64_t file_offset) const {
    for (const GElf_Phdr& segment : segments_)
        if (file_offset >= segment.p_offset && file_offset - segment.p_offset < segment.p_filesz)
            return file_offset - segment.p_offset + segment.p_vaddr;
    return std::nullopt;
}

std::string ElfFile::build_id() const {
    std::string found;
    for_each_section([&](const Section& section) {
        if (section.header.sh_type != SHT_NOTE) return true;
        Elf_Data* data = elf_getdata(section.handle, nullptr);
        GElf_Nhdr note;
        std::size_t name = 0, desc = 0;
        for (std::size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &desc)) != 0;) {
            const auto* bytes = static_cast<const char*>(data->d_buf);
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
                std::string_view(bytes + name, 3) == "GNU")
                found.assign(bytes + desc, note.n_descsz);
        }
        return found.empty();
    });
    return found;
}

std::string_view section_bytes(const ElfFile::Section& section) {
    const Elf_Data* data = elf_rawdata(section.handle, nullptr);
    if (!data || !data->d_buf) return {};
    return {static_cast<const char*>(data->d_buf), data->d_size};
}

std::string elf_words() {
    const char* words = elf_errmsg(-1);
    return words ? words : "damaged";
}

}  // namespace gpufs
