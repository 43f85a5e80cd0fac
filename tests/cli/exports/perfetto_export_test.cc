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
#include "cli/exports/exports.h"
#include "support/json.h"
#include "support/protobuf.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"
#include "support/temp_folder.h"
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

using test::all_recordings;
using test::ns_of;
using test::recording_path;
using test::ShownJobs;

ShownTimeline perfetto_of(const std::string& path, std::vector<std::string> more = {}) {
    return test::read_perfetto(test::exported(path, "--perfetto", std::move(more)));
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
    return cat(one.time, " CPU ", one.cpu, " state ", one.prev_state, " to ", one.next_pid,
               " prio ", one.next_prio, ' ', one.next_comm);
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
        if (one.category != "lost" && one.category != "gpu") instants.push_back(one);
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
        if (!counted.contains(counter.name)) continue;
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

}  // namespace

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(export_command, *ut::label("pure"))

BOOST_DATA_TEST_CASE(perfetto_has_every_record_with_its_fields, ut::data::make(all_recordings()),
                     name) {
    const ShownTimeline shown = perfetto_of(recording_path(name));
    check_records(shown, test::reported(recording_path(name)));
    check_flows(shown);
    check_counters(shown);
}

// "TRACK NAME" of each mark, "TRACK VALUE" of each counter's, in order.
std::vector<std::string> gpu_lines(const ShownTimeline& shown) {
    std::vector<std::string> lines;
    for (const ShownTimeline::Event& one : shown.instants)
        if (one.category == "gpu") lines.push_back(cat(shown.path_of(one.track), ' ', one.name));
    for (const ShownTimeline::Value& one : shown.values)
        if (!has(shown.path_of(one.track), "ring "))
            lines.push_back(cat(shown.path_of(one.track), ' ', one.value));
    return lines;
}

// What gpufs report tells of these recordings, by hand.
BOOST_AUTO_TEST_CASE(faults_moves_and_memory_are_on_tracks_of_the_gpu) {
    using Lines = std::vector<std::string>;
    const auto told = [](const std::string& name) {
        return gpu_lines(perfetto_of(recording_path(name)));
    };
    const Lines xe = {
        "GPU 0000:03:00.0/VM faults memory error", "GPU 0000:03:00.0/VM faults page fault",
        "GPU 0000:03:00.0/evictions evict",        "GPU 0000:03:00.0/evictions evict",
        "GPU 0000:03:00.0/evictions evict",        "GPU 0000:03:00.0/moves vram0 to gtt",
        "GPU 0000:03:00.0/moves system to vram0",  "GPU 0000:03:00.0/CPU faults fault",
        "GPU 0000:03:00.0/CPU faults fault",       "GPU 0000:03:00.0/moved to gtt 1048576",
        "GPU 0000:03:00.0/moved to vram0 4096"};
    BOOST_TEST(told("xe-6.12") == xe, boost::test_tools::per_element());
    BOOST_TEST(told("xe-7.3") == xe, boost::test_tools::per_element());
    const Lines amdgpu = {
        "GPU/moves VRAM to GTT",    "GPU/moves GTT to VRAM",     "GPU/moves VRAM to GTT",
        "GPU/VM faults fault",      "GPU/VM faults fault",       "GPU/VM faults fault",
        "GPU/moved to GTT 1048576", "GPU/moved to VRAM 1048576", "GPU/moved to GTT 1052672"};
    for (const char* name : {"amdgpu-5.10", "amdgpu-6.12", "amdgpu-7.3"})
        BOOST_TEST(told(name) == amdgpu, boost::test_tools::per_element());
    const Lines i915 = told("i915-6.1");
    BOOST_TEST(std::ranges::count(i915, "GPU/CPU faults fault") == 4);
    BOOST_TEST(std::ranges::count(i915, "GPU 1/evictions shrink") == 3);
    const Lines buffers = {"GPU/buffers 1048576", "GPU/buffers 1052672", "GPU/buffers 1060864",
                           "GPU/buffers 1056768", "GPU/buffers 1069056"};
    BOOST_TEST(Lines(i915.end() - 5, i915.end()) == buffers, boost::test_tools::per_element());
    BOOST_TEST(told("nvidia-6.12") == Lines{"GPU 0000:01:00/errors Xid 79"},
               boost::test_tools::per_element());
}

