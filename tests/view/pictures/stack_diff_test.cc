#include "view/pictures/stack_diff.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "support/run_gpufs.h"
#include "view/monitor/folded.h"

namespace gpufs {
namespace {

using test::has;

StackDiff diff_of(const char* before, const char* now) {
    return {parse_folded({"before", before}), parse_folded({"now", now})};
}

BOOST_AUTO_TEST_SUITE(stack_diff)

BOOST_AUTO_TEST_CASE(functions_are_compared_by_their_own_share) {
    // Twice as long, and copy() takes more of it, from two places.
    const StackDiff diff =
        diff_of("main;read 50\nmain;write 40\nmain;copy 10\n",
                "main;read 100\nmain;write 40\nmain;copy 40\nmain;read;copy 20\n");
    BOOST_TEST(diff_text(diff, 0, Controls::escaped) ==
               "before 100, now 200\n"
               "BEFORE   SHARE  NOW   SHARE   CHANGE  FRAME\n"
               "    10  10.00%   60  30.00%  +20.00%  copy\n"
               "    40  40.00%   40  20.00%  -20.00%  write\n");
    BOOST_TEST(diff_text(diff, 1, Controls::escaped) ==
               "before 100, now 200\n"
               "BEFORE   SHARE  NOW   SHARE   CHANGE  FRAME\n"
               "    10  10.00%   60  30.00%  +20.00%  copy\n"
               "and 1 more\n");
}

BOOST_AUTO_TEST_CASE(nothing_changed_is_said) {
    BOOST_TEST(diff_text(diff_of("a 1\n", "a 2\n"), 0, Controls::escaped) ==
               "before 1, now 2\n"
               "no function's share changed\n");
    BOOST_TEST(diff_text(diff_of("", ""), 0, Controls::escaped) ==
               "before 0, now 0\n"
               "no function's share changed\n");
}

BOOST_AUTO_TEST_CASE(names_of_others_are_escaped_and_in_json_as_they_are) {
    const StackDiff diff = diff_of("", "a\x1b[2J 4\n");
    BOOST_TEST(has(diff_text(diff, 0, Controls::escaped), "+100.00%  a\\x1b[2J\n"));
    BOOST_TEST(diff_json(diff) ==
               "{\"frame\":\"a\\u001b[2J\",\"before\":0,\"now\":4,\"change\":100.0000}\n");
}

BOOST_AUTO_TEST_CASE(what_is_gone_is_seen_in_the_graph_of_before) {
    const StackDiff diff = diff_of("main;gone 1\nmain;stays 1\n", "main;stays 2\nmain;new 2\n");
    const std::string svg = flame_svg(diff.panels(false), {"diff", false});
    const auto graph = svg.find("before (widths of OLD)");
    BOOST_TEST(graph != svg.npos);
    BOOST_TEST(svg.find(">gone (1 sample, 50.00%; now 0 samples, 0.00%)") > graph);
    BOOST_TEST(svg.find(">gone (") > graph);
    BOOST_TEST(svg.find("frame shrank s0\" data-x=\"0\" data-w=\"1\" data-d=\"2\"><title>gone") !=
               svg.npos);
    BOOST_TEST(svg.find("><title>new (2 samples, 50.00%; before 0 samples, 0.00%)") < graph);
}

BOOST_AUTO_TEST_CASE(reversed_the_graphs_begin_with_the_innermost_frames) {
    const std::vector<FlamePanel> panels = diff_of("main;read 1\n", "main;read 1\n").panels(true);
    BOOST_TEST(panels[0].tree.boxes(0)[1].frame->name == "read");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
