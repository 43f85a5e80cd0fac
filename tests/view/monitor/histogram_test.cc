#define BOOST_TEST_DYN_LINK
#include "view/monitor/histogram.h"

#include <boost/test/unit_test.hpp>

#include "base/text.h"
#include "view/duration.h"

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

Aggregation linear(std::int64_t low, std::int64_t high, std::int64_t step) {
    Aggregation how;
    how.kind = Aggregation::Kind::linear;
    how.low = low;
    how.high = high;
    how.step = step;
    return how;
}

// The labels and counts, without the bars.
std::string rows_of(const std::string& text) {
    std::string rows;
    for (const std::string_view line : lines_of(text)) {
        const auto words = split(line.substr(0, line.find('|')), ' ');
        rows += join(words, " ") + '\n';
    }
    return rows;
}

BOOST_AUTO_TEST_CASE(linear_buckets_have_one_below_and_one_above) {
    const std::uint64_t slots[] = {1, 2, 3, 4};
    const Aggregation how = linear(-10, 10, 10);
    BOOST_TEST(rows_of(histogram_text(how, slots, "n")) ==
               "n count\n"
               "(..., -10) 1\n"
               "[-10, 0) 2\n"
               "[0, 10) 3\n"
               "[10, ...) 4\n");
    BOOST_TEST(histogram_json(how, slots) ==
               R"([{"to":-10,"count":1},{"from":-10,"to":0,"count":2},)"
               R"({"from":0,"to":10,"count":3},{"from":10,"count":4}])");
    BOOST_TEST(percentiles_text(how, slots, "") == "p50 <10, p95 -, p99 -, p99.9 -, max -");
    BOOST_TEST(percentiles_json(how, slots) ==
               R"({"p50":10,"p95":null,"p99":null,"p99.9":null,"max":null})");
}

BOOST_AUTO_TEST_CASE(the_last_linear_bucket_ends_at_the_upper_bound) {
    const std::uint64_t slots[] = {0, 1, 1, 1};
    BOOST_TEST(rows_of(histogram_text(linear(0, 15, 10), slots, "n")) ==
               "n count\n"
               "[0, 10) 1\n"
               "[10, 15) 1\n"
               "[15, ...) 1\n");
}

BOOST_AUTO_TEST_CASE(log_linear_buckets_split_each_power_of_two) {
    // One bit below the highest: 0, 1, 2, 3, then 4 to 5, 6 to 7, 8 to 11, …
    Aggregation how;
    how.kind = Aggregation::Kind::log_linear;
    how.sub_bits = 1;
    const std::uint64_t slots[] = {1, 0, 0, 2, 0, 3, 4};
    BOOST_TEST(rows_of(histogram_text(how, slots, "n")) ==
               "n count\n"
               "[0] 1\n"
               "[1] 0\n"
               "[2] 0\n"
               "[3] 2\n"
               "[4, 6) 0\n"
               "[6, 8) 3\n"
               "[8, 12) 4\n");
    BOOST_TEST(percentiles_text(how, slots, "") == "p50 <8, p95 <12, p99 <12, p99.9 <12, max <12");
}

BOOST_AUTO_TEST_CASE(percentiles_are_bounds_of_the_bucket_where_the_rank_lies) {
    Aggregation how;
    how.kind = Aggregation::Kind::log2;
    const std::uint64_t slots[] = {0, 949, 0, 40, 0, 10, 0, 1};
    BOOST_TEST(percentiles_text(how, slots, "") == "p50 <2, p95 <8, p99 <32, p99.9 <32, max <128");
}

BOOST_AUTO_TEST_CASE(a_narrow_screen_gets_narrow_bars) {
    const std::uint64_t slots[] = {0, 1};
    Aggregation how;
    how.kind = Aggregation::Kind::log2;
    BOOST_TEST(histogram_text(how, slots, "us", {44, 0}) ==
               "us                     count\n"
               "[1]                        1 |@@@@@@@@@@@@@|\n");
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
