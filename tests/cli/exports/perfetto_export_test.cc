#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <set>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "support/json.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"
#include "support/timeline.h"

// What an export holds is compared with what `gpufs report` and `gpufs watch` tell of the same
// recording; it is read by readers that know the formats and nothing of their writers.
namespace gpufs {
namespace {

namespace ut = boost::unit_test;
using test::Ended;
using test::has;
using test::Json;
using test::ShownTimeline;
using test::TempFile;

const std::string kExportFolder = "tests/data/trace_dat/";

std::vector<std::string> all_recordings() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(kExportFolder))
        if (entry.path().extension() == ".dat") names.push_back(entry.path().stem());
    std::ranges::sort(names);
    return names;
}

std::string recording_path(const std::string& name) {
    return kExportFolder + name + ".dat";
}

// What it writes to stdout.
std::string exported(const std::string& path, const std::string& format,
                     std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"export", "-i", path, format, "-"});
    const Ended ended = test::gpufs(more);
    BOOST_TEST(ended.status == 0, ended.err);
    return ended.out;
}

ShownTimeline perfetto_of(const std::string& path) {
    return test::read_perfetto(exported(path, "--perfetto"));
}

// "12.978974000" as nanoseconds, "12978974000" as it is.
std::uint64_t ns_of(std::string text) {
    std::erase(text, '.');
    return std::stoull(text);
}

std::vector<Json> report_of(const std::string& path) {
    const Ended ended = test::gpufs({"report", "-i", path, "--json"});
    std::vector<Json> records;
    for (Json& line : test::parse_json_lines(ended.out))
        if (line.members.contains("event")) records.push_back(std::move(line));
    return records;
}

// A value as the report has it: texts and numbers as they are, all others as JSON.
std::string shown_value(const Json& value) {
    if (value.kind != Json::Kind::array) return value.text;
    std::vector<std::string> items;
    for (const Json& item : value.items) items.push_back(item.text);
    return cat('[', join(items, ","), ']');
}

ShownTimeline::Arguments fields_of(const Json& record) {
    ShownTimeline::Arguments all;
    if (record.members.contains("stack")) {
        std::vector<std::string> frames;
        for (const Json& frame : record["stack"].items) frames.push_back(frame.text);
        all["stack"] = join(frames, "\n");
        return all;
    }
    for (const auto& [name, value] : record["fields"].members) all[name] = shown_value(value);
    return all;
}

// Records that a timeline tells as such, in the report's words.
bool is_switch(const Json& record) {
    return record["event"].text == "sched:sched_switch";
}

// A recording of waking has them; else what is recorded of wakeups is taken.
std::string event_of_wakeups(const std::vector<Json>& records) {
    const bool has_waking = std::ranges::any_of(
        records, [](const Json& one) { return one["event"].text == "sched:sched_waking"; });
    return has_waking ? "sched:sched_waking" : "sched:sched_wakeup";
}

// Each once, whatever the order of those of one moment.
template <class T>
std::multiset<std::string> as_lines(const std::vector<T>& all, std::string (*line_of)(const T&)) {
    std::multiset<std::string> lines;
    for (const T& one : all) lines.insert(line_of(one));
    return lines;
}

std::string switch_line(const ShownTimeline::Switch& one) {
    return cat(one.time, " CPU ", one.cpu, " state ", one.prev_state, " to ", one.next_pid, " prio ",
               one.next_prio, ' ', one.next_comm);
}
std::string switch_record_line(const Json& one) {
    const Json& fields = one["fields"];
    return cat(ns_of(one["time"].text), " CPU ", one["cpu"].text, " state ",
               fields["prev_state"].text, " to ", fields["next_pid"].text, " prio ",
               fields["next_prio"].text, ' ', fields["next_comm"].text);
}
std::string wakeup_line(const ShownTimeline::Wakeup& one) {
    return cat(one.time, " CPU ", one.cpu, " wakes ", one.pid, " on ", one.target_cpu, " prio ",
               one.prio, ' ', one.comm);
}
std::string wakeup_record_line(const Json& one) {
    const Json& fields = one["fields"];
    return cat(ns_of(one["time"].text), " CPU ", one["cpu"].text, " wakes ", fields["pid"].text,
               " on ", fields["target_cpu"].text, " prio ", fields["prio"].text, ' ',
               fields["comm"].text);
}

