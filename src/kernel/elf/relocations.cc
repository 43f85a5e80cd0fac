#include "kernel/elf/relocations.h"

namespace gpufs {

void for_each_relocation(const ElfFile& file,
                         const std::function<bool(const DynamicRelocation&)>& visit) {
    file.for_each_section([&](const ElfFile::Section& section) {
        if (section.header.sh_type != SHT_RELA || (section.header.sh_flags & SHF_ALLOC) == 0)
            return true;
        Elf_Data* const entries = elf_getdata(section.handle, nullptr);
        Elf_Scn* const table = elf_getscn(file.elf(), section.header.sh_link);
        Elf_Data* const symbols = table ? elf_getdata(table, nullptr) : nullptr;
        GElf_Shdr symbols_header{};
        if (table) gelf_getshdr(table, &symbols_header);
        GElf_Rela entry;
        for (int i = 0; entries && gelf_getrela(entries, i, &entry); ++i) {
            const auto number = static_cast<int>(GELF_R_SYM(entry.r_info));
            DynamicRelocation found{entry.r_offset,
                                    static_cast<unsigned>(GELF_R_TYPE(entry.r_info)),
                                    entry.r_addend,
                                    number != 0,
                                    {},
                                    {}};
            if (number != 0 && symbols && gelf_getsym(symbols, number, &found.symbol))
                if (const char* const name =
                        elf_strptr(file.elf(), symbols_header.sh_link, found.symbol.st_name))
                    found.name = name;
            if (!visit(found)) return false;
        }
        return true;
    });
}

}  // namespace gpufs
