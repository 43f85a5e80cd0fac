#include "kernel/elf/elf_symbols.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/glob.h"
#include "base/path.h"
#include "base/sorted.h"
#include "kernel/elf/debug_file.h"
#include "kernel/elf/elf_file.h"
#include "kernel/elf/mini_debug_info.h"

namespace gpufs {
namespace {

// The versions of the symbols of a .dynsym.
class SymbolVersions {
public:
    SymbolVersions(const ElfFile& file, Elf_Scn* symbols) {
        file.for_each_section([&](const ElfFile::Section& section) {
            if (section.header.sh_type == SHT_GNU_verdef)
                read_names(file, section);
            else if (section.header.sh_type == SHT_GNU_versym &&
                     section.header.sh_link == elf_ndxscn(symbols))
                numbers_ = elf_getdata(section.handle, nullptr);
            return true;
        });
    }

    // "@@GLIBC_2.14", "@GLIBC_2.2.5"; empty without one.
    std::string of(std::size_t symbol) const {
        constexpr GElf_Versym kIsHidden = 0x8000;
        GElf_Versym number = 0;
        if (!numbers_ || !gelf_getversym(numbers_, static_cast<int>(symbol), &number)) return {};
        const auto name = names_.find(number & static_cast<GElf_Versym>(~kIsHidden));
        if (name == names_.end()) return {};
        return ((number & kIsHidden) != 0 ? "@" : "@@") + name->second;
    }

private:
    void read_names(const ElfFile& file, const ElfFile::Section& section) {
        Elf_Data* const data = elf_getdata(section.handle, nullptr);
        GElf_Verdef definition;
        for (int at = 0; data && gelf_getverdef(data, at, &definition);) {
            GElf_Verdaux first;
            const bool is_file = (definition.vd_flags & VER_FLG_BASE) != 0;
            if (!is_file && gelf_getverdaux(data, at + static_cast<int>(definition.vd_aux), &first))
                if (const char* name =
                        elf_strptr(file.elf(), section.header.sh_link, first.vda_name))
                    names_[definition.vd_ndx] = name;
            // A distance past the section, as one that leads back, is damage.
            if (definition.vd_next == 0 || definition.vd_next > data->d_size) return;
            at += static_cast<int>(definition.vd_next);
        }
    }