std::string arguments_text(const ShownTimeline::Arguments& arguments) {
    std::string text;
    for (const auto& [name, value] : arguments) text += cat(' ', name, '=', value);
    return text;
}
std::string instant_line(const ShownTimeline::Event& one) {
    return cat(one.begin, ' ', one.category, arguments_text(one.arguments));
}
std::string record_line(const Json& one) {
    const std::string& event = one["event"].text;
    return cat(ns_of(one["time"].text), ' ', event.substr(0, event.find(':')),
               arguments_text(fields_of(one)));
}

template <class Filter>
std::vector<Json> those(const std::vector<Json>& all, Filter&& filter) {
    std::vector<Json> found;
    std::ranges::copy_if(all, std::back_inserter(found), filter);
    return found;
}

// Every record is in the timeline, once, with all that the report tells of it.
void check_records(const ShownTimeline& shown, const std::vector<Json>& records) {
    const std::string wakes = event_of_wakeups(records);
    const auto is_wakeup = [&](const Json& one) { return one["event"].text == wakes; };
    BOOST_TEST((as_lines(shown.switches, switch_line) ==
                as_lines(those(records, is_switch), switch_record_line)));
    BOOST_TEST((as_lines(shown.wakeups, wakeup_line) ==
                as_lines(those(records, is_wakeup), wakeup_record_line)));
    std::vector<ShownTimeline::Event> instants;
    for (const auto& one : shown.instants)
        if (one.category != "lost") instants.push_back(one);
    const auto others =
        those(records, [&](const Json& one) { return !is_switch(one) && !is_wakeup(one); });
    BOOST_TEST(instants.size() == others.size());
    const auto told = as_lines(instants, instant_line);
    for (const std::string& line : as_lines(others, record_line))
        BOOST_TEST(told.contains(line), cat("not exported: ", line));
}

// Flows begin with an instant, lead on to something else and end in one place at most.
void check_flows(const ShownTimeline& shown) {
    std::map<std::uint64_t, std::size_t> parts, ends;
    for (const auto* events : {&shown.slices, &shown.instants})
        for (const ShownTimeline::Event& one : *events) {
            for (const std::uint64_t flow : one.flows) ++parts[flow];
            for (const std::uint64_t flow : one.ending_flows) ++parts[flow], ++ends[flow];
        }
    for (const auto& [flow, count] : parts) {
        BOOST_TEST(count >= 2u, cat("arrow ", flow, " leads nowhere"));
        BOOST_TEST(ends[flow] <= 1u);
    }
}

// Values count the slices that are open on the tracks beside them.
void check_counters(const ShownTimeline& shown) {
    const std::map<std::string, std::string> counted = {{"jobs in the queue", "queue"},
                                                        {"jobs on the ring", "run"}};
    for (const ShownTimeline::Value& value : shown.values) {
        const ShownTimeline::Track& counter = shown.tracks.at(value.track);
        const std::string& of = counted.at(counter.name);
        std::int64_t least = 0, most = 0;  // what begins or ends in this moment may count or not
        for (const ShownTimeline::Event& slice : shown.slices) {
            const ShownTimeline::Track& track = shown.tracks.at(slice.track);
            if (track.parent != counter.parent || track.name != of || slice.depth != 0) continue;
            const bool has_ended = !slice.is_open && slice.end < value.time;
            if (slice.begin <= value.time && !has_ended) ++most;
            const bool goes_on = slice.is_open || slice.end > value.time;
            if (slice.begin < value.time && goes_on) ++least;
        }
        BOOST_TEST(value.value >= least);
        BOOST_TEST(value.value <= most);
    }
}

