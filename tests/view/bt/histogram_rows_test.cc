#include "view/bt/histogram_rows.h"

#include <algorithm>
#include <bit>
#include <limits>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"

namespace gpufs::bt {
namespace {

Type hist(unsigned bits) {
    Type type = *plain_type(Type::Kind::hist);
    type.bits = bits;
    return type;
}

Type lhist(std::int64_t low, std::int64_t high, std::int64_t step) {
    Type type = *plain_type(Type::Kind::lhist);
    type.low = low;
    type.high = high;
    type.step = step;
    return type;
}

// As ScriptMap defines them.
std::uint32_t slot_of(const Type& type, std::int64_t n) {
    if (type.is(Type::Kind::lhist)) {
        if (n < type.low) return 0;
        const auto above = static_cast<std::uint64_t>(std::min(n, type.high)) -
                           static_cast<std::uint64_t>(type.low);
        return static_cast<std::uint32_t>(1 + above / static_cast<std::uint64_t>(type.step));
    }
    if (n < 0) return 0;
    const auto number = static_cast<std::uint64_t>(n);
    if (number < std::uint64_t{1} << type.bits) return static_cast<std::uint32_t>(1 + number);
    const auto l = static_cast<unsigned>(std::bit_width(number) - 1) - type.bits;
    return static_cast<std::uint32_t>(1 + ((l + 1) << type.bits) +
                                      ((number >> l) & ((1U << type.bits) - 1)));
}

std::vector<HistogramRow> rows_of(const Type& type, const std::vector<std::int64_t>& values,
                                  std::uint64_t div = 1) {
    SlotCounts counts;
    for (const std::int64_t value : values) ++counts[slot_of(type, value)];
    return histogram_rows(type, counts, div);
}

std::string labels(const std::vector<HistogramRow>& rows) {
    std::string out;
    for (const HistogramRow& row : rows) out += cat(out.empty() ? "" : " ", row.label);
    return out;
}

std::string drawn(const std::vector<HistogramRow>& rows) {
    std::string out;
    append_rows(out, rows);
    return out;
}

std::string json_of(const std::vector<HistogramRow>& rows) {
    std::string out;
    append_rows_json(out, rows);
    return out;
}

BOOST_AUTO_TEST_SUITE(bt_histogram_rows)

// What bpftrace printed for these values.
BOOST_AUTO_TEST_CASE(rows_reach_from_the_first_slot_in_use_to_the_last) {
    const std::string half = "|@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n";
    const std::string none = "|" + std::string(52, ' ') + "|\n";
    BOOST_TEST(drawn(rows_of(hist(0), {-1, 2, 3, 7, 20})) ==
               "(..., 0)               1 " + half +      //
                   "[0]                    0 " + none +  //
                   "[1]                    0 " + none +  //
                   "[2, 4)                 2 |" + std::string(52, '@') + "|\n" +
                   "[4, 8)                 1 " + half +  //
                   "[8, 16)                0 " + none +  //
                   "[16, 32)               1 " + half);
    BOOST_TEST(drawn(rows_of(lhist(0, 10, 2), {2, 3, 7, -1, 11})) ==
               "(..., 0)               1 " + half +      //
                   "[0, 2)                 0 " + none +  //
                   "[2, 4)                 2 |" + std::string(52, '@') + "|\n" +
                   "[4, 6)                 0 " + none +  //
                   "[6, 8)                 1 " + half +  //
                   "[8, 10)                0 " + none +  //
                   "[10, ...)              1 " + half);
}

BOOST_AUTO_TEST_CASE(labels_of_powers_of_two_are_rounded_to_units) {
    BOOST_TEST(labels(rows_of(hist(0), {1, 2})) == "[1] [2, 4)");
    BOOST_TEST(labels(rows_of(hist(0), {1023, 1024})) == "[512, 1K) [1K, 2K)");
    BOOST_TEST(labels(rows_of(hist(0), {1 << 20})) == "[1M, 2M)");
    BOOST_TEST(labels(rows_of(hist(0), {10 * (std::int64_t{1} << 30)})) == "[8G, 16G)");
    BOOST_TEST(labels(rows_of(hist(0), {std::numeric_limits<std::int64_t>::max()})) == "[4E, 8E)");
    BOOST_TEST(labels(rows_of(hist(0), {std::numeric_limits<std::int64_t>::min()})) == "(..., 0)");
}

BOOST_AUTO_TEST_CASE(split_powers_begin_with_single_numbers) {
    BOOST_TEST(labels(rows_of(hist(1), {0, 7})) == "[0] [1] [2] [3] [4, 6) [6, 8)");
    BOOST_TEST(labels(rows_of(hist(3), {15, 18})) == "[15] [16, 18) [18, 20)");
    // The unit goes by the slot's width, which is 128 here.
    BOOST_TEST(labels(rows_of(hist(3), {1024})) == "[1024, 1152)");
    BOOST_TEST(labels(rows_of(hist(3), {8192})) == "[8K, 9K)");
    BOOST_TEST(labels(rows_of(hist(5), {31, 32, 63, 64})).starts_with("[31] [32] [33]"));
    BOOST_TEST(labels(rows_of(hist(5), {63, 64})) == "[63] [64, 66)");
    BOOST_TEST(labels(rows_of(hist(5), {std::numeric_limits<std::int64_t>::max()})) ==
               "[8064P, 8192P)");
}

BOOST_AUTO_TEST_CASE(each_number_lies_in_the_row_of_its_slot) {
    for (unsigned bits = 0; bits <= 5; ++bits) {
        const Type type = hist(bits);
        for (int power = 0; power < 63; ++power) {
            for (const int beside : {-1, 0, 1}) {
                const std::int64_t number = (std::int64_t{1} << power) + beside;
                const auto rows = rows_of(type, {number});
                BOOST_REQUIRE(rows.size() == 1U);
                BOOST_TEST_CONTEXT(number << " with " << bits << " bits") {
                    BOOST_TEST(rows[0].first.value() <= number);
                    BOOST_TEST(number <= rows[0].last.value());
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_step_of_one_has_single_numbers) {
    BOOST_TEST(labels(rows_of(lhist(0, 5, 1), {3, 4, 5})) == "[3] [4] [5, ...)");
    BOOST_TEST(labels(rows_of(lhist(-3, 3, 2), {-4, -3, 0})) == "(..., -3) [-3, -1) [-1, 1)");
}

BOOST_AUTO_TEST_CASE(linear_labels_have_units_only_with_steps_of_them) {
    BOOST_TEST(labels(rows_of(lhist(0, 4096, 1024), {0, 1024, 2050})) ==
               "[0, 1K) [1K, 2K) [2K, 3K)");
    BOOST_TEST(labels(rows_of(lhist(0, 2 << 20, 1 << 20), {1 << 20})) == "[1M, 2M)");
    BOOST_TEST(labels(rows_of(lhist(0, 10000, 1000), {2000})) == "[2000, 3000)");
    BOOST_TEST(labels(rows_of(lhist(5, 4096 + 5, 1024), {5})) == "[5, 1029)");
}

BOOST_AUTO_TEST_CASE(a_rest_that_no_step_fills_is_open) {
    BOOST_TEST(labels(rows_of(lhist(0, 10, 3), {8, 9, 50})) == "[6, 9) [9, ...)");
    BOOST_TEST(labels(rows_of(lhist(0, 10, 2), {50})) == "[10, ...)");
}

BOOST_AUTO_TEST_CASE(bounds_may_be_as_wide_as_numbers) {
    constexpr std::int64_t kStep = (std::int64_t{1} << 62) - 1;
    BOOST_TEST(labels(rows_of(lhist(-INT64_MAX, kStep, kStep), {-INT64_MAX, 5, INT64_MAX})) ==
               "[-9223372036854775807, -4611686018427387904) [-4611686018427387904, -1) "
               "[-1, 4611686018427387902) [4611686018427387902, ...)");
}

BOOST_AUTO_TEST_CASE(counts_of_powers_are_divided_and_those_of_steps_are_not) {
    const auto powers = rows_of(hist(0), {4, 5, 6, 7, 8}, 2);
    BOOST_TEST(powers[0].count == 2U);
    BOOST_TEST(powers[1].count == 0U);
    BOOST_TEST(rows_of(lhist(0, 10, 5), {1, 2}, 2)[0].count == 2U);
}

BOOST_AUTO_TEST_CASE(nothing_counted_is_no_row) {
    BOOST_TEST(drawn(histogram_rows(hist(0), {{3, 0}})) == "");
    BOOST_TEST(json_of(histogram_rows(hist(0), {})) == "[]");
}

BOOST_AUTO_TEST_CASE(slots_that_the_type_does_not_have_are_left_out) {
    BOOST_TEST(histogram_rows(hist(0), {{64, 1}, {65, 1}, {~0U, 1}}).size() == 1U);
    BOOST_TEST(histogram_rows(lhist(0, 10, 2), {{6, 1}, {7, 1}}).size() == 1U);
}

BOOST_AUTO_TEST_CASE(bars_are_those_of_the_counts_before_they_are_divided) {
    BOOST_TEST(drawn(rows_of(hist(0), {1}, 10)) ==
               "[1]                    0 |" + std::string(52, '@') + "|\n");
}

BOOST_AUTO_TEST_CASE(json_tells_the_least_and_the_largest_number_of_a_row) {
    BOOST_TEST(json_of(rows_of(hist(0), {-3, 0, 5})) ==
               R"([{"max": -1, "count": 1},{"min": 0, "max": 0, "count": 1},)"
               R"({"min": 1, "max": 1, "count": 0},{"min": 2, "max": 3, "count": 0},)"
               R"({"min": 4, "max": 7, "count": 1}])");
    BOOST_TEST(json_of(rows_of(lhist(0, 10, 2), {8, 10})) ==
               R"([{"min": 8, "max": 9, "count": 1},{"min": 10, "count": 1}])");
    BOOST_TEST(json_of(rows_of(lhist(0, 10, 2), {-1})) == R"([{"max": -1, "count": 1}])");
    BOOST_TEST(json_of(rows_of(hist(0), {std::numeric_limits<std::int64_t>::max()})) ==
               R"([{"min": 4611686018427387904, "max": "9223372036854775807", "count": 1}])");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
