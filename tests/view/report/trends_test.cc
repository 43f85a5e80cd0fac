#include "view/report/trends.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/text.h"
#include "support/layout_bytes.h"
#include "support/map_entries.h"

namespace gpufs {
namespace {

using Counts = std::vector<std::pair<int, std::uint64_t>>;  // by key

ReportRows rows_with(const Counts& counts) {
    ReportRows rows;
    rows.key.add("key", integer_value(1));
    std::vector<test::OwnEntry> entries;
    for (const auto& [key, count] : counts) entries.push_back({{std::byte(key)}, {count}});
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

// A row of stacks is a task's; what its stacks have is added up.
BOOST_AUTO_TEST_CASE(stacks_of_one_row_have_one_trend) {
    const Program program = test::declared(
        ".map stacks stack_trace max 16\n"
        ".map m hash key { comm str16, at kstack(stacks) }, value count");
    const MapDeclaration& map = program.maps.back();
    const auto key = [&](const char* comm, std::int32_t stack) {
        return test::LayoutBytes(map.key).text("comm", comm).set("at", stack).bytes();
    };
    Trends trends;
    ReportRows rows;
    rows.key = map.key;
    rows.entries = test::map_entries({{key("a", 1), {2}}, {key("b", 1), {1}}});
    trends.add("report", map, rows);
    // Other stacks, with as much again.
    rows.entries = test::map_entries({{key("a", 2), {3}}, {key("a", 3), {5}}});
    trends.add("report", map, rows);
    const std::string both = "          :@";
    BOOST_TEST(join(trends.texts("report", map, rows, Plot::ascii), "|") == both + '|' + both);
}

// As wide as the widest of an interval, its texts are of different sizes.
BOOST_AUTO_TEST_CASE(a_row_is_known_by_its_text_however_wide_the_text_is) {
    const MapDeclaration map = map_of(Aggregation::Kind::count);
    Trends trends;
    for (const std::size_t width : {4u, 8u}) {
        ReportRows rows;
        ValueType text;
        text.kind = ValueType::Kind::text;
        text.bytes = width;
        rows.key.add("comm", text);
        rows.entries =
            test::map_entries({{test::LayoutBytes(rows.key).text("comm", "a").bytes(), {4}}});
        trends.add("report", map, rows);
        if (width == 8)
            BOOST_TEST(join(trends.texts("report", map, rows, Plot::ascii), "|") == "          @@");
    }
}

BOOST_AUTO_TEST_CASE(data_has_a_trend_where_it_is_one_number) {
    MapDeclaration map = map_of(Aggregation::Kind::none);
    const auto texts = [&] {
        Trends trends;
        ReportRows rows = rows_with({{1, 0}});
        rows.entries.values(0) = {{std::byte(8), std::byte(9)}};
        trends.add("report", map, rows);
        return join(trends.texts("report", map, rows, Plot::ascii), "|");
    };
    BOOST_TEST(texts() == "");
    map.value.add("value", integer_value(1));
    BOOST_TEST(texts() == "           @");
    map.value.add("other", integer_value(1));
    BOOST_TEST(texts() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
