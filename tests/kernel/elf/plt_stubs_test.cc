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

#if defined __x86_64__
namespace gpufs {
namespace {

using test::TempFolder;

// A line "ADDRESS NAME" for each stub, as objdump has them.
std::string expected_stubs(const std::string& file) {
    const test::Ended dump = test::shell(
        cat("objdump -d ", file,
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

BOOST_AUTO_TEST_CASE(stubs_for_indirect_branch_tracking_are_those_that_are_called) {
    const TempFolder temp;
    BOOST_TEST_REQUIRE(
        temp.run("echo 'int puts(const char*); int main(void) { return puts(\"\"); }' | "
                 "gcc -x c - -fcf-protection -Wl,-z,ibtplt -o $D/it"));
    BOOST_TEST(
        stubs_of(temp.file("it")) ==
        test::shell(
            cat("objdump -d -j .plt.sec -j .plt.got ", temp.file("it"),
                " | sed -n 's/^0*\\([0-9a-f]*\\) <\\(.*\\)@plt>:$/\\1 \\2/p' | LC_ALL=C sort"))
            .out);
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
#endif
