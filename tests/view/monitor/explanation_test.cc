#include "view/monitor/explanation.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

using Lines = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(explanation)

BOOST_AUTO_TEST_CASE(what_is_not_told_for_one_reason_shares_a_line) {
    BOOST_TEST(caution_lines({"opens and closes are not told: no probes", "one of a kind",
                              "memory is not told: no probes", "polls are not told: no events",
                              "polls are not told: no probes"}) ==
                   (Lines{"opens and closes; memory; polls are not told: no probes",
                          "one of a kind", "polls are not told: no events"}),
               boost::test_tools::per_element());
    BOOST_TEST(
        caution_lines({"memory is not told: no probes"}) == Lines{"memory is not told: no probes"},
        boost::test_tools::per_element());
    BOOST_TEST(caution_lines({}).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
