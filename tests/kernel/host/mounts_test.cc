#include "kernel/host/mounts.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(mount_points)

BOOST_AUTO_TEST_CASE(blanks_in_paths_are_decoded) {
    const auto found = parse_mounts(
        "proc /proc proc rw,nosuid 0 0\n"
        "none /mnt/a\\040b\\134c tracefs rw 0 0\n"
        "none /odd\\04 tmpfs rw 0 0\n"
        "cut\n");
    BOOST_REQUIRE(found.size() == 3u);
    BOOST_TEST(found[0].at == "/proc");
    BOOST_TEST(found[0].type == "proc");
    BOOST_TEST(found[1].at == "/mnt/a b\\c");
    BOOST_TEST(found[1].type == "tracefs");
    BOOST_TEST(found[2].at == "/odd\\04");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
