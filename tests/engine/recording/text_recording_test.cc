#include "engine/recording/text_recording.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/recording/file.h"
#include "support/temp_file.h"
#include "view/trace/kernel_text.h"

namespace gpufs {
namespace {

const std::string kDatFolder = "tests/data/trace_dat/";

// The records as the kernel's file `trace` has them.
std::string kernel_text_of(TraceFile& file) {
    KernelText text(file.context());
    std::string out;
    while (const TraceRecord* record = file.next()) text.print(*record, out);
    return out;
}

// The same with the heading that tells what it is.
std::string as_trace_file(const std::string& text) {
    return "# tracer: nop\n#\n" + text;
}

std::vector<std::string> texts_of_field(TraceFile& file, std::string_view event_name,
                                        std::string_view field_name) {
    std::vector<std::string> values;
    while (const TraceRecord* record = file.next()) {
        const TraceEvent* const event = file.context().events.find(record->id());
        if (!event || event->format.full_name() != event_name) continue;
        const Field* const field = event->format.find(field_name);
        BOOST_REQUIRE(field);
        values.push_back(field->holds_text() ? std::string(text_of(*field, record->bytes))
                                             : cat(integer_of(*field, record->bytes)));
    }
    return values;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(text_recording)

BOOST_DATA_TEST_CASE(a_text_of_the_kernel_is_read_back_to_the_same_text,
                     boost::unit_test::data::make({"drm-6.12", "drm-6.17", "fence-6.12",
                                                   "vblank-6.12", "why-6.12", "amdgpu-6.12",
                                                   "xe-6.12", "i915-6.1"}),
                     name) {
    TraceFile recorded(cat(kDatFolder, name, ".dat"));
    const std::string text = kernel_text_of(recorded);
    BOOST_REQUIRE(!text.empty());
    const test::TempFile copy(as_trace_file(text));
    TraceFile file(copy.path());
    BOOST_TEST(file.facts().format == "text");
    const std::string again = kernel_text_of(file);
    BOOST_TEST(lines_of(again) == lines_of(text), boost::test_tools::per_element());
    BOOST_TEST(file.damage() == std::vector<std::string>(), boost::test_tools::per_element());
}

struct FieldOf {
    const char *recording, *event, *field;
};
std::ostream& operator<<(std::ostream& out, const FieldOf& of) {
    return out << of.recording << ' ' << of.event << ' ' << of.field;
}
const FieldOf kFields[] = {
    {"sched-6.18", "sched:sched_switch", "prev_prio"},
    {"sched-6.18", "sched:sched_switch", "next_comm"},
    {"sched-6.18", "sched:sched_wakeup", "target_cpu"},
    {"sched-6.18", "sched:sched_process_exec", "filename"},
    {"gpu-6.12", "sched:sched_switch", "prev_pid"},
    {"gpu-6.12", "dma_fence:dma_fence_signaled", "seqno"},
};
BOOST_DATA_TEST_CASE(a_text_of_trace_cmd_has_the_values_of_its_recording,
                     boost::unit_test::data::make(kFields), of) {
    TraceFile recorded(cat(kDatFolder, of.recording, ".dat"));
    TraceFile file(cat(kDatFolder, of.recording, ".txt"));
    const auto expected = texts_of_field(recorded, of.event, of.field);
    BOOST_TEST(expected.size() > 0u);
    BOOST_TEST(texts_of_field(file, of.event, of.field) == expected,
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_event_that_nobody_knows_has_the_fields_that_its_text_names) {
    const test::TempFile text(
        "# tracer: nop\n#\n# entries-in-buffer/entries-written: 2/12   #P:4\n#\n"
        "     Web Content-5217    [001] d..2.   220.941431: my_event: name=a b c size=0x20 "
        "(left=-3)\n"
        "            cat-52      [003] .....   220.941500: my_event: name=d size=0x21 (left=4) "
        "done\n");
    TraceFile file(text.path());
    BOOST_TEST(file.cpus().size() == 4u);
    const TraceRecord* record = file.next();
    BOOST_REQUIRE(record);
    BOOST_TEST(record->timestamp == 220'941'431'000u);
    BOOST_TEST(record->cpu == 1);
    BOOST_TEST(record->lost_before.least == 10u);
    BOOST_TEST(file.context().tasks.comm(5217) == "Web Content");
    const TraceEvent* const event = file.context().events.find("text:my_event");
    BOOST_REQUIRE(event);
    const auto number = [&](const char* field) {
        return static_cast<std::int64_t>(integer_of(*event->format.find(field), record->bytes));
    };
    BOOST_TEST(text_of(*event->format.find("name"), record->bytes) == "a b c");
    BOOST_TEST(number("size") == 32);
    BOOST_TEST(number("left") == -3);
    BOOST_TEST(text_of(*event->format.find("text"), record->bytes) ==
               "name=a b c size=0x20 (left=-3)");
    BOOST_REQUIRE(file.next());
    BOOST_TEST(!file.next());
    BOOST_TEST(file.notes() ==
                   std::vector<std::string>{"a text has no formats of events: the fields of "
                                            "my_event are what stands as name=value in its lines"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(all_letters_of_rescheduling_are_read) {
    std::string lines;
    for (const char letter : {'.', 'n', 'l', 'b', 'p', 'N', 'L', 'B'})
        lines += cat("             cat-52      [003] d", letter,
                     "h2.   220.941500: sched_waking: comm=x pid=1 prio=120 target_cpu=000\n");
    const test::TempFile text(as_trace_file(lines));
    TraceFile file(text.path());
    BOOST_TEST(lines_of(kernel_text_of(file)) == lines_of(lines), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(records_do_not_go_back_in_time) {
    const test::TempFile text(
        "            cat-52      [003] .....   220.941500: my_event: n=1\n"
        "            cat-52      [003] .....   220.941400: my_event: n=2\n"
        "            cat-52      [002] .....   220.941300: my_event: n=3\n"
        "            cat-52      [003] .....   220.941600: my_event: n=4\n");
    TraceFile file(text.path());
    for (int pass = 0; pass < 2; ++pass) {
        std::vector<std::uint64_t> times;
        while (const TraceRecord* record = file.next()) times.push_back(record->timestamp);
        const std::vector<std::uint64_t> expected{220'941'500'000, 220'941'500'000, 220'941'500'000,
                                                  220'941'600'000};
        BOOST_TEST(times == expected, boost::test_tools::per_element());
        BOOST_TEST(file.damage() ==
                       std::vector<std::string>{"line 2: it is earlier than a line above, as are 1 "
                                                "more lines, whose time it gets"},
                   boost::test_tools::per_element());
        file.rewind();
    }
}

BOOST_AUTO_TEST_CASE(lines_that_are_no_records_are_told) {
    const test::TempFile text(
        "            cat-52      [003] .....   220.941500: sched_waking: comm=x pid=1 prio=120 "
        "target_cpu=000\n"
        "what is this\n"
        "CPU:3 [LOST 7 EVENTS]\n"
        "            cat-52      [003] .....   220.941501: sched_waking: comm=y pid=1 prio=120 "
        "target_cpu=000\n"
        "and this\n"
        "CPU:3 [LOST 9 EVENTS]\n"
        "CPU:2 [LOST EVENTS]\n"
        "            cat-52      [003] .....   220.941502: sched_waking: comm=y pi");
    TraceFile file(text.path());
    BOOST_REQUIRE(file.next());
    const TraceRecord* second = file.next();
    BOOST_REQUIRE(second);
    BOOST_TEST(second->lost_before.least == 7u);
    BOOST_TEST(!file.next());
    const std::vector<std::string> expected{"CPU 2: 1 or more records behind its last one are lost",
                                            "CPU 3: 9 records behind its last one are lost",
                                            "line 2: it is no record, nor are 1 more lines",
                                            "line 8: its event cannot be read"};
    BOOST_TEST(file.damage() == expected, boost::test_tools::per_element());
    // What was lost on a CPU that is not asked for is not missing.
    file.rewind({2});
    BOOST_TEST(!file.next());
    BOOST_TEST(file.damage() == std::vector<std::string>({expected[0], expected[2]}),
               boost::test_tools::per_element());
}

// Programs have a copy of each per-CPU value for each of them.
BOOST_AUTO_TEST_CASE(the_cpu_of_a_line_that_is_cut_is_one_of_the_recordings) {
    const std::string line = "220.941500: sched_waking: comm=x pid=1 prio=120 target_cpu=000";
    const test::TempFile text(cat("            cat-52      [000] .....   ", line,
                                  "\n            cat-53      [005] .....   ", line));
    TraceFile file(text.path());
    BOOST_TEST(file.facts().cpus == 6u);
    BOOST_TEST(file.cpus().back() == 5);
    BOOST_REQUIRE(file.next());
    const TraceRecord* const last = file.next();
    BOOST_REQUIRE(last);
    BOOST_TEST(last->cpu == 5);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
