#define BOOST_TEST_DYN_LINK
#include "kernel/elf/plt_stubs.h"

#include <fcntl.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/elf/code_file.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"

namespace gpufs {
namespace {

using test::TempFolder;

// A line "ADDRESS NAME" for each stub, as objdump has them.
std::string expected_stubs(const std::string& file, const std::string& objdump = "objdump -d") {
    const test::Ended dump = test::shell(
        cat(objdump, ' ', file,
            " | sed -n 's/^0*\\([0-9a-f]*\\) <\\(.*\\)@plt>:$/\\1 \\2/p' | LC_ALL=C sort"));
    BOOST_TEST_REQUIRE(!dump.out.empty());
    return dump.out;
}

std::string stubs_of(const std::string& file) {
    std::vector<std::string> lines;
    for (const PltStub& stub : plt_stubs(ElfFile(file))) {
        char address[17];
        std::snprintf(address, sizeof address, "%llx",
                      static_cast<unsigned long long>(stub.address));
        lines.push_back(cat(address, ' ', stub.name, '\n'));
    }
    std::ranges::sort(lines);
    return join(lines, "");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(elf_plt_stubs, *boost::unit_test::precondition(test::has_program{"objdump"}))

BOOST_AUTO_TEST_CASE(stubs_of_programs_have_the_names_that_objdump_gives_them) {
    for (const char* name : {"nest", "nest-fixed"}) {
        const std::string file = test::Nest::build_file(name);
        BOOST_TEST(stubs_of(file) == expected_stubs(file));
    }
}

#if defined __x86_64__
BOOST_AUTO_TEST_CASE(stubs_for_indirect_branch_tracking_are_those_that_are_called) {
    const TempFolder temp;
    BOOST_TEST_REQUIRE(
        temp.run("echo 'int puts(const char*); int main(void) { return puts(\"\"); }' | "
                 "gcc -x c - -fcf-protection -Wl,-z,ibtplt -o $D/it"));
    BOOST_TEST(stubs_of(temp.file("it")) ==
               expected_stubs(temp.file("it"), "objdump -d -j .plt.sec -j .plt.got"));
}
#endif

// arm64's linkers write them with and without a landing pad and the check of a signed pointer.
#if defined __aarch64__
constexpr const char *kAssemble = "as", *kLink = "ld", *kDisassemble = "objdump -d";
#else
constexpr const char *kAssemble = "clang --target=aarch64-linux-gnu -c", *kLink = "ld.lld",
                     *kDisassemble = "llvm-objdump-19 -d";
#endif
BOOST_AUTO_TEST_CASE(stubs_of_arm64_are_known_in_all_forms) {
    const TempFolder temp;
    const auto assemble = [&](const std::string& name, const std::string& text) {
        BOOST_TEST_REQUIRE(temp.run(cat("cd $D && printf '", text, "' >", name, ".s && ", kAssemble,
                                        ' ', name, ".s -o ", name, ".o")));
    };
    assemble(
        "library",
        ".globl f\\n.type f, %%function\\nf: ret\\n.globl g\\n.type g, %%function\\ng: ret\\n");
    assemble("calls", ".globl _start\\n_start: bl f\\nbl g\\n");
    assemble("address", "adrp x0, g\\nadd x0, x0, :lo12:g\\n");
    BOOST_TEST_REQUIRE(temp.run(cat("cd $D && ", kLink, " -shared library.o -o library.so")));
    for (const char* form : {"", "-z force-bti", "-z pac-plt", "-z force-bti -z pac-plt"})
        for (const char* kind : {"-shared calls.o", "-no-pie calls.o address.o"}) {
            BOOST_TEST_REQUIRE(temp.run(
                cat("cd $D && ", kLink, ' ', form, ' ', kind, " library.so -o it 2>/dev/null")));
            const std::string expected = expected_stubs(temp.file("it"), kDisassemble);
            BOOST_TEST(stubs_of(temp.file("it")) == expected, cat(form, ' ', kind));
            BOOST_TEST(std::ranges::count(expected, '\n') == 2);
        }
}

BOOST_AUTO_TEST_CASE(a_place_in_a_stub_has_the_functions_name_and_plt) {
    const std::string path = test::Nest::build_file("nest");
    const ElfFile file(path);
    const std::vector<PltStub> stubs = plt_stubs(file);
    const CodeFile code(open_file(path, O_RDONLY), path, RootDirectory(), CodeFile::Lines::no);
    BOOST_TEST_REQUIRE(!stubs.empty());
    const auto offset = file.file_offset(stubs.front().address);
    BOOST_TEST_REQUIRE(offset.has_value());
    const auto found = code.find(*offset + 3);
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(found->name == stubs.front().name + "@plt");
    BOOST_TEST(found->past == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
