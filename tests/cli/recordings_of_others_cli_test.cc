#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/exports/exports.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

// Recordings that gpufs did not make: perf.data, and text of the kernel.
namespace gpufs {
namespace {

namespace ut = boost::unit_test;
using test::Ended;
using test::gpufs;

const std::string kPerf = "tests/data/perf_data/";

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

BOOST_AUTO_TEST_CASE(what_is_no_recording_is_told) {
    const test::TempFile other("hello\nworld\n");
    const Ended ended = gpufs({"report", "-i", other.path()});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(ended.err == cat("gpufs: cannot read '", other.path(),
                                "': it does not begin as a trace.dat does\n"));
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
