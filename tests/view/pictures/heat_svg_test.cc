#include "view/pictures/heat_svg.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <regex>
#include <string>

#include "base/cat.h"
#include "support/run_gpufs.h"
#include "view/pictures/svg.h"

namespace gpufs {
namespace {

using test::has;

constexpr Aggregation kPowers{Aggregation::Kind::log2, false, 0, 0, 0, 1};

std::string drawn(const HeatMap& map, const std::string& unit = "us") {
    return heat_svg({{"Waits", unit, map}}, "a <title>",
                    [](std::uint64_t ns) { return cat("at ", ns, " & on"); });
}

// "RANGE: COUNT", as the script tells of a cell.
std::vector<std::string> cells_in(const std::string& svg) {
    std::smatch ranges;
    BOOST_TEST_REQUIRE(std::regex_search(svg, ranges, std::regex("data-ranges=\"([^\"]*)\"")));
    std::vector<std::string> rows;
    std::istringstream in(ranges[1]);
    for (std::string row; std::getline(in, row, '|');) rows.push_back(row);
    const std::regex cell("class=\"cell c\\d\" data-r=\"(\\d+)\" data-n=\"(\\d+)\"");
    std::vector<std::string> found;
    for (std::sregex_iterator at(svg.begin(), svg.end(), cell), end; at != end; ++at)
        found.push_back(cat(rows.at(std::stoul((*at)[1])), ": ", (*at)[2].str()));
    return found;
}

BOOST_AUTO_TEST_SUITE(heat_svg_file)

BOOST_AUTO_TEST_CASE(cells_have_range_and_count_by_column) {
    HeatMap map(kPowers);
    map.add(0, 1'000'000, {{0, 1}, {5, 7}});
    map.add(1'000'000, 3'000'000, {{33, 2}});
    const std::string svg = drawn(map);
    const std::vector<std::string> expected = {"0 us: 1", "5 us: 7", "32 us to 34 us: 2"};
    BOOST_TEST(cells_in(svg) == expected, boost::test_tools::per_element());
    BOOST_TEST(has(svg, "data-t=\"at 0 &amp; on\" data-d=\"1.0 ms\" data-n=\"8\""));
    BOOST_TEST(has(svg, "data-t=\"at 1000000 &amp; on\" data-d=\"2.0 ms\" data-n=\"2\""));
}

BOOST_AUTO_TEST_CASE(buckets_of_a_thick_row_are_one_cell) {
    HeatMap map(kPowers);
    map.add(0, 10, {{1, 1}, {600, 3}, {601, 4}});
    const std::vector<std::string> cells = cells_in(drawn(map, "ns"));
    BOOST_TEST_REQUIRE(cells.size() == 2u);
    BOOST_TEST(cells[1].ends_with(": 7"), cells[1]);
}

BOOST_AUTO_TEST_CASE(colours_go_by_rank) {
    HeatMap map(kPowers);
    for (std::uint64_t i = 0; i < 8; ++i)
        map.add(10 * i, 10 * i + 10, {{1, i < 7 ? i + 1 : 1'000'000}});
    const std::string svg = drawn(map);
    for (int i = 0; i < 8; ++i)
        BOOST_TEST(
            has(svg, cat("cell c", i, "\" data-r=\"0\" data-n=\"", i < 7 ? i + 1 : 1'000'000)),
            svg);
}

BOOST_AUTO_TEST_CASE(percentiles_are_lines_and_have_their_values) {
    HeatMap map(kPowers);
    map.add(0, 10, {{4, 90}, {16, 10}});
    const std::string svg = drawn(map);
    for (const char* line : {"p50 4 us", "p95 16 us", "p99 16 us"})
        BOOST_TEST(has(svg, cat('>', line, "</text>")), line);
    for (const char* line : {"p50", "p95", "p99"})
        BOOST_TEST(has(svg, cat("<path class=\"line ", line, "\" d=\"M84 ")), line);
}

BOOST_AUTO_TEST_CASE(times_without_values_interrupt_the_lines) {
    HeatMap map(kPowers);
    map.add(0, 10, {{4, 1}});
    map.add(10, 20, {{4, 1}});
    map.add(20, 30, {});
    map.add(30, 40, {{4, 1}});
    std::smatch line;
    const std::string svg = drawn(map);
    BOOST_TEST_REQUIRE(
        std::regex_search(svg, line, std::regex("class=\"line p50\" d=\"([^\"]*)\"")));
    BOOST_TEST(std::regex_replace(line[1].str(), std::regex("[0-9. ]"), "") == "MHLHMH");
}

BOOST_AUTO_TEST_CASE(maps_without_values_are_left_out_and_nothing_at_all_is_said) {
    HeatMap map(kPowers);
    map.add(0, 10, {});
    BOOST_TEST(has(drawn(map), ">nothing was counted</text>"));
    HeatMap other(kPowers);
    other.add(0, 10, {{1, 1}});
    const std::string svg = heat_svg({{"Empty", "", map}, {"Full", "", other}}, "both",
                                     [](std::uint64_t ns) { return cat(ns); });
    BOOST_TEST(has(svg, ">Full</text>"));
    BOOST_TEST(!has(svg, ">Empty</text>"));
}

BOOST_AUTO_TEST_CASE(one_moment_is_a_picture_too) {
    HeatMap map(kPowers);
    map.add(5, 5, {{1, 1}});
    const std::string svg = drawn(map);
    BOOST_TEST(!has(svg, "nan"));
    BOOST_TEST(!has(svg, "inf"));
    BOOST_TEST(cells_in(svg).size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_heat_maps_need_is_compiled_in) {
    for (const char* part : {"heat.css", "heat.js"}) {
        BOOST_TEST(!picture_part(part).empty(), part);
        BOOST_TEST((picture_part(part).find("]]>") == std::string_view::npos), part);
        for (const char* way : {"href", "@import", "url(", "http"})
            BOOST_TEST((picture_part(part).find(way) == std::string_view::npos), part);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
