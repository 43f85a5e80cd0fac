#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/exports/exports.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"
#include "support/timeline.h"
#include "support/told.h"

// Recordings that gpufs did not make: perf.data, and text of the kernel.
namespace gpufs {
namespace {

namespace ut = boost::unit_test;
using test::Ended;
using test::gpufs;

const std::string kPerf = "tests/data/perf_data/";

// What the kernel's file `trace` has of an AMD card under Linux 4.11, whose names of events and
// fields are others today: jobs of a game's two rings, of which not all ran, the fences of those
// that did, frames of two displays, buffers that moved.
class OldAmd {
public:
    static constexpr int kSubmitted = 55, kRan = 48, kFrames = 20, kMoves = 3;

    std::string text() {
        for (int job = 0; job < kSubmitted; ++job) add_job(job);
        for (int frame = 0; frame < kFrames; ++frame)
            for (const int crtc : {0, 1})
                add(frame * 16'667 + crtc * 3000, "<idle>-0",
                    cat("drm_vblank_event: crtc=", crtc, ", seq=", 1000 + frame));
        for (int move = 0; move < kMoves; ++move)
            add(1000 + move, "game-2001",
                cat("amdgpu_ttm_bo_move: bo=00000000abcd, from=2, to=1, size=", 4096 << move));
        std::string all = "# tracer: nop\n#\n";
        for (const auto& [us, line] : lines_) all += line;
        return all;
    }

private:
    // Each is queued for 2 ms and runs for 1 ms.
    void add_job(int job) {
        const bool is_sdma = job % 6 == 5;
        const char* const ring = is_sdma ? "sdma0" : "gfx";
        const std::string of_job =
            cat("sched_job=", job + 1, ", timeline=", ring, ", context=", is_sdma ? 30 : 12,
                ", seqno=", job + 1, ", ring_name=", ring, ", num_ibs=1");
        add(job * 5000, "game-2001", "amdgpu_cs_ioctl: " + of_job);
        if (job >= kRan) return;
        add(job * 5000 + 2000, cat(ring, "-250"), "amdgpu_sched_run_job: " + of_job);
        add(job * 5000 + 3000, "<idle>-0",
            cat("dma_fence_signaled: driver=amd_sched timeline=", ring,
                " context=", is_sdma ? 30 : 12, " seqno=", job + 1));
    }
    void add(int us, const std::string& task, const std::string& event) {
        char time[32];
        std::snprintf(time, sizeof time, "100.%06d", us);
        lines_.emplace(us, cat("  ", task, " [000] d..1 ", time, ": ", event, '\n'));
    }

