#include "kernel/elf/thread_block.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "kernel/elf/dynamic_facts.h"
#include "kernel/elf/relocations.h"

namespace gpufs {
namespace {

using Kind = ThreadBlock::Kind;

// What differs between machines: names of relocations, where glibc has the vector (tcbhead_t), and
// on which side of the thread pointer a program's block is: below it, or behind a head of so many
// bytes.
struct ThreadMachine {
    GElf_Half number;
    unsigned module, offset, descriptor;
    std::int64_t vector_at;
    std::uint64_t head_bytes;
};
constexpr ThreadMachine kThreadMachines[] = {
    {EM_X86_64, R_X86_64_DTPMOD64, R_X86_64_TPOFF64, R_X86_64_TLSDESC, 8, 0},
    {EM_AARCH64, R_AARCH64_TLS_DTPMOD, R_AARCH64_TLS_TPREL, R_AARCH64_TLSDESC, 0, 16},
};

const ThreadMachine* find_machine(const ElfFile& file, const GElf_Ehdr& header) {
    if (gelf_getclass(file.elf()) != ELFCLASS64) return nullptr;
    const auto found = std::ranges::find(kThreadMachines, header.e_machine, &ThreadMachine::number);
    return found == std::end(kThreadMachines) ? nullptr : found;
}

ThreadBlock unknown(std::string trouble) {
    ThreadBlock made;
    made.trouble = std::move(trouble);
    return made;
}

bool uses_musl(const DynamicFacts& facts) {
    return std::ranges::any_of(
        facts.needed, [](const std::string& name) { return name.starts_with("libc.musl"); });
}

// Linkers and loaders put the block of a program as near to the thread pointer as its alignment
// allows: right below it, or behind the head.
ThreadBlock block_of_program(const ThreadMachine& machine, const GElf_Phdr& segment) {
    const std::uint64_t mask = std::max<std::uint64_t>(segment.p_align, 1) - 1;
    const std::uint64_t head = machine.head_bytes;
    ThreadBlock made;
    made.kind = Kind::at_pointer;
    if (head != 0)
        made.number = static_cast<std::int64_t>(head + ((segment.p_vaddr - head) & mask));
    else
        made.number = -static_cast<std::int64_t>(segment.p_memsz +
                                                 ((0 - segment.p_vaddr - segment.p_memsz) & mask));
    return made;
}

// What the loader is asked to write for variables of this file. What needs no more than a word
// beside the thread pointer goes first.
ThreadBlock block_by_relocation(const ThreadMachine& machine, const ElfFile& file) {
    ThreadBlock found;
    for_each_relocation(file, [&](const DynamicRelocation& one) {
        const bool is_of_another_file = one.has_symbol && one.symbol.st_shndx == SHN_UNDEF;
        if (is_of_another_file) return true;
        const auto at = static_cast<std::int64_t>(one.address);
        const std::int64_t inside = static_cast<std::int64_t>(one.symbol.st_value) + one.addend;
        const std::int64_t vector_at = machine.vector_at;
        if (one.type == machine.offset) found = {Kind::by_offset, at, inside, vector_at, {}};
        if (one.type == machine.module) found = {Kind::by_module, at, 0, vector_at, {}};
        // The descriptor's second word: the first one is a function that takes it.
        if (one.type == machine.descriptor)
            found = {Kind::by_descriptor, at + 8, inside, vector_at, {}};
        return found.kind != Kind::by_offset;
    });
    return found;
}

}  // namespace

ThreadBlock find_thread_block(const ElfFile& file) {
    GElf_Ehdr header;
    const ThreadMachine* const machine =
        gelf_getehdr(file.elf(), &header) ? find_machine(file, header) : nullptr;
    if (!machine)
        return unknown("each thread has its own, and only of x86-64 and arm64 is known where");
    const auto segment = find_segment(file, PT_TLS);
    if (!segment) return unknown("each thread has its own, and the file has no segment of them");
    const DynamicFacts facts = dynamic_facts(file);
    const bool is_program = header.e_type == ET_EXEC || facts.is_pie ||
                            (!facts.interpreter.empty() && facts.own_name.empty());
    if (is_program) return block_of_program(*machine, *segment);
    ThreadBlock found = block_by_relocation(*machine, file);
    if (found.kind == Kind::unknown)
        return unknown("each thread has its own, and this library has no word that tells where");
    if (found.kind != Kind::by_offset && uses_musl(facts))
        return unknown("each thread has its own, and only of glibc's libraries is known where");
    return found;
}

}  // namespace gpufs
