#define BOOST_TEST_DYN_LINK
#include "engine/symbols/linked_files.h"

#include <boost/test/unit_test.hpp>
#include <set>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "support/nest.h"
#include "support/temp_folder.h"

namespace tt = boost::test_tools;

namespace gpufs {
namespace {

using test::Nest;

std::set<std::string> linked(const std::string& program) {
    std::set<std::string> real;
    for (const std::string& path : linked_files(program)) real.insert(real_path(path).value());
    return real;
}

// The program and what the loader itself says: "libc.so.6 => /lib/libc.so.6 (0x7f...)".
std::set<std::string> told_by_loader(const std::string& program) {
    const test::TempFolder folder;
    BOOST_REQUIRE(folder.run("ldd " + program + " >$D/told 2>/dev/null || true"));
    std::set<std::string> real{real_path(program).value()};
    const std::string told = read_file(folder.file("told"));
    for (const std::string_view line : lines_of(told))
        if (const auto slash = line.find('/'); slash != line.npos)
            real.insert(
                real_path(std::string(line.substr(slash, line.rfind(" (") - slash))).value());
    return real;
}

BOOST_AUTO_TEST_SUITE(linked_files_test)

BOOST_AUTO_TEST_CASE(they_are_those_that_the_loader_maps) {
    for (const std::string& program :
         {std::string("/bin/sh"), Nest::build_file("nest"), Nest::build_file("probed-fixed"),
          Nest::build_file("gpufs-cuda-work"), Nest::build_file("chains-static")})
        BOOST_TEST(linked(program) == told_by_loader(program), tt::per_element());
}

BOOST_AUTO_TEST_CASE(of_a_script_they_are_those_of_its_interpreter) {
    const test::TempFolder folder;
    BOOST_REQUIRE(folder.run("printf '#! /bin/sh -e\\nls\\n' >$D/script; printf 'ls\\n' >$D/text"));
    BOOST_TEST(linked(folder.file("script")) == told_by_loader("/bin/sh"), tt::per_element());
    BOOST_TEST(linked_files(folder.file("text")).empty());
    BOOST_REQUIRE(folder.run("printf '#!%s\n' $D/itself >$D/itself"));
    BOOST_TEST(linked_files(folder.file("itself")).empty());
    BOOST_TEST(linked_files("/nonexistent").empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
