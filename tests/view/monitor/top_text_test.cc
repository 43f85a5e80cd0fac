#include "view/monitor/top_text.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(top_screen)

const TopPage kPage = {"watch drm", "RING  JOBS\ngfx    100\nsdma     3\n", "q quit", 0};

BOOST_AUTO_TEST_CASE(the_screen_is_filled_whatever_there_is_to_show) {
    BOOST_TEST(top_text(kPage, {12, 6}) ==
               "\x1b[7mwatch drm   \x1b[0m\n"
               "RING  JOBS\n"
               "gfx    100\n"
               "sdma     3\n"
               "\n"
               "\x1b[7mq quit      \x1b[0m");
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_cut_and_said) {
    BOOST_TEST(top_text(kPage, {24, 4}) ==
               "\x1b[7mwatch drm               \x1b[0m\n"
               "RING  JOBS\n"
               "gfx    100\n"
               "\x1b[7mq quit    lines 1-2 of 3\x1b[0m");
    BOOST_TEST(top_text(kPage, {5, 3}) == "\x1b[7mwatch\x1b[0m\nRING \n\x1b[7mq qui\x1b[0m");
}

BOOST_AUTO_TEST_CASE(scrolling_ends_with_the_last_line_at_the_bottom) {
    BOOST_TEST(last_first_line(kPage.body, {24, 4}) == 1u);
    BOOST_TEST(last_first_line(kPage.body, {24, 50}) == 0u);
    TopPage page = kPage;
    page.first = 99;
    BOOST_TEST(top_text(page, {24, 4}) ==
               "\x1b[7mwatch drm               \x1b[0m\n"
               "gfx    100\n"
               "sdma     3\n"
               "\x1b[7mq quit    lines 2-3 of 3\x1b[0m");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
