#include "view/monitor/folded.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "base/cat.h"
#include "base/error.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(folded_lines)

BOOST_AUTO_TEST_CASE(a_line_is_a_stack_and_a_count) {
    const std::vector<CountedStack> stacks =
        parse_folded({"a.folded", "make;f(int, char) const;read 80\n\nidle 18446744073709551615"});
    BOOST_TEST_REQUIRE(stacks.size() == 2u);
    BOOST_TEST_REQUIRE(stacks[0].frames.size() == 3u);
    BOOST_TEST(stacks[0].frames[1].name == "f(int, char) const");
    BOOST_TEST(stacks[0].weight == 80u);
    BOOST_TEST(stacks[1].weight == ~std::uint64_t{0});
}

BOOST_AUTO_TEST_CASE(a_field_has_nothing_that_ends_fields_or_lines) {
    BOOST_TEST(folded_field("a;b\nc d") == "a:b c d");
    BOOST_TEST(folded_field("") == "[no name]");
}

BOOST_AUTO_TEST_CASE(a_line_without_a_count_is_shown) {
    for (const std::string line : {"make;read", "make;read 8x", "make 1.5", "make -1", "80",
                                   "make ", "make 18446744073709551616"}) {
        BOOST_CHECK_EXCEPTION(
            parse_folded({"a.folded", "x 1\n" + line + "\n"}), SourceError,
            [&](const SourceError& e) {
                BOOST_TEST(e.what() == cat("a.folded:2:1: error: the line does not end with a "
                                           "count\n",
                                           line, "\n^", std::string(line.size() - 1, '~')));
                BOOST_TEST(e.hint() == "a line is outer;inner 12, as --folded prints it");
                return true;
            });
    }
}

BOOST_AUTO_TEST_CASE(a_stack_has_a_most_frames) {
    std::string deep = "a";
    for (int i = 1; i < 4096; ++i) deep += ";a";
    BOOST_TEST(parse_folded({"a", deep + " 1\n"}).front().frames.size() == 4096u);
    BOOST_CHECK_THROW(parse_folded({"a", "a;" + deep + " 1\n"}), SourceError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
