#include "kernel/host/kernel_version.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>

#include "base/cat.h"

namespace gpufs {
namespace {

std::uintptr_t align4(std::uintptr_t n) {
    return (n + 3) & ~std::uintptr_t{3};
}

// The note is named "Linux", has type 0 and four bytes: LINUX_VERSION_CODE
// (arch/*/entry/vdso/note.S, include/linux/elfnote-lto.h).
std::optional<std::uint32_t> code_in_notes(std::uintptr_t at, std::uintptr_t end) {
    constexpr char kOwner[] = "Linux";
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        ElfW(Nhdr) note;
        std::memcpy(&note, std::bit_cast<const void*>(at), sizeof note);
        const std::uintptr_t name = at + sizeof note, desc = name + align4(note.n_namesz);
        at = desc + align4(note.n_descsz);
        if (at > end) break;
        std::uint32_t code;
        if (note.n_type != 0 || note.n_namesz != sizeof kOwner || note.n_descsz != sizeof code)
            continue;
        if (std::memcmp(std::bit_cast<const void*>(name), kOwner, sizeof kOwner) != 0) continue;
        std::memcpy(&code, std::bit_cast<const void*>(desc), sizeof code);
        return code;
    }
    return std::nullopt;
}

std::optional<std::uint32_t> code_in_vdso() {
    const std::uintptr_t base = ::getauxval(AT_SYSINFO_EHDR);
    if (!base) return std::nullopt;
    ElfW(Ehdr) header;
    std::memcpy(&header, std::bit_cast<const void*>(base), sizeof header);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) segment;
        std::memcpy(&segment,
                    std::bit_cast<const void*>(base + header.e_phoff + i * header.e_phentsize),
                    sizeof segment);
        if (segment.p_type != PT_NOTE) continue;
        const std::uintptr_t at = base + segment.p_offset;
        if (const auto code = code_in_notes(at, at + segment.p_filesz)) return code;
    }
    return std::nullopt;
}

KernelVersion read_version() {
    if (const auto code = code_in_vdso()) return {*code >> 16, *code >> 8 & 0xff, *code & 0xff};
    return parse_kernel_release(running_release());
}

}  // namespace

KernelVersion running_kernel() {
    static const KernelVersion version = read_version();
    return version;
}

std::string running_release() {
    utsname name{};
    ::uname(&name);
    return name.release;
}

std::string running_uname() {
    utsname name{};
    ::uname(&name);
    return cat(name.sysname, ' ', name.nodename, ' ', name.release, ' ', name.machine);
}

}  // namespace gpufs
