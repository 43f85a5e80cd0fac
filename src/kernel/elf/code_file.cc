#include "kernel/elf/code_file.h"

#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "kernel/elf/debug_file.h"
#include "kernel/elf/debug_sections.h"
#include "kernel/elf/elf_file.h"
#include "kernel/elf/mini_debug_info.h"

namespace gpufs {
namespace {

// Larger sections are not decompressed: the few files that have them are not worth the memory.
constexpr std::uint64_t kLargestUnpacked = 64 << 20;
// A browser with all its symbols has 50 MB. The limit guards against forged sizes in sparse files.
constexpr std::uint64_t kLargestTable = 1 << 30;

std::optional<ElfFile::Section> section_of_type(const ElfFile& file, GElf_Word type) {
    std::optional<ElfFile::Section> found;
    file.for_each_section([&](const ElfFile::Section& section) {
        if (section.header.sh_type == type && section.header.sh_entsize != 0) found = section;
        return !found;
    });
    return found;
}

// The section's bytes, limited to the size of the file: the header may be wrong.
SectionBytes bytes_of(const ElfFile& file, const GElf_Shdr& section) {
    struct stat status;
    if (::fstat(file.fd(), &status) != 0) return {};
    const auto size = static_cast<std::uint64_t>(status.st_size);
    if (section.sh_offset >= size) return {};
    return {file.fd(), section.sh_offset, std::min(section.sh_size, size - section.sh_offset)};
}

SectionBytes bytes_of(const ElfFile& file, std::string_view name) {
    const auto section = find_section(file, name);
    if (!section) return {};
    if (!is_packed(*section)) return bytes_of(file, section->header);
    std::string unpacked = unpacked_bytes(*section, kLargestUnpacked);
    return unpacked.empty() ? SectionBytes() : SectionBytes(std::move(unpacked));
}

bool is_of_this_machine(const ElfFile& file) {
    constexpr bool kIsLittle = std::endian::native == std::endian::little;
    const char* ident = elf_getident(file.elf(), nullptr);
    return ident && ident[EI_DATA] == (kIsLittle ? ELFDATA2LSB : ELFDATA2MSB);
}

std::size_t underscores(std::string_view name) {
    return std::min(name.find_first_not_of('_'), name.size());
}

}  // namespace

struct CodeFile::Loader {
    CodeFile& to;

    // Reads the functions of a symbol table.
    void take(const ElfFile& file, const ElfFile::Section& table) {
        GElf_Shdr strings;
        Elf_Scn* const names = elf_getscn(file.elf(), table.header.sh_link);
        if (!names || !gelf_getshdr(names, &strings)) return;
        const std::size_t before = to.functions_.size();
        const std::size_t names_before = add_names(bytes_of(file, strings));
        const SectionBytes bytes = bytes_of(file, table.header);
        const auto ends = section_ends(file);
        if (gelf_getclass(file.elf()) == ELFCLASS32) {
            take_all<Elf32_Sym>(bytes, ends);
        } else {
            take_all<Elf64_Sym>(bytes, ends);
        }
        for (std::size_t i = before; i < to.functions_.size(); ++i)
            to.functions_[i].name += static_cast<std::uint32_t>(names_before);
        std::ranges::sort(to.functions_, {}, &Entry::start);
    }

    // Those of a second table come behind the first one's: returns how many bytes these are.
    std::size_t add_names(SectionBytes names) {
        if (to.functions_.empty()) {
            to.names_ = std::move(names);
            return 0;
        }
        std::string scratch;
        std::string all(to.names_.read(0, to.names_.size(), scratch));
        const std::size_t bytes = all.size();
        all += names.read(0, names.size(), scratch);
        to.names_ = SectionBytes(std::move(all));
        return bytes;
    }

    // The end address of each section, indexed by section number.
    static std::vector<std::uint64_t> section_ends(const ElfFile& file) {
        std::vector<std::uint64_t> ends(1);
        for (Elf_Scn* scn = elf_nextscn(file.elf(), nullptr); scn;
             scn = elf_nextscn(file.elf(), scn)) {
            GElf_Shdr header{};
            gelf_getshdr(scn, &header);
            ends.resize(elf_ndxscn(scn) + 1);
            ends.back() = header.sh_addr + header.sh_size;
        }
        return ends;
    }

    template <class Sym>
    void take_all(const SectionBytes& bytes, const std::vector<std::uint64_t>& ends) {
        constexpr std::size_t kAtOnce = 2048;
        // Reserved but untouched memory costs nothing; growing would copy.
        to.functions_.reserve(bytes.size() / sizeof(Sym));
        std::string scratch;
        for (std::uint64_t at = 0; at < bytes.size(); at += kAtOnce * sizeof(Sym)) {
            const std::string_view piece = bytes.read(at, kAtOnce * sizeof(Sym), scratch);
            for (std::size_t i = 0; i + sizeof(Sym) <= piece.size(); i += sizeof(Sym)) {
                Sym symbol;
                std::memcpy(&symbol, piece.data() + i, sizeof symbol);
                take_one(symbol, ends);
            }
        }
    }

