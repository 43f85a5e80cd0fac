#define BOOST_TEST_DYN_LINK
#include "kernel/elf/elf_symbols.h"

#include <dlfcn.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <set>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "kernel/elf/elf_file.h"
#include "kernel/elf/usdt_notes.h"
#include "kernel/elf/usdt_probe.h"
#include "support/needs.h"
#include "support/temp_folder.h"

namespace gpufs {
namespace {

constexpr const char* kSelf = "/proc/self/exe";

// Where a function of this process is mapped from.
struct Mapped {
    std::string file;
    std::uint64_t offset = 0;
};
Mapped mapped_from(const void* function) {
    const auto address = reinterpret_cast<std::uint64_t>(function);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        unsigned long long start = 0, end = 0, offset = 0;
        if (std::sscanf(line.c_str(), "%llx-%llx %*s %llx", &start, &end, &offset) == 3 &&
            address >= start && address < end)
            return {line.substr(line.find('/')), address - start + offset};
    }
    return {};
}

using test::TempFolder;

BOOST_AUTO_TEST_SUITE(elf_symbols)

BOOST_AUTO_TEST_CASE(a_function_is_where_it_is_mapped) {
    const auto found = find_functions(kSelf, "gpufs_test_target");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found[0].name == "gpufs_test_target");
    BOOST_TEST(found[0].size > 0u);
    BOOST_TEST(!found[0].is_indirect);
    const auto fire = find_functions(kSelf, "_ZN5gpufs4test15fire_usdt_probe*");
    BOOST_TEST_REQUIRE(fire.size() == 1u);
    BOOST_TEST(fire[0].offset ==
               mapped_from(reinterpret_cast<void*>(&test::fire_usdt_probe)).offset);
}

// As a library that is being installed over the one that processes have mapped.
BOOST_AUTO_TEST_CASE(a_file_that_becomes_shorter_is_no_harm) {
    const TempFolder folder;
    const std::string path = folder.file("copy");
    std::ofstream(path) << read_file(kSelf);
    const ElfFile file(path);
    BOOST_TEST(::truncate(path.c_str(), 0) == 0);
    std::size_t read = 0;
    file.for_each_section([&](const ElfFile::Section& section) {
        read += section_bytes(section).size();
        return true;
    });
    BOOST_TEST(read == 0u);
}

BOOST_AUTO_TEST_CASE(a_pattern_finds_all_by_offset) {
    const auto found = find_functions(kSelf, "gpufs_test_[to]*");
    std::string names;
    for (const ElfFunction& function : found) names += function.name + ' ';
    BOOST_TEST((names == "gpufs_test_target gpufs_test_other " ||
                names == "gpufs_test_other gpufs_test_target "));
    BOOST_TEST(std::ranges::is_sorted(found, {}, &ElfFunction::offset));
    BOOST_TEST(find_functions(kSelf, "no_such_function").empty());
}

BOOST_AUTO_TEST_CASE(a_librarys_dynamic_symbols_are_found_without_versions) {
    const Mapped getppid = mapped_from(reinterpret_cast<void*>(&::getppid));
    const auto found = find_functions(getppid.file, "getppid");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found[0].offset == getppid.offset);
    const auto indirect = find_functions(getppid.file, "memcpy");
    for (const ElfFunction& function : indirect) BOOST_TEST(function.name == "memcpy");
}

#if defined __x86_64__ && defined __GLIBC__
BOOST_AUTO_TEST_CASE(a_version_names_one_of_several_functions) {
    const std::string libc = mapped_from(reinterpret_cast<void*>(&::getppid)).file;
    const auto offset_of = [&](const char* name) {
        const auto found = find_functions(libc, name);
        BOOST_TEST_REQUIRE(found.size() == 1u, name);
        return found[0].offset;
    };
    const auto linked = [](const char* version) {
        return mapped_from(::dlvsym(RTLD_DEFAULT, "realpath", version)).offset;
    };
    BOOST_TEST(offset_of("realpath@@GLIBC_2.3") == linked("GLIBC_2.3"));
    BOOST_TEST(offset_of("realpath@GLIBC_2.3") == linked("GLIBC_2.3"));
    BOOST_TEST(offset_of("realpath@GLIBC_2.2.5") == linked("GLIBC_2.2.5"));
    BOOST_TEST(find_functions(libc, "realpath@@GLIBC_2.2.5").empty());
    const auto both = find_functions(libc, "realpath");
    BOOST_TEST_REQUIRE(both.size() == 2u);
    BOOST_TEST((std::set{both[0].version, both[1].version} ==
                std::set<std::string>{"@GLIBC_2.2.5", "@@GLIBC_2.3"}));
}
#endif

