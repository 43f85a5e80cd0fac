#include "engine/results/report_rows.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "support/layout_bytes.h"
#include "support/map_entries.h"

namespace gpufs {
namespace {

using test::declared;
using test::LayoutBytes;
using test::map_entries;
using test::own_entries;
using test::OwnEntry;
using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

// The words of a report's rows, in order. `map` is declared as "m", with a report.
std::vector<Words> rows_of(const std::string& map,
                           const std::vector<std::pair<std::int32_t, Words>>& entries) {
    const Program program = declared(map);
    std::vector<OwnEntry> all;
    for (const auto& [key, words] : entries) {
        const Layout& layout = program.maps[0].key;
        LayoutBytes bytes(layout);
        bytes.set(layout.members[0].name, key);
        all.push_back({bytes.bytes(), words});
    }
    std::vector<Words> rows;
    const ReportRows found = report_rows(program.maps[0], program.reports[0], map_entries(all));
    for (OwnEntry& entry : own_entries(found.entries)) rows.push_back(std::move(entry.words));
    return rows;
}

BOOST_AUTO_TEST_SUITE(report_rows_engine)

BOOST_AUTO_TEST_CASE(most_comes_first_and_equal_ones_by_their_key) {
    BOOST_TEST((rows_of(".map m hash key s32, value count, report \"m\"",
                        {{2, {1}}, {-1, {1}}, {3, {9}}}) == std::vector<Words>{{9}, {1}, {1}}));
    BOOST_TEST((rows_of(".map m hash key s32, value sum(s64), report \"m\"",
                        {{1, {kAllBits}}, {2, {0}}, {3, {1}}}) ==
                std::vector<Words>{{1}, {0}, {kAllBits}}));
}

BOOST_AUTO_TEST_CASE(the_least_minimum_comes_first) {
    BOOST_TEST(
        (rows_of(".map m hash key s32, value min(s64), report \"m\"",
                 {{1, {5, 1}}, {2, {kAllBits, 1}}}) == std::vector<Words>{{kAllBits, 1}, {5, 1}}));
}

BOOST_AUTO_TEST_CASE(keys_and_indexes_go_up) {
    BOOST_TEST((rows_of(".map m hash key s32, value count, report \"m\" sort key",
                        {{1, {1}}, {-5, {2}}, {300, {3}}}) == std::vector<Words>{{2}, {1}, {3}}));
    BOOST_TEST((rows_of(".map m array value count, max 500, report \"m\"",
                        {{1, {1}}, {300, {3}}, {2, {9}}}) == std::vector<Words>{{1}, {9}, {3}}));
}

BOOST_AUTO_TEST_CASE(texts_of_any_length_are_in_order) {
    const Program program = declared(".map m hash key { name str16 }, value count, report \"m\"");
    const Layout& layout = program.maps[0].key;
    std::vector<OwnEntry> all;
    for (const char* name : {"zz", "threads-b", "threads", "threads-a"})
        all.push_back({LayoutBytes(layout).text("name", name).bytes(), {1}});
    std::string names;
    const ReportRows rows = report_rows(program.maps[0], program.reports[0], map_entries(all));
    for (const MapEntry& entry : rows.entries)
        names += std::string(reinterpret_cast<const char*>(entry.key.data())) + ' ';
    BOOST_TEST(names == "threads threads-a threads-b zz ");
}

BOOST_AUTO_TEST_CASE(statistics_are_sorted_by_the_column_asked_for) {
    const std::vector<std::pair<std::int32_t, Words>> entries = {
        {1, {10, 100, 1, 50}}, {2, {2, 60, 20, 40}}, {3, {1, 90, 90, 90}}};
    const auto first_of = [&](const std::string& sort) {
        return rows_of(".map m hash key s32, value stats, report \"m\"" + sort, entries)[0][0];
    };
    BOOST_TEST(first_of("") == 10u);
    BOOST_TEST(first_of(" sort count") == 10u);
    BOOST_TEST(first_of(" sort avg") == 1u);
    BOOST_TEST(first_of(" sort max") == 1u);
    BOOST_TEST(first_of(" sort min") == 10u);
}

BOOST_AUTO_TEST_CASE(groups_merge_histograms_and_extremes_exactly) {
    const Program program = declared(
        ".map m hash key { a u32, b u32 }, value linear(0, 2, 1), report \"m\" by b\n"
        ".map x hash key { a u32, b u32 }, value max(s64), report \"x\" by b");
    const auto key = [&](std::uint32_t a, std::uint32_t b) {
        return LayoutBytes(program.maps[0].key).set("a", a).set("b", b).bytes();
    };
    const ReportRows histograms =
        report_rows(program.maps[0], program.reports[0],
                    map_entries({{key(1, 7), {3, 2, 0, 1}, {{1, 1, 0, 0, 0}, {2, 2, 2, 1, 1}}},
                                 {key(2, 7), {2, 10, 1, 9}, {{2, 1, 1, 1, 1}, {3, 1, 9, 9, 9}}}}));
    const OwnEntry group = own_entries(histograms.entries).at(0);
    BOOST_TEST(histograms.key.members.size() == 1u);
    BOOST_TEST_REQUIRE(histograms.entries.size() == 1u);
    BOOST_TEST((group.words == Words{5, 12, 0, 9}));
    BOOST_TEST((group.buckets ==
                std::vector<HistogramBucket>{{1, 1, 0, 0, 0}, {2, 3, 3, 1, 1}, {3, 1, 9, 9, 9}}));
    const ReportRows extremes =
        report_rows(program.maps[1], program.reports[1],
                    map_entries({{key(1, 7), {kAllBits, 1}}, {key(2, 7), {kAllBits - 1, 1}}}));
    BOOST_TEST((own_entries(extremes.entries).at(0).words == Words{kAllBits, 1}));
}

// The calls of one function from several places have stacks of their own in the kernel.
BOOST_AUTO_TEST_CASE(stacks_of_one_text_are_one) {
    const Program program = declared(
        ".map s stack_trace max 16\n"
        ".map m hash key { pid u32, at kstack(s) }, value linear(0, 2, 1), report \"m\"");
    const MapDeclaration& map = program.maps[1];
    const auto key = [&](std::uint32_t pid, std::int32_t stack) {
        return LayoutBytes(map.key).set("pid", pid).set("at", stack).bytes();
    };
    const MapEntries entries =
        map_entries({{key(1, 3), {3, 2, 0, 1}, {{1, 1, 0, 0, 0}, {2, 2, 2, 1, 1}}},
                     {key(1, 5), {2, 10, 1, 9}, {{2, 1, 1, 1, 1}, {3, 1, 9, 9, 9}}},
                     {key(2, 5), {1, 1, 1, 1}, {{2, 1, 1, 1, 1}}},
                     {key(1, 8), {1, 1, 1, 1}, {{2, 1, 1, 1, 1}}}});
    const Member& at = *map.key.find("at");
    const auto text = [&](const Member& stack, std::span<const std::byte> of) {
        BOOST_TEST(stack.name == at.name);
        return std::to_integer<int>(of[at.offset]) == 8 ? "other" : "same";
    };
    const auto rows = own_entries(report_rows(map, program.reports[0], entries, text).entries);
    BOOST_TEST_REQUIRE(rows.size() == 3u);
    BOOST_TEST((rows[0].words == Words{5, 12, 0, 9}));
    BOOST_TEST((rows[0].buckets ==
                std::vector<HistogramBucket>{{1, 1, 0, 0, 0}, {2, 3, 3, 1, 1}, {3, 1, 9, 9, 9}}));
    BOOST_TEST(report_rows(map, program.reports[0], entries).entries.size() == 4u);
}

// The first one's addresses name nothing in the other process.
BOOST_AUTO_TEST_CASE(user_stacks_of_one_text_keep_the_addresses_of_their_process) {
    const Program program = declared(
        ".map s stack_trace max 16\n"
        ".map m hash key { pid pid, at ustack(s) }, value count, report \"m\"");
    const MapDeclaration& map = program.maps[1];
    const auto key = [&](std::uint32_t pid, std::int32_t stack) {
        return LayoutBytes(map.key).set("pid", pid).set("at", stack).bytes();
    };
    const MapEntries entries = map_entries(
        {{key(1, 3), {1}, {}}, {key(1, 4), {1}, {}}, {key(2, 5), {1}, {}}, {key(2, 6), {1}, {}}});
    const auto text = [](const Member&, std::span<const std::byte>) { return std::string("main"); };
    const auto rows = own_entries(report_rows(map, program.reports[0], entries, text).entries);
    BOOST_TEST_REQUIRE(rows.size() == 2u);
    BOOST_TEST((rows[0].key == key(1, 3)));
    BOOST_TEST((rows[1].key == key(2, 5)));
    BOOST_TEST((rows[0].words == Words{2}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
