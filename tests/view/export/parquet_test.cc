#include "view/export/parquet.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "support/parquet.h"

namespace gpufs {
namespace {

using Type = ParquetWriter::Type;

struct InMemory {
    std::string bytes;
    ParquetWriter::Write write() {
        return [this](std::string_view piece) { bytes += piece; };
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(parquet)

BOOST_AUTO_TEST_CASE(rows_are_read_back_with_their_values_and_without) {
    InMemory file;
    ParquetWriter out(file.write());
    const auto number = out.add_column("number", Type::i64),
               small = out.add_column("small", Type::i32);
    const auto large = out.add_column("large", Type::u64),
               text = out.add_column("text", Type::text);
    out.set(number, -5);
    out.set(large, std::int64_t{-1});
    out.set(text, "one");
    out.end_row();
    out.set(small, 7);
    out.set(text, "two\xff");
    out.end_row();
    out.end_row();
    out.set(text, "one");
    out.end_row();
    out.finish({{"clock", "mono"}});

    const test::ParquetTable table = test::read_parquet(file.bytes);
    BOOST_TEST(table.rows == 4u);
    BOOST_TEST(table.facts.at("clock") == "mono");
    const std::optional<std::string> none;
    BOOST_TEST(
        (table["number"] == std::vector<std::optional<std::string>>{"-5", none, none, none}));
    BOOST_TEST((table["small"] == std::vector<std::optional<std::string>>{none, "7", none, none}));
    BOOST_TEST((table["large"] ==
                std::vector<std::optional<std::string>>{"18446744073709551615", none, none, none}));
    BOOST_TEST((table["text"] ==
                std::vector<std::optional<std::string>>{"one", "two\xef\xbf\xbd", none, "one"}));
}

BOOST_AUTO_TEST_CASE(a_column_that_comes_later_has_nulls_in_the_groups_before) {
    constexpr std::size_t kRows = 300'000;
    InMemory file;
    ParquetWriter out(file.write());
    const auto number = out.add_column("number", Type::i64);
    std::size_t late = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
        out.set(number, static_cast<std::int64_t>(i));
        if (i == kRows - 3) late = out.add_column("late", Type::text);
        if (i >= kRows - 3) out.set(late, cat("row ", i));
        out.end_row();
    }
    out.finish({});
    const test::ParquetTable table = test::read_parquet(file.bytes);
    BOOST_TEST(table.rows == kRows);
    BOOST_TEST(table.groups == 3u);
    for (std::size_t i = 0; i < kRows; ++i) BOOST_REQUIRE(table["number"][i] == std::to_string(i));
    BOOST_TEST(!table["late"][0]);
    BOOST_TEST(!table["late"][kRows - 4]);
    BOOST_TEST(*table["late"][kRows - 1] == cat("row ", kRows - 1));
}

BOOST_AUTO_TEST_CASE(a_group_ends_where_its_texts_become_many) {
    InMemory file;
    ParquetWriter out(file.write());
    const auto text = out.add_column("text", Type::text);
    for (std::size_t i = 0; i < 3000; ++i) {
        out.set(text, cat(i, std::string(1000, 'x')));
        out.end_row();
    }
    out.finish({});
    const test::ParquetTable table = test::read_parquet(file.bytes);
    BOOST_TEST(table.rows == 3000u);
    BOOST_TEST(table.groups == 3u);
    BOOST_TEST(*table["text"][2999] == cat(2999, std::string(1000, 'x')));
}

BOOST_AUTO_TEST_CASE(a_table_without_rows_can_be_read) {
    InMemory file;
    ParquetWriter out(file.write());
    out.add_column("number", Type::i64);
    out.finish({});
    BOOST_TEST(test::read_parquet(file.bytes).rows == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
