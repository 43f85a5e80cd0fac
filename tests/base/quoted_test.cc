#define BOOST_TEST_DYN_LINK
#include "base/quoted.h"

#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(quoted)

BOOST_AUTO_TEST_CASE(quotes_and_backslashes_have_a_backslash) {
    std::string out = "path=";
    append_quoted(out, "a\"b\\c\n");
    BOOST_TEST(out == "path=\"a\\\"b\\\\c\\n\"");
}

BOOST_AUTO_TEST_CASE(raw_control_characters_stay) {
    std::string out;
    append_quoted(out, "\x1b", Controls::raw);
    BOOST_TEST(out == "\"\x1b\"");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
