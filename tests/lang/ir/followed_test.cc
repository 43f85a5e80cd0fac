#define BOOST_TEST_DYN_LINK
#include "lang/ir/followed.h"

#include <boost/test/unit_test.hpp>

#include "support/assemble_text.h"

namespace gpufs {
namespace {

Program program_of(std::string text) {
    Tried tried = try_assemble(std::move(text));
    BOOST_TEST_REQUIRE(tried.mistakes == "");
    return std::move(tried.program);
}

BOOST_AUTO_TEST_SUITE(lang_ir_followed)

BOOST_AUTO_TEST_CASE(the_test_is_in_front_of_what_begins_something) {
    const Program before = program_of(
        ".prog a tracepoint sched:sched_switch\n exit 0\n"
        ".prog b ends tracepoint sched:sched_switch\n exit 0\n"
        ".prog c interval 1s\n exit 0\n"
        ".prog d profile 99hz\n exit 0\n");
    Program after = before;
    look_at_followed(after);
    declare_followed(after);
    declare_followed(after);  // it is declared once
    const auto grew = [&](std::size_t i) {
        return after.programs[i].code.size() > before.programs[i].code.size();
    };
    BOOST_TEST(grew(0));
    BOOST_TEST(!grew(1));
    BOOST_TEST(!grew(2));
    BOOST_TEST(grew(3));
    BOOST_TEST(after.maps.size() == before.maps.size() + 1);
    BOOST_TEST(after.find_map(kFollowedMap)->value_bytes() == kFollowedBlockBytes);
}

BOOST_AUTO_TEST_CASE(a_text_that_has_the_map_decides_itself) {
    const Program before = program_of(
        ".map followed array value bytes4096, max 1\n"
        ".prog a tracepoint sched:sched_switch\n exit 0\n");
    Program after = before;
    look_at_followed(after);
    BOOST_TEST(after.programs[0].code.size() == before.programs[0].code.size());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
