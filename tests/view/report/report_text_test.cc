#include "view/report/report_text.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "support/layout_bytes.h"
#include "support/map_entries.h"
#include "support/run_gpufs.h"
#include "view/report/report_json.h"
#include "view/report/report_stacks.h"

namespace gpufs {
namespace {

using test::declared;
using test::has;
using test::LayoutBytes;
using Words = std::vector<std::uint64_t>;

// A map with what it holds, as its first report says or, without one, whole.
class Reported {
public:
    explicit Reported(const std::string& text)
        : program_(declared(text)), map_(program_.maps.back()) {}

    LayoutBytes key() const { return LayoutBytes(map_.key); }
    Reported& add(const LayoutBytes& key, Words words, std::vector<HistogramBucket> buckets = {}) {
        entries_.push_back({key.bytes(), std::move(words), std::move(buckets)});
        return *this;
    }
    Reported& add_data(const LayoutBytes& key, std::vector<std::vector<std::byte>> values) {
        entries_.push_back({key.bytes(), {}, {}, std::move(values)});
        return *this;
    }
    Reported& during(std::uint64_t ns) {
        during_ns_ = ns;
        return *this;
    }
    const MapDeclaration& map() const { return map_; }
    std::string text(const Screen& screen = {}, std::vector<std::string> trends = {}) {
        return report_text(map_, report(), rows(), values_, screen, trends);
    }
    std::string json() { return report_json(map_, report(), rows(), values_); }
    std::string folded() { return folded_text(map_, rows(), values_); }
    void name(ValueNames names) { values_ = ValueWriter(std::move(names)); }

private:
    Report report() const {
        return program_.reports.empty() ? default_report(map_) : program_.reports[0];
    }
    ReportRows rows() const {
        ReportRows rows = report_rows(map_, report(), test::map_entries(entries_));
        rows.during_ns = during_ns_;
        return rows;
    }

