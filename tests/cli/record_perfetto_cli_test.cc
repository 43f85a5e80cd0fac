#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"
#include "support/timeline.h"

// What is written for Perfetto while it is recorded.
namespace gpufs {
namespace {

namespace ut = boost::unit_test;
using namespace std::chrono_literals;
using test::Child;
using test::Ended;
using test::gpufs;
using test::TempFolder;

// What opens of a file, as far as it is written: the last packet may be cut.
test::ShownTimeline opened(const std::string& path) {
    return test::read_perfetto(read_file(path));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(record_perfetto, *ut::precondition(test::can_trace))

BOOST_AUTO_TEST_CASE(a_command_is_recorded_for_perfetto) {
    const TempFolder folder;
    const std::string file = folder / "trace.pftrace";
    const Ended ended = gpufs({"record", "--perfetto", file, "--all", "-e", "sched_switch", "-e",
                               "sched_process_exec", "--", "sh", "-c", "sleep 0.01; exec true"});
    BOOST_TEST(ended.status == 0, ended.err);
    const test::ShownTimeline shown = opened(file);
    BOOST_TEST(shown.switches.size() >= 2u);
    BOOST_TEST(shown.primary_clock == 3u);
    std::size_t execs = 0;
    for (const auto& instant : shown.instants) execs += instant.name == "sched_process_exec";
    BOOST_TEST(execs >= 2u);
}

BOOST_AUTO_TEST_CASE(what_a_killed_recorder_wrote_opens) {
    const TempFolder folder;
    const std::string file = folder / "trace.pftrace";
    {
        Child recorder({{test::gpufs_binary(), "record", "--perfetto", file, "-e", "sched_switch"},
                        {},
                        false,
                        false,
                        {}});
        while (!std::filesystem::exists(file) || std::filesystem::file_size(file) == 0)
            std::this_thread::sleep_for(20ms);
        recorder.send(SIGKILL);
        BOOST_TEST(recorder.wait().signal == SIGKILL);
    }
    BOOST_TEST(opened(file).switches.size() > 0u);
    gpufs({"reset", "--stale"});
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_told) {
    const Ended ended = gpufs({"record", "--perfetto", "/dev/full", "--all", "-e", "sched_switch",
                               "--", "sleep", "0.05"});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(ended.err == "gpufs: cannot write to '/dev/full': No space left on device\n");
}

BOOST_AUTO_TEST_CASE(what_only_a_trace_dat_has_does_not_go_with_it) {
    const Ended ended = gpufs({"record", "--perfetto", "x", "--ring", "-e", "sched_switch"});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.err ==
               "gpufs: --perfetto does not go with --ring\n"
               "hint: record a trace.dat, and 'gpufs export' writes it for Perfetto\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
