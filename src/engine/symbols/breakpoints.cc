#include "engine/symbols/breakpoints.h"

#include <span>
#include <string_view>
#include <vector>

#include "base/cat.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/read_at.h"
#include "base/text.h"
#include "kernel/elf/elf_file.h"
#include "lang/probe/x86_instruction.h"

namespace gpufs {
namespace {

constexpr std::uint64_t kArmInstruction = 4;

// Where the instruction begins that the byte at `offset` belongs to; `offset` where it is not
// known.
std::uint64_t instruction_begin(const ElfFile& file, std::uint64_t function, std::uint64_t offset) {
    GElf_Ehdr header;
    if (!gelf_getehdr(file.elf(), &header)) return offset;
    if (header.e_machine == EM_AARCH64) return offset - offset % kArmInstruction;
    if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64) return offset;
    constexpr std::uint64_t kMost = 1 << 20, kRoomForOne = 16;
    if (offset > kMost) return offset;
    std::vector<std::byte> code(offset + kRoomForOne);
    code.resize(read_at(file.fd(), function, code, file.path()));
    for (std::uint64_t at = 0; at < offset;) {
        const std::size_t length = x86_instruction_length(std::span(code).subspan(at));
        if (length == 0) break;
        if (at + length > offset) return at;
        at += length;
    }
    return offset;
}

std::optional<Absent> why_inside_instruction(const ElfFile& file, std::string_view name,
                                             std::uint64_t function, std::uint64_t offset) {
    const std::uint64_t begin = instruction_begin(file, function, offset);
    if (begin == offset) return {};
    return Absent{cat(hex(offset), " is inside of an instruction of '", name,
                      "': a probe there would change what the program does"),
                  cat("the instruction begins at ", name, '+', hex(begin))};
}

}  // namespace

std::optional<Absent> why_no_breakpoint(const std::string& path, const ElfFunction& function,
                                        std::uint64_t offset) {
    if (offset == 0) return {};
    if (function.size != 0 && offset >= function.size)
        return Absent{cat("'", function.name, "' has ", counted(function.size, "byte"), ": ",
                          hex(offset), " is behind its end"),
                      ""};
    return why_inside_instruction(ElfFile(path), function.name, function.offset, offset);
}

std::optional<Absent> why_no_breakpoint_at(const std::string& path, std::uint64_t file_offset) try {
    const ElfFile file(path);
    const auto address = file.address_of(file_offset);
    const auto place = address ? find_function_at(file, *address) : std::nullopt;
    if (!place) return {};
    return why_inside_instruction(file, place->function, file_offset - place->offset,
                                  place->offset);
} catch (const Error&) {  // the kernel tells what it lacks
    return {};
}

}  // namespace gpufs
