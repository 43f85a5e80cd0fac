#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include "base/cat.h"
#include "cli/exports/exports.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"
#include "support/timeline.h"

// Chrome's JSON tells the same timeline as Perfetto's trace, which is compared with the recording.
namespace gpufs {
namespace {

namespace ut = boost::unit_test;
using test::ShownTimeline;

// Addresses are texts in hexadecimal.
std::string plain_number(const std::string& value) {
    if (!value.starts_with("0x")) return value;
    std::size_t used = 0;
    const std::uint64_t number = std::stoull(value, &used, 16);
    return used == value.size() ? std::to_string(number) : value;
}

std::string event_line(const ShownTimeline& shown, const ShownTimeline::Event& one) {
    std::string line = cat(one.begin, '-', one.is_open ? "open" : cat(one.end), ' ', one.category,
                           ' ', one.name, " on ", shown.tracks.at(one.track).name);
    for (const auto& [name, value] : one.arguments)
        line += cat(' ', name, '=', plain_number(value));
    for (const std::uint64_t flow : one.flows) line += cat(" arrow ", flow);
    for (const std::uint64_t flow : one.ending_flows) line += cat(" last of arrow ", flow);
    return line;
}

// Without what Chrome's has of the scheduler.
std::multiset<std::string> event_lines(const ShownTimeline& shown,
                                       const std::vector<ShownTimeline::Event>& events) {
    std::multiset<std::string> lines;
    for (const ShownTimeline::Event& one : events)
        if (!shown.path_of(one.track).starts_with("Scheduler/"))
            lines.insert(event_line(shown, one));
    return lines;
}

std::multiset<std::string> value_lines(const ShownTimeline& shown) {
    std::multiset<std::string> lines;
    for (const ShownTimeline::Value& one : shown.values)
        lines.insert(cat(one.time, ' ', shown.tracks.at(one.track).name, ' ', one.value));
    return lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(export_command, *ut::label("pure"))

BOOST_DATA_TEST_CASE(chrome_has_what_perfetto_has, ut::data::make(test::all_recordings()), name) {
    const std::string path = test::recording_path(name);
    const ShownTimeline perfetto = test::read_perfetto(test::exported(path, "--perfetto"));
    const ShownTimeline chrome = test::read_chrome(test::exported(path, "--chrome"));
    BOOST_TEST(event_lines(chrome, chrome.slices) == event_lines(perfetto, perfetto.slices),
               boost::test_tools::per_element());
    BOOST_TEST(event_lines(chrome, chrome.instants) == event_lines(perfetto, perfetto.instants),
               boost::test_tools::per_element());
    BOOST_TEST(value_lines(chrome) == value_lines(perfetto), boost::test_tools::per_element());
}

BOOST_DATA_TEST_CASE(chrome_has_a_slice_for_each_time_that_a_task_runs,
                     ut::data::make({"sched-6.18", "gpu-6.12", "why-6.12"}), name) {
    const std::string path = test::recording_path(name);
    const ShownTimeline perfetto = test::read_perfetto(test::exported(path, "--perfetto"));
    const ShownTimeline chrome = test::read_chrome(test::exported(path, "--chrome"));
    std::multiset<std::string> expected, shown, expected_wakeups, shown_wakeups;
    std::map<std::pair<std::uint64_t, int>, int> going;  // threads, by time and CPU
    for (const test::Json& record : test::reported(path))
        if (record["event"].text == "sched:sched_switch")
            going[{test::ns_of(record["time"].text), static_cast<int>(record["cpu"].number())}] =
                static_cast<int>(record["fields"]["prev_pid"].number());
    std::map<int, ShownTimeline::Switch> runs;  // by CPU
    for (const ShownTimeline::Switch& one : perfetto.switches) {
        const auto was = runs.find(one.cpu);
        if (was != runs.end() && was->second.next_pid != 0)
            expected.insert(cat("CPU ", one.cpu, ' ', was->second.time, '-', one.time, ' ',
                                was->second.next_comm, ' ', was->second.next_pid, " state ",
                                going.at({one.time, one.cpu}) == was->second.next_pid
                                    ? cat(one.prev_state)
                                    : "unknown"));
        runs[one.cpu] = one;
    }
    for (const ShownTimeline::Event& slice : chrome.slices) {
        if (!chrome.path_of(slice.track).starts_with("Scheduler/") || slice.is_open) continue;
        shown.insert(cat(
            chrome.tracks.at(slice.track).name, ' ', slice.begin, '-', slice.end, ' ', slice.name,
            ' ', slice.arguments.at("tid"), " state ",
            slice.arguments.contains("end_state") ? slice.arguments.at("end_state") : "unknown"));
    }
    for (const ShownTimeline::Wakeup& one : perfetto.wakeups)
        expected_wakeups.insert(cat(one.time, " wakes ", one.comm, ' ', one.pid));
    for (const ShownTimeline::Event& one : chrome.instants)
        if (chrome.path_of(one.track).starts_with("Scheduler/"))
            shown_wakeups.insert(cat(one.begin, ' ', one.name, ' ', one.arguments.at("tid")));
    BOOST_TEST(shown == expected, boost::test_tools::per_element());
    BOOST_TEST(shown_wakeups == expected_wakeups, boost::test_tools::per_element());
    BOOST_TEST(!shown.empty());
}

// The slices of the tasks that run, as "CPU 1 100000000-100100000 a 301 state 1".
std::vector<std::string> runs_of(const std::string& lines) {
    const test::TempFile file(cat("# tracer: nop\n#\n", lines));
    const ShownTimeline shown = test::read_chrome(test::exported(file.path(), "--chrome"));
    std::vector<std::string> runs;
    for (const ShownTimeline::Event& slice : shown.slices) {
        if (!shown.path_of(slice.track).starts_with("Scheduler/")) continue;
        const auto state = slice.arguments.find("end_state");
        runs.push_back(cat(shown.tracks.at(slice.track).name, ' ', slice.begin, '-',
                           slice.is_open ? "open" : cat(slice.end), ' ', slice.name, ' ',
                           slice.arguments.at("tid"),
                           state == slice.arguments.end() ? "" : cat(" state ", state->second)));
    }
    return runs;
}

std::string switch_line(std::string_view time, int from, std::string_view state, int to) {
    return cat("  t-", from, " [001] d..2. ", time, ": sched_switch: prev_comm=t", from,
               " prev_pid=", from, " prev_prio=120 prev_state=", state, " ==> next_comm=t", to,
               " next_pid=", to, " next_prio=120\n");
}

BOOST_AUTO_TEST_CASE(chrome_has_no_task_that_runs_over_a_gap) {
    const std::string waking =
        "  t-302 [001] d..2. 100.000150: sched_waking: comm=x pid=9 prio=120 target_cpu=000\n";
    BOOST_TEST(runs_of(cat(switch_line("100.000000", 301, "S", 302), waking,
                           "CPU:1 [LOST 7 EVENTS]\n", switch_line("100.000500", 303, "D", 304),
                           switch_line("100.000600", 304, "S", 302))) ==
                   (std::vector<std::string>{
                       "CPU 1 100000000000-100000150000 t302 302",
                       "CPU 1 100000500000-100000600000 t304 304 state 1",
                       "CPU 1 100000600000-open t302 302",
                   }),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(chrome_gives_no_task_the_state_of_another) {
    BOOST_TEST(runs_of(cat(switch_line("100.000000", 301, "S", 302),
                           switch_line("100.000500", 303, "D", 304))) ==
                   (std::vector<std::string>{
                       "CPU 1 100000000000-100000500000 t302 302",
                       "CPU 1 100000500000-open t304 304",
                   }),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