    Elf_Data* numbers_ = nullptr;
    std::map<GElf_Versym, std::string> names_;
};

// Visits the symbols of one kind of symbol table that are defined there: their names without
// versions, and a function that tells the version. Whether there is such a table.
template <class Visit>
bool for_each_symbol(const ElfFile& tables, GElf_Word type, Visit visit) {
    bool has_table = false;
    tables.for_each_section([&](const ElfFile::Section& section) {
        if (section.header.sh_type != type || section.header.sh_entsize == 0) return true;
        has_table = true;
        Elf_Data* data = elf_getdata(section.handle, nullptr);
        const std::size_t count = section.header.sh_size / section.header.sh_entsize;
        std::optional<SymbolVersions> versions;
        for (std::size_t i = 0; data && i < count; ++i) {
            GElf_Sym symbol;
            if (!gelf_getsym(data, static_cast<int>(i), &symbol)) break;
            if (symbol.st_shndx == SHN_UNDEF) continue;
            const char* text = elf_strptr(tables.elf(), section.header.sh_link, symbol.st_name);
            if (!text) continue;
            const std::string_view name = text;
            const auto end = std::min(name.find('@'), name.size());
            visit(name.substr(0, end), symbol, [&] {
                if (end < name.size()) return std::string(name.substr(end));
                if (!versions) versions.emplace(tables, section.handle);
                return versions->of(i);
            });
        }
        return true;
    });
    return has_table;
}

// The same for all symbol tables of a program or library.
template <class Visit>
void for_each_symbol(const ElfFile& file, Visit visit) {
    const bool has_symbols = for_each_symbol(file, SHT_SYMTAB, visit);
    for_each_symbol(file, SHT_DYNSYM, visit);
    if (has_symbols) return;
    const std::string directory = parent_directory(real_path(file.path()).value_or(file.path()));
    if (const auto debug = open_debug_file(file, directory, RootDirectory()))
        if (for_each_symbol(*debug, SHT_SYMTAB, visit)) return;
    if (const auto mini = open_mini_debug_info(file)) for_each_symbol(*mini, SHT_SYMTAB, visit);
}

// "@V" is V however it is marked, "@@V" only the one that is the default.
bool is_version(std::string_view wanted, std::string_view version) {
    return wanted == version || (version.starts_with("@@") && wanted == version.substr(1));
}

bool is_function(const GElf_Sym& symbol) {
    const auto kind = GELF_ST_TYPE(symbol.st_info);
    return kind == STT_FUNC || kind == STT_GNU_IFUNC;
}

}  // namespace

std::vector<ElfFunction> find_functions(const std::string& path, std::string_view pattern) {
    const ElfFile file(path);
    std::vector<ElfFunction> functions;
    const auto end = std::min(pattern.find('@'), pattern.size());
    const std::string_view wanted = pattern.substr(end);
    pattern = pattern.substr(0, end);
    const bool any = is_glob(pattern);
    for_each_symbol(
        file, [&](std::string_view name, const GElf_Sym& symbol, const auto& version_of) {
            if (!is_function(symbol) || (any ? !glob_match(pattern, name) : name != pattern))
                return;
            // By the segments of the program: the headers of a debug file do not have them.
            const auto offset = file.file_offset(symbol.st_value);
            if (!offset) return;
            std::string version = version_of();
            if (wanted.empty() || is_version(wanted, version))
                functions.push_back({std::string(name), std::move(version), *offset, symbol.st_size,
                                     GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC});
        });
    // Of two tables the one that has the version.
    sort_stably(functions, std::greater(), &ElfFunction::version);
    const auto key = [](const ElfFunction& f) { return std::tie(f.offset, f.name); };
    sort_stably(functions, {}, key);
    const auto is_same = [&](const ElfFunction& a, const ElfFunction& b) {
        return key(a) == key(b);
    };
    functions.erase(std::unique(functions.begin(), functions.end(), is_same), functions.end());
    return functions;
}

std::optional<ElfSymbol> find_symbol(const ElfFile& file, std::string_view name) {
    std::optional<ElfSymbol> found;
    for_each_symbol(file, [&](std::string_view known, const GElf_Sym& symbol, const auto&) {
        const bool is_variable = GELF_ST_TYPE(symbol.st_info) == STT_OBJECT;
        if (!found && known == name && (is_variable || is_function(symbol)))
            found = ElfSymbol{symbol.st_value, symbol.st_size};
    });
    return found;
}

std::vector<std::uint64_t> find_thread_variables(const std::string& path, std::string_view name) {
    const ElfFile file(path);
    std::set<std::uint64_t> found;
    for_each_symbol(file, [&](std::string_view known, const GElf_Sym& symbol, const auto&) {
        if (known == name && GELF_ST_TYPE(symbol.st_info) == STT_TLS) found.insert(symbol.st_value);
    });
    return {found.begin(), found.end()};
}

std::optional<std::int64_t> distance_to_symbol(const std::string& path, std::uint64_t from,
                                               std::string_view name) {
    const auto symbol = find_symbol(ElfFile(path), name);
    if (!symbol) return std::nullopt;
    return static_cast<std::int64_t>(symbol->address - from);
}

std::optional<ElfPlace> find_function_at(const ElfFile& file, std::uint64_t address) {
    std::optional<ElfPlace> found;
    for_each_symbol(file, [&](std::string_view name, const GElf_Sym& symbol, const auto&) {
        if (!found && is_function(symbol) && address >= symbol.st_value &&
            address - symbol.st_value < std::max<std::uint64_t>(symbol.st_size, 1))
            found = ElfPlace{std::string(name), address - symbol.st_value};
    });
    return found;
}

}  // namespace gpufs
