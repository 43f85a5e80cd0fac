#include "engine/symbols/breakpoints.h"

#include <span>
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

}  // namespace

std::optional<Absent> why_no_breakpoint(const std::string& path, const ElfFunction& function,
                                        std::uint64_t offset) {
    if (offset == 0) return {};
    if (function.size != 0 && offset >= function.size)
        return Absent{cat("'", function.name, "' has ", counted(function.size, "byte"), ": ",
                          hex(offset), " is behind its end"),
                      ""};
    const std::uint64_t begin = instruction_begin(ElfFile(path), function.offset, offset);
    if (begin == offset) return {};
    return Absent{cat(hex(offset), " is inside of an instruction of '", function.name,
                      "': a probe there would change what the program does"),
                  cat("the instruction begins at ", function.name, '+', hex(begin))};
}

std::optional<Absent> why_no_breakpoint_at(const std::string& path, std::uint64_t file_offset) try {
    const auto address = ElfFile(path).address_of(file_offset);
    const auto place = address ? find_function_at(path, *address) : std::nullopt;
    if (!place) return {};
    ElfFunction function;
    function.name = place->function;
    function.offset = file_offset - place->offset;
    return why_no_breakpoint(path, function, place->offset);
} catch (const Error&) {  // the kernel tells what it lacks
    return {};
}

}  // namespace gpufs
