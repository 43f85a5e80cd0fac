#include "view/pictures/heat_map.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "base/cat.h"
#include "view/monitor/histogram.h"

namespace gpufs {
namespace {

constexpr Aggregation kLog2{Aggregation::Kind::log2, false, 0, 0, 0, 1};

Aggregation linear(std::int64_t low, std::int64_t high, std::int64_t step) {
    return {Aggregation::Kind::linear, true, 0, low, high, step};
}

// The bucket that a value is in: the last one that does not begin above it.
std::uint32_t bucket_with(double value) {
    std::uint32_t number = 0;
    while (bucket_range(kLog2, number + 1).from <= value) ++number;
    return number;
}

std::string to_text(const std::vector<HeatMap::Column>& columns) {
    std::string text;
    for (const HeatMap::Column& column : columns) {
        text += cat(column.from_ns, '-', column.to_ns, ':');
        for (const auto& [bucket, count] : column.counts) text += cat(' ', bucket, '*', count);
        text += '\n';
    }
    return text;
}

std::string to_text(const std::vector<HeatRows::Range>& rows) {
    std::string text;
    for (const HeatRows::Range& row : rows)
        text += cat(text.empty() ? "" : " ", static_cast<long>(row.from), '-',
                    static_cast<long>(row.to));
    return text;
}

HeatRows rows_of(const Aggregation& how, const std::vector<std::uint32_t>& buckets) {
    HeatMap::Column column;
    for (const std::uint32_t bucket : buckets) column.counts[bucket] = 1;
    return HeatRows(how, {column});
}

BOOST_AUTO_TEST_SUITE(heat_map)

BOOST_AUTO_TEST_CASE(a_time_in_which_nothing_came_has_no_column) {
    HeatMap map(kLog2);
    map.add(0, 10, {});
    map.add(10, 20, {{3, 1}});
    map.add(20, 30, {});
    map.add(30, 40, {{3, 1}, {5, 2}});
    map.add(40, 50, {});
    BOOST_TEST(to_text(map.columns()) ==
               "10-20: 3*1\n"
               "30-40: 3*1 5*2\n");
    BOOST_TEST(map.begin_ns() == 0u);
    BOOST_TEST(map.end_ns() == 50u);
}

BOOST_AUTO_TEST_CASE(columns_become_longer_where_there_are_too_many_and_nothing_is_lost) {
    HeatMap map(kLog2);
    constexpr std::uint64_t kTimes = 10'000;
    for (std::uint64_t i = 0; i < kTimes; ++i) map.add(100 * i, 100 * i + 100, {{7, 2}});
    BOOST_TEST(map.columns().size() <= HeatMap::kMostColumns);
    BOOST_TEST(map.columns().size() >= HeatMap::kMostColumns / 3);
    std::uint64_t count = 0, end_ns = 0;
    for (const HeatMap::Column& column : map.columns()) {
        BOOST_TEST(column.from_ns == end_ns);
        BOOST_TEST(column.counts.at(7) == (column.to_ns - column.from_ns) / 100 * 2);
        end_ns = column.to_ns;
        count += column.counts.at(7);
    }
    BOOST_TEST(end_ns == 100 * kTimes);
    BOOST_TEST(count == 2 * kTimes);
}

BOOST_AUTO_TEST_CASE(far_times_stay_apart_when_columns_are_merged) {
    HeatMap map(kLog2);
    for (std::uint64_t i = 0; i <= HeatMap::kMostColumns; ++i)
        map.add(1000 * i, 1000 * i + 1, {{7, 1}});
    BOOST_TEST(map.columns().size() <= HeatMap::kMostColumns);
    map.add(10'000'000, 10'000'001, {{7, 1}});
    BOOST_TEST(map.columns().back().from_ns == 10'000'000u);
}

BOOST_AUTO_TEST_CASE(percentiles_are_the_middle_of_a_bucket) {
    BOOST_TEST(percentile_of(kLog2, {{5, 1}}, 500) == 5);
    BOOST_TEST(percentile_of(kLog2, {{5, 50}, {9, 50}}, 500) == 5);
    BOOST_TEST(percentile_of(kLog2, {{5, 50}, {9, 51}}, 500) == 9);
    BOOST_TEST(percentile_of(kLog2, {{5, 99}, {bucket_with(1024), 1}}, 999) == 1040);
    BOOST_TEST(percentile_of(linear(0, 100, 10), {{0, 1}}, 500) == 0);   // below all
    BOOST_TEST(percentile_of(linear(0, 100, 10), {{2, 1}}, 500) == 15);  // 10 to 20
    BOOST_TEST(percentile_of(linear(0, 100, 10), {{11, 1}}, 500) == 100);
}

BOOST_AUTO_TEST_CASE(few_powers_of_two_have_a_row_for_each_bucket) {
    const std::uint32_t first = bucket_with(1024);
    BOOST_TEST(to_text(rows_of(kLog2, {first, first + 1, first + 31}).rows()) ==
               "1024-1056 1056-1088 2016-2048");
}

BOOST_AUTO_TEST_CASE(small_values_have_a_row_each) {
    BOOST_TEST(to_text(rows_of(kLog2, {0, 1, 2, 3, 31}).rows()) == "0-1 1-2 2-3 3-4 31-32");
}

BOOST_AUTO_TEST_CASE(many_powers_of_two_have_thicker_rows) {
    // From 1 to 2^24: 25 powers, with two rows each.
    const std::uint32_t last = bucket_with(1 << 24);
    const HeatRows rows =
        rows_of(kLog2, {1, 2, 3, bucket_with(1024), bucket_with(1400), bucket_with(1600), last});
    BOOST_TEST(to_text(rows.rows()) ==
               "1-2 2-3 3-4 1024-1536 1536-2048 " + cat(1 << 24, '-', 3 << 23));
    BOOST_TEST(rows.row_of(bucket_with(1400)) == 3u);
    BOOST_TEST(rows.row_of(bucket_with(1600)) == 4u);
}

BOOST_AUTO_TEST_CASE(heights_go_by_the_logarithm_or_as_they_are) {
    const HeatRows powers = rows_of(kLog2, {1, bucket_with(992)});  // a row from 960
    BOOST_TEST(powers.height(1) == 0);
    BOOST_TEST(powers.height(1024) == 1);
    BOOST_TEST(powers.height(32) < 0.51);
    BOOST_TEST(powers.height(32) > 0.49);
    const HeatRows steps = rows_of(linear(0, 100, 10), {1, 10});
    BOOST_TEST(steps.height(0) == 0);
    BOOST_TEST(steps.height(25) == 0.25);
    BOOST_TEST(steps.height(100) == 1);
}

BOOST_AUTO_TEST_CASE(values_past_the_bounds_have_rows_of_one_step) {
    const HeatRows rows = rows_of(linear(0, 100, 10), {0, 11});
    BOOST_TEST(to_text(rows.rows()) == "-10-0 100-110");
    BOOST_TEST(!rows.rows()[0].has_from);
    BOOST_TEST(!rows.rows()[1].has_to);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
