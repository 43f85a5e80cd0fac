#include "view/marks.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <vector>

#include "view/bars.h"

namespace gpufs {
namespace {

std::string bar(double share, Plot plot) {
    std::string text;
    append_bar(text, share, 4, plot);
    return text + '|';
}

std::string spark(std::vector<double> values, Plot plot) {
    return sparkline(values, plot);
}

std::string cells(std::size_t level, Plot plot) {
    std::string text;
    append_cells(text, level, 2, plot);
    return text;
}

BOOST_AUTO_TEST_SUITE(marks)

BOOST_AUTO_TEST_CASE(bars_of_blocks_are_exact_to_an_eighth_and_never_vanish) {
    BOOST_TEST(bar(0, Plot::blocks) == "    |");
    BOOST_TEST(bar(0.001, Plot::blocks) == "▏   |");
    BOOST_TEST(bar(0.25, Plot::blocks) == "█   |");
    BOOST_TEST(bar(0.40625, Plot::blocks) == "█▋  |");
    BOOST_TEST(bar(1, Plot::blocks) == "████|");
    BOOST_TEST(bar(0.5, Plot::colours) == "\x1b[38;5;37m██\x1b[0m  |");
    BOOST_TEST(bar(0, Plot::colours) == "    |");
}

BOOST_AUTO_TEST_CASE(bars_of_ascii_are_those_without_a_plot) {
    for (const Plot plot : {Plot::none, Plot::ascii}) {
        BOOST_TEST(bar(0.001, plot) == "    |");
        BOOST_TEST(bar(0.5, plot) == "@@  |");
    }
}

BOOST_AUTO_TEST_CASE(a_sparkline_is_as_high_as_the_share_of_its_greatest_value) {
    BOOST_TEST(spark({1, 2, 3, 4, 5, 6, 7, 8}, Plot::blocks) == "▁▂▃▄▅▆▇█");
    BOOST_TEST(spark({0, 1, 1000, -5}, Plot::blocks) == " ▁█ ");
    BOOST_TEST(spark({0, 1, 4, 8}, Plot::ascii) == " .=@");
    BOOST_TEST(spark({0, 0}, Plot::blocks) == "  ");
    BOOST_TEST(spark({}, Plot::blocks) == "");
}

BOOST_AUTO_TEST_CASE(cells_get_stronger_by_level) {
    BOOST_TEST(cells(0, Plot::blocks) == "  ");
    BOOST_TEST(cells(1, Plot::blocks) == "░░");
    BOOST_TEST(cells(heat_levels(Plot::blocks), Plot::blocks) == "██");
    BOOST_TEST(cells(1, Plot::ascii) == "..");
    BOOST_TEST(cells(heat_levels(Plot::ascii), Plot::ascii) == "@@");
    BOOST_TEST(cells(heat_levels(Plot::colours), Plot::colours) == "\x1b[38;5;226m██\x1b[0m");
}

BOOST_AUTO_TEST_CASE(a_histogram_of_blocks_is_as_wide_as_the_screen) {
    const std::vector<CountedRow> rows = {{"[1]", 1}, {"[2, 4)", 8}};
    BOOST_TEST(bars_text(rows, "us", {44, 24, Plot::blocks}) ==
               "us                     count\n"
               "[1]                        1 |█▋           |\n"
               "[2, 4)                     8 |█████████████|\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