    Program program_;
    const MapDeclaration& map_;
    std::vector<test::OwnEntry> entries_;
    std::uint64_t during_ns_ = 0;
    ValueWriter values_;
};

constexpr std::uint64_t kMinusOne = ~std::uint64_t{0};

BOOST_AUTO_TEST_SUITE(report_text_view)

BOOST_AUTO_TEST_CASE(a_table_has_the_key_to_the_left_and_most_first) {
    Reported calls(".map m hash key { comm str16, pid u32 }, value count, report \"Calls\"");
    calls.add(calls.key().text("comm", "make").set("pid", std::uint32_t{7}), {3})
        .add(calls.key().text("comm", "cc1plus").set("pid", std::uint32_t{12345}), {940});
    BOOST_TEST(calls.text() ==
               "Calls\n"
               "COMM       PID  COUNT\n"
               "cc1plus  12345    940\n"
               "make         7      3\n");
    BOOST_TEST(calls.json() ==
               "{\"map\":\"m\",\"title\":\"Calls\",\"entries\":["
               "{\"key\":{\"comm\":\"cc1plus\",\"pid\":12345},\"count\":940},"
               "{\"key\":{\"comm\":\"make\",\"pid\":7},\"count\":3}]}");
}

BOOST_AUTO_TEST_CASE(lines_end_at_the_edge_of_a_terminal) {
    Reported calls(".map m hash key str16, value count");
    calls.add(calls.key().text("key", "fifteen-letters"), {1});
    BOOST_TEST(calls.text({10, 0}) ==
               "m\n"
               "KEY\n"
               "fifteen-le\n");
}

BOOST_AUTO_TEST_CASE(rows_are_grouped_by_some_members_sorted_and_cut) {
    Reported waits(
        ".map m hash key { comm str8, pid u32 }, value stats(s64) us,\n"
        "       report \"Waits\" by comm sort max top 2");
    const auto key = [&](const char* comm, std::uint32_t pid) {
        return waits.key().text("comm", comm).set("pid", pid);
    };
    waits.add(key("a", 1), {2, 30, 10, 20})
        .add(key("a", 2), {1, kMinusOne - 4, kMinusOne - 4, kMinusOne - 4})
        .add(key("b", 3), {1, 5000, 5000, 5000})
        .add(key("c", 4), {1, 1, 1, 1});
    BOOST_TEST(waits.text() ==
               "Waits\n"
               "COMM  COUNT      SUM      AVG      MIN      MAX\n"
               "b         1  5.00 ms  5.00 ms  5.00 ms  5.00 ms\n"
               "a         3    25 us   8.3 us    -5 us    20 us\n"
               "and 1 more\n");
    BOOST_TEST(waits.json() ==
               "{\"map\":\"m\",\"title\":\"Waits\",\"unit\":\"us\",\"entries\":["
               "{\"key\":{\"comm\":\"b\"},\"count\":1,\"sum\":5000,\"avg\":5000,\"min\":5000,"
               "\"max\":5000},"
               "{\"key\":{\"comm\":\"a\"},\"count\":3,\"sum\":25,\"avg\":8,\"min\":-5,\"max\":20},"
               "{\"key\":{\"comm\":\"c\"},\"count\":1,\"sum\":1,\"avg\":1,\"min\":1,\"max\":1}]}");
}

BOOST_AUTO_TEST_CASE(the_fastest_on_average_is_the_first_of_rates_and_they_have_no_sum) {
    Reported speeds(".map m hash key str8, value rates bytes, report \"Copies\"");
    speeds.add(speeds.key().text("key", "many"), {100, 100 << 20, 1 << 20, 1 << 20})
        .add(speeds.key().text("key", "fast"), {2, 6 << 20, 1 << 20, 5 << 20});
    BOOST_TEST(speeds.text() ==
               "Copies\n"
               "KEY   COUNT        AVG        MIN        MAX\n"
               "fast      2  3.0 MiB/s  1.0 MiB/s  5.0 MiB/s\n"
               "many    100  1.0 MiB/s  1.0 MiB/s  1.0 MiB/s\n");
    BOOST_TEST(speeds.json() ==
               "{\"map\":\"m\",\"title\":\"Copies\",\"unit\":\"bytes/s\",\"entries\":["
               "{\"key\":{\"key\":\"fast\"},\"count\":2,\"avg\":3145728,\"min\":1048576,"
               "\"max\":5242880},"
               "{\"key\":{\"key\":\"many\"},\"count\":100,\"avg\":1048576,\"min\":1048576,"
               "\"max\":1048576}]}");
}

// 3 us, and 99 times 1,040 us: bucket 32 + 5 * 32 is 1,024 to 1,055.
constexpr HistogramBucket kThree{3, 1, 3, 3, 3}, kThousand{192, 99, 99 * 1040, 1030, 1050};

BOOST_AUTO_TEST_CASE(histograms_stand_below_their_key_with_percentiles) {
    Reported waits(".map m hash key { comm str8, cpu u32 }, value log2 us, report \"Waits\"");
    waits.add(waits.key().text("comm", "a").set("cpu", std::uint32_t{1}),
              {100, 3 + 99 * 1040, 3, 1050}, {kThree, kThousand});
    BOOST_TEST(waits.text() ==
               "Waits\n"
               "comm a, cpu 1:\n"
               "us                     count\n"
               "[2, 4)                     1 |" +
                   std::string(52, ' ') +
                   "|\n"
                   "...\n"
                   "[1K, 2K)                  99 |" +
                   std::string(52, '@') +
                   "|\n"
                   "min 3 us, avg 1.02 ms, p50 1.04 ms, p95 1.04 ms, p99 1.04 ms, p99.9 1.05 ms, "
                   "max 1.05 ms\n");
    BOOST_TEST(waits.json() ==
               "{\"map\":\"m\",\"title\":\"Waits\",\"unit\":\"us\",\"entries\":["
               "{\"key\":{\"comm\":\"a\",\"cpu\":1},\"count\":100,\"sum\":102963,\"avg\":1029,"
               "\"min\":3,\"max\":1050,"
               "\"percentiles\":{\"p50\":1040,\"p95\":1040,\"p99\":1040,\"p99.9\":1050},"
               "\"histogram\":["
               "{\"from\":2,\"to\":4,\"count\":1},{\"from\":1024,\"to\":2048,\"count\":99}]}]}");
}

BOOST_AUTO_TEST_CASE(histograms_in_a_table_are_rows_that_any_column_sorts) {
    const auto table = [](const std::string& sort) {
        Reported waits(cat(".map m hash key u32, value log2 us, report \"Waits\" table", sort));
        waits.add(waits.key().set("key", std::uint32_t{1}), {2, 6, 3, 3}, {{3, 2, 6, 3, 3}});
        waits.add(waits.key().set("key", std::uint32_t{2}), {99, 99 * 1040, 1030, 1050},
                  {kThousand});
        return waits.text();
    };
    BOOST_TEST(table("") ==
               "Waits\n"
               "KEY  COUNT      AVG      P50      P95      P99    P99.9      MAX\n"
               "  2     99  1.04 ms  1.04 ms  1.04 ms  1.05 ms  1.05 ms  1.05 ms\n"
               "  1      2     3 us     3 us     3 us     3 us     3 us     3 us\n");
    BOOST_TEST(table(" sort min").find("  1      2") < table(" sort min").find("  2     99"));
    BOOST_TEST(table(" sort max") == table(""));
}

BOOST_AUTO_TEST_CASE(what_has_one_value_needs_no_table) {
    Reported n(".map n array value count, max 1");
    n.add(n.key(), {15});
    BOOST_TEST(n.text() == "n: 15\n");
    Reported s(".map s percpu_array value avg bytes, max 1, report \"Sizes\"");
    s.add(s.key(), {2, 4096});
    BOOST_TEST(s.text() == "Sizes: count 2, avg 2.0 KiB\n");
    Reported none(".map n hash key u32, value count");
    BOOST_TEST(none.text() == "");
    BOOST_TEST(none.json() == "{\"map\":\"n\",\"title\":\"n\",\"entries\":[]}");
}

BOOST_AUTO_TEST_CASE(what_a_known_time_brought_has_a_rate) {
    constexpr std::uint64_t kHalfASecond = 500'000'000;
    Reported n(".map n array value count, max 1");
    n.add(n.key(), {15}).during(kHalfASecond);
    BOOST_TEST(n.text() == "n: 15, 30.0/s\n");
    BOOST_TEST(n.json().ends_with("\"count\":15,\"rate\":30.0}]}"), n.json());
    Reported m(".map m hash key u32, value sum bytes, report \"Sizes\"");
    m.add(m.key().set("key", std::uint32_t{9}), {4096}).during(kHalfASecond);
    BOOST_TEST(m.text() == "Sizes\nKEY      SUM       RATE\n  9  4.0 KiB  8.0 KiB/s\n");
    // A mean does not grow with time.
    Reported s(".map s percpu_array value avg bytes, max 1, report \"Sizes\"");
    s.add(s.key(), {2, 4096}).during(kHalfASecond);
    BOOST_TEST(s.text() == "Sizes: count 2, avg 2.0 KiB\n");
}

BOOST_AUTO_TEST_CASE(data_is_shown_as_it_is_kept_by_cpu) {
    Reported data(".map m percpu_hash key u32, value { n u32, comm str4 }, report \"Last\"");
    const auto value = [&](std::uint32_t n, const char* comm) {
        return LayoutBytes(data.map().value).set("n", n).text("comm", comm).bytes();
    };
    data.add_data(data.key().set("key", std::uint32_t{9}), {value(1, "a"), value(2, "b")});
    data.add_data(data.key().set("key", std::uint32_t{8}), {value(3, "c"), value(4, "d")});
    BOOST_TEST(data.text() ==
               "Last\n"
               "KEY  CPU  N  COMM\n"
               "  8    0  3  c\n"
               "  8    1  4  d\n"
               "  9    0  1  a\n"
               "  9    1  2  b\n");
}

BOOST_AUTO_TEST_CASE(stacks_are_a_tree_or_folded_lines) {
    Reported samples(
        ".map s stack_trace max 8\n"
        ".map m hash key { comm str8, k kstack(s), pid pid, u ustack(s) }, value count,\n"
        "       report \"Samples\" by comm pid k u");
    ValueNames names;
    names.kernel = [](std::uint64_t at, ValueNames::Place) { return cat("k", at); };
    names.user = [](std::uint32_t pid, std::uint64_t at, ValueNames::Place) {
        return cat("u", at, ";", pid);
    };
    names.frames = [](std::string_view, std::int32_t id) {
        const auto n = static_cast<std::uint64_t>(id);
        return std::vector<std::uint64_t>{n, n / 10, 1};
    };
    samples.name(names);
    const auto key = [&](std::int32_t k, std::int32_t u) {
        return samples.key().text("comm", "a").set("k", k).set("pid", std::uint32_t{7}).set("u", u);
    };
    samples.add(key(20, 30), {5})
        .add(key(21, 30), {6})
        .add(key(-14, 30), {2})
        .add(key(-14, -14), {1});
    BOOST_TEST(samples.text() ==
               "Samples\n"
               "COMM  PID  COUNT\n"
               "a       7     14\n"
               "        13  u1;7\n"
               "            u3;7\n"
               "            u30;7\n"
               "        11    k1\n"
               "              k2\n"
               "         6      k21\n"
               "         5      k20\n"
               "         1  [no stack]\n");
    BOOST_TEST(samples.folded() ==
               "a;7;u1:7;u3:7;u30:7;k1;k2;k21 6\n"
               "a;7;u1:7;u3:7;u30:7;k1;k2;k20 5\n"
               "a;7;u1:7;u3:7;u30:7 2\n"
               "a;7;[no stack] 1\n");
}

// The largest one is not hidden by one that has fewer stacks.
BOOST_AUTO_TEST_CASE(rows_of_stacks_are_those_of_all_and_share_the_room_for_them) {
    Reported samples(
        ".map s stack_trace max 8\n"
        ".map m hash key { comm str8, k kstack(s) }, value count,\n"
        "       report \"Samples\" by comm k sort count top 3");
    ValueNames names;
    names.kernel = [](std::uint64_t at, ValueNames::Place) { return cat("k", at); };
    names.frames = [](std::string_view, std::int32_t id) {
        const auto n = static_cast<std::uint64_t>(id);
        return std::vector<std::uint64_t>{n, n / 10, 1};
    };
    samples.name(names);
    const auto add = [&](const char* comm, std::int32_t k, std::uint64_t count) {
        samples.add(samples.key().text("comm", comm).set("k", k), {count});
    };
    for (std::int32_t k = 20; k < 30; ++k) add("big", k, 10);
    add("small", 20, 30);
    add("tiny", 30, 1);
    BOOST_TEST(samples.text() ==
               "Samples\n"
               "COMM   COUNT\n"
               "big      100\n"
               "       100  k1\n"
               "            k2\n"
               "        10    k20\n"
               "        10    k21\n"
               "        80    and 8 more\n"
               "small     30\n"
               "        30  k1\n"
               "            k2\n"
               "            k20\n"
               "and 1 more: 1\n");
}

BOOST_AUTO_TEST_CASE(only_maps_with_stacks_have_folded_lines) {
    Reported calls(".map m hash key str16, value count");
    calls.add(calls.key().text("key", "make"), {3});
    BOOST_TEST(calls.folded() == "");
}

// So many values of `least`, in a bucket of log2.
std::vector<HistogramBucket> one_bucket(std::uint32_t number, std::uint64_t count) {
    return {{number, count, count, 1, 1}};
}

BOOST_AUTO_TEST_CASE(rows_of_percentiles_have_their_shapes_where_the_screen_plots) {
    Reported waits(".map m hash key { comm str16 }, value log2 us, report \"Waits\" table");
    const std::uint32_t each = 1U << Aggregation::kLog2Bits;
    waits.add(waits.key().text("comm", "a"), {8, 8, 1, 1}, one_bucket(1, 8))
        .add(waits.key().text("comm", "b"), {4, 4, 1, 1}, one_bucket(each, 4));
    const std::string text = waits.text({80, 24, Plot::ascii});
    BOOST_TEST(has(text, "COMM  COUNT   AVG   P50   P95   P99  P99.9   MAX  SHAPE\n"), text);
    BOOST_TEST(has(text, "\nSHAPE is from 1 us to "), text);
    // Where there is no room for all, percentiles go.
    BOOST_TEST(
        has(waits.text({44, 24, Plot::ascii}), "COMM  COUNT   AVG   P50   P99   MAX  SHAPE\n"));
}

BOOST_AUTO_TEST_CASE(trends_are_a_last_column) {
    Reported calls(".map m hash key { comm str16, pid u32 }, value count, report \"Calls\"");
    calls.add(calls.key().text("comm", "make").set("pid", std::uint32_t{7}), {3})
        .add(calls.key().text("comm", "cc1").set("pid", std::uint32_t{8}), {940});
    BOOST_TEST(calls.text({}, {" .@", "@@@"}) ==
               "Calls\n"
               "COMM  PID  COUNT  TREND\n"
               "cc1     8    940     .@\n"
               "make    7      3    @@@\n");
    // Where there is no room for all, the older intervals go.
    BOOST_TEST(calls.text({24, 24, Plot::ascii}, {" . .:::::::@", "@:........::"}) ==
               "Calls\n"
               "COMM  PID  COUNT   TREND\n"
               "cc1     8    940  :::::@\n"
               "make    7      3  ....::\n");
    // The begin of a number is none.
    BOOST_TEST(calls.text({13, 24, Plot::ascii}) ==
               "Calls\n"
               "COMM  PID\n"
               "cc1     8\n"
               "make    7\n");
    Reported number(".map n array value count, max 1, report \"All\"");
    number.add(number.key(), {15});
    BOOST_TEST(number.text({}, {".:@"}) == "All: 15  .:@\n");
    Reported data(".map d hash key u32, value u64, report \"Data\"");
    const std::uint64_t five = 5;
    const auto bytes = std::as_bytes(std::span(&five, 1));
    data.add_data(data.key().set("key", std::uint32_t{7}), {{bytes.begin(), bytes.end()}});
    const std::string text = data.text({}, {".:@"});
    BOOST_TEST(has(text, " VALUE  TREND\n"), text);
    BOOST_TEST(has(text, " 5    .:@\n"), text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
