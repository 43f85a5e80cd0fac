#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/kernel_abi.h"
#include "base/text.h"
#include "lang/event/made_format.h"
#include "support/recording.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

namespace ut = boost::unit_test;

// Which events the stacks in a recording belong to, and the functions of their frames.
namespace gpufs {
namespace {

using test::bytes_of;
using test::gpufs;
using test::has;

enum Id : std::uint16_t { kStack = 4, kCall = 7, kTick = 8 };
constexpr unsigned kTask = 0;

std::string record_of(Id id, unsigned flags, int pid) {
    return cat(bytes_of<std::uint16_t>(id), bytes_of(static_cast<std::uint8_t>(flags)), '\0',
               bytes_of(pid));
}

std::string stack_of(unsigned flags, int pid, std::initializer_list<std::uint64_t> frames) {
    std::string bytes = record_of(kStack, flags, pid);
    bytes += bytes_of(static_cast<int>(frames.size())) + bytes_of(0);
    for (const std::uint64_t frame : frames) bytes += bytes_of(frame);
    return bytes;
}

// Of the events clock:call and clock:tick, and of functions that are 0x100 long each.
void write_recording(const test::TempFile& file, const test::PageBuilder& page) {
    trace_dat::Head head = test::recording_head(
        {test::event_format(kCall, "call"), test::event_format(kTick, "tick")});
    head.ftrace_formats = {kernel_stack_format(kStack)};
    head.kallsyms =
        "ffffffff81000000 T entry\n"
        "ffffffff81000100 T call\n"
        "ffffffff81000200 T interrupt\n"
        "ffffffff81000300 T tick\n"
        "ffffffff81000400 T end\n";
    test::write_recording(file.path(), std::move(head), page);
}

constexpr std::uint64_t kInEntry = 0xffffffff81000010, kInCall = 0xffffffff81000110,
                        kInInterrupt = 0xffffffff81000210, kInTick = 0xffffffff81000310,
                        kBeginOfTick = 0xffffffff81000300;

// A tick interrupts a call before its stack is taken.
test::PageBuilder interrupted() {
    return test::PageBuilder(1000)
        .record(0, record_of(kCall, kTask, 7))
        .record(10, record_of(kTick, kTraceHardirq, 7))
        .record(10, stack_of(kTraceHardirq, 7, {kInTick, kInInterrupt}))
        .record(10, stack_of(kTask, 7, {kInCall, kInEntry}))
        .record(10, record_of(kCall, kTask, 7))
        .record(10, stack_of(kTask, 7, {kInCall, kInEntry}));
}

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(recorded_stacks, *ut::label("pure"))

BOOST_AUTO_TEST_CASE(a_stack_is_its_events_though_an_interrupt_came_between) {
    const test::TempFile file("");
    write_recording(file, interrupted());
    BOOST_TEST(gpufs({"export", "-i", file.path(), "--folded", "-"}).out ==
               "<...>;entry_[k];call_[k] 2\n"
               "<...>;interrupt_[k];tick_[k] 1\n");
    BOOST_TEST(gpufs({"export", "-i", file.path(), "-e", "clock:call", "--folded", "-"}).out ==
               "<...>;entry_[k];call_[k] 2\n");
    const test::Ended counted = gpufs({"count", "clock:call", "by", "kstack", "-i", file.path()});
    BOOST_TEST(!has(counted.out, "[no stack]"), counted.out);
    BOOST_TEST(counted.err == "0 lost\n");
    const test::Ended ticks = gpufs({"stacks", "clock:tick", "-i", file.path(), "--folded"});
    BOOST_TEST(ticks.out == "7;interrupt;tick 1\n");
}

BOOST_AUTO_TEST_CASE(a_report_has_each_stack_below_its_event) {
    const test::TempFile file("");
    write_recording(file, interrupted());
    const std::string table = gpufs({"report", "-i", file.path(), "--stacks", "--csv"}).out;
    std::vector<std::string> rows;
    for (const std::string_view line : lines_of(table)) {
        std::string row(line);
        for (int cells = 5; cells > 0; --cells) row.erase(0, row.find(',') + 1);
        rows.push_back(row);
    }
    const std::vector<std::string> expected{"event,fields",
                                            "clock:call,",
                                            "ftrace:kernel_stack,stack=call;entry",
                                            "clock:tick,",
                                            "ftrace:kernel_stack,stack=tick;interrupt",
                                            "clock:call,",
                                            "ftrace:kernel_stack,stack=call;entry"};
    BOOST_TEST(rows == expected, boost::test_tools::per_element());
}

// A call that never returns is the last that its function does.
BOOST_AUTO_TEST_CASE(a_frame_that_is_not_returned_to_is_of_its_caller) {
    const test::TempFile file("");
    write_recording(file,
                    test::PageBuilder(1000)
                        .record(0, record_of(kCall, kTask, 7))
                        .record(10, stack_of(kTask, 7, {kBeginOfTick, kBeginOfTick, kInEntry})));
    BOOST_TEST(gpufs({"export", "-i", file.path(), "--folded", "-"}).out ==
               "<...>;entry_[k];interrupt_[k];tick_[k] 1\n");
    BOOST_TEST(has(gpufs({"report", "-i", file.path(), "--json"}).out,
                   R"("stack":["tick","interrupt","entry"])"));
    BOOST_TEST(
        has(gpufs({"report", "-i", file.path(), "--csv"}).out, "stack=tick;interrupt;entry"));
    BOOST_TEST(gpufs({"stacks", "clock:call", "-i", file.path(), "--folded"}).out ==
               "7;entry;interrupt;tick 1\n");
}

BOOST_AUTO_TEST_CASE(a_stack_of_no_event_is_told) {
    const test::TempFile file("");
    write_recording(file, test::PageBuilder(1000)
                              .record(0, stack_of(kTask, 7, {kInCall}))
                              .record(10, record_of(kCall, kTask, 7))
                              .record(10, stack_of(kTask, 8, {kInCall})));
    const std::string told = "2 stacks belong to no event that is recorded\n";
    const test::Ended exported = gpufs({"export", "-i", file.path(), "--folded", "-"});
    BOOST_TEST(exported.out == "");
    BOOST_TEST(has(exported.err, told), exported.err);
    const test::Ended counted = gpufs({"count", "clock:call", "by", "kstack", "-i", file.path()});
    BOOST_TEST(has(counted.err, told), counted.err);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
