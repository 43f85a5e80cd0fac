#include "kernel/elf/thread_block.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "kernel/elf/relocations.h"

namespace gpufs {
namespace {

using Kind = ThreadBlock::Kind;

ThreadBlock unknown(std::string trouble) {
    return {Kind::unknown, 0, 0, std::move(trouble)};
}

// Calls visit(HEADER) for each segment until it returns false.
template <class Visit>
void for_each_segment(const ElfFile& file, Visit visit) {
    std::size_t count = 0;
    if (elf_getphdrnum(file.elf(), &count) != 0) return;
    GElf_Phdr header;
    for (std::size_t i = 0; i < count; ++i)
        if (gelf_getphdr(file.elf(), static_cast<int>(i), &header) && !visit(header)) return;
}

std::optional<GElf_Phdr> find_segment(const ElfFile& file, GElf_Word type) {
    std::optional<GElf_Phdr> found;
    for_each_segment(file, [&](const GElf_Phdr& header) {
        if (header.p_type == type) found = header;
        return !found;
    });
    return found;
}

// What .dynamic says: is it a program, and which C library does it use?
struct DynamicFacts {
    bool is_pie = false, has_name = false, uses_musl = false;
};
DynamicFacts dynamic_facts(const ElfFile& file) {
    DynamicFacts facts;
    file.for_each_section([&](const ElfFile::Section& section) {
        if (section.header.sh_type != SHT_DYNAMIC || section.header.sh_entsize == 0) return true;
        Elf_Data* const data = elf_getdata(section.handle, nullptr);
        GElf_Dyn entry;
        for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; ++i) {
            if (entry.d_tag == DT_FLAGS_1) facts.is_pie = (entry.d_un.d_val & DF_1_PIE) != 0;
            if (entry.d_tag == DT_SONAME) facts.has_name = true;
            if (entry.d_tag != DT_NEEDED) continue;
            const char* const name =
                elf_strptr(file.elf(), section.header.sh_link, entry.d_un.d_val);
            if (name && std::string_view(name).starts_with("libc.musl")) facts.uses_musl = true;
        }
        return false;
    });
    return facts;
}

// Linkers and loaders put the block of a program right below the thread pointer, as near as its
// alignment allows.
ThreadBlock block_of_program(const GElf_Phdr& segment) {
    const std::uint64_t align = std::max<std::uint64_t>(segment.p_align, 1);
    const std::uint64_t gap = (0 - segment.p_vaddr - segment.p_memsz) & (align - 1);
    return {Kind::at_pointer, -static_cast<std::int64_t>(segment.p_memsz + gap), 0, {}};
}

// What the loader is asked to write for variables of this file.
std::optional<ThreadBlock> block_by_relocation(const ElfFile& file) {
    std::optional<ThreadBlock> by_module, by_offset;
    for_each_relocation(file, [&](const Relocation& one) {
        const bool is_of_another_file = one.has_symbol && one.symbol.st_shndx == SHN_UNDEF;
        if (is_of_another_file) return true;
        const auto at = static_cast<std::int64_t>(one.address);
        if (one.type == R_X86_64_DTPMOD64) by_module = {Kind::by_module, at, 0, {}};
        if (one.type == R_X86_64_TPOFF64)
            by_offset = {Kind::by_offset,
                         at,
                         static_cast<std::int64_t>(one.symbol.st_value) + one.addend,
                         {}};
        return !by_module;
    });
    return by_offset ? by_offset : by_module;
}

}  // namespace

ThreadBlock find_thread_block(const ElfFile& file) {
    GElf_Ehdr header;
    if (!gelf_getehdr(file.elf(), &header) || header.e_machine != EM_X86_64 ||
        gelf_getclass(file.elf()) != ELFCLASS64)
        return unknown("each thread has its own, and only of x86-64 is known where");
    const auto segment = find_segment(file, PT_TLS);
    if (!segment) return unknown("each thread has its own, and the file has no segment of them");
    const DynamicFacts facts = dynamic_facts(file);
    const bool is_program = header.e_type == ET_EXEC || facts.is_pie ||
                            (find_segment(file, PT_INTERP) && !facts.has_name);
    if (is_program) return block_of_program(*segment);
    const auto found = block_by_relocation(file);
    if (!found)
        return unknown("each thread has its own, and this library has no word that tells where");
    if (found->kind == Kind::by_module && facts.uses_musl)
        return unknown("each thread has its own, and only of glibc's libraries is known where");
    return *found;
}

}  // namespace gpufs
