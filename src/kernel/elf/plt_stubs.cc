#include "kernel/elf/plt_stubs.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "kernel/elf/relocations.h"

namespace gpufs {
namespace {

// By the address of the slot in the global offset table that holds a function's address.
std::map<std::uint64_t, std::string> functions_by_slot(const ElfFile& file) {
    std::map<std::uint64_t, std::string> functions;
    for_each_relocation(file, [&](const Relocation& one) {
        if ((one.type == R_X86_64_JUMP_SLOT || one.type == R_X86_64_GLOB_DAT) && !one.name.empty())
            functions[one.address] = one.name;
        return true;
    });
    return functions;
}

// The slot that a stub jumps through: jmp *SLOT(%rip), behind endbr64 or not.
std::optional<std::uint64_t> slot_of(std::string_view code, std::uint64_t address) {
    constexpr std::string_view kJump = "\xff\x25";
    const std::size_t at = code.find(kJump);
    std::int32_t distance;
    if (at == code.npos || code.size() - at < kJump.size() + sizeof distance) return std::nullopt;
    std::memcpy(&distance, code.data() + at + kJump.size(), sizeof distance);
    const std::uint64_t next = address + at + kJump.size() + sizeof distance;
    return next + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance));
}

bool has_stubs(const ElfFile::Section& section) {
    return section.name == ".plt" || section.name == ".plt.sec" || section.name == ".plt.got";
}

}  // namespace

std::vector<PltStub> plt_stubs(const ElfFile& file) {
    GElf_Ehdr header;
    if (!gelf_getehdr(file.elf(), &header) || header.e_machine != EM_X86_64) return {};
    const std::map<std::uint64_t, std::string> functions = functions_by_slot(file);
    std::vector<PltStub> stubs;
    file.for_each_section([&](const ElfFile::Section& section) {
        if (!has_stubs(section)) return true;
        constexpr std::uint64_t kShort = 8, kUsual = 16;
        const std::uint64_t bytes = section.header.sh_entsize == kShort ? kShort : kUsual;
        std::uint64_t address = section.header.sh_addr;
        for (std::string_view code = section_bytes(section); code.size() >= bytes;
             code.remove_prefix(bytes), address += bytes) {
            const auto slot = slot_of(code.substr(0, bytes), address);
            const auto function = slot ? functions.find(*slot) : functions.end();
            if (function != functions.end()) stubs.push_back({address, bytes, function->second});
        }
        return true;
    });
    std::ranges::sort(stubs, {}, &PltStub::address);
    return stubs;
}

}  // namespace gpufs
