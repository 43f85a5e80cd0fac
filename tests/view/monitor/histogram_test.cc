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

// So many values in each bucket from the first, all of them the least that it holds.
std::vector<HistogramBucket> buckets_of(std::initializer_list<std::pair<std::uint32_t, int>> all,
                                        std::uint64_t least = 0) {
    std::vector<HistogramBucket> buckets;
    for (const auto& [number, count] : all) {
        const auto n = static_cast<std::uint64_t>(count);
        buckets.push_back({number, n, n * least, least, least});
    }
    return buckets;
}

BOOST_AUTO_TEST_CASE(linear_buckets_have_one_below_and_one_above) {
    const auto buckets = buckets_of({{0, 1}, {1, 2}, {2, 3}, {3, 4}});
    const Aggregation how = linear(-10, 10, 10);
    BOOST_TEST(rows_of(histogram_text(how, buckets, "n")) ==
               "n count\n"
               "(..., -10) 1\n"
               "[-10, 0) 2\n"
               "[0, 10) 3\n"
               "[10, ...) 4\n");
    BOOST_TEST(histogram_json(how, buckets) ==
               R"([{"from":null,"to":-10,"count":1},{"from":-10,"to":0,"count":2},)"
               R"({"from":0,"to":10,"count":3},{"from":10,"to":null,"count":4}])");
}

