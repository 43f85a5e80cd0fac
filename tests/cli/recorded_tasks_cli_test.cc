#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/cat.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"

namespace ut = boost::unit_test;

// What a recording knows of the tasks in it.
namespace gpufs {

using namespace std::chrono_literals;
using test::Ended;
using test::has;

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(recorded_tasks)

// It began before the recording, and so no event tells whose it is.
BOOST_AUTO_TEST_CASE(a_recording_knows_the_processes_of_threads) {
    const test::TempFolder folder;
    const std::string file = folder / "trace.dat";
    std::atomic<bool> ends = false;
    std::thread sleeper([&] {
        while (!ends) std::this_thread::sleep_for(1ms);
    });
    for (const bool is_compressed : {false, true}) {
        std::vector<std::string> asked = {"record", "-e",         "sched_switch", "-o",
                                          file,     "--duration", "300ms"};
        if (is_compressed) asked.push_back("--compress");
        BOOST_TEST(test::gpufs(asked).status == 0);
        const std::string script = cat("tracepoint:sched:sched_switch /pid == ", ::getpid(),
                                       " && tid != pid/ { @ = count(); }");
        const Ended counted = test::gpufs({"run", "-e", script, "-i", file});
        BOOST_TEST(counted.status == 0, counted.err);
        BOOST_TEST(has(counted.out, "@: "), counted.out);
        BOOST_TEST(!has(counted.out, "@: 0\n"), counted.out);
    }
    ends = true;
    sleeper.join();
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
