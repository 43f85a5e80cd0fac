#include "gpufs/kernel/function_names.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "gpufs/base/error.h"
#include "gpufs/base/file.h"
#include "gpufs/base/text.h"

namespace gpufs {
namespace {

// "f.isra.0.cold" -> "f". What is behind ".cold" or ".part" is not the function's beginning.
std::string_view without_suffix(std::string_view symbol) {
    const auto dot = symbol.find('.');
    if (dot == symbol.npos || dot == 0) return symbol;
    const std::string_view suffix = symbol.substr(dot);
    const bool is_copy = suffix.starts_with(".isra.") || suffix.starts_with(".constprop.");
    const bool is_part = suffix.find(".cold") != suffix.npos || suffix.find(".part") != suffix.npos;
    return is_copy && !is_part ? symbol.substr(0, dot) : symbol;
}

// Reads tables of an ELF file, never beyond its end.
class ElfReader {
public:
    explicit ElfReader(const std::string& path) : path_(path), fd_(open_file(path, O_RDONLY)) {
        struct stat status {};
        check(::fstat(fd_.get(), &status), [&] { return cat("look at '", path, "'"); });
        size_ = static_cast<std::uint64_t>(status.st_size);
        constexpr unsigned char kOrder =
            std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
        if (size_ < sizeof header_) throw not_elf();
        header_ = table<Elf64_Ehdr>(0, 1)[0];
        if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
            header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != kOrder)
            throw not_elf();
        segments_ = table<Elf64_Phdr>(header_.e_phoff, header_.e_phnum);
        sections_ = table<Elf64_Shdr>(header_.e_shoff, header_.e_shnum);
    }

    std::vector<ElfFunction> functions() {
        std::vector<ElfFunction> found;
        for (const Elf64_Shdr& section : sections_) {
            if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
            if (section.sh_link >= sections_.size()) throw damaged();
            const Elf64_Shdr& strings = sections_[section.sh_link];
            const std::vector<char> names = table<char>(strings.sh_offset, strings.sh_size);
            if (names.empty() || names.back() != '\0') throw damaged();
            for (const Elf64_Sym& symbol :
                 table<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
                const bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC ||
                                         ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC;
                if (!is_function || symbol.st_shndx == SHN_UNDEF) continue;
                const auto offset = file_offset(symbol.st_value);
                if (symbol.st_name >= names.size() || !offset) continue;
                found.push_back({names.data() + symbol.st_name, *offset});
            }
        }
        return found;
    }

private:
    Error not_elf() const { return Error(cat("'", path_, "' is no 64-bit ELF file")); }
    Error damaged() const { return Error(cat("the symbol tables of '", path_, "' are damaged")); }

    template <class T>
    std::vector<T> table(std::uint64_t offset, std::uint64_t count) const {
        if (offset > size_ || count > (size_ - offset) / sizeof(T)) throw damaged();
        std::vector<T> rows(static_cast<std::size_t>(count));
        const std::size_t bytes = rows.size() * sizeof(T);
        for (std::size_t done = 0; done < bytes;) {
            const ssize_t n = ::pread(fd_.get(), reinterpret_cast<char*>(rows.data()) + done,
                                      bytes - done, static_cast<off_t>(offset + done));
            if (n == -1 && errno == EINTR) continue;
            check(n, [&] { return cat("read '", path_, "'"); });
            if (n == 0) throw damaged();
            done += static_cast<std::size_t>(n);
        }
        return rows;
    }

    // Symbols hold addresses; segments say which bytes of the file are there.
    std::optional<std::uint64_t> file_offset(std::uint64_t address) const {
        for (const Elf64_Phdr& segment : segments_)
            if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
                address - segment.p_vaddr < segment.p_filesz)
                return address - segment.p_vaddr + segment.p_offset;
        return std::nullopt;
    }

    std::string path_;
    Fd fd_;
    std::uint64_t size_ = 0;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Phdr> segments_;
    std::vector<Elf64_Shdr> sections_;
};

}  // namespace

std::vector<KernelFunction> find_kernel_functions(const std::set<std::string>& names,
                                                  const std::string& path) {
    std::vector<KernelFunction> exact, copies;
    const std::string text = read_file(path);
    for (std::string_view line : lines_of(text)) {
        // "ffffffffc0a1b2c0 t drm_sched_job_timedout	[gpu_sched]"
        const auto type = line.find(' ');
        if (type == line.npos || type + 3 > line.size()) continue;
        if (std::string_view("tTwW").find(line[type + 1]) == std::string_view::npos) continue;
        line.remove_prefix(type + 3);
        const auto tab = line.find('\t');
        const std::string_view symbol = line.substr(0, tab);
        const std::string base(without_suffix(symbol));
        if (!names.contains(base)) continue;
        std::string_view module = tab == line.npos ? std::string_view() : line.substr(tab + 1);
        if (module.starts_with('[')) module = module.substr(1, module.find(']') - 1);
        auto& found = base == symbol ? exact : copies;
        found.push_back({base, std::string(symbol), std::string(module)});
    }
    for (KernelFunction& copy : copies)
        if (std::ranges::find(exact, copy.wanted, &KernelFunction::wanted) == exact.end())
            exact.push_back(std::move(copy));
    return exact;
}

std::vector<ElfFunction> read_elf_functions(const std::string& path) {
    return ElfReader(path).functions();
}

}  // namespace gpufs
