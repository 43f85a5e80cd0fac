#include "lang/insn/object.h"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "base/bytes.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/sorted.h"
#include "lang/insn/image.h"
#include "lang/insn/names.h"
#include "lang/insn/tokens.h"

namespace gpufs {
namespace {

class ObjectReader {
public:
    ObjectReader(std::string_view what, std::string_view bytes) : what_(what), bytes_(bytes) {
        const auto header = read<Elf64_Ehdr>(0);
        constexpr int kOrder =
            std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
        if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_BPF)
            throw UsageError(cat(what_, " is an ELF file, but not for BPF"),
                             "clang -target bpf -c makes one");
        if (header.e_ident[EI_DATA] != kOrder)
            throw UsageError(cat(what_, " is for machines of the other byte order"));
        if (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr)) damaged();
        for (std::size_t i = 0; i < header.e_shnum; ++i)
            headers_.push_back(read<Elf64_Shdr>(offset(header.e_shoff, i, sizeof(Elf64_Shdr))));
        if (header.e_shnum != 0) names_ = content(header.e_shstrndx);
        // Sections are copied: refuse overlapping ones, which could add up to many times the file's
        // size.
        std::size_t left = bytes_.size();
        for (std::size_t i = 0; i < headers_.size(); ++i) {
            const std::size_t size = content(i).size();
            if (size > left)
                throw UsageError(cat(what_, " is a damaged ELF file: its sections overlap"));
            left -= size;
        }
    }

    std::vector<BpfSection> sections() {
        std::vector<BpfSection> found;
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < headers_.size(); ++i) {
            const Elf64_Shdr& header = headers_[i];
            if (header.sh_type != SHT_PROGBITS || !(header.sh_flags & SHF_EXECINSTR)) continue;
            const std::string_view code = content(i);
            if (code.empty()) continue;
            BpfSection section;
            section.name = text_at(names_, header.sh_name);
            section.insns = insns_of_bytes(cat("section ", section.name, " of ", what_), code);
            found.push_back(std::move(section));
            numbers.push_back(i);
        }
        for (std::size_t i = 0; i < headers_.size(); ++i) {
            const auto at = std::ranges::find(numbers, headers_[i].sh_info) - numbers.begin();
            if (headers_[i].sh_type == SHT_SYMTAB) add_functions(i, numbers, found);
            if (headers_[i].sh_type == SHT_REL && at != std::ssize(numbers))
                add_references(i, found[static_cast<std::size_t>(at)]);
        }
        for (BpfSection& section : found) {
            sort_stably(section.functions, {}, &BpfSection::Name::insn);
            sort_stably(section.references, {}, &BpfSection::Name::insn);
        }
        return found;
    }

private:
    [[noreturn]] void damaged() const { throw UsageError(cat(what_, " is a damaged ELF file")); }

    // The offset of entry `index` of a table. A sum that wraps around is rejected as beyond the
    // file.
    std::size_t offset(std::uint64_t table, std::size_t index, std::size_t size) const {
        if (table > bytes_.size()) damaged();
        return static_cast<std::size_t>(table) + index * size;
    }

    template <class T>
    T read(std::size_t at, std::string_view from) const {
        if (at > from.size() || from.size() - at < sizeof(T)) damaged();
        T value;
        std::memcpy(&value, from.data() + at, sizeof value);
        return value;
    }
    template <class T>
    T read(std::size_t at) const {
        return read<T>(at, bytes_);
    }

    std::string_view content(std::size_t section) const {
        if (section >= headers_.size()) damaged();
        const Elf64_Shdr& header = headers_[section];
        if (header.sh_type == SHT_NOBITS) return {};
        if (header.sh_offset > bytes_.size() || bytes_.size() - header.sh_offset < header.sh_size)
            damaged();
        return bytes_.substr(header.sh_offset, header.sh_size);
    }

    std::string text_at(std::string_view texts, std::size_t at) const {
        if (at >= texts.size()) damaged();
        return std::string(up_to_nul(texts.substr(at)));
    }

    std::string name_of(const Elf64_Sym& symbol, std::size_t table) const {
        if (ELF64_ST_TYPE(symbol.st_info) == STT_SECTION && symbol.st_shndx < headers_.size())
            return text_at(names_, headers_[symbol.st_shndx].sh_name);
        return text_at(content(headers_[table].sh_link), symbol.st_name);
    }

    void add_functions(std::size_t table, const std::vector<std::size_t>& numbers,
                       std::vector<BpfSection>& sections) const {
        const std::string_view symbols = content(table);
        for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size();
             at += sizeof(Elf64_Sym)) {
            const auto symbol = read<Elf64_Sym>(at, symbols);
            const auto number = std::ranges::find(numbers, symbol.st_shndx) - numbers.begin();
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || number == std::ssize(numbers))
                continue;
            sections[static_cast<std::size_t>(number)].functions.push_back(
                {symbol.st_value / sizeof(bpf_insn), name_of(symbol, table)});
        }
    }

    void add_references(std::size_t table, BpfSection& section) const {
        const std::string_view relocations = content(table);
        const std::size_t symbols = headers_[table].sh_link;
        for (std::size_t at = 0; at + sizeof(Elf64_Rel) <= relocations.size();
             at += sizeof(Elf64_Rel)) {
            const auto relocation = read<Elf64_Rel>(at, relocations);
            const auto symbol = read<Elf64_Sym>(ELF64_R_SYM(relocation.r_info) * sizeof(Elf64_Sym),
                                                content(symbols));
            section.references.push_back(
                {relocation.r_offset / sizeof(bpf_insn), name_of(symbol, symbols)});
        }
    }

    std::string_view what_, bytes_;
    std::vector<Elf64_Shdr> headers_;
    std::string_view names_;
};

// "L12", "F12": the disassembler's labels for the targets of jumps and calls.
bool is_jump_label(std::string_view name) {
    return name.size() > 1 && (name[0] == 'L' || name[0] == 'F') &&
           std::ranges::all_of(name.substr(1), is_digit);
}

bool can_be_label(std::string_view name) {
    return !name.empty() && !is_digit(name[0]) && std::ranges::all_of(name, is_name_char) &&
           !find_register(name) && !is_jump_label(name);
}

}  // namespace

bool is_elf(std::string_view bytes) {
    return bytes.starts_with(std::string_view(ELFMAG, SELFMAG));
}

std::vector<BpfSection> parse_bpf_object(std::string_view what, std::string_view bytes) {
    return ObjectReader(what, bytes).sections();
}

std::string disassembly(const BpfSection& section, DisasmOptions options) {
    std::set<std::string> taken;
    options.name = [&](std::size_t slot) -> std::string {
        for (const BpfSection::Name& function : section.functions)
            if (function.insn == slot && can_be_label(function.name) &&
                taken.insert(function.name).second)
                return function.name;
        return {};
    };
    options.note = [&](std::size_t slot) {
        std::string note;
        for (const BpfSection::Name& reference : section.references)
            if (reference.insn == slot) note = reference.name;
        return printable(note);
    };
    return disassembly(section.insns, options);
}

}  // namespace gpufs
