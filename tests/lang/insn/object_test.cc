#include "lang/insn/object.h"

#define BOOST_TEST_DYN_LINK
#include <elf.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>

#include "base/file.h"
#include "lang/insn/image.h"
#include "lang/insn/listing.h"

namespace gpufs {
namespace {

// Made of object.s beside it.
std::string object_bytes() {
    return read_file("tests/data/asm/object.o");
}

BOOST_AUTO_TEST_SUITE(bpf_object)

BOOST_AUTO_TEST_CASE(an_object_has_sections_functions_and_references) {
    const auto sections = parse_bpf_object("object.o", object_bytes());
    BOOST_TEST(sections.size() == 2u);
    const bool is_text_first = sections[0].name == ".text";
    const BpfSection& text = sections[is_text_first ? 0 : 1];
    const BpfSection& probe = sections[is_text_first ? 1 : 0];
    BOOST_TEST(disassembly(text) == "helper:\n    r0 = 7\n    exit\n");
    BOOST_TEST(probe.name == "tracepoint/sched/sched_switch");
    BOOST_TEST(disassembly(probe) == R"(on_switch:
    r1 = 0x0 ll  # counts
    r2 = r10
    r2 += -4
    call 1  # map_lookup_elem
    if r0 == 0 goto L7
F6:
    call F6  # helper
L7:
    r0 = 0
    exit
on_other:
    r1 = 0x0 ll  # .rodata
    r0 = 0
    exit
)");
}

BOOST_AUTO_TEST_CASE(its_text_assembles_to_the_same_bytes) {
    for (const BpfSection& section : parse_bpf_object("object.o", object_bytes())) {
        const SourceText text{section.name, disassembly(section)};
        const Listing again = assemble_bare(text);
        BOOST_TEST(again.errors.to_text() == "");
        BOOST_TEST(to_hex(again.insns) == to_hex(section.insns));
    }
}

BOOST_AUTO_TEST_CASE(other_files_are_told_apart) {
    BOOST_TEST(is_elf(object_bytes()));
    BOOST_TEST(!is_elf("95 00"));
    std::string other = object_bytes();
    other[18] = 62;  // x86-64
    BOOST_CHECK_EXCEPTION(parse_bpf_object("a.o", other), UsageError, [](const UsageError& e) {
        BOOST_TEST(e.what() == std::string("a.o is an ELF file, but not for BPF"));
        return true;
    });
}

BOOST_AUTO_TEST_CASE(sections_that_overlap_are_refused) {
    std::string bytes = object_bytes();
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    // The table of sections, longer and at the end, where all but the first name the same bytes.
    header.e_shoff = bytes.size();
    header.e_shnum = 100;
    std::memcpy(bytes.data(), &header, sizeof header);
    Elf64_Shdr section{};
    bytes.append(reinterpret_cast<const char*>(&section), sizeof section);
    section.sh_type = SHT_PROGBITS;
    section.sh_flags = SHF_EXECINSTR;
    section.sh_size = bytes.size() / 8 * 8;
    for (int i = 1; i < 100; ++i)
        bytes.append(reinterpret_cast<const char*>(&section), sizeof section);
    BOOST_CHECK_EXCEPTION(parse_bpf_object("a.o", bytes), UsageError, [](const UsageError& e) {
        BOOST_TEST(e.what() == std::string("a.o is a damaged ELF file: its sections overlap"));
        return true;
    });
}

BOOST_AUTO_TEST_CASE(damaged_objects_are_refused_and_nothing_else_happens) {
    const std::string whole = object_bytes();
    for (std::size_t size = 0; size < whole.size(); ++size)
        BOOST_CHECK_THROW(parse_bpf_object("cut.o", whole.substr(0, size)), UsageError);
    std::mt19937 random(7);
    for (int round = 0; round < 20000; ++round) {
        std::string bytes = whole;
        for (int n = 0; n < 4; ++n) bytes[random() % bytes.size()] = static_cast<char>(random());
        try {
            for (const BpfSection& section : parse_bpf_object("changed.o", bytes))
                BOOST_TEST(!disassembly(section).empty());
        } catch (const UsageError&) {
            continue;
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
