#include "kernel/elf/call_frames.h"

#include <cstring>

namespace gpufs {
namespace {

#if defined __aarch64__
constexpr int kOwnMachine = EM_AARCH64;
#else
constexpr int kOwnMachine = EM_X86_64;
#endif

// From the program headers: .eh_frame_hdr begins with a version, three encodings, and where
// .eh_frame is. Linkers write that as a 32-bit distance from the field.
std::optional<CallFrames> find_by_segment(const ElfFile& file) {
    constexpr unsigned char kVersion = 1, kPcRelative32 = 0x1b;
    constexpr std::size_t kField = 4, kBytes = 8;
    std::size_t size = 0, count = 0;
    const char* const raw = elf_rawfile(file.elf(), &size);
    if (!raw || elf_getphdrnum(file.elf(), &count) != 0) return std::nullopt;
    const std::string_view bytes(raw, size);
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr segment;
        if (!gelf_getphdr(file.elf(), static_cast<int>(i), &segment) ||
            segment.p_type != PT_GNU_EH_FRAME || segment.p_offset > size ||
            size - segment.p_offset < kBytes)
            continue;
        const std::string_view header = bytes.substr(segment.p_offset, kBytes);
        if (header[0] != kVersion || header[1] != kPcRelative32) return std::nullopt;
        std::int32_t distance = 0;
        std::memcpy(&distance, header.data() + kField, sizeof distance);
        const std::uint64_t address =
            segment.p_vaddr + kField + static_cast<std::uint64_t>(std::int64_t{distance});
        const auto at = file.file_offset(address);
        if (!at || *at >= size) return std::nullopt;
        return CallFrames{bytes.substr(*at), address};
    }
    return std::nullopt;
}

}  // namespace

std::optional<CallFrames> find_call_frames(const ElfFile& file) {
    GElf_Ehdr header;
    if (!gelf_getehdr(file.elf(), &header) || header.e_machine != kOwnMachine ||
        header.e_ident[EI_CLASS] != ELFCLASS64)
        return std::nullopt;
    std::optional<CallFrames> found;
    file.for_each_section([&](const ElfFile::Section& section) {
        if (section.name != ".eh_frame") return true;
        const std::string_view bytes = section_bytes(section);
        if (!bytes.empty()) found = CallFrames{bytes, section.header.sh_addr};
        return false;
    });
    return found ? found : find_by_segment(file);
}

}  // namespace gpufs