    void take_one(const auto& symbol, const std::vector<std::uint64_t>& ends) {
        const unsigned kind = symbol.st_info & 0xf;
        if ((kind != STT_FUNC && kind != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF ||
            symbol.st_value < to.base_)
            return;
        constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
        const std::uint64_t start = symbol.st_value - to.base_;
        std::uint64_t size = symbol.st_size;
        // A symbol of size 0 (assembly) extends to the end of its section or the next symbol.
        if (size == 0 && symbol.st_shndx < ends.size() && ends[symbol.st_shndx] > symbol.st_value)
            size = ends[symbol.st_shndx] - symbol.st_value;
        if (start > kMost) return;
        to.functions_.push_back({static_cast<std::uint32_t>(start),
                                 static_cast<std::uint32_t>(std::min(size, kMost)),
                                 static_cast<std::uint32_t>(symbol.st_name)});
    }

    bool take_symbols(const ElfFile& file, GElf_Word type) {
        const auto table = section_of_type(file, type);
        if (!table || bytes_of(file, table->header).size() > kLargestTable) return false;
        take(file, *table);
        return true;
    }

    bool take_lines(const ElfFile& file) {
        to.lines_.line = bytes_of(file, ".debug_line");
        if (to.lines_.line.size() == 0) return false;
        to.lines_.line_str = bytes_of(file, ".debug_line_str");
        to.lines_.str = bytes_of(file, ".debug_str");
        return true;
    }
};

CodeFile::CodeFile(Fd file, const std::string& path, const RootDirectory& root, Lines lines) {
    ElfFile program(std::move(file), path);
    if (!is_of_this_machine(program)) throw Error(cat(path, " is of another machine"));
    build_id_ = program.build_id();
    for (const GElf_Phdr& segment : program.segments())
        segments_.push_back({segment.p_vaddr, segment.p_offset, segment.p_filesz});
    if (!segments_.empty())
        base_ = std::ranges::min_element(segments_, {}, &Segment::address)->address;
    Loader loader{*this};
    bool has_symbols = loader.take_symbols(program, SHT_SYMTAB);
    bool has_lines = lines == Lines::no || loader.take_lines(program);
    if (!has_symbols || !has_lines)
        if (auto debug = open_debug_file(program, parent_directory(path), root)) {
            if (!has_symbols) has_symbols = loader.take_symbols(*debug, SHT_SYMTAB);
            if (!has_lines) loader.take_lines(*debug);
            debug_file_ = debug->take_file();
        }
    if (!has_symbols) {
        loader.take_symbols(program, SHT_DYNSYM);
        if (const auto mini = open_mini_debug_info(program)) {
            loader.take_symbols(*mini, SHT_SYMTAB);
            if (!debug_file_) debug_file_ = mini->take_file();
        }
    }
    stubs_ = plt_stubs(program);
    file_ = program.take_file();
}

std::optional<std::uint64_t> CodeFile::address_of(std::uint64_t offset) const {
    for (const Segment& segment : segments_)
        if (offset >= segment.offset && offset - segment.offset < segment.bytes)
            return offset - segment.offset + segment.address;
    return std::nullopt;
}

std::optional<CodeFile::Function> CodeFile::stub_at(std::uint64_t address) const {
    const auto next = std::ranges::upper_bound(stubs_, address, {}, &PltStub::address);
    if (next == stubs_.begin()) return std::nullopt;
    const PltStub& stub = *std::prev(next);
    if (address - stub.address >= stub.bytes) return std::nullopt;
    return Function{stub.name + "@plt", address - stub.address};
}

std::optional<CodeFile::Function> CodeFile::find(std::uint64_t offset) const {
    const auto address = address_of(offset);
    if (!address) return std::nullopt;
    if (auto stub = stub_at(*address)) return stub;
    if (*address - base_ > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    const auto low = static_cast<std::uint32_t>(*address - base_);
    auto at = std::ranges::upper_bound(functions_, low, {}, &Entry::start);
    if (at == functions_.begin()) return std::nullopt;
    const std::uint32_t start = std::prev(at)->start;
    std::optional<Function> found;
    while (at != functions_.begin() && std::prev(at)->start == start) {
        --at;
        if (low - start >= at->size) continue;
        std::string name = names_.text(at->name);
        if (const auto version = name.find('@'); version > 0 && version != name.npos)
            name.resize(version);
        const auto rank = [](const std::string& n) {
            return std::pair<std::size_t, const std::string&>(underscores(n), n);
        };
        if (!found || rank(name) < rank(found->name)) found = Function{name, low - start};
    }
    return found;
}

Fd open_vdso() {
    const std::uint64_t start = ::getauxval(AT_SYSINFO_EHDR);
    if (start == 0) return {};
    // The vDSO is a complete ELF image in memory; its section headers come last.
    ElfW(Ehdr) header;
    const char* const image = std::bit_cast<const char*>(start);
    std::memcpy(&header, image, sizeof header);
    const std::size_t bytes = header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
    Fd file{check(::memfd_create("vdso", MFD_CLOEXEC), [] { return std::string("make a memfd"); })};
    write_all(file.get(), {image, bytes}, "vdso");
    return file;
}

}  // namespace gpufs
