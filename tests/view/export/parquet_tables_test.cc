#include "view/export/parquet_tables.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "support/parquet.h"
#include "support/recording.h"
#include "support/ring_pages.h"
#include "support/temp_file.h"

namespace gpufs {

BOOST_AUTO_TEST_SUITE(parquet)

// "foo" is a number in one event and text in another, which also has a "foo_text".
BOOST_AUTO_TEST_CASE(two_fields_of_one_record_have_two_columns) {
    const test::TempFile file;
    test::write_recording(
        file.path(),
        test::recording_head(
            {test::event_format(7, "number", "\tfield:int foo;\toffset:8;\tsize:4;\tsigned:1;\n"),
             test::event_format(8, "texts",
                                "\tfield:char foo[4];\toffset:8;\tsize:4;\tsigned:1;\n"
                                "\tfield:char foo_text[4];\toffset:12;\tsize:4;\tsigned:1;\n")}),
        test::PageBuilder(100)
            .record(0, {"\7\0\0\0\1\0\0\0\5\0\0\0", 12})
            .record(1, {"\10\0\0\0\1\0\0\0one\0two\0", 16})
            .record(1, {"\10\0\0\0\1\0\0\0six\0ten\0", 16}));
    TraceFile trace(file.path());
    std::string bytes;
    EventTable events(trace, [&](std::string_view piece) { bytes += piece; });
    while (const TraceRecord* record = trace.next()) events.add(*record);
    events.finish();

    const test::ParquetTable table = test::read_parquet(bytes);
    using Values = std::vector<std::optional<std::string>>;
    const std::optional<std::string> none;
    BOOST_TEST(table.rows == 3u);
    BOOST_TEST((table["arg_foo"] == Values{"5", none, none}));
    BOOST_TEST((table["arg_foo_text"] == Values{none, "one", "six"}));
    BOOST_TEST((table["arg_foo_text_text"] == Values{none, "two", "ten"}));
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_not_exact_has_bounds) {
    const test::TempFile file;
    const std::string record("\7\0\0\0\1\0\0\0", 8);
    test::write_recording(file.path(), test::recording_head({test::event_format(7, "tick")}),
                          test::PageBuilder(100).record(0, record));
    TraceFile trace(file.path());
    std::string bytes;
    EventTable events(trace, [&](std::string_view piece) { bytes += piece; });
    for (const Loss& lost :
         {Loss(), Loss::exactly(5), Loss::at_least(1), Loss::at_most(9), Loss{2, 4}})
        events.add({100, 0, lost, test::as_record(record)});
    events.finish();

    const test::ParquetTable table = test::read_parquet(bytes);
    using Values = std::vector<std::optional<std::string>>;
    const std::optional<std::string> none;
    BOOST_TEST((table["lost"] == Values{none, "5", "1", "0", "2"}));
    BOOST_TEST((table["lost_most"] == Values{none, "5", none, "9", "4"}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
