#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/bpf/support.h"
#include "support/gpu_truth.h"
#include "support/needs.h"
#include "support/temp_file.h"
#include "support/temp_folder.h"
#include "support/told.h"

namespace ut = boost::unit_test;

// The monitors of GPUs and displays, held against what the devices saw.
namespace gpufs {
namespace {

using test::gpu_jobs;
using test::gpu_work;
using test::GpuJob;
using test::has;
using test::Json;
using test::kGpuWork;
using test::only;
using test::RenamedEvents;
using test::Told;

// The scheduler's events as this kernel has them, and as Linux 6.17 and later do.
const std::vector<bool> kRenamed = test::scheduler_layouts();
const std::vector<std::string> kRings = {"gfx", "compute", "sdma"};

// The monitor as it is on a kernel that has no events of a system: it asks for those of another.
class DrmWithoutEvents {
public:
    explicit DrmWithoutEvents(const std::string& system) {
        std::filesystem::copy("bpf_asm", folder_.path(), std::filesystem::copy_options::recursive);
        for (const auto& file : std::filesystem::recursive_directory_iterator(folder_.path()))
            if (file.is_regular_file())
                replace_all(file.path(), system + ':', "no_" + system + ':');
    }
    std::string path() const { return folder_ / "drm.bpf"; }

private:
    static void replace_all(const std::string& path, const std::string& from,
                            const std::string& to) {
        std::string text = read_file(path);
        for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
            text.replace(at, from.size(), to);
        std::ofstream(path) << text;
    }

