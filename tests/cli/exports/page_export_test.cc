#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <set>

#include "base/cat.h"
#include "base/file.h"
#include "cli/exports/exports.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"
#include "support/timeline.h"

// A page tells the same timeline as Perfetto's trace, which is compared with the recording.
namespace gpufs {
namespace {

namespace ut = boost::unit_test;
using test::has;
using test::ShownTimeline;

ShownTimeline page_of(const std::string& path, const std::vector<std::string>& command) {
    const test::TempFolder folder;
    const std::string html = (folder.path() / "page.html").string();
    std::vector<std::string> words = command;
    for (const std::string& word : {std::string("-i"), path, std::string("--html"), html})
        words.push_back(word);
    const test::Ended ended = test::gpufs(words);
    BOOST_TEST_REQUIRE(ended.status == 0, ended.err);
    return test::read_page(read_file(html));
}

// A page does not say where an arrow ends.
std::string event_text(const ShownTimeline& shown, const ShownTimeline::Event& one) {
    std::string line = cat(one.begin, '-', one.is_open ? "open" : cat(one.end), ' ', one.category,
                           ' ', one.name, " on ", shown.tracks.at(one.track).name);
    for (const auto& [name, value] : one.arguments) line += cat(' ', name, '=', value);
    for (const auto* flows : {&one.flows, &one.ending_flows})
        for (const std::uint64_t flow : *flows) line += cat(" arrow ", flow);
    return line;
}

// A page has boxes for how many jobs a ring has, and no counters.
bool counts_jobs(const ShownTimeline& shown, const ShownTimeline::Value& value) {
    const std::string& name = shown.tracks.at(value.track).name;
    return name == "jobs in the queue" || name == "jobs on the ring";
}

std::multiset<std::string> texts(const ShownTimeline& shown) {
    std::multiset<std::string> lines;
    for (const auto* events : {&shown.slices, &shown.instants})
        for (const ShownTimeline::Event& one : *events) lines.insert(event_text(shown, one));
    for (const ShownTimeline::Value& one : shown.values)
        if (!counts_jobs(shown, one))
            lines.insert(cat(one.time, ' ', shown.tracks.at(one.track).name, " is ", one.value));
    for (const ShownTimeline::Switch& one : shown.switches)
        lines.insert(cat(one.time, " CPU ", one.cpu, " state ", one.prev_state, " to ",
                         one.next_pid, ' ', one.next_comm, " prio ", one.next_prio));
    for (const ShownTimeline::Wakeup& one : shown.wakeups)
        lines.insert(cat(one.time, " CPU ", one.cpu, " wakes ", one.pid, ' ', one.comm, " on ",
                         one.target_cpu));
    return lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(export_command, *ut::label("pure"))

BOOST_DATA_TEST_CASE(a_page_has_what_perfetto_has, ut::data::make(test::all_recordings()), name) {
    const std::string path = test::recording_path(name);
    const ShownTimeline perfetto = test::read_perfetto(test::exported(path, "--perfetto"));
    BOOST_TEST(texts(page_of(path, {"report"})) == texts(perfetto),
               boost::test_tools::per_element());
}

BOOST_DATA_TEST_CASE(a_page_has_the_jobs_that_watch_tells_of,
                     ut::data::make({"drm-5.10", "drm-6.12", "drm-6.17", "why-6.12"}), name) {
    const std::string path = test::recording_path(name);
    const test::ShownJobs expected = test::jobs_of_monitor(path);
    BOOST_TEST(test::jobs_of_timeline(page_of(path, {"watch", "drm"})) == expected,
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_wait_says_which_job_it_is_for) {
    const ShownTimeline shown = page_of(test::recording_path("drm-6.17"), {"report"});
    std::multiset<std::string> ends;  // fences of jobs, and when they were done
    for (const ShownTimeline::Event& one : shown.slices)
        if (!one.is_open && shown.tracks.at(one.track).name == "run")
            ends.insert(cat(one.arguments.at("context"), '/', one.arguments.at("seqno")));
    std::size_t waits = 0;
    for (const ShownTimeline::Event& one : shown.slices) {
        if (!one.name.starts_with("waits for ") || one.category != "gpu") continue;
        ++waits;
        const std::string job = cat(one.arguments.at("context"), '/', one.arguments.at("seqno"));
        BOOST_TEST(ends.contains(job), job);
    }
    BOOST_TEST(waits == 8u);
}

BOOST_AUTO_TEST_CASE(a_page_has_no_link_to_anything_outside_of_it) {
    const test::TempFolder folder;
    const std::string html = (folder.path() / "page.html").string();
    const test::Ended ended =
        test::gpufs({"watch", "drm", "lines=1", "-i", test::recording_path("drm-6.17"), "--html",
                     html, "--title", "</script><b>&\"'"});
    BOOST_TEST(ended.status == 0, ended.err);
    const std::string page = read_file(html);
    BOOST_TEST(has(page,
                   "content=\"default-src 'none'; script-src 'unsafe-inline'; "
                   "style-src 'unsafe-inline'; worker-src blob:\""));
    for (const char* outside : {"http://", "https://", "src=", "href=", "@import", "url("})
        BOOST_TEST(!has(page, outside), outside);
    BOOST_TEST(has(page, "<title>&lt;/script&gt;&lt;b&gt;&amp;&quot;'</title>"));
    BOOST_TEST(has(page, "\"title\":\"\\u003c/script>\\u003cb>&\\\"'\""));
    BOOST_TEST(has(page, "[\"By ring\",\"DEV "));
    BOOST_TEST(has(page, "data-kind=\"line\""));
}

BOOST_AUTO_TEST_CASE(what_a_page_cannot_be_is_said_before_anything_is_done) {
    const std::string path = test::recording_path("drm-6.17");
    const auto refused = [&](std::vector<std::string> words) {
        const test::Ended ended = test::gpufs(words);
        BOOST_TEST(ended.status == 2);
        return ended.err.substr(0, ended.err.find('\n'));
    };
    BOOST_TEST(refused({"report", path, "--html", path}) ==
               cat("gpufs: --html: '", path, "' is the recording"));
    BOOST_TEST(refused({"report", path, "--html", "x", "--json"}) ==
               "gpufs: --html does not go with --json");
    BOOST_TEST(refused({"report", path, "--title", "x"}) == "gpufs: --title goes with --html");
    BOOST_TEST(refused({"watch", "drm", "-i", path, "--html", "x", "--interval", "1"}) ==
               "gpufs: --html does not go with --interval: a page has all of the time");
    BOOST_TEST(refused({"watch", "drm", "-i", path, "--html", "x", "--heat", "x"}) ==
               "gpufs: --heat and --html write to one file");
    BOOST_TEST(refused({"stall", "-p", "1", "--title", "x"}) ==
               "gpufs: --title goes with a picture");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
