#include "view/pictures/flame_svg.h"

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

FlamePanel panel_of(const std::vector<std::pair<StackFrame, std::uint64_t>>& frames) {
    FlamePanel panel;
    for (const auto& [frame, weight] : frames) panel.tree.add(std::vector{frame}, weight);
    return panel;
}

// The first group of each match.
std::vector<std::string> all_of(const std::string& text, const std::string& pattern) {
    const std::regex regex(pattern);
    std::vector<std::string> found;
    for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
        found.push_back((*at)[1]);
    return found;
}

std::string svg_of(FlamePanel panel, FlameLook look = {}) {
    std::vector<FlamePanel> panels;
    panels.push_back(std::move(panel));
    return flame_svg(panels, look);
}

BOOST_AUTO_TEST_SUITE(flame_svg_file)

BOOST_AUTO_TEST_CASE(boxes_have_titles_with_count_and_share) {
    const std::string svg =
        svg_of(panel_of({{{"vfs_read", FrameKind::kernel}, 1}, {{"main", FrameKind::user}, 2000}}));
    const std::vector<std::string> titles = all_of(svg, "<title>([^<]*)</title><rect");
    const std::vector<std::string> expected = {"all (2,001 samples, 100.00%)",
                                               "main (2,000 samples, 99.95%)",
                                               "vfs_read (1 sample, 0.05%)"};
    BOOST_TEST(titles == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(weights_with_a_unit_are_told_in_it) {
    FlamePanel panel = panel_of({{{"schedule", FrameKind::kernel}, 1520}});
    panel.unit = "us";
    BOOST_TEST(has(svg_of(std::move(panel)), "<title>schedule (1.52 ms, 100.00%)</title>"));
}

// Of 1180 pixels: the widths of siblings add up to that of their caller.
BOOST_AUTO_TEST_CASE(widths_are_shares_and_rows_go_up_or_down) {
    const auto panel = [] {
        return panel_of({{{"a", FrameKind::user}, 1}, {{"b", FrameKind::user}, 3}});
    };
    const std::string pattern =
        "<rect (x=\"[0-9.]*\" y=\"[0-9.]*\" width=\"[0-9.]*\") height=\"15\"";
    const std::vector<std::string> up = {"x=\"10\" y=\"70\" width=\"1180\"",
                                         "x=\"10\" y=\"54\" width=\"295\"",
                                         "x=\"305\" y=\"54\" width=\"885\""};
    BOOST_TEST(all_of(svg_of(panel()), pattern) == up, boost::test_tools::per_element());
    FlameLook look;
    look.is_icicle = true;
    const std::vector<std::string> down = {"x=\"10\" y=\"54\" width=\"1180\"",
                                           "x=\"10\" y=\"70\" width=\"295\"",
                                           "x=\"305\" y=\"70\" width=\"885\""};
    BOOST_TEST(all_of(svg_of(panel(), look), pattern) == down, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(boxes_narrower_than_a_tenth_of_a_pixel_are_left_out) {
    const std::string svg = svg_of(panel_of({{{"least", FrameKind::user}, 1},
                                             {{"enough", FrameKind::user}, 2},
                                             {{"most", FrameKind::user}, 1180 * 10 + 10}}));
    BOOST_TEST(!has(svg, "least ("));
    BOOST_TEST(has(svg, "enough ("));
}

BOOST_AUTO_TEST_CASE(names_of_others_are_escaped) {
    const std::string svg =
        svg_of(panel_of({{{"a<b>&\"c\"]]>\x01\xff\xef\xbf\xbf", FrameKind::user}, 1}}));
    BOOST_TEST(
        has(svg, "<title>a&lt;b&gt;&amp;&quot;c&quot;]]&gt;\\x01\\xff\xef\xbf\xbd (1 sample, "));
}

BOOST_AUTO_TEST_CASE(a_name_is_cut_to_its_box_by_characters) {
    // 37 of 1180 pixels have room for four.
    const std::string svg =
        svg_of(panel_of({{{"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xc3\xa4", FrameKind::user}, 37},
                         {{"z", FrameKind::user}, 1143}}));
    BOOST_TEST(has(svg, ">\xc3\xa4\xc3\xb6..</text>"));
}

BOOST_AUTO_TEST_CASE(kinds_of_frames_have_styles_and_those_there_a_legend) {
    const std::string svg =
        svg_of(panel_of({{{"f", FrameKind::jit}, 1}, {{"g", FrameKind::gpu}, 1}}));
    BOOST_TEST(has(svg, "class=\"frame jit s"));
    BOOST_TEST(has(svg, ">JIT</text>"));
    BOOST_TEST(has(svg, ">GPU driver and library</text>"));
    BOOST_TEST(!has(svg, ">kernel</text>"));
}

BOOST_AUTO_TEST_CASE(a_comparison_is_red_where_it_grew_and_blue_where_it_shrank) {
    FlamePanel panel;
    panel.compared = FlamePanel::Compared::now;
    const auto add = [&](const char* name, std::uint64_t now, std::uint64_t before) {
        panel.tree.add(std::vector<StackFrame>{{name, FrameKind::user}}, now, before);
    };
    add("more", 30, 20);
    add("less", 20, 30);
    add("same", 50, 50);
    const std::string svg = svg_of(std::move(panel));
    BOOST_TEST(has(svg,
                   "frame grew s0\" data-x=\"20\" data-w=\"30\" data-d=\"1\"><title>more (30 "
                   "samples, 30.00%; before 20 samples, 20.00%)"));
    BOOST_TEST(has(svg, "frame shrank s0\" data-x=\"0\" data-w=\"20\""));
    BOOST_TEST(has(svg, "frame same\" data-x=\"50\""));
}

BOOST_AUTO_TEST_CASE(several_graphs_stand_below_each_other_with_headings) {
    std::vector<FlamePanel> panels;
    for (const char* title : {"Waits", "Signals"}) {
        panels.push_back(panel_of({{{"f", FrameKind::kernel}, 1}}));
        panels.back().title = title;
    }
    const std::string svg = flame_svg(panels, {"fence", false});
    BOOST_TEST(has(svg, ">Waits</text>"));
    BOOST_TEST(has(svg, ">Signals</text>"));
    const std::vector<std::string> tops = {"78", "134"};
    BOOST_TEST(all_of(svg, "data-top=\"([0-9]*)\"") == tops, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_counted_nothing_says_so) {
    BOOST_TEST(has(svg_of({}), ">nothing was counted</text>"));
}

BOOST_AUTO_TEST_CASE(it_refers_to_nothing_outside) {
    const std::string svg = svg_of(panel_of({{{"f", FrameKind::user}, 1}}));
    for (const char* way : {"href", "src=", "@import", "url(", "fetch("})
        BOOST_TEST(!has(svg, way), way);
    const std::vector<std::string> addresses = {"http://www.w3.org/2000/svg",
                                                "http://www.w3.org/1999/xhtml",
                                                "http://www.w3.org/1999/xhtml"};
    BOOST_TEST(all_of(svg, "(https?://[a-zA-Z0-9./]*)") == addresses,
               boost::test_tools::per_element());
}

// A script or a style with the end of a CDATA section would end it.
BOOST_AUTO_TEST_CASE(what_is_compiled_in_fits_into_the_file) {
    for (const char* part : {"flame.css", "flame.js"}) {
        BOOST_TEST(!picture_part(part).empty(), part);
        BOOST_TEST((picture_part(part).find("]]>") == std::string_view::npos), part);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(svg_parts)

BOOST_AUTO_TEST_CASE(numbers_are_short_and_grouped) {
    BOOST_TEST(pixels(12) == "12");
    BOOST_TEST(pixels(12.34) == "12.3");
    BOOST_TEST(grouped(0) == "0");
    BOOST_TEST(grouped(999) == "999");
    BOOST_TEST(grouped(1000) == "1,000");
    BOOST_TEST(grouped(1234567) == "1,234,567");
    BOOST_TEST(percent_text(1, 3) == "33.33%");
    BOOST_TEST(percent_text(1, 0) == "0.00%");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
