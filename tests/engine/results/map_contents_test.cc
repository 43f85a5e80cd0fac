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
    Words all;
    for (const Words& one : cpus) merge_words(how, one, all);
    return all;
}

constexpr std::uint64_t kMinusOne = ~std::uint64_t{0};

BOOST_AUTO_TEST_SUITE(map_contents)

BOOST_AUTO_TEST_CASE(counts_and_buckets_add_up) {
    BOOST_TEST(merged(Kind::count, {{3}, {0}, {4}}) == Words{7});
    BOOST_TEST((merged(Kind::log2, {{1, 0, 5}, {0, 2, 5}}) == Words{1, 2, 10}));
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
