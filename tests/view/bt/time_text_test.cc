#include "view/bt/time_text.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs::bt {
namespace {

constexpr std::uint64_t kTime = 1'700'000'000'001'234'567;

BOOST_AUTO_TEST_SUITE(bt_time_text)

BOOST_AUTO_TEST_CASE(seconds_are_those_since_1970) {
    BOOST_TEST(time_text("%s", kTime) == "1700000000");
    // Of any time zone: they differ by whole quarters of an hour.
    BOOST_TEST(time_text("%S", kTime) == "20");
}

BOOST_AUTO_TEST_CASE(f_is_the_microseconds) {
    BOOST_TEST(time_text("%s.%f", kTime) == "1700000000.001234");
    BOOST_TEST(time_text("%f", 999'999'999) == "999999");
}

BOOST_AUTO_TEST_CASE(a_fraction_is_cut_off) {
    BOOST_TEST(fraction_text(kTime, 9) == "001234567");
    BOOST_TEST(fraction_text(kTime, 3) == "001");
    BOOST_TEST(fraction_text(999'999'999, 3) == "999");
}

BOOST_AUTO_TEST_CASE(other_text_stays) {
    BOOST_TEST(time_text("", kTime) == "");
    BOOST_TEST(time_text("at %%f\n", kTime) == "at %f\n");
    BOOST_TEST(time_text(std::string(500, 'x'), kTime) == std::string(500, 'x'));
    BOOST_TEST(time_text("%", kTime) == "%");
}

BOOST_AUTO_TEST_CASE(a_format_ends_at_a_nul) {
    BOOST_TEST(time_text(std::string_view("\0%s", 3), kTime) == "");
    BOOST_TEST(time_text(std::string_view("%s\0x", 4), kTime) == "1700000000");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