// Of the records of one job: their times.
struct JobTimes {
    std::string ring;
    std::uint64_t queued = 0, ran = 0, done = 0;
};
using JobName = std::pair<std::uint64_t, std::uint64_t>;  // of its fence: context and number

std::uint64_t half_of(const Json& number) {
    return std::stoull(number.text) & 0xffffffff;
}

// What the records of a driver that has no scheduler's events say, each step by its own event.
struct DriverEvents {
    const char *queue, *run, *done, *context, *number;
    std::string (*ring)(const Json& fields);
};

std::map<JobName, JobTimes> job_times(const std::string& recording, const DriverEvents& driver) {
    std::map<JobName, JobTimes> jobs;
    for (const Json& one : test::reported(recording_path(recording))) {
        const std::string& event = one["event"].text;
        const Json& fields = one["fields"];
        const std::uint64_t time = ns_of(one["time"].text);
        const auto job = [&](const char* context, const char* number) -> JobTimes& {
            return jobs[{half_of(fields[context]), half_of(fields[number])}];
        };
        if (event == driver.queue) {
            JobTimes& queued = job(driver.context, driver.number);
            queued.queued = time;
            queued.ring = driver.ring(fields);
        } else if (event == driver.run) {
            JobTimes& runs = job(driver.context, driver.number);
            runs.ran = time;
            runs.ring = driver.ring(fields);
        } else if (event == driver.done || event == "dma_fence:dma_fence_signaled") {
            const bool is_fence = event != driver.done;
            JobTimes& ended =
                is_fence ? job("context", "seqno") : job(driver.context, driver.number);
            if (ended.done == 0) ended.done = time;
        }
    }
    return jobs;
}

std::string slice_line(std::string_view track, std::string_view ring, std::uint64_t begin,
                       std::uint64_t end) {
    return cat(ring, '/', track, ' ', begin, " to ", end == 0 ? "the end" : cat(end));
}

std::multiset<std::string> job_slices(const ShownTimeline& shown) {
    std::multiset<std::string> lines;
    for (const ShownTimeline::Event& slice : shown.slices) {
        const std::string path = shown.path_of(slice.track);
        const auto ring = path.find("ring ");
        if (ring == std::string::npos) continue;
        const std::string track = path.substr(path.rfind('/') + 1);
        const std::string name = path.substr(ring + 5, path.rfind('/') - ring - 5);
        lines.insert(slice_line(track, name, slice.begin, slice.is_open ? 0 : slice.end));
    }
    return lines;
}

