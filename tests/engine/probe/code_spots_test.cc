#define BOOST_TEST_DYN_LINK
#include "engine/probe/code_spots.h"

#include <boost/test/unit_test.hpp>

#include "kernel/elf/elf_symbols.h"
#include "support/nest.h"

namespace gpufs {
namespace {

using Lines = std::vector<std::uint64_t>;

BOOST_AUTO_TEST_SUITE(code_spots)

// tests/programs/statements.c: of its line 20 the first row begins no statement, two others do.
BOOST_AUTO_TEST_CASE(a_line_begins_where_its_first_statement_does) {
    const std::string file = test::Nest::build_file("statements");
    const auto begin = find_symbol(ElfFile(file), "of_line_20");
    BOOST_TEST_REQUIRE(begin.has_value());
    const auto info = DebugInfo::open(file);
    BOOST_TEST_REQUIRE(info.get());
    const std::vector<CodeSpot> spots = find_line_spots(*info, "made.c", 20);
    BOOST_TEST_REQUIRE(spots.size() == 1u);
    BOOST_TEST(spots[0].address == begin->address);
    BOOST_TEST(lines_with_code(*info, "made.c") == (Lines{10, 20, 30}),
               boost::test_tools::per_element());
    BOOST_TEST(find_line_spots(*info, "made.c", 21).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
