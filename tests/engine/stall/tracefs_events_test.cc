#define BOOST_TEST_DYN_LINK
#include "engine/stall/tracefs_events.h"

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "base/file.h"
#include "support/temp_folder.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(stall_events)

// Linux 5.10 says that it took one byte less where a blank stands before the newline.
BOOST_AUTO_TEST_CASE(tasks_to_follow_are_written_with_one_blank_between_two) {
    const test::TempFolder folder;
    const std::string file = folder / "set_event_pid";
    std::ofstream(file).close();
    const Tracefs instance(folder.path());
    follow_tasks(instance, {17});
    follow_tasks(instance, {});
    follow_tasks(instance, {18, 19});
    BOOST_TEST(read_file(file) == "17\n18 19\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
