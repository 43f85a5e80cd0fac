#define BOOST_TEST_DYN_LINK
#include "kernel/elf/mini_debug_info.h"

#include <fcntl.h>

#include <boost/test/unit_test.hpp>

#include "base/file.h"
#include "kernel/elf/code_file.h"
#include "kernel/elf/elf_symbols.h"
#include "kernel/host/root_directory.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/temp_folder.h"

namespace gpufs {
namespace {

using test::Nest;
using test::TempFolder;

// A function that the program has for itself, and one that its .dynsym has, too.
constexpr const char* kOwn = "_ZN12_GLOBAL__N_15enterEPKc";
constexpr const char* kPublic = "leaf";

// tests/programs/chains.cc, stripped, as distributions strip that keep what functions are called.
void make_stripped(const TempFolder& temp) {
    BOOST_TEST_REQUIRE(
        temp.run("cd $D && echo _ZN12_GLOBAL__N_15enterEPKc >keep && "
                 "objcopy --only-keep-debug $B/chains debug && "
                 "objcopy -S --keep-symbols=keep debug mini && xz mini && "
                 "objcopy --strip-all $B/chains bare && "
                 "objcopy --add-section .gnu_debugdata=mini.xz bare it"));
}

std::uint64_t offset_in(const std::string& file, const char* function) {
    const auto found = find_functions(file, function);
    return found.size() == 1 ? found[0].offset : 0;
}

BOOST_AUTO_TEST_SUITE(mini_debug_info,
                      *boost::unit_test::precondition(test::has_program{"objcopy"}))

BOOST_AUTO_TEST_CASE(functions_of_a_stripped_program_are_found_in_it) {
    const TempFolder temp;
    make_stripped(temp);
    const std::uint64_t own = offset_in(Nest::build_file("chains"), kOwn);
    BOOST_TEST(own != 0u);
    BOOST_TEST(offset_in(temp.file("bare"), kOwn) == 0u);
    BOOST_TEST(offset_in(temp.file("it"), kOwn) == own);
    BOOST_TEST(offset_in(temp.file("it"), kPublic) ==
               offset_in(Nest::build_file("chains"), kPublic));
}

BOOST_AUTO_TEST_CASE(functions_of_both_tables_have_their_names) {
    const TempFolder temp;
    make_stripped(temp);
    const std::string file = temp.file("it");
    const CodeFile code(open_file(file, O_RDONLY), file, RootDirectory(), CodeFile::Lines::no);
    for (const char* name : {kOwn, kPublic}) {
        const auto found = code.find(offset_in(file, name) + 1);
        BOOST_TEST_REQUIRE(found.has_value());
        BOOST_TEST(found->name == name);
        BOOST_TEST(found->past == 1u);
    }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_uncompressed_is_not_there) {
    const TempFolder temp;
    make_stripped(temp);
    BOOST_TEST_REQUIRE(temp.run(
        "cd $D && head -c 100 mini.xz >cut && objcopy --update-section .gnu_debugdata=cut it short "
        "&& echo text | xz >text && objcopy --update-section .gnu_debugdata=text it other"));
    for (const char* name : {"short", "other"}) {
        BOOST_TEST(!open_mini_debug_info(ElfFile(temp.file(name))));
        BOOST_TEST(offset_in(temp.file(name), kPublic) != 0u);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
