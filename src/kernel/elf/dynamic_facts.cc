#include "kernel/elf/dynamic_facts.h"

#include <algorithm>

#include "base/bytes.h"

namespace gpufs {
namespace {

std::string interpreter_of(const ElfFile& file) {
    const auto segment = find_segment(file, PT_INTERP);
    if (!segment) return {};
    const Elf_Data* const data = elf_getdata_rawchunk(
        file.elf(), static_cast<std::int64_t>(segment->p_offset), segment->p_filesz, ELF_T_BYTE);
    if (!data || !data->d_buf) return {};
    return std::string(up_to_nul({static_cast<const char*>(data->d_buf), data->d_size}));
}

}  // namespace

std::optional<GElf_Phdr> find_segment(const ElfFile& file, GElf_Word type) {
    std::size_t count = 0;
    if (elf_getphdrnum(file.elf(), &count) != 0) return std::nullopt;
    GElf_Phdr header;
    for (std::size_t i = 0; i < count; ++i)
        if (gelf_getphdr(file.elf(), static_cast<int>(i), &header) && header.p_type == type)
            return header;
    return std::nullopt;
}

DynamicFacts dynamic_facts(const ElfFile& file) {
    DynamicFacts facts;
    facts.interpreter = interpreter_of(file);
    file.for_each_section([&](const ElfFile::Section& section) {
        if (section.header.sh_type != SHT_DYNAMIC || section.header.sh_entsize == 0) return true;
        Elf_Data* const data = elf_getdata(section.handle, nullptr);
        GElf_Dyn entry;
        for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; ++i) {
            const auto text = [&] {
                const char* const found =
                    elf_strptr(file.elf(), section.header.sh_link, entry.d_un.d_val);
                return std::string(found ? found : "");
            };
            switch (entry.d_tag) {
                case DT_FLAGS_1:
                    facts.is_pie = (entry.d_un.d_val & DF_1_PIE) != 0;
                    break;
                case DT_SONAME:
                    facts.own_name = text();
                    break;
                case DT_NEEDED:
                    facts.needed.push_back(text());
                    break;
                case DT_RUNPATH:
                    facts.library_path = text();
                    break;
                case DT_RPATH:
                    if (facts.library_path.empty()) facts.library_path = text();
                    break;
                default:
                    break;
            }
        }
        return false;
    });
    return facts;
}

}  // namespace gpufs
