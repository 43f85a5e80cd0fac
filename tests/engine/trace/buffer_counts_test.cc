#define BOOST_TEST_DYN_LINK
#include "engine/trace/buffer_counts.h"

#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(buffer_counts)

BOOST_AUTO_TEST_CASE(the_stats_of_a_cpu_are_read_by_name) {
    const BufferCounts counts = parse_buffer_counts(
        "entries: 3\noverrun: 20\ncommit overrun: 1\nbytes: 77\noldest event ts:  5.5\n"
        "now ts:  6.5\ndropped events: 4\nread events: 100\n");
    BOOST_TEST(counts.entries == 3u);
    BOOST_TEST(counts.read == 100u);
    BOOST_TEST(counts.overrun == 20u);
    BOOST_TEST(counts.rejected() == 5u);
    BOOST_TEST(counts.lost() == 25u);
}

BOOST_AUTO_TEST_CASE(a_buffer_that_is_not_used_yet_has_the_size_it_will_have) {
    BOOST_TEST(parse_buffer_kb("1408\n") == 1408u);
    BOOST_TEST(parse_buffer_kb("7 (expanded: 1408)\n") == 1408u);
    BOOST_TEST(parse_buffer_kb("X\n") == 0u);  // of CPUs that differ
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
