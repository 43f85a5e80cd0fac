#define BOOST_TEST_DYN_LINK
#include "gpufs/view/histogram.h"

#include <boost/test/unit_test.hpp>

#include "gpufs/view/duration.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(histogram)

BOOST_AUTO_TEST_CASE(it_draws_from_the_first_used_power_of_two_to_the_last) {
    Log2Histogram h;
    for (int i = 0; i < 4; ++i) h.add(70'000);
    h.add(300'000, 2);
    BOOST_TEST(h.to_text("us") ==
               "us                     count\n"
               "[64K, 128K)                4 |" +
                   std::string(52, '@') +
                   "|\n"
                   "[128K, 256K)               0 |" +
                   std::string(52, ' ') +
                   "|\n"
                   "[256K, 512K)               2 |" +
                   std::string(26, '@') + std::string(26, ' ') + "|\n");
    BOOST_TEST(h.to_json() ==
               R"([{"from":65536,"to":131072,"count":4},{"from":262144,"to":524288,"count":2}])");
}

BOOST_AUTO_TEST_CASE(zero_and_one_have_rows_of_their_own) {
    Log2Histogram h;
    h.add(0);
    h.add(1);
    h.add(2);
    h.add(3);
    h.add(4);
    BOOST_TEST(h.to_json() == R"([{"from":0,"to":1,"count":1},{"from":1,"to":2,"count":1},)"
                              R"({"from":2,"to":4,"count":2},{"from":4,"to":8,"count":1}])");
    BOOST_TEST(h.to_text("n").find("[0] ") != std::string::npos);
    BOOST_TEST(h.to_text("n").find("[2, 4) ") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_largest_value_has_a_bucket) {
    Log2Histogram h;
    h.add(~std::uint64_t{0});
    BOOST_TEST(h.to_text("n").find("[8E, 16E)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(nothing_draws_nothing) {
    BOOST_TEST(Log2Histogram().empty());
    BOOST_TEST(Log2Histogram().to_text("us") == "");
    BOOST_TEST(Log2Histogram().to_json() == "[]");
}

BOOST_AUTO_TEST_CASE(durations_are_short_and_have_units) {
    BOOST_TEST(duration_text(0) == "0 ns");
    BOOST_TEST(duration_text(850'200) == "850.2 us");
    BOOST_TEST(duration_text(120'113'000) == "120.1 ms");
    BOOST_TEST(duration_text(1'002'499'999) == "1.002 s");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