// The times of a job's steps in microseconds, of those that were recorded.
struct ShownJob {
    std::string device, ring, comm, how;
    std::uint64_t queued = 0, ran = 0, done = 0;
    friend auto operator<=>(const ShownJob&, const ShownJob&) = default;
};
std::ostream& operator<<(std::ostream& out, const ShownJob& job) {
    return out << job.device << ' ' << job.ring << ' ' << job.comm << ' ' << job.queued << ' '
               << job.ran << ' ' << job.done << ' ' << job.how;
}
using ShownJobs = std::multiset<ShownJob>;

// As `gpufs watch drm` tells their steps.
ShownJobs jobs_of_monitor(const std::string& path) {
    const Ended ended =
        test::gpufs({"watch", "drm", "lines=1", "min_us=60s", "--json", "-i", path});
    std::map<std::pair<std::string, std::string>, ShownJob> open;
    ShownJobs all;
    for (const Json& line : test::parse_json_lines(ended.out)) {
        if (!line.members.contains("record") || line["record"].text != "event") continue;
        const Json& told = line["values"];
        const std::pair key{told["context"].text, told["job"].text};
        ShownJob& job = open[key];
        const std::string& what = told["what"].text;
        const std::uint64_t time = ns_of(told["when"].text);
        job.device = told["dev"].text;
        job.ring = told["ring"].text;
        job.comm = told["comm"].text;
        if (what == "QUEUE") job.queued = time;
        if (what == "RUN") job.ran = time;
        if (what != "DONE" && what != "DROPPED") continue;
        job.done = time;
        job.how = what == "DROPPED" ? "given up" : "";
        all.insert(job);
        open.erase(key);
    }
    for (const auto& [key, job] : open) all.insert(job);
    return all;
}

// As the arrows lead from slice to slice.
ShownJobs jobs_of_timeline(const ShownTimeline& shown) {
    std::map<std::uint64_t, ShownJob> by_flow;
    for (const ShownTimeline::Event& slice : shown.slices) {
        if (slice.flows.empty()) continue;
        const std::vector<std::string> path = split(shown.path_of(slice.track), '/');
        BOOST_REQUIRE(path.size() == 3u);
        ShownJob& job = by_flow[slice.flows[0]];
        job.device = path[0] == "GPU" ? "-" : path[0].substr(4);
        job.ring = path[1].substr(5);
        job.comm = slice.name;
        if (path[2] == "queue")
            job.queued = slice.begin / 1000;
        else
            job.ran = slice.begin / 1000;
        const auto how = slice.arguments.find("end");
        if (how != slice.arguments.end()) job.how = how->second;
        if (!slice.is_open && (path[2] == "run" || !job.how.empty())) job.done = slice.end / 1000;
    }
    ShownJobs all;
    for (const auto& [flow, job] : by_flow) all.insert(job);
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(export_command, *ut::label("pure"))

BOOST_DATA_TEST_CASE(perfetto_has_every_record_with_its_fields, ut::data::make(all_recordings()),
                     name) {
    const ShownTimeline shown = perfetto_of(recording_path(name));
    check_records(shown, report_of(recording_path(name)));
    check_flows(shown);
    check_counters(shown);
}

BOOST_DATA_TEST_CASE(perfetto_has_the_jobs_that_watch_tells_of,
                     ut::data::make({"drm-5.10", "drm-6.12", "drm-6.17", "why-6.12"}), name) {
    const ShownJobs expected = jobs_of_monitor(recording_path(name));
    const ShownJobs jobs = jobs_of_timeline(perfetto_of(recording_path(name)));
    BOOST_TEST(expected.size() >= 3u);
    BOOST_TEST(jobs == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