BOOST_AUTO_TEST_CASE(the_last_linear_bucket_ends_at_the_upper_bound) {
    BOOST_TEST(
        rows_of(histogram_text(linear(0, 15, 10), buckets_of({{1, 1}, {2, 1}, {3, 1}}), "n")) ==
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
    BOOST_TEST(rows_of(histogram_text(how, buckets_of({{0, 1}, {3, 2}, {5, 3}, {6, 4}}), "n")) ==
               "n count\n"
               "[0] 1\n"
               "[1] 0\n"
               "[2] 0\n"
               "[3] 2\n"
               "[4, 6) 0\n"
               "[6, 8) 3\n"
               "[8, 12) 4\n");
}

BOOST_AUTO_TEST_CASE(log2_is_drawn_in_powers_of_two) {
    Aggregation how;
    how.kind = Aggregation::Kind::log2;
    // 31, 32, 62 to 63, 64 to 65, the largest.
    const auto buckets = buckets_of({{31, 1}, {32, 1}, {63, 1}, {64, 1}, {1919, 1}});
    BOOST_TEST(how.buckets() == 1920u);
    BOOST_TEST(rows_of(histogram_text(how, buckets, "n")) ==
               "n count\n"
               "[16, 32) 1\n"
               "[32, 64) 2\n"
               "[64, 128) 1\n"
               "...\n"
               "[8E, 16E) 1\n");
}

BOOST_AUTO_TEST_CASE(a_row_of_zero_that_has_less_says_so) {
    Aggregation how;
    how.kind = Aggregation::Kind::log2;
    how.is_signed = true;
    const auto row = [&](std::int64_t least) {
        return rows_of(
            histogram_text(how, buckets_of({{0, 3}}, static_cast<std::uint64_t>(least)), "n"));
    };
    BOOST_TEST(row(0) == "n count\n[0] 3\n");
    BOOST_TEST(row(-9) == "n count\n(..., 1) 3\n");
    BOOST_TEST(histogram_json(how, buckets_of({{0, 3}}, ~std::uint64_t{0})) ==
               R"([{"from":null,"to":1,"count":3}])");
}

BOOST_AUTO_TEST_CASE(a_percentile_is_exact_at_the_ends_of_a_bucket_and_its_middle_between) {
    const std::vector<HistogramBucket> buckets{
        {1, 949, 949, 1, 1}, {40, 40, 1800, 44, 46}, {50, 10, 740, 72, 76}, {60, 1, 90, 90, 90}};
    Aggregation how;
    how.kind = Aggregation::Kind::log2;
    const auto told = [&](std::uint64_t per_mille) {
        return percentile(how, buckets, per_mille).value;
    };
    BOOST_TEST(told(1) == 1u);
    BOOST_TEST(told(949) == 1u);
    BOOST_TEST(told(950) == 44u);
    BOOST_TEST(told(989) == 46u);
    BOOST_TEST(told(970) == 45u);
    BOOST_TEST(told(995) == 74u);
    BOOST_TEST(told(1000) == 90u);
}

std::uint64_t minus(std::uint64_t n) {
    return 0 - n;
}

BOOST_AUTO_TEST_CASE(of_what_is_not_above_0_a_percentile_is_not_known) {
    Aggregation how;
    how.kind = Aggregation::Kind::log2;
    how.is_signed = true;
    const std::vector<HistogramBucket> buckets{{0, 100, minus(6400), minus(128), minus(1)}};
    const std::vector<std::uint64_t> words{100, minus(6400), minus(128), minus(1)};
    BOOST_TEST(percentiles_text(how, words, buckets, "us") ==
               "min -128 us, avg -64 us, p50 <= 0 us, p95 <= 0 us, p99 <= 0 us, p99.9 -1 us, "
               "max -1 us");
    BOOST_TEST(percentiles_json(how, buckets) ==
               R"({"p50":null,"p95":null,"p99":null,"p99.9":-1,)"
               R"("between":{"p50":[-128,-1],"p95":[-128,-1],"p99":[-128,-1]}})");
    // Zeros are zeros.
    BOOST_TEST(percentiles_json(how, std::vector<HistogramBucket>{{0, 9, 0, 0, 0}}) ==
               R"({"p50":0,"p95":0,"p99":0,"p99.9":0})");
}

BOOST_AUTO_TEST_CASE(outside_the_steps_a_percentile_is_not_known) {
    Aggregation how;
    how.kind = Aggregation::Kind::linear;
    how.is_signed = true;
    how.low = 0;
    how.high = 100;
    how.step = 50;
    const std::vector<HistogramBucket> buckets{{0, 600, minus(600'000), minus(2000), minus(1)},
                                               {2, 10, 750, 60, 90},
                                               {3, 390, 200'000, 103, 999}};
    const std::vector<std::uint64_t> words{1000, minus(399'250), minus(2000), 999};
    BOOST_TEST(percentiles_text(how, words, buckets, "us") ==
               "min -2.00 ms, avg -399 us, p50 < 0 us, p95 >= 100 us, p99 >= 100 us, "
               "p99.9 >= 100 us, max 999 us");
    BOOST_TEST(percentiles_json(how, buckets) ==
               R"({"p50":null,"p95":null,"p99":null,"p99.9":null,"between":{"p50":[-2000,-1],)"
               R"("p95":[103,999],"p99":[103,999],"p99.9":[103,999]}})");
    // Values that are as near as those of a step are known as well.
    BOOST_TEST(percentiles_json(how, std::vector<HistogramBucket>{{3, 100, 12'500, 100, 150}}) ==
               R"({"p50":125,"p95":125,"p99":125,"p99.9":150})");
}

BOOST_AUTO_TEST_CASE(percentiles_stand_between_the_extremes_and_the_mean) {
    Aggregation how;
    how.kind = Aggregation::Kind::log2;
    const std::vector<HistogramBucket> buckets{{1, 9, 9, 1, 1}, {40, 1, 45, 45, 45}};
    const std::vector<std::uint64_t> words{10, 54, 1, 45};
    BOOST_TEST(percentiles_text(how, words, buckets, "us") ==
               "min 1 us, avg 5.4 us, p50 1 us, p95 45 us, p99 45 us, p99.9 45 us, max 45 us");
    BOOST_TEST(percentiles_json(how, buckets) == R"({"p50":1,"p95":45,"p99":45,"p99.9":45})");
    BOOST_TEST(percentiles_text(how, {}, {}, "us") ==
               "min -, avg -, p50 -, p95 -, p99 -, p99.9 -, max -");
}

BOOST_AUTO_TEST_CASE(a_narrow_screen_gets_narrow_bars) {
    Aggregation how;
    how.kind = Aggregation::Kind::log2;
    BOOST_TEST(histogram_text(how, buckets_of({{1, 1}}), "us", {44, 0}) ==
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
