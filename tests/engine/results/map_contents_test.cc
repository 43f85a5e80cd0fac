#include "engine/results/map_contents.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

using Words = std::vector<std::uint64_t>;
using Kind = Aggregation::Kind;

// What is left of the words of several CPUs.
Words merged(Kind kind, const std::vector<Words>& cpus, bool is_signed = false) {
    Aggregation how;
    how.kind = kind;
    how.is_signed = is_signed;
    Words all(cpus.front().size());
    for (const Words& one : cpus) merge_words(how, one, all);
    return all;
}

constexpr std::uint64_t kMinusOne = ~std::uint64_t{0};

BOOST_AUTO_TEST_SUITE(map_contents)

// What a program leaves in the kernel is 0 before there is a value, and grows.
Words decoded(Kind kind, bool is_signed, const Words& words) {
    Aggregation how;
    how.kind = kind;
    how.is_signed = is_signed;
    return decoded_words(how, std::as_bytes(std::span(words)));
}

BOOST_AUTO_TEST_CASE(extremes_are_kept_as_numbers_that_grow_from_0) {
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    BOOST_TEST((decoded(Kind::stats, false, {2, 9, ~std::uint64_t{4}, 5}) == Words{2, 9, 4, 5}));
    BOOST_TEST((decoded(Kind::stats, true, {2, 4, ~(kSign ^ kMinusOne), kSign ^ 5}) ==
                Words{2, 4, kMinusOne, 5}));
    BOOST_TEST((decoded(Kind::log2, false, {1, 7, ~std::uint64_t{7}, 7}) == Words{1, 7, 7, 7}));
    BOOST_TEST((decoded(Kind::min, false, {~std::uint64_t{4}, 1}) == Words{4, 1}));
    BOOST_TEST((decoded(Kind::max, true, {kSign ^ kMinusOne, 1}) == Words{kMinusOne, 1}));
    for (const bool is_signed : {false, true}) {
        BOOST_TEST((decoded(Kind::stats, is_signed, {0, 0, 0, 0}) == Words{0, 0, 0, 0}));
        BOOST_TEST((decoded(Kind::min, is_signed, {0, 0}) == Words{0, 0}));
    }
    BOOST_TEST((decoded(Kind::avg, true, {2, 9}) == Words{2, 9}));
}

BOOST_AUTO_TEST_CASE(buckets_of_several_histograms_become_one) {
    Aggregation how;
    how.kind = Kind::log2;
    std::vector<HistogramBucket> all{{3, 1, 3, 3, 3}, {40, 2, 90, 44, 46}};
    const std::vector<HistogramBucket> others{
        {4, 5, 20, 4, 4}, {40, 1, 45, 45, 45}, {41, 1, 47, 47, 47}};
    merge_buckets(how, others, all);
    BOOST_TEST(
        (all == std::vector<HistogramBucket>{
                    {3, 1, 3, 3, 3}, {4, 5, 20, 4, 4}, {40, 3, 135, 44, 46}, {41, 1, 47, 47, 47}}));
}

BOOST_AUTO_TEST_CASE(counts_add_up) {
    BOOST_TEST(merged(Kind::count, {{3}, {0}, {4}}) == Words{7});
    BOOST_TEST((merged(Kind::avg, {{2, 10}, {1, kMinusOne}}, true) == Words{3, 9}));
}

BOOST_AUTO_TEST_CASE(extremes_are_those_of_cpus_that_saw_a_value) {
    BOOST_TEST((merged(Kind::min, {{0, 0}, {9, 1}, {4, 1}}) == Words{4, 1}));
    BOOST_TEST((merged(Kind::max, {{9, 1}, {0, 0}, {40, 1}}) == Words{40, 1}));
    BOOST_TEST((merged(Kind::max, {{kMinusOne, 1}, {5, 1}}, true) == Words{5, 1}));
    BOOST_TEST((merged(Kind::min, {{kMinusOne, 1}, {5, 1}}, true) == Words{kMinusOne, 1}));
    BOOST_TEST((merged(Kind::min, {{0, 0}, {0, 0}}) == Words{0, 0}));
}

BOOST_AUTO_TEST_CASE(statistics_keep_count_total_least_and_most) {
    BOOST_TEST((merged(Kind::stats, {{2, 30, 10, 20}, {0, 0, 0, 0}, {1, 5, 5, 5}}) ==
                Words{3, 35, 5, 20}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
