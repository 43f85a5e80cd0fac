#include "kernel/elf/usdt_notes.h"

#include <cstring>
#include <optional>

#include "base/glob.h"
#include "kernel/elf/elf_file.h"

namespace gpufs {
namespace {

// Parses one note: three words of the file's word size (address, base, semaphore), then three
// strings.
std::optional<UsdtProbe> parse_note(const ElfFile& file, std::string_view desc, bool is_32,
                                    std::uint64_t base_address) {
    const std::size_t word_bytes = is_32 ? 4 : 8;
    std::uint64_t words[3];
    if (desc.size() < 3 * word_bytes) return std::nullopt;
    for (std::size_t i = 0; i < 3; ++i) {
        std::uint32_t narrow = 0;
        if (is_32) std::memcpy(&narrow, desc.data() + i * word_bytes, sizeof narrow);
        words[i] = narrow;
        if (!is_32) std::memcpy(&words[i], desc.data() + i * word_bytes, sizeof words[i]);
    }
    const auto strings = desc.substr(3 * word_bytes);
    const auto first = strings.find('\0');
    const auto second = first == strings.npos ? first : strings.find('\0', first + 1);
    if (second == strings.npos) return std::nullopt;
    const auto third = strings.find('\0', second + 1);
    // prelink moves sections but does not update notes; the base section tells the distance.
    const std::uint64_t moved = base_address && words[1] ? base_address - words[1] : 0;
    const auto offset = file.file_offset(words[0] + moved);
    if (!offset) return std::nullopt;
    UsdtProbe probe;
    probe.address = words[0] + moved;
    probe.provider = strings.substr(0, first);
    probe.name = strings.substr(first + 1, second - first - 1);
    probe.arguments =
        strings.substr(second + 1, third == strings.npos ? third : third - second - 1);
    probe.offset = *offset;
    if (words[2]) probe.semaphore_offset = file.file_offset(words[2] + moved).value_or(0);
    return probe;
}

}  // namespace

std::vector<UsdtProbe> find_usdt_probes(const std::string& path, std::string_view provider,
                                        std::string_view name) {
    constexpr std::uint32_t kProbe = 3;  // NT_STAPSDT
    const ElfFile file(path);
    const bool is_32 = gelf_getclass(file.elf()) == ELFCLASS32;
    std::uint64_t base = 0;
    file.for_each_section([&](const ElfFile::Section& section) {
        if (section.name == ".stapsdt.base") base = section.header.sh_addr;
        return base == 0;
    });
    std::vector<UsdtProbe> probes;
    file.for_each_section([&](const ElfFile::Section& section) {
        if (section.header.sh_type != SHT_NOTE || section.name != ".note.stapsdt") return true;
        Elf_Data* data = elf_getdata(section.handle, nullptr);
        GElf_Nhdr note;
        std::size_t owner = 0, desc = 0;
        for (std::size_t at = 0;
             data && (at = gelf_getnote(data, at, &note, &owner, &desc)) != 0;) {
            const auto* bytes = static_cast<const char*>(data->d_buf);
            if (note.n_type != kProbe || note.n_namesz != sizeof "stapsdt" ||
                std::strcmp(bytes + owner, "stapsdt") != 0)
                continue;
            auto probe = parse_note(file, {bytes + desc, note.n_descsz}, is_32, base);
            if (probe && glob_match(provider, probe->provider) && glob_match(name, probe->name))
                probes.push_back(std::move(*probe));
        }
        return true;
    });
    return probes;
}

}  // namespace gpufs
