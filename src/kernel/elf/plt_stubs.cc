#include "kernel/elf/plt_stubs.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "base/sorted.h"
#include "kernel/elf/relocations.h"

namespace gpufs {
namespace {

// By the address of the slot in the global offset table that holds a function's address.
using Functions = std::map<std::uint64_t, std::string>;

Functions functions_by_slot(const ElfFile& file, unsigned jump_slot, unsigned global_data) {
    Functions functions;
    for_each_relocation(file, [&](const DynamicRelocation& one) {
        if ((one.type == jump_slot || one.type == global_data) && !one.name.empty())
            functions[one.address] = one.name;
        return true;
    });
    return functions;
}

// The slot that a stub of x86-64 jumps through: jmp *SLOT(%rip), behind endbr64 or not.
std::optional<std::uint64_t> x86_slot_of(std::string_view code, std::uint64_t address) {
    constexpr std::string_view kJump = "\xff\x25";
    const std::size_t at = code.find(kJump);
    std::int32_t distance;
    if (at == code.npos || code.size() - at < kJump.size() + sizeof distance) return std::nullopt;
    std::memcpy(&distance, code.data() + at + kJump.size(), sizeof distance);
    const std::uint64_t next = address + at + kJump.size() + sizeof distance;
    return next + static_cast<std::uint64_t>(static_cast<std::int64_t>(distance));
}

void add_x86_stubs(const ElfFile::Section& section, const Functions& functions,
                   std::vector<PltStub>& stubs) {
    constexpr std::uint64_t kShort = 8, kUsual = 16;
    const std::uint64_t bytes = section.header.sh_entsize == kShort ? kShort : kUsual;
    std::uint64_t address = section.header.sh_addr;
    for (std::string_view code = section_bytes(section); code.size() >= bytes;
         code.remove_prefix(bytes), address += bytes) {
        const auto slot = x86_slot_of(code.substr(0, bytes), address);
        const auto function = slot ? functions.find(*slot) : functions.end();
        if (function != functions.end()) stubs.push_back({address, bytes, function->second});
    }
}

// Instructions of arm64, little-endian.
class ArmCode {
public:
    ArmCode(std::string_view code, std::uint64_t address) : code_(code), address_(address) {}
    std::size_t size() const { return code_.size() / kBytes; }
    std::uint64_t address(std::size_t i) const { return address_ + i * kBytes; }
    std::uint32_t operator[](std::size_t i) const {
        std::uint32_t word = 0;
        for (std::size_t byte = kBytes; byte-- > 0;)
            word = word << 8 | static_cast<unsigned char>(code_[i * kBytes + byte]);
        return word;
    }

private:
    static constexpr std::size_t kBytes = 4;
    std::string_view code_;
    std::uint64_t address_;
};
constexpr std::uint32_t kBtiC = 0xd503245f, kNop = 0xd503201f, kBrX17 = 0xd61f0220;

// The slot whose address the two instructions at i compute: adrp x16, PAGE; ldr x17, [x16, OFFSET].
std::optional<std::uint64_t> arm_slot_at(const ArmCode& code, std::size_t i) {
    const std::uint32_t page = code[i], load = code[i + 1];
    if ((page & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211) return std::nullopt;
    const std::uint64_t pages = (page >> 5 & 0x7ffff) << 2 | (page >> 29 & 3);
    constexpr std::uint64_t kSign = std::uint64_t{1} << 20, kPageBytes = 4096;
    const std::uint64_t distance = (pages ^ kSign) - kSign;
    return (code.address(i) & ~(kPageBytes - 1)) + distance * kPageBytes +
           std::uint64_t{load >> 10 & 0xfff} * 8;
}

// From the first of these, or a bti in front of it, to the jump and the padding behind it. How long
// a stub is depends on what it has for branch targets and signed pointers.
void add_arm_stubs(const ElfFile::Section& section, const Functions& functions,
                   std::vector<PltStub>& stubs) {
    const ArmCode code(section_bytes(section), section.header.sh_addr);
    for (std::size_t i = 0; i + 1 < code.size(); ++i) {
        const auto slot = arm_slot_at(code, i);
        const auto function = slot ? functions.find(*slot) : functions.end();
        if (function == functions.end()) continue;
        const std::size_t begin = i > 0 && code[i - 1] == kBtiC ? i - 1 : i;
        while (i < code.size() && code[i] != kBrX17) ++i;
        while (i + 1 < code.size() && code[i + 1] == kNop) ++i;
        const std::uint64_t address = code.address(begin);
        stubs.push_back({address, code.address(i + 1) - address, function->second});
    }
}

bool has_stubs(const ElfFile::Section& section) {
    return section.name == ".plt" || section.name == ".plt.sec" || section.name == ".plt.got";
}

struct StubMachine {
    GElf_Half number;
    unsigned jump_slot, global_data;
    void (*add_stubs)(const ElfFile::Section&, const Functions&, std::vector<PltStub>&);
};
constexpr StubMachine kStubMachines[] = {
    {EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, add_x86_stubs},
    {EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, add_arm_stubs},
};

}  // namespace

std::vector<PltStub> plt_stubs(const ElfFile& file) {
    GElf_Ehdr header;
    if (!gelf_getehdr(file.elf(), &header)) return {};
    const auto machine = std::ranges::find(kStubMachines, header.e_machine, &StubMachine::number);
    if (machine == std::end(kStubMachines)) return {};
    const Functions functions = functions_by_slot(file, machine->jump_slot, machine->global_data);
    std::vector<PltStub> stubs;
    file.for_each_section([&](const ElfFile::Section& section) {
        if (has_stubs(section)) machine->add_stubs(section, functions, stubs);
        return true;
    });
    sort_stably(stubs, {}, &PltStub::address);
    return stubs;
}

}  // namespace gpufs
