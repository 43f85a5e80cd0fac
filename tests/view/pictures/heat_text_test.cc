#include "view/pictures/heat_text.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/text.h"
#include "view/monitor/histogram.h"

namespace gpufs {
namespace {

constexpr Aggregation kPowersOfTwo{Aggregation::Kind::log2, false, 0, 0, 0, 1};

std::string at(std::uint64_t ns) {
    return cat("at ", ns);
}

// The bucket that a value is in.
std::uint32_t bucket_of(double value) {
    std::uint32_t number = 0;
    while (bucket_range(kPowersOfTwo, number + 1).from <= value) ++number;
    return number;
}

HeatMap two_times() {
    HeatMap map(kPowersOfTwo);
    map.add(0, 2000, {{bucket_of(5), 1}, {bucket_of(33), 4}});
    map.add(2000, 4000, {});
    map.add(4000, 8000, {{bucket_of(5), 2}});
    return map;
}

BOOST_AUTO_TEST_SUITE(heat_text_view)

BOOST_AUTO_TEST_CASE(time_goes_to_the_right_and_values_up) {
    BOOST_TEST(heat_text({"Waits", "us", two_times()}, at, {24, 10, Plot::ascii}) ==
               "Waits, by time\n"
               "32 us |@@@@            |\n"
               "16 us |                |\n"
               " 8 us |                |\n"
               " 4 us |....    --------|\n"
               "      |0\n"
               "count |@@@@    ========|\n"
               "from at 0; a column is 500 ns, with at most 5\n"
               "a cell has 1 to 4, by rank: .:-=+*#@\n");
}

BOOST_AUTO_TEST_CASE(blocks_and_colours_are_as_wide_as_ascii) {
    const HeatPanel panel{"Waits", "us", two_times()};
    BOOST_TEST(heat_text(panel, at, {24, 10, Plot::blocks}) ==
               "Waits, by time\n"
               "32 us |████            |\n"
               "16 us |                |\n"
               " 8 us |                |\n"
               " 4 us |░░░░    ▒▒▒▒▒▒▒▒|\n"
               "      |0\n"
               "count |████    ▄▄▄▄▄▄▄▄|\n"
               "from at 0; a column is 500 ns, with at most 5\n"
               "a cell has 1 to 4, by rank: ░▒▓█\n");
    const std::string coloured = heat_text(panel, at, {24, 10, Plot::colours});
    BOOST_TEST(lines_of(coloured)[1] == "32 us |\x1b[38;5;226m████\x1b[0m            |");
}

BOOST_AUTO_TEST_CASE(a_file_has_80_columns) {
    const std::string text = heat_text({"Waits", "us", two_times()}, at, {0, 0, Plot::ascii});
    const auto lines = lines_of(text);
    BOOST_TEST(lines[1].size() == 80u);
    BOOST_TEST(lines[5] ==
               "      |0                   |2.2 us             |4.4 us             |6.6 us");
}

BOOST_AUTO_TEST_CASE(where_nothing_came_there_is_nothing) {
    BOOST_TEST(heat_text({"Waits", "us", HeatMap(kPowersOfTwo)}, at, {80, 24, Plot::ascii}) == "");
}

BOOST_AUTO_TEST_CASE(steps_of_a_linear_histogram_are_rows_and_its_ends_are_told) {
    HeatMap map({Aggregation::Kind::linear, true, 0, 0, 20, 10});
    map.add(0, 100, {{0, 1}, {1, 1}, {2, 1}, {3, 1}});
    const std::string text = heat_text({"Sizes", "", map}, at, {20, 10, Plot::ascii});
    BOOST_TEST(text.substr(0, text.find("from at")) ==
               "Sizes, by time\n"
               "     20 |@@@@@@@@@@|\n"
               "     10 |@@@@@@@@@@|\n"
               "      0 |@@@@@@@@@@|\n"
               "below 0 |@@@@@@@@@@|\n"
               "        |0\n"
               "  count |@@@@@@@@@@|\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