BOOST_AUTO_TEST_CASE(thread_local_variables_have_places_in_their_block,
                     *boost::unit_test::precondition(test::has_program{"as"})) {
    const TempFolder temp;
    const auto part = [](const char* global) {
        return cat("printf '.section .tdata,\"awT\",%%progbits\\n.globl ", global,
                   "\\nown: .quad 1\\n", global, ": .quad 2\\n' | as -o $D/", global, ".o && ");
    };
    BOOST_TEST_REQUIRE(temp.run(cat(part("first"), part("second"), "cd $D && ",
                                    "ld -shared first.o second.o -o it && strip it -o stripped")));
    const auto places = [&](const char* file, const char* name) {
        return find_thread_variables(temp.file(file), name);
    };
    using Places = std::vector<std::uint64_t>;
    BOOST_TEST(places("it", "first") == Places{8}, boost::test_tools::per_element());
    BOOST_TEST(places("it", "second") == Places{24}, boost::test_tools::per_element());
    BOOST_TEST(places("it", "own") == (Places{0, 16}), boost::test_tools::per_element());
    BOOST_TEST(places("stripped", "second") == Places{24}, boost::test_tools::per_element());
    BOOST_TEST(places("stripped", "own").empty());
    BOOST_TEST(!find_symbol(ElfFile(temp.file("it")), "first"));
}

BOOST_AUTO_TEST_CASE(a_stripped_program_has_its_debug_file_next_to_it,
                     *boost::unit_test::precondition(test::has_program{"objcopy"})) {
    const TempFolder temp;
    const auto before = find_functions(kSelf, "gpufs_test_target");
    BOOST_TEST_REQUIRE(
        temp.run("objcopy --only-keep-debug $EXE $D/it.debug && "
                 "objcopy --strip-all $EXE $D/stripped && cd $D && "
                 "objcopy --add-gnu-debuglink=it.debug stripped it"));
    BOOST_TEST(find_functions(temp.file("stripped"), "gpufs_test_target").empty());
    const auto found = find_functions(temp.file("it"), "gpufs_test_target");
    BOOST_TEST_REQUIRE(found.size() == 1u);
    BOOST_TEST(found[0].offset == before.at(0).offset);
    if (::geteuid() ==
        0) {  // the program is root's: another's debug file beside it is not believed
        BOOST_TEST_REQUIRE(temp.run("chown 4711 $D/it.debug"));
        BOOST_TEST(find_functions(temp.file("it"), "gpufs_test_target").empty());
        BOOST_TEST_REQUIRE(temp.run("chown 4711 $D/it"));
        BOOST_TEST(find_functions(temp.file("it"), "gpufs_test_target").size() == 1u);
        BOOST_TEST_REQUIRE(temp.run("chmod o+w $D/it.debug"));
        BOOST_TEST(find_functions(temp.file("it"), "gpufs_test_target").empty());
        BOOST_TEST_REQUIRE(temp.run("chmod o-w $D/it.debug && chown root $D/it $D/it.debug"));
    }
    // In .debug, too; and one of another build is not believed.
    BOOST_TEST_REQUIRE(temp.run("mkdir $D/.debug && mv $D/it.debug $D/.debug/"));
    BOOST_TEST(find_functions(temp.file("it"), "gpufs_test_target").size() == 1u);
    BOOST_TEST_REQUIRE(temp.run("cp /bin/sh $D/.debug/it.debug"));
    BOOST_TEST(find_functions(temp.file("it"), "gpufs_test_target").empty());
    // Without a build id the checksum decides.
    BOOST_TEST_REQUIRE(
        temp.run("cd $D && objcopy -R .note.gnu.build-id $EXE plain && "
                 "objcopy --only-keep-debug plain it.debug && "
                 "objcopy --strip-all --add-gnu-debuglink=it.debug plain it"));
    BOOST_TEST(find_functions(temp.file("it"), "gpufs_test_target").size() == 1u);
    BOOST_TEST_REQUIRE(temp.run("cd $D && echo >>it.debug"));
    BOOST_TEST(find_functions(temp.file("it"), "gpufs_test_target").empty());
}

BOOST_AUTO_TEST_CASE(a_usdt_probe_is_found_with_its_arguments_and_semaphore) {
    const auto probes = find_usdt_probes(kSelf, "gpufs_*", "*");
    BOOST_TEST_REQUIRE(probes.size() == 1u);
    BOOST_TEST(probes[0].provider == "gpufs_test");
    BOOST_TEST(probes[0].name == "probe");
    BOOST_TEST(probes[0].arguments.starts_with("-4@"));
    BOOST_TEST(probes[0].semaphore_offset != 0u);
    const std::uint64_t function =
        mapped_from(reinterpret_cast<void*>(&test::fire_usdt_probe)).offset;
    BOOST_TEST(probes[0].offset >= function);
    BOOST_TEST(probes[0].offset < function + 64);
    BOOST_TEST(find_usdt_probes(kSelf, "other", "*").empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_program_is_said_to_be_none) {
    BOOST_CHECK_EXCEPTION(find_functions("/proc/self/status", "x"), Error, [](const Error& e) {
        BOOST_TEST(e.what() == "/proc/self/status is no program and no library");
        return true;
    });
    BOOST_CHECK_THROW(find_functions("/no/such/file", "x"), SysError);
    BOOST_CHECK_EXCEPTION(find_functions("/proc/self", "x"), SysError, [](const SysError& e) {
        BOOST_TEST(e.what() == "cannot read /proc/self: Is a directory");
        return true;
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