// From the middle of the first third of the jobs' times to that of the last.
BOOST_DATA_TEST_CASE(a_range_of_time_has_its_jobs_whole,
                     ut::data::make({"drm-5.10", "drm-6.12", "drm-6.17", "xe-7.3"}), name) {
    const ShownTimeline full = perfetto_of(recording_path(name));
    std::vector<std::uint64_t> middles;
    for (const ShownTimeline::Event& slice : full.slices)
        if (has(full.path_of(slice.track), "ring ") && !slice.is_open)
            middles.push_back((slice.begin + slice.end) / 2);
    BOOST_TEST_REQUIRE(middles.size() > 6u);
    std::ranges::sort(middles);
    const std::uint64_t from = middles[middles.size() / 3], to = middles[middles.size() * 2 / 3];
    const auto seconds = [](std::uint64_t ns) {
        const std::string rest = cat(ns % 1'000'000'000);
        return cat(ns / 1'000'000'000, '.', std::string(9 - rest.size(), '0'), rest);
    };
    const ShownTimeline cut =
        perfetto_of(recording_path(name), {"--from", seconds(from), "--to", seconds(to)});
    const std::multiset<std::string> all = job_slices(full), told = job_slices(cut);
    BOOST_TEST(std::ranges::includes(all, told));
    ShownTimeline within = full;
    std::erase_if(within.slices, [&](const ShownTimeline::Event& slice) {
        return slice.begin > to || (!slice.is_open && slice.end < from);
    });
    const std::multiset<std::string> expected = job_slices(within);
    BOOST_TEST(expected.size() > 2u);
    BOOST_TEST(std::ranges::includes(told, expected));
    BOOST_TEST(told.size() < all.size());
}

BOOST_DATA_TEST_CASE(jobs_of_amdgpu_are_on_its_rings_without_events_of_the_scheduler,
                     ut::data::make({"amdgpu-5.10", "amdgpu-6.12", "amdgpu-7.3"}), name) {
    const DriverEvents driver = {"amdgpu:amdgpu_cs_ioctl",
                                 "amdgpu:amdgpu_sched_run_job",
                                 "",
                                 "context",
                                 "seqno",
                                 [](const Json& fields) { return fields["timeline"].text; }};
    std::multiset<std::string> expected;
    for (const auto& [job, times] : job_times(name, driver)) {
        if (times.queued != 0)
            expected.insert(slice_line("queue", times.ring, times.queued,
                                       times.ran != 0 ? times.ran : times.done));
        if (times.ran != 0) expected.insert(slice_line("run", times.ring, times.ran, times.done));
    }
    const auto told = job_slices(perfetto_of(recording_path(name)));
    BOOST_TEST(told == expected, boost::test_tools::per_element());
    BOOST_TEST(told.size() >= 10u);
}

// A request is taken to run when none is before it on its engine.
BOOST_DATA_TEST_CASE(requests_of_i915_are_on_its_engines,
                     ut::data::make({"i915-5.10", "i915-6.1", "i915-6.12-alone", "i915-7.3"}),
                     name) {
    const DriverEvents driver = {
        "i915:i915_request_add",
        "i915:i915_request_in",
        "i915:i915_request_retire",
        "ctx",
        "seqno",
        [](const Json& fields) {
            static const std::map<std::string, std::string> kClasses = {
                {"0", "render"},        {"1", "copy"},    {"2", "video"},
                {"3", "video-enhance"}, {"4", "compute"}, {"65535", "(driver)"}};
            return cat(kClasses.at(fields["class"].text), ' ', fields["instance"].text);
        }};
    const auto jobs = job_times(name, driver);
    const bool tells_in = std::ranges::any_of(jobs, [](const auto& job) { return job.second.ran; });
    std::multiset<std::string> expected;
    for (const auto& [job, times] : jobs) {
        if (times.queued == 0) continue;  // another driver's fence
        std::uint64_t runs = times.ran;
        if (!tells_in) {
            runs = times.queued;
            for (const auto& [other, before] : jobs)
                if (before.ring == times.ring && before.queued < times.queued)
                    runs = std::max(runs, before.done);
        }
        expected.insert(slice_line("queue", times.ring, times.queued, runs));
        if (runs != 0) expected.insert(slice_line("run", times.ring, runs, times.done));
    }
    const auto told = job_slices(perfetto_of(recording_path(name)));
    BOOST_TEST(told == expected, boost::test_tools::per_element());
    BOOST_TEST(told.size() >= 6u);
}

// Jobs of one queue run one behind the other, on the engine that its events name.
BOOST_AUTO_TEST_CASE(jobs_of_xe_and_the_npu_have_rings_of_their_own) {
    const ShownTimeline xe = perfetto_of(recording_path("xe-7.3"));
    std::map<std::string, int> rings;
    for (const ShownTimeline::Event& slice : xe.slices) ++rings[xe.path_of(slice.track)];
    BOOST_TEST(rings["GPU 0000:03:00.0/ring render gt0/queue"] == 4);
    BOOST_TEST(rings["GPU 0000:03:00.0/ring render gt0/run"] == 3);
    BOOST_TEST(rings["GPU 0000:03:00.0/ring video gt1/run"] == 1);
    // Three jobs are submitted and two done: the second waits for the first. Before them another
    // ends.
    const std::set<std::string> jobs = {"769", "770", "1025"};
    std::vector<std::uint64_t> times;
    for (const Json& one : test::reported(recording_path("npu-7.3")))
        if (one["event"].text == "vpu:job" && jobs.contains(one["fields"]["job_id"].text))
            times.push_back(ns_of(one["time"].text));
    BOOST_TEST_REQUIRE(times.size() == 5u);
    const std::multiset<std::string> npu = {slice_line("queue", "compute", times[0], times[0]),
                                            slice_line("run", "compute", times[0], times[2]),
                                            slice_line("queue", "compute", times[1], times[2]),
                                            slice_line("run", "compute", times[2], times[3]),
                                            slice_line("queue", "compute", times[4], times[4]),
                                            slice_line("run", "compute", times[4], 0)};
    BOOST_TEST(job_slices(perfetto_of(recording_path("npu-7.3"))) == npu,
               boost::test_tools::per_element());
}

// As tracefs prints them; and those of a driver of one's own, by the same names.
BOOST_AUTO_TEST_CASE(jobs_of_a_text_are_told_where_its_fields_are_known) {
    const TempFile text(
        "# tracer: nop\n"
        "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
        "          game-177     [000] .....    51.000100: amdgpu_cs_ioctl: sched_job=1, "
        "timeline=gfx, context=12, seqno=34, ring_name=gfx, num_ibs=1\n"
        "           gfx-90      [001] .....    51.000200: amdgpu_sched_run_job: sched_job=1, "
        "timeline=gfx, context=12, seqno=34, ring_name=gfx, num_ibs=1\n"
        "        <idle>-0       [001] d.h..    51.000900: dma_fence_signaled: driver=drm_sched "
        "timeline=gfx context=12 seqno=34\n"
        "          game-177     [000] .....    51.001000: i915_request_add: dev=0, engine=2:1, "
        "ctx=77, seqno=2, tail=8\n"
        "          game-177     [000] .....    51.002000: i915_request_retire: dev=0, engine=2:1, "
        "ctx=77, seqno=2, tail=8\n");
    const std::multiset<std::string> expected = {
        slice_line("queue", "gfx", 51000100000, 51000200000),
        slice_line("run", "gfx", 51000200000, 51000900000),
        slice_line("queue", "video 1", 51001000000, 51001000000),
        slice_line("run", "video 1", 51001000000, 51002000000)};
    BOOST_TEST(job_slices(perfetto_of(text.path())) == expected, boost::test_tools::per_element());
    const TempFile other(
        "# tracer: nop\n"
        "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
        "          game-177     [000] .....    51.000100: i915_request_add: what=1\n");
    const Ended ended = test::gpufs({"export", "-i", other.path(), "--chrome", "-"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.err,
                   "jobs are not told as i915.bpf finds them: i915:i915_request_add "
                   "has no field"),
               ended.err);
}

BOOST_AUTO_TEST_CASE(a_job_that_was_queued_before_is_drawn_from_when_it_runs) {
    const TempFile text(
        "# tracer: nop\n"
        "  game-100  [000] d..1.  10.000000: drm_sched_job_run: dev=0000:03:00.0, fence=61:1, "
        "ring=gfx, job count:0, hw job count:1, client_id:7\n"
        "  <idle>-0  [001] d.h1.  10.900000: drm_sched_job_done: fence=61:1 signaled\n");
    BOOST_TEST(job_slices(perfetto_of(text.path())) ==
                   std::multiset<std::string>{slice_line("run", "gfx", 10000000000, 10900000000)},
               boost::test_tools::per_element());
}

// As tracefs prints them: no machine here has these events with a GPU.
BOOST_AUTO_TEST_CASE(memory_and_frequencies_are_counters) {
    const TempFile text(
        "# tracer: nop\n"
        "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
        "          game-177     [000] .....    52.000001: gpu_mem_total: gpu_id=0 pid=0 size=4096\n"
        "          game-177     [000] .....    52.000002: gpu_mem_total: gpu_id=0 pid=177 size=8\n"
        "          game-177     [001] .....    52.000003: gpu_frequency: gpu_id=1 state=500000\n"
        "          game-177     [001] .....    52.000004: cpu_frequency: state=2400000 cpu_id=1\n");
    const std::vector<std::string> expected = {"GPU 0/memory 4096", "GPU 0/memory of process 177 8",
                                               "GPU 1/frequency 500000",
                                               "CPUs/frequency of CPU 1 2400000"};
    BOOST_TEST(gpu_lines(perfetto_of(text.path())) == expected, boost::test_tools::per_element());
}

BOOST_DATA_TEST_CASE(perfetto_has_the_jobs_that_watch_tells_of,
                     ut::data::make({"drm-5.10", "drm-6.12", "drm-6.17", "why-6.12"}), name) {
    const ShownJobs expected = test::jobs_of_monitor(recording_path(name));
    const ShownJobs jobs = test::jobs_of_timeline(perfetto_of(recording_path(name)));
    BOOST_TEST(expected.size() >= 3u);
    BOOST_TEST(jobs == expected, boost::test_tools::per_element());
}

// Before Linux 6.17, without the events of fences, a job is known by an address.
BOOST_AUTO_TEST_CASE(perfetto_has_jobs_that_only_the_scheduler_tells_of) {
    const std::string path = recording_path("drm-6.12");
    const auto records = test::reported(path);
    const auto count = [&](const std::string& event) {
        return std::ranges::count_if(records, [&](const Json& one) {
            return one["event"].text == "gpu_scheduler:" + event;
        });
    };
    const ShownJobs jobs = test::jobs_of_timeline(perfetto_of(path, {"-e", "gpu_scheduler:*"}));
    const auto of_jobs = [&](std::uint64_t test::ShownJob::*time) {
        return std::ranges::count_if(jobs,
                                     [&](const test::ShownJob& job) { return job.*time != 0; });
    };
    BOOST_TEST(jobs.size() == 54u);
    BOOST_TEST(of_jobs(&test::ShownJob::queued) == count("drm_sched_job"));
    BOOST_TEST(of_jobs(&test::ShownJob::ran) >= 48);
    BOOST_TEST(of_jobs(&test::ShownJob::done) >= 48);
}

// The device says what ran when (tests/data/trace_dat/README.md).
BOOST_AUTO_TEST_CASE(a_wait_for_a_fence_is_a_slice_of_the_task_that_waits) {
    const ShownTimeline shown = perfetto_of(recording_path("fence-6.12"));
    std::size_t waits = 0;
    for (const ShownTimeline::Event& slice : shown.slices) {
        if (!slice.name.starts_with("waits for ")) continue;
        ++waits;
        BOOST_TEST(shown.tracks.at(slice.track).name == "gpufs-gpu-work");
        BOOST_TEST(slice.name == "waits for drm_sched compute");
        BOOST_TEST(slice.end - slice.begin > 40'000'000u);
    }
    BOOST_TEST(waits == 6u);
}

BOOST_AUTO_TEST_CASE(perfetto_is_told_the_clock_and_the_kernel) {
    const ShownTimeline mono = perfetto_of(recording_path("drm-6.12"));
    BOOST_TEST(mono.release == "6.12.117+deb12-amd64");
    BOOST_TEST(mono.primary_clock == 3u);
    BOOST_TEST(mono.default_clock == 3u);
    BOOST_TEST(mono.clocks.at(3) == mono.clocks.at(6));
    BOOST_TEST(mono.clocks.at(3) == 12718317400u);
    const ShownTimeline local = perfetto_of(recording_path("sched-6.18"));
    BOOST_TEST(local.default_clock == 0u);
    BOOST_TEST(local.clocks.empty());
}

// Wherever the file ends behind a packet, what is in front of it opens.
BOOST_AUTO_TEST_CASE(a_perfetto_file_opens_as_far_as_it_was_written) {
    const std::string whole = test::exported(recording_path("drm-6.17"), "--perfetto");
    const test::ProtoMessage trace(whole);
    std::size_t end = 0, opened = 0, slices = 0;
    for (const test::ProtoField& packet : trace.fields()) {
        end = static_cast<std::size_t>(packet.bytes.data() - whole.data()) + packet.bytes.size();
        if (++opened % 16 != 0) continue;
        const ShownTimeline shown = test::read_perfetto(std::string_view(whole).substr(0, end));
        BOOST_TEST(shown.slices.size() >= slices);
        slices = shown.slices.size();
    }
    BOOST_TEST(end == whole.size());
    BOOST_TEST(slices > 100u);
}

BOOST_AUTO_TEST_CASE(a_recording_that_is_cut_is_exported_as_far_as_it_goes) {
    for (const std::string name : {"sched-6.18", "stack-6.18"}) {
        const std::string whole = read_file(recording_path(name));
        std::size_t exports = 0;
        for (std::size_t part = 1; part < 24; ++part) {
            const TempFile cut(std::string_view(whole).substr(0, whole.size() * part / 24));
            const Ended ended = test::gpufs({"export", cut.path(), "--perfetto", "-"});
            BOOST_TEST_CONTEXT(name << " cut at " << whole.size() * part / 24 << ": "
                                    << ended.err) {
                BOOST_TEST((ended.status == 0 || (ended.status == 1 && ended.out.empty())));
                BOOST_TEST(ended.err != "");
                if (ended.status == 0) check_flows(test::read_perfetto(ended.out));
                exports += ended.status == 0;
            }
        }
        BOOST_TEST(exports > 0u);
    }
}

BOOST_AUTO_TEST_CASE(only_the_chosen_time_is_exported) {
    const std::string path = recording_path("drm-6.12");
    const ShownTimeline shown = perfetto_of(path, {"--from", "13", "--to", "13.1"});
    BOOST_TEST(!shown.instants.empty());
    for (const ShownTimeline::Event& one : shown.instants)
        BOOST_TEST((one.begin >= 13'000'000'000 && one.begin <= 13'100'000'000));
}

BOOST_AUTO_TEST_CASE(the_table_is_that_of_report) {
    const std::string path = recording_path("drm-6.12");
    BOOST_TEST(test::exported(path, "--csv") == test::gpufs({"report", path, "--csv"}).out);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_written_is_refused_before_anything_is) {
    const std::string path = recording_path("drm-6.12");
    const auto refused = [&](std::vector<std::string> args) {
        args.insert(args.begin(), {"export", path});
        const Ended ended = test::gpufs(args);
        BOOST_TEST(ended.out == "");
        return cat(ended.status, ' ', ended.err);
    };
    BOOST_TEST(refused({}) ==
               "2 gpufs: no format is given\n"
               "hint: --perfetto OUT writes what ui.perfetto.dev opens\n");
    BOOST_TEST(refused({"--csv", "-", "--chrome", "-"}) ==
               "2 gpufs: --chrome and --csv write to one file\n");
    BOOST_TEST(refused({"--csv", path}) == cat("2 gpufs: --csv: '", path, "' is the recording\n"));
    const test::TempFile copy(read_file(path));  // which may be written
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"report", copy.path()}, {"watch", "drm", "-i", copy.path()}}) {
        std::vector<std::string> args = command;
        args.insert(args.end(), {"-o", copy.path()});
        BOOST_TEST(test::gpufs(args).err ==
                   cat("gpufs: --output: '", copy.path(), "' is the recording\n"));
    }
    const Ended drawn = test::gpufs({"watch", "drm", "-i", path, "--perfetto", path});
    BOOST_TEST(drawn.err == cat("gpufs: --perfetto: '", path, "' is the recording\n"));
    BOOST_TEST(refused({"--csv", "/tmp/gpufs-one", "--chrome", "/tmp/../tmp/gpufs-one"}) ==
               "2 gpufs: --chrome and --csv write to one file\n");
    const Ended same = test::shell(cat("$GPUFS report -i - -o ", copy.path(), " <", copy.path()));
    BOOST_TEST(same.err == cat("gpufs: --output: '", copy.path(), "' is the recording\n"));
    // A file of the user's own is no matter of root.
    const test::TempFolder ours;
    const std::string table = ours.file("gpufs.csv");
    const Ended closed = test::gpufs_as_nobody({"export", path, "--csv", table});
    BOOST_TEST(closed.status == 1);
    BOOST_TEST(closed.err == cat("gpufs: cannot write '", table, "': Permission denied\n"));
    // Standard input and output are two files.
    BOOST_TEST(test::shell(cat("$GPUFS export -i - --csv - <", path)).out ==
               test::exported(path, "--csv"));
    BOOST_TEST(refused({"--csv", "/nonexistent/a.csv"}) ==
               "1 gpufs: cannot write '/nonexistent/a.csv': No such file or directory\n");
    BOOST_TEST(refused({"--perfetto", "/dev/full"}) ==
               "1 gpufs: cannot write to '/dev/full': No space left on device\n");
    const TempFile never("no recording");
    const std::string out = never.path() + ".csv";
    BOOST_TEST(test::gpufs({"export", never.path(), "--csv", out}).status == 1);
    BOOST_TEST(!std::filesystem::exists(out));
}

BOOST_AUTO_TEST_CASE(several_formats_are_written_in_one_walk) {
    const std::string path = recording_path("drm-6.12");
    const TempFile perfetto, chrome;
    const Ended ended = test::gpufs(
        {"export", path, "--perfetto", perfetto.path(), "--chrome", chrome.path(), "--csv", "-"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(ended.out == test::exported(path, "--csv"));
    BOOST_TEST((read_file(perfetto.path()) == test::exported(path, "--perfetto")));
    BOOST_TEST((read_file(chrome.path()) == test::exported(path, "--chrome")));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
