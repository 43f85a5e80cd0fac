#include "view/pictures/flame_tree.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>

#include "base/cat.h"

namespace gpufs {
namespace {

std::vector<StackFrame> stack(const std::vector<std::string>& names) {
    std::vector<StackFrame> frames;
    for (const std::string& name : names) frames.push_back({name, FrameKind::user});
    return frames;
}

// "main 0+7" a line, indented by the depth.
std::string to_text(const std::vector<FlameBox>& boxes) {
    std::string text;
    for (const FlameBox& box : boxes)
        text += cat(std::string(2 * box.depth, ' '), box.frame ? box.frame->name : "all", ' ',
                    box.left, '+', box.weight, '\n');
    return text;
}

BOOST_AUTO_TEST_SUITE(flame_tree)

BOOST_AUTO_TEST_CASE(stacks_share_their_outer_frames_and_siblings_go_by_name) {
    FlameTree tree;
    tree.add(stack({"main", "write"}), 3);
    tree.add(stack({"main", "read", "copy"}), 4);
    tree.add(stack({"main"}), 1);
    tree.add(stack({"main", "read"}), 2);
    tree.add(stack({"idle"}), 5);
    BOOST_TEST(to_text(tree.boxes(0)) ==
               "all 0+15\n"
               "  idle 0+5\n"
               "  main 5+10\n"
               "    read 5+6\n"
               "      copy 5+4\n"
               "    write 11+3\n");
}

BOOST_AUTO_TEST_CASE(what_weighs_too_little_is_left_out_and_keeps_its_place) {
    FlameTree tree;
    tree.add(stack({"a"}), 1);
    tree.add(stack({"b"}), 100);
    BOOST_TEST(to_text(tree.boxes(2)) ==
               "all 0+101\n"
               "  b 1+100\n");
}

BOOST_AUTO_TEST_CASE(a_name_in_the_kernel_and_in_a_process_are_two_frames) {
    FlameTree tree;
    tree.add(std::vector<StackFrame>{{"read", FrameKind::user}, {"read", FrameKind::kernel}}, 1);
    tree.add(std::vector<StackFrame>{{"read", FrameKind::kernel}}, 1);
    BOOST_TEST(to_text(tree.boxes(0)) ==
               "all 0+2\n"
               "  read 0+1\n"
               "    read 0+1\n"
               "  read 1+1\n");
}

BOOST_AUTO_TEST_CASE(nothing_counted_is_no_box) {
    FlameTree tree;
    tree.add(stack({"a"}), 0);
    BOOST_TEST(tree.boxes(0).empty());
}

BOOST_AUTO_TEST_CASE(sums_stay_at_the_largest_number) {
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    FlameTree tree;
    tree.add(stack({"a"}), kMost);
    tree.add(stack({"b"}), kMost);
    BOOST_TEST(tree.weight() == kMost);
    BOOST_TEST(tree.boxes(0).size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
