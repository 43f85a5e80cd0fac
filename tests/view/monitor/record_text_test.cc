#include "view/monitor/record_text.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "support/layout_bytes.h"

namespace gpufs {
namespace {

using test::declared;
using test::LayoutBytes;

BOOST_AUTO_TEST_SUITE(record_text)

BOOST_AUTO_TEST_CASE(members_lie_in_columns_below_their_names) {
    const Program program = declared(
        ".record opened \"OPEN\" { pid pid, comm str16, size u64 bytes, us u32 us, file str64 }");
    const RecordLayout& layout = program.records[0];
    ValueWriter values;
    RecordText text(program, values);
    std::string out;
    const auto show = [&](std::uint32_t pid, std::string_view comm, std::string_view file) {
        text.columns(out, layout,
                     LayoutBytes(layout.layout)
                         .set("pid", pid)
                         .text("comm", comm)
                         .set("size", std::uint64_t{4096})
                         .set("us", std::uint32_t{12})
                         .text("file", file)
                         .bytes());
    };
    show(21300, "cat", "/etc/hostname");
    show(7, "a-longer-name-1", "/x");
    BOOST_TEST(out ==
               "         PID  COMM              SIZE(bytes)        US  FILE\n"
               "OPEN   21300  cat                      4096        12  /etc/hostname\n"
               "OPEN       7  a-longer-name-1          4096        12  /x\n");
}

BOOST_AUTO_TEST_CASE(a_value_wider_than_its_column_stays_whole) {
    const Program program = declared(".record r { n u8, s s64 }");
    ValueWriter values;
    RecordText text(program, values);
    std::string out;
    text.columns(out, program.records[0],
                 LayoutBytes(program.records[0].layout)
                     .set("n", std::uint8_t{255})
                     .set("s", std::int64_t{-9'000'000'000'000'000'000})
                     .bytes());
    BOOST_TEST(out ==
               "  N             S\n"
               "255  -9000000000000000000\n");
}

BOOST_AUTO_TEST_CASE(each_of_several_layouts_has_its_names_once_and_its_own_in_front) {
    const Program program = declared(".record a { x u8 }\n.record b \"BEE\" { y u8 }");
    ValueWriter values;
    RecordText text(program, values);
    std::string out;
    const std::byte bytes[8] = {};
    for (int i = 0; i < 2; ++i)
        for (const RecordLayout& layout : program.records)
            text.columns(out, layout, std::span(bytes).first(layout.layout.bytes));
    BOOST_TEST(out ==
               "    X\n"
               "a   0\n"
               "      Y\n"
               "BEE   0\n"
               "a   0\n"
               "BEE   0\n");
}

BOOST_AUTO_TEST_CASE(a_terminal_gets_the_names_each_screenful_and_lines_that_fit) {
    const Program program = declared(".record r { comm str8, file str64 }");
    const RecordLayout& layout = program.records[0];
    ValueWriter values;
    RecordText text(program, values);
    text.set_screen({20, 3});
    std::string out;
    const auto bytes = LayoutBytes(layout.layout)
                           .text("comm", "me")
                           .text("file", "/data/\xc3\xa4rger/x/y/z")
                           .bytes();
    for (int i = 0; i < 3; ++i) text.columns(out, layout, bytes);
    BOOST_TEST(out ==
               "COMM     FILE\n"
               "me       /data/\xc3\xa4rger\n"
               "me       /data/\xc3\xa4rger\n"
               "COMM     FILE\n"
               "me       /data/\xc3\xa4rger\n");
}

BOOST_AUTO_TEST_CASE(stacks_stand_below_their_record) {
    const Program program =
        declared(".map s stack_trace max 8\n.record r { k kstack(s), pid pid, u ustack(s) }");
    const RecordLayout& layout = program.records[0];
    ValueWriter values;
    RecordText text(program, values);
    std::string out;
    text.columns(out, layout,
                 LayoutBytes(layout.layout)
                     .set("k", std::int32_t{3})
                     .set("pid", std::uint32_t{9})
                     .set("u", std::int32_t{-17})
                     .bytes());
    BOOST_TEST(out ==
               "    PID\n"
               "      9\n"
               "        [stack 3]\n"
               "        [stack not kept: its place was taken]\n");
    BOOST_TEST(text.stack_collisions() == 1);
}

BOOST_AUTO_TEST_CASE(the_second_stack_of_a_kind_has_its_name_above) {
    const Program program = declared(
        ".map s stack_trace max 8\n.record r { pid pid, k kstack(s), u ustack(s), by ustack(s) }");
    const RecordLayout& layout = program.records[0];
    ValueWriter values;
    RecordText text(program, values);
    std::string out;
    text.columns(out, layout,
                 LayoutBytes(layout.layout)
                     .set("pid", std::uint32_t{9})
                     .set("k", std::int32_t{3})
                     .set("u", std::int32_t{4})
                     .set("by", std::int32_t{5})
                     .bytes());
    BOOST_TEST(out ==
               "    PID\n"
               "      9\n"
               "        [stack 3]\n"
               "        [stack 4]\n"
               "    BY\n"
               "        [stack 5]\n");
}

BOOST_AUTO_TEST_CASE(a_print_action_says_how) {
    const Program program = declared(
        ".record r \"R\" { comm str16, n u32, s s16, t u64, big u64 } then {\n"
        "  print \"{comm:-6}|{comm:6}|{n:x}|{n:6o}|{n:b}|{s}|{s:u}|{s:x}|{t:us}|{big:8bytes} "
        "{{}}\","
        "  print \"{n}\" }");
    const RecordLayout& layout = program.records[0];
    ValueWriter values;
    RecordText text(program, values);
    const auto bytes = LayoutBytes(layout.layout)
                           .text("comm", "cat")
                           .set("n", std::uint32_t{10})
                           .set("s", std::int16_t{-2})
                           .set("t", std::uint64_t{1500})
                           .set("big", std::uint64_t{2048})
                           .bytes();
    std::string out;
    for (const Action& action : layout.actions) text.print(out, layout, action, bytes);
    BOOST_TEST(out ==
               "R cat   |   cat|a|    12|1010|-2|65534|fffe|1.50 ms| 2.0 KiB {}\n"
               "R 10\n");
}

BOOST_AUTO_TEST_CASE(json_has_numbers_as_numbers_beside_their_units) {
    const Program program = declared(".record r \"R\" { comm str16, n u32 us, when time }");
    const RecordLayout& layout = program.records[0];
    ValueNames names;
    names.time = [](std::uint64_t ns) { return cat(ns / 1'000'000'000, ".5"); };
    ValueWriter values(names);
    RecordText text(program, values);
    std::string out;
    text.json(out, layout,
              LayoutBytes(layout.layout)
                  .text("comm", "a\"b")
                  .set("n", std::uint32_t{10})
                  .set("when", std::uint64_t{1'000'000'000})
                  .bytes());
    BOOST_TEST(out ==
               R"({"record":"r","values":{"comm":"a\"b","n":10,"when":1.5},"units":{"n":"us"}})"
               "\n");
}

BOOST_AUTO_TEST_CASE(numbers_that_a_double_does_not_hold_may_be_texts) {
    const Program program = declared(".record r { small s64, large u64, low s64 }");
    ValueWriter values;
    const auto json = [&](LargeNumbers large) {
        RecordText text(program, values, large);
        std::string out;
        text.json(out, program.records[0],
                  LayoutBytes(program.records[0].layout)
                      .set("small", std::int64_t{-1} << 53)
                      .set("large", UINT64_MAX)
                      .set("low", INT64_MIN)
                      .bytes());
        return out;
    };
    BOOST_TEST(json(LargeNumbers::numbers) ==
               R"({"record":"r","values":{"small":-9007199254740992,"large":18446744073709551615,)"
               R"("low":-9223372036854775808}})"
               "\n");
    BOOST_TEST(json(LargeNumbers::texts) ==
               R"({"record":"r","values":{"small":-9007199254740992,)"
               R"("large":"18446744073709551615","low":"-9223372036854775808"}})"
               "\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
