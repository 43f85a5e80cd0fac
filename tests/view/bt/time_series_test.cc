#include "view/bt/time_series.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/text.h"
#include "view/bt/map_text.h"
#include "view/bt/value_samples.h"

namespace gpufs::bt {
namespace {

using namespace test;
using Kind = Type::Kind;

constexpr std::int64_t kMillisecond = 1'000'000;

TypePtr last_of(std::size_t intervals, bool is_signed = true) {
    return time_series_type(integer_type(8, is_signed), intervals, 100 * kMillisecond);
}

std::string graph_of(const TypePtr& type, const EpochValues& values) {
    std::string out;
    append_series(out, *type, series_points(*type, values, values.rbegin()->first, known_names()));
    return out;
}

std::vector<std::string> graph_lines(const TypePtr& type, const EpochValues& values) {
    return split(graph_of(type, values), '\n');
}

std::uint64_t minus(std::uint64_t number) {
    return 0 - number;
}

const std::string kBlank = std::string(51, ' ');

BOOST_AUTO_TEST_SUITE(bt_time_series)

// As bpftrace draws a zigzag from -5 to 5.
BOOST_AUTO_TEST_CASE(a_graph_has_a_line_for_each_interval) {
    const auto lines = graph_lines(last_of(4), {{5, minus(5)}, {6, minus(4)}, {7, 0}, {8, 5}});
    BOOST_REQUIRE(lines.size() == 8U);
    const std::string borders = "             -5" + std::string(50, ' ') + "5";
    BOOST_TEST(lines[0] == borders);
    BOOST_TEST(lines[1] == "hh:mm:ss.ms  |" + std::string(51, '_') + "|");
    BOOST_TEST(lines[2].substr(8) ==
               ".500 *                         .                         | -5");
    BOOST_TEST(lines[3].substr(8) ==
               ".600 |    *                    .                         | -4");
    BOOST_TEST(lines[4].substr(8) ==
               ".700 |                         *                         | 0");
    BOOST_TEST(lines[5].substr(8) ==
               ".800 |                         .                         * 5");
    BOOST_TEST(lines[6] == "             v" + std::string(51, '_') + "v");
    BOOST_TEST(lines[7] == borders);
}

BOOST_AUTO_TEST_CASE(equal_values_are_in_the_middle) {
    const auto lines = graph_lines(last_of(5), {{5, 9}, {6, 9}});
    BOOST_TEST(lines[0] == "             8" + std::string(50, ' ') + "10");
    BOOST_TEST(lines[2].substr(8) ==
               ".500 |                         *                         | 9");
    BOOST_TEST(graph_lines(last_of(5, false), {{5, 0}})[0] ==
               "             0" + std::string(51, ' ') + "1");
}

BOOST_AUTO_TEST_CASE(an_interval_without_a_value_has_a_dash) {
    const auto lines = graph_lines(last_of(5), {{5, 1}, {7, 2}});
    BOOST_TEST(lines[3].substr(8) == ".600 |" + kBlank + "| -");
}

BOOST_AUTO_TEST_CASE(only_as_many_intervals_are_shown_as_the_type_has) {
    const auto lines = graph_lines(last_of(2), {{3, 1}, {5, 2}, {6, 3}});
    BOOST_REQUIRE(lines.size() == 6U);
    BOOST_TEST(lines[2].substr(8, 5) == ".500 ");
}

BOOST_AUTO_TEST_CASE(time_is_as_exact_as_the_interval) {
    const auto head = [](std::int64_t interval_ns) {
        const TypePtr type = time_series_type(integer_type(8, true), 2, interval_ns);
        return graph_lines(type, {{5, 1}})[1].substr(0, 20);
    };
    BOOST_TEST(head(5'000'000'000) == "hh:mm:ss |__________");
    BOOST_TEST(head(1'000'000) == "hh:mm:ss.ms  |______");
    BOOST_TEST(head(1'000) == "hh:mm:ss.us     |___");
    BOOST_TEST(head(1) == "hh:mm:ss.ns        |");
}

BOOST_AUTO_TEST_CASE(extremes_of_64_bits_are_drawn) {
    const auto least = std::uint64_t{1} << 63, most = least - 1;
    const auto lines = graph_lines(last_of(2), {{5, least}, {6, most}});
    BOOST_TEST(
        lines[2].ends_with(".500 *                         .                         | "
                           "-9223372036854775808"));
    BOOST_TEST(graph_lines(last_of(2), {{5, most}})[0].ends_with("9223372036854775807"));
}

BOOST_AUTO_TEST_CASE(a_map_gathers_its_epochs_and_orders_keys_by_the_last) {
    ScriptMap map;
    map.name = "a";
    map.key = string_type(4);
    map.value = last_of(3);
    // The slot is aligned to 8 bytes.
    const auto key_of = [](const char* text, std::uint32_t slot) {
        return Sample().text(text, 4).add(std::uint32_t{0}).add(slot).bytes();
    };
    const std::vector<ByteVector> bytes = {
        key_of("new", 0), bytes_of(std::uint64_t{6}, std::int64_t{2}),
        key_of("old", 2), bytes_of(std::uint64_t{5}, std::int64_t{-1}),
        key_of("old", 0), bytes_of(std::uint64_t{3}, std::int64_t{7}),
        key_of("old", 1), bytes_of(std::uint64_t{0}, std::int64_t{0}),
    };
    std::vector<MapElement> elements;
    for (std::size_t i = 0; i < bytes.size(); i += 2) elements.push_back({bytes[i], bytes[i + 1]});
    const ValueWriter writer(known_tables(), known_names());
    std::string json;
    append_map_json(json, map, elements, writer);
    BOOST_TEST(json == R"({"type": "tseries", "data": {"@a": {"old": )"
                       R"([{"interval_start":"1970-01-01 00:05:00.500000000","value":-1}], )"
                       R"("new": [{"interval_start":"1970-01-01 00:05:00.600000000",)"
                       R"("value":2}]}}})"
                       "\n");
    std::string text;
    append_map(text, map, elements, writer);
    BOOST_TEST(text.starts_with("@a[old]:\n             -2 "));
    BOOST_TEST(text.ends_with(" 3\n\n"));
}

BOOST_AUTO_TEST_CASE(what_was_set_to_zero_has_no_data) {
    ScriptMap map;
    map.name = "a";
    map.value = last_of(3);
    const ByteVector key(16), value(16);
    const MapElement element{key, value};
    const ValueWriter writer(known_tables(), known_names());
    std::string text, json;
    append_map(text, map, {&element, 1}, writer);
    append_map_json(json, map, {&element, 1}, writer);
    BOOST_TEST(text == "@a:\n<no data>\n\n");
    BOOST_TEST(json == R"({"type": "tseries", "data": {"@a": []}})"
                       "\n");
}

BOOST_AUTO_TEST_CASE(averages_are_those_of_each_interval) {
    ScriptMap map;
    map.value = time_series_type(aggregation(Kind::avg, true), 3, 100 * kMillisecond);
    const ByteVector key(16);
    const ByteVector value = bytes_of(std::uint64_t{5}, std::uint64_t{4}, std::int64_t{-10});
    const MapElement element{key, value};
    std::string json;
    append_map_json(json, map, {&element, 1}, {known_tables(), known_names()});
    BOOST_TEST(json == R"({"type": "tseries", "data": {"@": )"
                       R"([{"interval_start":"1970-01-01 00:05:00.500000000","value":-2}]}})"
                       "\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
