#include "view/monitor/trends.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/text.h"
#include "support/layout_bytes.h"
#include "support/map_entries.h"

namespace gpufs {
namespace {

using Counts = std::vector<std::pair<int, std::uint64_t>>;  // by key

ReportRows rows_with(const Counts& counts) {
    std::vector<test::OwnEntry> entries;
    for (const auto& [key, count] : counts) entries.push_back({{std::byte(key)}, {count}});
    ReportRows rows;
    rows.entries = test::map_entries(entries);
    return rows;
}

MapDeclaration map_of(Aggregation::Kind kind, bool is_signed = false) {
    MapDeclaration map;
    map.aggregation.kind = kind;
    map.aggregation.is_signed = is_signed;
    return map;
}

class TrendsOf {
public:
    explicit TrendsOf(MapDeclaration map) : map_(std::move(map)) {}
    void add(const Counts& counts) { trends_.add("report", map_, rows_with(counts)); }
    std::string of(const Counts& counts) const {
        return join(trends_.texts("report", map_, rows_with(counts), Plot::ascii), "|");
    }

private:
    MapDeclaration map_;
    Trends trends_;
};

BOOST_AUTO_TEST_SUITE(trends)

BOOST_AUTO_TEST_CASE(each_row_has_its_last_intervals_on_its_own_scale) {
    TrendsOf counts(map_of(Aggregation::Kind::count));
    counts.add({{1, 8}, {2, 1000}});
    counts.add({{2, 500}});
    counts.add({{1, 1}, {2, 125}});
    BOOST_TEST(counts.of({{2, 125}, {1, 1}}) == "         @=.|         @ .");
}

BOOST_AUTO_TEST_CASE(what_is_older_than_the_row_is_long_is_forgotten) {
    TrendsOf counts(map_of(Aggregation::Kind::count));
    counts.add({{1, 8}});
    for (std::size_t i = 1; i < Trends::kIntervals; ++i) counts.add({});
    BOOST_TEST(counts.of({{1, 0}}) == "@           ");
    counts.add({});
    BOOST_TEST(counts.of({{1, 0}}) == "            ");
    counts.add({{1, 4}});
    BOOST_TEST(counts.of({{1, 4}}) == "           @");
}

BOOST_AUTO_TEST_CASE(signed_values_below_0_have_no_mark) {
    TrendsOf sums(map_of(Aggregation::Kind::sum, true));
    sums.add({{1, ~std::uint64_t{0}}});
    sums.add({{1, 8}});
    BOOST_TEST(sums.of({{1, 8}}) == "           @");
}

BOOST_AUTO_TEST_CASE(data_has_no_trend) {
    TrendsOf data(map_of(Aggregation::Kind::none));
    data.add({{1, 8}});
    BOOST_TEST(data.of({{1, 8}}) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