    const test::TempFolder folder_;
};

std::string device_of(bool is_renamed) {
    return is_renamed ? "toy_gpu.0" : "-";
}

// What a monitor told of one step of a job.
Json step_of(const Told& told, const std::string& what, const GpuJob& job) {
    return only(told.records("event", {{"what", what},
                                       {"context", cat(job.context)},
                                       {"job", cat(job.number)},
                                       {"ring", job.ring},
                                       {"comm", kGpuWork}}));
}

// Times by the monitor and by the device. The device takes its time just before a job is queued,
// just after the event of its run, and just before that of its end.
void check_times(const Told& told, const GpuJob& job) {
    const auto us = [](std::uint64_t ns) { return static_cast<long long>(ns / 1000); };
    BOOST_TEST(step_of(told, "RUN", job)["wait_us"].number() <= us(job.began_ns - job.queued_ns));
    BOOST_TEST(step_of(told, "DONE", job)["run_us"].number() >= us(job.ended_ns - job.began_ns));
}

// Each job is once in each of the three histograms, under its ring and device.
void check_counts(const Told& told, const std::vector<GpuJob>& jobs, const std::string& device) {
    for (const std::string& ring : kRings) {
        const long long truth = std::ranges::count(jobs, ring, &GpuJob::ring);
        for (const char* step : {"submit to run", "run to done", "submit to done"}) {
            BOOST_TEST(told.sum("took", {{"dev", device}, {"ring", ring}, {"step", step}},
                                "count") == truth);
        }
    }
    BOOST_TEST(told.rows("left", {}).empty());
    BOOST_TEST(told.lost() == 0);
}

// How long the work says it waited, in all.
long long waited_ns(const std::string& told) {
    long long all = 0;
    for (const std::string_view line : lines_of(told))
        if (line.starts_with("waited ")) all += std::stoll(std::string(line.substr(7)));
    return all;
}

// "frames 0 IRQS MISSED"
std::pair<long long, long long> frames_of(const std::string& told) {
    const auto at = told.find("frames ");
    BOOST_TEST_REQUIRE((at != told.npos));
    long long display = 0, irqs = 0, missed = 0;
    BOOST_TEST_REQUIRE(
        std::sscanf(told.c_str() + at, "frames %lld %lld %lld", &display, &irqs, &missed) == 3);
    return {irqs, missed};
}

// Of a value that is a number.
std::string digits_of(const Json& value) {
    return value.kind == Json::Kind::number ? value.text : cat("no number: ", value.text);
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(gpu, *ut::precondition(test::has_toy_gpu))

BOOST_DATA_TEST_CASE(drm_tells_each_step_and_each_wait_of_each_job, ut::data::make(kRenamed),
                     is_renamed) {
    const RenamedEvents events(is_renamed);
    const Told told({"drm", "lines=1", "min_us=60s"}, gpu_work({"chain", "3", "50000"}));
    const std::vector<GpuJob> jobs = gpu_jobs(told.err());
    BOOST_TEST_REQUIRE(jobs.size() == 9u);
    for (const GpuJob& job : jobs) {
        const Json queued = step_of(told, "QUEUE", job);
        BOOST_TEST(queued["dev"].text == device_of(is_renamed));
        BOOST_TEST(queued["queue"].number() == 0);
        BOOST_TEST(step_of(told, "RUN", job)["hw"].number() == 1);
        check_times(told, job);
        if (job.on_context == 0) continue;
        const auto on = std::ranges::find_if(jobs, [&](const GpuJob& one) {
            return one.context == job.on_context && one.number == job.on_number;
        });
        BOOST_TEST_REQUIRE((on != jobs.end()));
        BOOST_TEST(step_of(told, "WAIT_DEP", job)["on"].text == on->ring);
    }
    BOOST_TEST(told.records("event", {}).size() == 3 * 9u + 2 * 3u);
    check_counts(told, jobs, device_of(is_renamed));
    for (const auto& [ring, on] : {std::pair("compute", "gfx"), std::pair("sdma", "compute")}) {
        const Json waited = only(told.rows("waited", {{"ring", ring}, {"on", on}}));
        BOOST_TEST(waited["count"].number() == 3);
        BOOST_TEST(waited["min"].number() > 0);
    }
    BOOST_TEST(told.rows("waited", {{"ring", "gfx"}}).empty());
}

BOOST_AUTO_TEST_CASE(drm_counts_every_job_of_100_a_second) {
    const Told told({"drm", "min_us=60s"}, gpu_work({"jobs", "50", "100", "1000"}));
    const std::vector<GpuJob> jobs = gpu_jobs(told.err());
    BOOST_TEST(jobs.size() == 150u);
    check_counts(told, jobs, device_of(kRenamed.front()));
}

// As many as the machine can; it is told 5,000 a second on each ring, or on one.
BOOST_DATA_TEST_CASE(drm_counts_every_job_of_a_flood, ut::data::make(kRenamed), is_renamed) {
    const RenamedEvents events(is_renamed);
    for (const auto& [work, number] : {std::pair("jobs", 1000u), std::pair("one-ring", 3000u)}) {
        const Told told({"drm", "min_us=60s"}, gpu_work({work, cat(number), "5000", "50"}));
        const std::vector<GpuJob> jobs = gpu_jobs(told.err());
        BOOST_TEST(jobs.size() == 3000u);
        check_counts(told, jobs, device_of(is_renamed));
    }
}

BOOST_DATA_TEST_CASE(drm_lists_jobs_whose_queue_was_destroyed, ut::data::make(kRenamed),
                     is_renamed) {
    const RenamedEvents events(is_renamed);
    const Told told({"drm"}, gpu_work({"kill", "12", "5000"}));
    const std::vector<GpuJob> jobs = gpu_jobs(told.err());
    const auto dropped = std::ranges::count(jobs, 0u, &GpuJob::ended_ns);
    BOOST_TEST(dropped > 0);
    const Json left = only(told.rows("left", {{"comm", kGpuWork},
                                              {"dev", device_of(is_renamed)},
                                              {"ring", "gfx"},
                                              {"state", "given up"}}));
    // Until then, not until the end, which is later than the job that was submitted afterwards.
    const auto first = std::ranges::min(jobs, {}, &GpuJob::queued_ns).queued_ns;
    const auto afterwards = std::ranges::find(jobs, "compute", &GpuJob::ring);
    BOOST_TEST_REQUIRE((afterwards != jobs.end()));
    BOOST_TEST(left["max"].number() <
               static_cast<long long>((afterwards->ended_ns - first) / 1000));
    BOOST_TEST(left["count"].number() == dropped);
    BOOST_TEST(told.sum("took", {{"comm", kGpuWork}, {"step", "run to done"}}, "count") ==
               static_cast<long long>(jobs.size()) - dropped);
}

// The first hangs for a second, as long as it is from one look at what is old to the next; those
// behind it wait. All that again, in case it was a little less.
BOOST_AUTO_TEST_CASE(drm_forgets_jobs_of_an_age,
                     *ut::precondition(test::has_bpf{BpfFeature::callbacks})) {
    std::string words;
    for (const std::string& word : gpu_work({"hang", "12"})) words += word + ' ';
    const Told told({"drm", "forget_us=1us"}, {"sh", "-c", cat(words, "; ", words)});
    BOOST_TEST(told.sum("left", {{"comm", kGpuWork}, {"state", "on the ring"}}, "count") >= 1);
    BOOST_TEST(told.sum("left", {{"comm", kGpuWork}, {"state", "queued"}}, "count") >= 1);
}

BOOST_AUTO_TEST_CASE(drm_lists_jobs_that_are_under_way) {
    const Told told({"drm"}, gpu_work({"stuck"}));
    const Json left = only(told.rows("left", {{"comm", kGpuWork}}));
    BOOST_TEST(left["key"]["state"].text == "on the ring");
    BOOST_TEST(left["count"].number() == 1);
}

BOOST_AUTO_TEST_CASE(drm_tells_of_a_job_that_hangs) {
    const Told told({"drm", "min_us=500ms"}, gpu_work({"hang", "1"}));
    for (const GpuJob& job : gpu_jobs(told.err())) {
        const Json slow = step_of(told, "SLOW", job);
        BOOST_TEST(slow["wait_us"].number() + slow["run_us"].number() >= 499'999);
    }
    BOOST_TEST(told.records("event", {}).size() == 2u);
}

// Jobs of 1 ms, then one of 200 ms: shorter than what is told, longer than what freezes.
BOOST_DATA_TEST_CASE(a_job_that_runs_too_long_freezes_a_session, ut::data::make(kRenamed),
                     is_renamed) {
    const RenamedEvents events(is_renamed);
    const test::TempSession session;
    std::string words;
    for (const auto& work :
         {gpu_work({"jobs", "3", "100", "1000"}), gpu_work({"jobs", "1", "100", "200000"}),
          gpu_work({"jobs", "50", "10", "1000"})}) {
        for (const std::string& word : work) words += word + ' ';
        words += "; ";
    }
    const test::Ended ended =
        test::gpufs({"watch", "drm", "min_us=60s", "--freeze-on", "run_us > 100000", "--session",
                     session.name(), "--", "sh", "-c", words});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.err, cat("session '", session.name(),
                                  "' stopped when 'run_us > 100000' held: 'gpufs show --session ",
                                  session.name(), "' has what led to it")),
               ended.err);
    BOOST_TEST(session.read("tracing_on") == "0\n");
    const test::Ended shown = test::gpufs({"show", "--session", session.name()});
    BOOST_TEST(has(shown.out, is_renamed ? "drm_sched_job_done:" : "drm_sched_process_job:"),
               shown.out);
    BOOST_TEST(has(shown.out, "<stack trace>"), shown.out);
    BOOST_TEST(test::gpufs({"reset", "--session", session.name()}).status == 0);
}

BOOST_AUTO_TEST_CASE(drm_looks_at_one_process_only) {
    const Told told({"drm", "pid=1"}, gpu_work({"chain", "1", "1000"}));
    BOOST_TEST(told.rows("took", {}).empty());
}

BOOST_AUTO_TEST_CASE(drm_makes_do_with_fences_and_says_so) {
    const DrmWithoutEvents drm("gpu_scheduler");
    const Told told({drm.path(), "lines=1", "min_us=60s"}, gpu_work({"chain", "5", "10000"}));
    BOOST_TEST(has(told.err(),
                   "no events of the GPU scheduler here (is its driver loaded?): its "
                   "fences are told"),
               told.err());
    const std::vector<GpuJob> jobs = gpu_jobs(told.err());
    BOOST_TEST(told.records("event", {}).size() == 3 * jobs.size());
    for (const std::string& ring : kRings)
        for (const char* step : {"submit to run", "run to done", "submit to done"})
            BOOST_TEST(told.sum("took", {{"ring", ring}, {"step", step}}, "count") == 5);
    BOOST_TEST(told.rows("left", {}).empty());
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_CASE(fence_adds_up_the_waits_of_a_process) {
    const Told told({"fence", "min_us=0"}, gpu_work({"waits", "6", "50000"}));
    const Json row = only(told.rows("waited", {{"comm", kGpuWork}}));
    BOOST_TEST(row["key"]["driver"].text == "drm_sched");
    BOOST_TEST(row["key"]["timeline"].text == "compute");
    BOOST_TEST(row["count"].number() == 6);
    BOOST_TEST(row["sum"].number() <= waited_ns(told.err()) / 1000);
    BOOST_TEST(row["min"].number() > 0);
    BOOST_TEST(told.sum("signals", {{"driver", "drm_sched"}, {"timeline", "compute"}}, "count") ==
               6);
    // Each job has a fence of the scheduler that it began, one that it ended, and the hardware's.
    BOOST_TEST(told.sum("done", {{"driver", "drm_sched"}, {"timeline", "compute"}}, "count") == 12);
    BOOST_TEST(told.sum("done", {{"driver", "toy_gpu"}, {"timeline", "compute"}}, "count") == 6);
    BOOST_TEST(told.records("slow", {{"comm", kGpuWork}, {"timeline", "compute"}}).size() == 6u);
    BOOST_TEST(told.rows("left", {}).empty());
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_CASE(fence_lists_a_wait_that_has_no_end) {
    const Told told({"fence"}, gpu_work({"stuck"}));
    const Json row = only(told.rows("left", {{"comm", kGpuWork}, {"timeline", "gfx"}}));
    BOOST_TEST(row["count"].number() == 1);
    BOOST_TEST(row["min"].number() > 0);
    BOOST_TEST(told.rows("waited", {{"comm", kGpuWork}}).empty());
}

BOOST_AUTO_TEST_SUITE_END()

// The same work, recorded in a guest, and what the device saw of it: chains of dependencies, jobs,
// and a queue that was destroyed.
BOOST_AUTO_TEST_SUITE(recorded_gpu, *ut::label("pure"))

const std::string kRecordings = "tests/data/trace_dat/drm-";
const std::vector<std::string> kReleases = {"5.10", "6.12", "6.17"};

// Of what was submitted before the recording begins, the time on the ring is known.
BOOST_AUTO_TEST_CASE(a_job_that_was_queued_before_runs_all_the_same) {
    const test::TempFile text(
        "# tracer: nop\n"
        "  gfx-90    [000] d..1.  10.000000: drm_sched_job_run: dev=0000:03:00.0, fence=61:1, "
        "ring=gfx, job count:0, hw job count:1, client_id:7\n"
        "  game-100  [000] d..1.  10.100000: drm_sched_job_queue: dev=0000:03:00.0, fence=61:2, "
        "ring=gfx, job count:0, hw job count:1, client_id:7\n"
        "  <idle>-0  [001] d.h1.  10.900000: drm_sched_job_done: fence=61:1 signaled\n"
        "  gfx-90    [000] d..1.  10.900100: drm_sched_job_run: dev=0000:03:00.0, fence=61:2, "
        "ring=gfx, job count:0, hw job count:1, client_id:7\n"
        "  <idle>-0  [001] d.h1.  11.000000: drm_sched_job_done: fence=61:2 signaled\n"
        "  gfx-90    [000] d..1.  11.100000: drm_sched_job_run: dev=0000:03:00.0, fence=61:3, "
        "ring=gfx, job count:0, hw job count:1, client_id:7\n"
        "  <idle>-0  [001] d.h1.  11.600000: drm_sched_job_done: fence=61:9 signaled\n",
        ".txt");
    const auto told_of = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"watch", "drm", "--json", "-i", text.path()});
        return Told(test::gpufs(words));
    };
    const Told told = told_of({});
    const auto count = [&](const Told& from, const char* step, const char* comm) {
        return from.sum("took", {{"step", step}, {"comm", comm}}, "count");
    };
    BOOST_TEST(count(told, "run to done", "(before)") == 1);
    BOOST_TEST(told.sum("took", {{"comm", "(before)"}}, "sum") == 900000);
    BOOST_TEST(count(told, "submit to done", "(before)") == 0);
    BOOST_TEST(count(told, "run to done", "game") == 1);
    BOOST_TEST(count(told, "submit to done", "game") == 1);
    BOOST_TEST(told.records("event", {{"what", "SLOW"}, {"comm", "(before)"}}).size() == 1u);
    // Its age counts from when it ran.
    BOOST_TEST(told.sum("left", {{"comm", "(before)"}, {"state", "on the ring"}}, "sum") == 500000);
    // Whose it is is not known.
    BOOST_TEST(count(told_of({"-p", "100"}), "run to done", "(before)") == 0);
}

BOOST_DATA_TEST_CASE(drm_over_a_recording_tells_what_the_device_saw, ut::data::make(kReleases),
                     release) {
    const std::string recording = kRecordings + release;
    const bool is_renamed = release == "6.17";
    const std::vector<GpuJob> jobs = gpu_jobs(read_file(recording + ".truth"));
    const Told told(
        test::gpufs({"watch", "drm", "lines=1", "min_us=60s", "--json", "-i", recording + ".dat"}));
    BOOST_TEST(jobs.size() == 12 + 3 * 12 + (release == "5.10" ? 13 : 6u));
    long long ended = 0;
    for (const std::string& ring : kRings) {
        const long long truth = std::ranges::count_if(
            jobs, [&](const GpuJob& job) { return job.ring == ring && job.ended_ns != 0; });
        for (const char* step : {"submit to run", "run to done", "submit to done"})
            BOOST_TEST(told.sum("took",
                                {{"dev", device_of(is_renamed)}, {"ring", ring}, {"step", step}},
                                "count") == truth);
        ended += truth;
    }
    const long long left = told.sum("left", {{"comm", kGpuWork}}, "count");
    BOOST_TEST(left == static_cast<long long>(jobs.size()) - ended);
    BOOST_TEST(told.lost() == 0);
    BOOST_TEST(!has(told.err(), "memory is not recorded"), told.err());
    // With that of 6.17 there are no fences: nothing is known of jobs that were given up.
    const char* state = is_renamed ? "queued" : "given up";
    BOOST_TEST(told.sum("left", {{"state", state}}, "count") == left);
    const auto dropped = told.records("event", {{"what", "DROPPED"}}).size();
    BOOST_TEST(static_cast<long long>(dropped) == (is_renamed ? 0 : left));
    for (const GpuJob& job : jobs) {
        if (job.ended_ns == 0) continue;
        check_times(told, job);
        if (job.on_context != 0)
            BOOST_TEST(step_of(told, "WAIT_DEP", job)["on"].text ==
                       (job.ring == "compute" ? "gfx" : "compute"));
    }
    for (const auto& [ring, on] : {std::pair("compute", "gfx"), std::pair("sdma", "compute")})
        BOOST_TEST(only(told.rows("waited", {{"ring", ring}, {"on", on}}))["count"].number() == 4);
}

// Jobs run and end while other tasks do.
BOOST_AUTO_TEST_CASE(a_mean_of_few_jobs_is_told_with_a_decimal) {
    std::vector<std::string> args = {"watch", "drm", "-i", cat(kRecordings, "6.12.dat")};
    BOOST_TEST(test::has(test::gpufs(args).out,
                         "-    gfx      queue     21   10  0.4    0    4\n"
                         "-    gfx      ring      21   30  1.4    1    4\n"));
    args.push_back("--json");
    BOOST_TEST(test::has(test::gpufs(args).out, "\"count\":21,\"sum\":30,\"avg\":1,\"min\":1,"));
}

BOOST_AUTO_TEST_CASE(drm_says_what_a_recording_without_fences_does_not_tell) {
    const DrmWithoutEvents drm("dma_fence");
    for (const std::string release : {"5.10", "6.12"}) {
        const test::Ended ended =
            test::gpufs({"run", drm.path(), "-i", kRecordings + release + ".dat"});
        BOOST_TEST(has(ended.err,
                       "the recording has no dma_fence events, which tell before Linux 6.17 which "
                       "job is which: what waited for what, and before 5.19 names of rings, are "
                       "not known"),
                   ended.err);
        BOOST_TEST(!has(ended.err, "memory is not recorded"), ended.err);
        BOOST_TEST(has(ended.out, "submit to done"), ended.out);
        BOOST_TEST(!has(ended.out, "Waiting for other jobs"), ended.out);
    }
}

BOOST_AUTO_TEST_CASE(a_condition_is_about_who_began_it) {
    const auto count = [](const std::string& condition) {
        const Told told(test::gpufs({"watch", "drm", "--json", "-i",
                                     "tests/data/trace_dat/drm-6.17.dat", "--if", condition}));
        return told.sum("took", {}, "count");
    };
    BOOST_TEST(count("pid > 0") > 0);
    BOOST_TEST(count(cat("comm == \"", kGpuWork, '"')) == count("pid > 0"));
    BOOST_TEST(count("comm == \"nobody\"") == 0);
}

BOOST_AUTO_TEST_CASE(vblank_over_a_recording_counts_frames_and_misses) {
    const std::string recording = "tests/data/trace_dat/vblank-6.12";
    const auto [irqs, missed] = frames_of(read_file(recording + ".truth"));
    const Told told(test::gpufs({"watch", "vblank", "--json", "-i", recording + ".dat"}));
    const Json row = only(told.rows("displays", {{"crtc", "1"}}))["values"].items.at(0);
    BOOST_TEST(missed >= 3);
    BOOST_TEST(row["frames"].number() == irqs);
    BOOST_TEST(row["missed"].number() == missed);
    BOOST_TEST(digits_of(row["hz"]) == "144.00");
    BOOST_TEST(told.sum("answer", {{"crtc", "1"}, {"comm", kGpuWork}}, "count") == 30);
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_CASE(fence_over_a_recording_adds_up_the_waits) {
    const std::string recording = "tests/data/trace_dat/fence-6.12";
    const std::string truth = read_file(recording + ".truth");
    const Told told(
        test::gpufs({"watch", "fence", "min_us=0", "--json", "-i", recording + ".dat"}));
    const Json row = only(told.rows("waited", {{"comm", kGpuWork}}));
    BOOST_TEST(row["key"]["timeline"].text == "compute");
    BOOST_TEST(row["count"].number() == 6);
    BOOST_TEST(row["sum"].number() <= waited_ns(truth) / 1000);
    BOOST_TEST(told.records("slow", {{"comm", kGpuWork}, {"timeline", "compute"}}).size() == 6u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(drivers_of_the_kernel, *ut::precondition(test::has_vgem_and_virtio))

struct Waits {
    std::vector<std::string> work;
    std::string driver, timeline;
    // What is signalled before the wait begins is no signal that is waited for: a cursor's fence
    // may be, one that is held for 50 ms is not.
    int signals_at_least;
};
std::ostream& operator<<(std::ostream& out, const Waits& one) {
    return out << one.driver;
}
const Waits kWaits[] = {{{"vgem", "6", "50000"}, "vgem", "unbound", 6},
                        {{"cursor", "6"}, "virtio_gpu", "controlq", 0}};

// Since Linux 7 a fence that is signalled has other names.
const std::string kSignalledDriver = "detached-driver", kSignalledTimeline = "signaled-timeline";

BOOST_DATA_TEST_CASE(fence_adds_up_waits_for_any_driver, ut::data::make(kWaits), c) {
    const Told told({"fence", "min_us=0"}, test::drm_work(c.work));
    const auto all = [&](const std::string& column) {
        return told.sum("waited", {{"comm", test::kDrmWork}}, column);
    };
    const auto of = [&](const std::string& driver, const std::string& timeline) {
        return told.sum("waited",
                        {{"comm", test::kDrmWork}, {"driver", driver}, {"timeline", timeline}},
                        "count");
    };
    const auto already = of(kSignalledDriver, kSignalledTimeline);
    BOOST_TEST(already <= 6 - c.signals_at_least);
    BOOST_TEST(of(c.driver, c.timeline) + already == 6);
    BOOST_TEST(all("count") == 6);
    BOOST_TEST(all("sum") > 0);
    BOOST_TEST(all("sum") <= waited_ns(told.err()) / 1000);
    const long long signals = told.sum("signals", {{"driver", c.driver}}, "count");
    BOOST_TEST(signals >= c.signals_at_least);
    BOOST_TEST(signals <= 6);
    BOOST_TEST(told.records("slow", {{"driver", c.driver}}).size() +
                   told.records("slow", {{"driver", kSignalledDriver}}).size() ==
               6u);
    BOOST_TEST(told.rows("left", {}).empty());
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(display, *ut::precondition(test::has_toy_display))

// Not display 0: virtio-gpu has one, too, with frames since Linux 7.
BOOST_AUTO_TEST_CASE(vblank_counts_frames_and_misses_and_names_the_rate) {
    const std::string crtc = "1";
    const Told told({"vblank"}, gpu_work({"frames", "30", crtc, "3", "0"}));
    const auto [irqs, missed] = frames_of(told.err());
    const Json row = only(told.rows("displays", {{"crtc", crtc}}))["values"].items.at(0);
    BOOST_TEST(row["frames"].number() == irqs);
    // The three that the display lost, and others that the program waited for.
    BOOST_TEST(row["missed"].number() >= 3);
    BOOST_TEST(row["missed"].number() <= missed);
    BOOST_TEST(digits_of(row["hz"]) == "144.00");
    // From each to the next, but for where some are missing.
    const long long intervals = told.sum("between", {{"crtc", crtc}}, "count");
    BOOST_TEST(intervals < irqs - 1);
    BOOST_TEST(intervals >= irqs - 1 - missed);
    BOOST_TEST(told.sum("sent", {{"crtc", crtc}, {"kind", "asked for"}}, "count") == 30);
    BOOST_TEST(told.sum("answer", {{"crtc", crtc}, {"comm", kGpuWork}}, "count") == 30);
    BOOST_TEST(told.rows("left", {}).empty());
    BOOST_TEST(told.lost() == 0);
}

// Interrupts are off while nobody waits: those frames are no misses, and say nothing of the rate.
BOOST_AUTO_TEST_CASE(vblank_misses_no_frames_that_nobody_waits_for) {
    constexpr long long kWaits = 10;
    const Told told({"vblank"}, gpu_work({"idle", cat(kWaits), "100000"}));
    const auto [irqs, missed] = frames_of(told.err());
    BOOST_TEST(irqs + missed >= 3 * kWaits);
    const Json row = only(told.rows("displays", {{"crtc", "2"}}))["values"].items.at(0);
    BOOST_TEST(row["frames"].number() == irqs);
    // On a busy machine some are missed while it waits. With six in each pause they were many more.
    const long long frames_in_waits = waited_ns(told.err()) * 60 / 1'000'000'000 + kWaits;
    BOOST_TEST(row["missed"].number() <= std::max(frames_in_waits - irqs, kWaits));
    BOOST_TEST(digits_of(row["hz"]) == "60.00");
    BOOST_TEST(told.sum("sent", {{"crtc", "2"}, {"kind", "asked for"}}, "count") == 10);
    BOOST_TEST(told.lost() == 0);
}

BOOST_AUTO_TEST_CASE(vblank_sees_how_late_interrupts_are) {
    const Told told({"vblank", "min_us=0"}, gpu_work({"frames", "20", "1", "0", "2000"}));
    const Json late = only(told.rows("late", {{"crtc", "1"}}));
    BOOST_TEST(late["count"].number() == frames_of(told.err()).first);
    // Its first frames, from a time before there was a delay, may be in time.
    long long are_late = 0;
    for (const Json& slot : late["histogram"].items)
        if (slot["from"].number() >= 1024) are_late += slot["count"].number();
    BOOST_TEST(are_late >= 10);
    BOOST_TEST(told.records("slow", {{"comm", kGpuWork}, {"crtc", "1"}}).size() == 20u);
}

BOOST_AUTO_TEST_CASE(vblank_takes_two_cards_frames_for_no_misses) {
    const Told told({"vblank"}, gpu_work({"cards", "200", "20"}));
    const Json row = only(told.rows("displays", {{"crtc", "1"}}))["values"].items.at(0);
    BOOST_TEST(row["frames"].number() >= 240);
    BOOST_TEST(row["missed"].number() < 1000);  // of 4000 between the cards
    BOOST_TEST(told.lost() >= 20);
    BOOST_TEST(told.sum("answer", {{"crtc", "1"}, {"comm", kGpuWork}}, "count") == 240);
}

BOOST_AUTO_TEST_CASE(vblank_pairs_an_event_that_came_frames_later) {
    const Told told({"vblank", "min_us=0"}, gpu_work({"frames", "10", "1", "4", "0"}));
    long long after = 0;
    for (const Json& one : told.records("slow", {{"comm", kGpuWork}}))
        after += one["got"].number() - one["asked"].number();
    BOOST_TEST(after >= 4);
    BOOST_TEST(told.rows("left", {}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