    std::multimap<int, std::string> lines_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(recordings_of_others, *ut::label("pure"))

BOOST_AUTO_TEST_CASE(questions_are_answered_over_a_perf_data) {
    const std::string text = read_file(kPerf + "small.txt");
    std::size_t execs = 0;
    for (const std::string_view line : lines_of(text))
        execs += line.find("sched_process_exec") != line.npos;
    const Ended ended = gpufs({"count", "sched:sched_process_exec", "-i", kPerf + "small.data"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(ended.out.find(cat(execs)) != ended.out.npos, ended.out);
}

BOOST_AUTO_TEST_CASE(a_perf_data_from_a_pipe_is_reported) {
    const Ended ended = gpufs({"report", "-i", kPerf + "pipe.data", "-e", "sched_process_exec"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(lines_of(ended.out).size() >= 2u);
    BOOST_TEST(ended.out.find("sched_process_exec:   filename=/bin/true") != ended.out.npos,
               ended.out);
}

BOOST_AUTO_TEST_CASE(stacks_of_a_perf_data_are_exported) {
    const std::string folded = test::exported(kPerf + "stacks.data", "--folded");
    BOOST_TEST(!folded.empty());
    for (const std::string_view line : lines_of(folded))
        BOOST_TEST(line.find(';') != line.npos, line);
}

// A tick of live runs is a sample here. A sample of a process has no stack of the kernel, which is
// nothing that the recording lacks.
BOOST_AUTO_TEST_CASE(samples_of_a_perf_data_are_the_ticks_of_profile) {
    const std::string recording = kPerf + "stacks.data";
    const Ended counted = gpufs({"count", "perf:cpu_clock", "-i", recording});
    const Ended ended = gpufs({"run", "profile", "-i", recording, "--json"});
    BOOST_TEST(ended.status == 0, ended.err);
    long long samples = 0;
    const std::string behind_key = "},\"count\":";
    for (auto at = ended.out.find(behind_key); at != ended.out.npos;
         at = ended.out.find(behind_key, at + 1))
        samples += std::atoll(ended.out.c_str() + at + behind_key.size());
    BOOST_TEST(samples > 0, ended.out);
    BOOST_TEST(test::has(counted.out, cat(": ", samples, '\n')), cat(counted.out, ended.out));
    BOOST_TEST(!test::has(ended.err, "not recorded"), ended.err);
    const Ended scripted = gpufs({"run", "-e", "profile:hz:99 { @ = count() }", "-i", recording});
    BOOST_TEST(test::has(scripted.out, cat("@: ", samples, '\n')), cat(scripted.out, scripted.err));
}

// The text has microseconds, and not the events' ids: jobs are the same, their times as far as
// these go.
BOOST_AUTO_TEST_CASE(a_text_of_trace_cmd_has_the_jobs_of_its_recording) {
    const std::string recording = test::recording_path("drm-6.17");
    const test::TempFile text(gpufs({"report", "-i", recording}).out, ".txt");
    const test::ShownJobs expected = test::jobs_of_monitor(recording);
    const test::ShownJobs jobs = test::jobs_of_monitor(text.path());
    BOOST_REQUIRE(jobs.size() == expected.size());
    for (auto a = jobs.begin(), b = expected.begin(); a != jobs.end(); ++a, ++b) {
        BOOST_TEST(a->ring == b->ring);
        BOOST_TEST(a->device == b->device);
    }
}

BOOST_AUTO_TEST_CASE(an_old_text_of_an_amd_card_has_its_jobs_fences_frames_and_moves) {
    const test::TempFile text(OldAmd().text(), ".txt");
    const Ended ended = gpufs({"watch", "-i", text.path()});
    BOOST_TEST(ended.status == 0, ended.err);
    for (const char* told : {
             "gfx    submit to run      40  2.00 ms  2.00 ms  2.00 ms  2.00 ms  2.00 ms  2.00 ms\n",
             "gfx    run to done        40  1.00 ms  1.00 ms  1.00 ms  1.00 ms  1.00 ms  1.00 ms\n",
             "sdma0  submit to done      8  3.00 ms  3.00 ms  3.00 ms  3.00 ms  3.00 ms  3.00 ms\n",
             "game  2001  gfx    queued      6",
             "amd_sched  gfx          40\n",
             "amd_sched  sdma0         8\n",
             "VRAM  GTT      3  28.0 KiB  9.3 KiB  4.0 KiB  16.0 KiB\n",
             "   0      20       0   59.99\n",
             "   1      20       0   59.99\n",
         })
        BOOST_TEST(ended.out.find(told) != ended.out.npos, cat(told, " in\n", ended.out));
}

// The end of a job is told by an event that is not wanted.
BOOST_AUTO_TEST_CASE(jobs_are_drawn_whole_whichever_events_are_wanted) {
    const test::TempFile text(OldAmd().text(), ".txt");
    const auto timeline = [&](const std::vector<std::string>& more) {
        return test::read_perfetto(test::exported(text.path(), "--perfetto", more));
    };
    const test::ShownTimeline all = timeline({});
    const test::ShownTimeline some = timeline({"-e", "amdgpu:amdgpu_cs_ioctl"});
    const auto slices = [](const test::ShownTimeline& of) {
        std::multiset<std::string> found;
        for (const auto& slice : of.slices)
            if (slice.category == "gpu")
                found.insert(cat(slice.begin, ' ', slice.end, ' ', slice.name));
        return found;
    };
    BOOST_TEST(slices(all).size() > 80u);
    BOOST_TEST(slices(some) == slices(all), boost::test_tools::per_element());
    BOOST_TEST(some.instants.size() < all.instants.size());
}

// Which interrupts of an AMD card are page faults, the monitor and the tracks tell each on its own.
BOOST_AUTO_TEST_CASE(tracks_and_the_monitor_know_the_same_page_faults) {
    constexpr int kClients = 32, kSources = 256;
    std::string lines = "# tracer: nop\n#\n";
    for (int i = 0; i < kClients * kSources; ++i) {
        char time[32];
        std::snprintf(time, sizeof time, "100.%06d", i);
        lines += cat("  game-2001 [000] d.h1 ", time, ": amdgpu_iv: ih:0 client_id:", i / kSources,
                     " src_id:", i % kSources,
                     " ring:0 vmid:3 timestamp: 1 pasid:1 src_data: 00000000 00000000 00000000 "
                     "00000000\n");
    }
    const test::TempFile text(lines, ".txt");
    const test::Told told(gpufs({"run", "amdgpu", "-i", text.path(), "--json"}));
    const auto of_client = [&](const char* client) {
        return told.sum("faults", {{"client", client}}, "count");
    };
    BOOST_TEST(of_client("IH") == 2);  // before Vega
    for (const char* client : {"PCIE0, VMC1", "VMC", "UTCL2"}) BOOST_TEST(of_client(client) == 1);
    BOOST_TEST(told.sum("faults", {}, "count") == 5);

    const auto shown = test::read_perfetto(test::exported(text.path(), "--perfetto"));
    std::vector<std::string> faults;
    for (const auto& one : shown.instants) {
        if (one.category != "gpu") continue;
        const auto i = static_cast<int>((one.begin - 100'000'000'000) / 1000);
        faults.push_back(cat(one.name, ' ', i / kSources, ' ', i % kSources));
    }
    BOOST_TEST(faults == (std::vector<std::string>{"fault 0 146", "fault 0 147", "fault 6 0",
                                                   "fault 18 0", "fault 27 0"}),
               boost::test_tools::per_element());
}

// Fields that a monitor reads may be nowhere in a text: that monitor is left out, with the reason.
BOOST_AUTO_TEST_CASE(a_monitor_whose_fields_a_text_lacks_is_left_out) {
    std::string strange = OldAmd().text();
    for (std::size_t at; (at = strange.find(", context=")) != strange.npos;)
        strange.replace(at, 10, ", of=");
    const test::TempFile text(strange, ".txt");
    const Ended ended = gpufs({"watch", "-i", text.path()});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(
        ended.err.find("without amdgpu: amdgpu:amdgpu_cs_ioctl has no field 'sched_job_id'\n") !=
            ended.err.npos,
        ended.err);
    BOOST_TEST(ended.out.find("amd_sched  gfx          40\n") != ended.out.npos, ended.out);
    const Ended list = gpufs({"watch", "--list", "-i", text.path()});
    BOOST_TEST(list.out.find("amdgpu:amdgpu_cs_ioctl has no field 'sched_job_id'") != list.out.npos,
               list.out);
}

BOOST_AUTO_TEST_CASE(what_is_no_recording_is_told) {
    const test::TempFile other("hello\nworld\n");
    const Ended ended = gpufs({"report", "-i", other.path()});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(
        ended.err ==
        cat("gpufs: cannot read '", other.path(),
            "': it is neither a trace.dat, nor a perf.data, nor the kernel's text of a trace\n"));
}

// One event that ends a pair and begins the next one.
BOOST_AUTO_TEST_CASE(the_time_between_two_of_an_event_is_a_latency) {
    std::string lines = "# tracer: nop\n#\n";
    for (const char* time : {"10.000000", "10.000300", "10.001000", "10.001900"})
        lines += cat("  a-7  [000] d..2. ", time,
                     ": sched_wakeup: comm=b pid=9 prio=120 target_cpu=000\n");
    const test::TempFile text(lines, ".txt");
    const Ended ended = gpufs({"latency", "sched:sched_wakeup", "sched:sched_wakeup", "--key",
                               "pid", "--over", "0ns", "-i", text.path()});
    for (const char* took : {" 300 us", " 700 us", " 900 us"})
        BOOST_TEST(test::has(ended.out, took), ended.out);
    BOOST_TEST(test::has(ended.err + ended.out, "1 start without an end"), ended.err + ended.out);
}

// Of a switch the task that stops is the running one; the one that goes on is not.
BOOST_AUTO_TEST_CASE(a_condition_on_starts_lets_other_tasks_end_them) {
    std::string lines = "# tracer: nop\n#\n";
    const auto add = [&](const char* time, const char* from, const char* to) {
        lines +=
            cat("  ", from, "  [000] d..2. ", time,
                ": sched_switch: prev_comm=", std::string_view(from).substr(0, 1),
                " prev_pid=", std::string_view(from).substr(2),
                " prev_prio=120 prev_state=S ==> next_comm=", std::string_view(to).substr(0, 1),
                " next_pid=", std::string_view(to).substr(2), " next_prio=120\n");
    };
    add("10.000000", "a-7", "b-8");
    add("10.000300", "b-8", "a-7");
    add("10.000500", "a-7", "b-8");
    add("10.001200", "b-8", "a-7");
    const test::TempFile text(lines, ".txt");
    const auto ask = [&](const std::string& key, const std::string& condition) {
        return gpufs({"latency", "sched:sched_switch", "sched:sched_switch", "--key", key, "--if",
                      condition, "--over", "0ns", "-i", text.path()});
    };
    const Ended off = ask("prev_pid=next_pid", "prev_comm == \"a\"");
    for (const char* took : {" 300 us", " 700 us"}) BOOST_TEST(test::has(off.out, took), off.out);
    BOOST_TEST(test::has(off.out, "min 300 us, avg 500 us"), off.out);
    // With one key for both: from one that the condition lets pass to the next.
    const Ended between = ask("cpu", "prev_comm == \"a\"");
    BOOST_TEST(test::has(between.out, "min 500 us, avg 500 us"), between.out);
}

BOOST_AUTO_TEST_SUITE_END()
// One event that ends a pair and begins the next one.
BOOST_AUTO_TEST_CASE(the_time_between_two_of_an_event_is_a_latency) {
    std::string lines = "# tracer: nop\n#\n";
    for (const char* time : {"10.000000", "10.000300", "10.001000", "10.001900"})
        lines += cat("  a-7  [000] d..2. ", time,
                     ": sched_wakeup: comm=b pid=9 prio=120 target_cpu=000\n");
    const test::TempFile text(lines, ".txt");
    const Ended ended = gpufs({"latency", "sched:sched_wakeup", "sched:sched_wakeup", "--key",
                               "pid", "--over", "0ns", "-i", text.path()});
    for (const char* took : {" 300 us", " 700 us", " 900 us"})
        BOOST_TEST(test::has(ended.out, took), ended.out);
    BOOST_TEST(test::has(ended.err + ended.out, "1 start without an end"), ended.err + ended.out);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
