#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <regex>
#include <set>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"
#include "support/timeline.h"

// Pictures of what happens now.
namespace gpufs {
namespace {

namespace ut = boost::unit_test;
using test::Ended;
using test::has;
using test::ShownTimeline;
using test::TempFolder;

constexpr std::uint64_t kNap = 300'000'000;  // ns
const std::vector<std::string> kNapping = {"--", "sh", "-c", "sleep 0.3; exit 0"};

Ended run(std::vector<std::string> args) {
    args.insert(args.end(), kNapping.begin(), kNapping.end());
    return test::gpufs(args);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(live_pictures)

BOOST_AUTO_TEST_CASE(a_page_of_stalls_has_a_lane_for_the_task) {
    const TempFolder folder;
    const std::string html = (folder / "a.html").string(), svg = (folder / "a.svg").string();
    const Ended ran = run({"stall", "--state", "S", "--over", "100ms", "--html", html, "--flame",
                           svg, "--title", "a <nap>"});
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(has(ran.out, "wait4("), ran.out);  // what it prints stays
    const std::string page = read_file(html);
    const ShownTimeline shown = test::read_page(page);
    std::set<std::string> lanes;
    for (const ShownTimeline::Event& slice : shown.slices)
        if (slice.end - slice.begin >= kNap / 2) lanes.insert(shown.tracks.at(slice.track).name);
    BOOST_TEST((lanes == std::set<std::string>{"sh", "sleep"}),
               join({lanes.begin(), lanes.end()}, " "));
    BOOST_TEST(has(page, "a &lt;nap&gt;"));
    // The graph: the whole, the task, the call, and the kernel's functions above.
    const std::string picture = read_file(svg);
    const std::regex whole("<title>all \\([0-9.]+ m?s, 100.00%\\)</title>");
    BOOST_TEST(std::regex_search(picture, whole), picture);
    for (const char* frame : {"sh", "wait4", "do_wait"})
        BOOST_TEST(std::regex_search(
                       picture, std::regex(cat("<title>", frame, " \\([0-9.]+ m?s, [0-9.]+%\\)"))),
                   frame);
}

BOOST_AUTO_TEST_CASE(a_page_of_a_watch_and_a_trace_for_perfetto_are_of_one_recording) {
    const TempFolder folder;
    const std::string html = (folder / "a.html").string(), trace = (folder / "a.pftrace").string();
    const Ended ran = run({"watch", "fence", "--html", html, "--perfetto", trace});
    BOOST_TEST(ran.status == 0, ran.err);
    const ShownTimeline page = test::read_page(read_file(html)),
                        perfetto = test::read_perfetto(read_file(trace));
    BOOST_TEST(perfetto.primary_clock == 3u);  // CLOCK_MONOTONIC
    for (const ShownTimeline* shown : {&page, &perfetto})
        BOOST_TEST(std::ranges::count(shown->switches, "sleep", &ShownTimeline::Switch::next_comm) >
                   0);
    // Those of a page may be told as one where there are very many.
    std::uint64_t merged = page.switches.size();
    for (const ShownTimeline::Switch& one : page.switches) merged += one.merged;
    BOOST_TEST(merged >= perfetto.switches.size());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
