#include "view/monitor/value_text.h"

#include <fcntl.h>
#include <sys/syscall.h>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/text.h"
#include "support/layout_bytes.h"

namespace gpufs {
namespace {

using test::declared;
using test::LayoutBytes;

// The values of the first record, "member=value", a space between them.
std::string as_text(ValueWriter& values, const Layout& layout,
                    const std::vector<std::byte>& bytes) {
    std::vector<std::string> words;
    for (const ValuePlan& plan : plan_values(layout, "id")) {
        std::string text;
        values.text(text, plan, bytes);
        words.push_back(cat(plan.name, '=', text));
    }
    return join(words, " ");
}

std::string as_json(ValueWriter& values, const Layout& layout,
                    const std::vector<std::byte>& bytes) {
    std::vector<std::string> words;
    for (const ValuePlan& plan : plan_values(layout, "id")) {
        std::string text;
        values.json(text, plan, bytes);
        words.push_back(std::move(text));
    }
    return join(words, ",");
}

BOOST_AUTO_TEST_SUITE(value_text)

BOOST_AUTO_TEST_CASE(flags_of_open_are_shown_by_their_names) {
    const Program program = declared(".record r { how openflags }");
    const Layout& layout = program.records[0].layout;
    const auto bytes =
        LayoutBytes(layout).set("how", std::uint32_t{O_WRONLY | O_CREAT | O_EXCL}).bytes();
    ValueWriter values;
    BOOST_TEST(as_text(values, layout, bytes) == "how=O_WRONLY|O_CREAT|O_EXCL");
    BOOST_TEST(as_json(values, layout, bytes) == "\"O_WRONLY|O_CREAT|O_EXCL\"");
}

BOOST_AUTO_TEST_CASE(values_are_shown_by_their_types) {
    const Program program =
        declared(".record r { comm str8, small s16, big u64, address ksym, raw bytes3 }");
    const Layout& layout = program.records[0].layout;
    const auto bytes = LayoutBytes(layout)
                           .text("comm", "\\a\"\n")
                           .set("small", std::int16_t{-2})
                           .set("big", ~std::uint64_t{0})
                           .set("address", std::uint64_t{0xffff8000})
                           .set("raw", std::uint8_t{0xab})
                           .bytes();
    ValueWriter values;
    BOOST_TEST(as_text(values, layout, bytes) ==
               "comm=\\a\"\\n small=-2 big=18446744073709551615 address=0xffff8000 raw=ab0000");
    BOOST_TEST(as_json(values, layout, bytes) ==
               "\"\\\\a\\\"\\n\",-2,18446744073709551615,\"0xffff8000\",\"ab0000\"");
}

BOOST_AUTO_TEST_CASE(flags_are_shown_by_their_names_and_the_rest_as_a_number) {
    Program program = declared(".record r { mode u32 }");
    Layout& layout = program.records[0].layout;
    for (Member& member : layout.members)
        if (member.name == "mode")
            member.type.flags = {{3, 0, "READ"}, {3, 1, "WRITE"}, {12, 12, "BOTH"}, {4, 4, "ONE"}};
    ValueWriter values;
    const auto shown = [&](std::uint32_t mode) {
        return as_text(values, layout, LayoutBytes(layout).set("mode", mode).bytes());
    };
    BOOST_TEST(shown(0) == "mode=READ");
    BOOST_TEST(shown(1) == "mode=WRITE");
    BOOST_TEST(shown(13) == "mode=WRITE|BOTH");
    BOOST_TEST(shown(0x80000004) == "mode=READ|ONE|0x80000000");
    BOOST_TEST(shown(2) == "mode=0x2");
    BOOST_TEST(as_json(values, layout, LayoutBytes(layout).set("mode", 5u).bytes()) ==
               "\"WRITE|ONE\"");
}

BOOST_AUTO_TEST_CASE(numbers_are_shown_as_the_names_they_stand_for) {
    const Program program = declared(
        ".enum vec { 1 TIMER }\n"
        ".enum class hex { 1 TIMER }\n"
        ".record r { pid pid, call syscall, error errno, back errno, sig signal, rt signal,\n"
        "            disk dev, v4 ip, v6 ip, soft u32 vec, other u32 vec,\n"
        "            known u32 class, unknown s32 class, msi irq, legacy irq }");
    const Layout& layout = program.records[0].layout;
    const unsigned char kMapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
    const unsigned char kOne[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    const auto as_chars = [](const unsigned char(&address)[16]) {
        return std::string_view(reinterpret_cast<const char*>(address), sizeof address);
    };
    const auto bytes = LayoutBytes(layout)
                           .set("pid", std::uint32_t{42})
                           .set("call", std::int32_t{SYS_openat})
                           .set("error", std::int32_t{2})
                           .set("back", std::int32_t{-13})
                           .set("sig", std::int32_t{9})
                           .set("rt", std::int32_t{34})
                           .set("disk", std::uint32_t{(4000u << 20) | 3})
                           .text("v4", as_chars(kMapped))
                           .text("v6", as_chars(kOne))
                           .set("soft", std::uint32_t{1})
                           .set("other", std::uint32_t{2})
                           .set("known", std::uint32_t{1})
                           .set("unknown", std::int32_t{-2})
                           .set("msi", std::uint32_t{126})
                           .set("legacy", std::uint32_t{9})
                           .bytes();
    ValueNames names;
    names.interrupt = [](std::uint32_t irq) { return irq == 126 ? "0000:3b:00.0" : ""; };
    ValueWriter values(names);
    BOOST_TEST(as_text(values, layout, bytes) ==
               "pid=42 call=openat error=ENOENT back=EACCES sig=SIGKILL rt=SIGRTMIN+2 disk=4000:3 "
               "v4=127.0.0.1 v6=::1 soft=TIMER other=2 known=TIMER unknown=0xfffffffe "
               "msi=126 0000:3b:00.0 legacy=9");
    BOOST_TEST(
        as_json(values, layout, bytes) ==
        "42,\"openat\",\"ENOENT\",\"EACCES\",\"SIGKILL\",\"SIGRTMIN+2\",\"4000:3\","
        "\"127.0.0.1\",\"::1\",\"TIMER\",2,\"TIMER\",\"0xfffffffe\",\"126 0000:3b:00.0\",\"9\"");
}

BOOST_AUTO_TEST_CASE(addresses_and_stacks_have_the_names_that_are_given) {
    const Program program = declared(
        ".map stacks stack_trace max 8\n"
        ".record r { at ksym, pid pid, in usym, k kstack(stacks), u ustack(stacks),\n"
        "            none kstack(stacks), taken kstack(stacks) }");
    const Layout& layout = program.records[0].layout;
    const auto bytes = LayoutBytes(layout)
                           .set("at", std::uint64_t{0x10})
                           .set("pid", std::uint32_t{42})
                           .set("in", std::uint64_t{0x20})
                           .set("k", std::int32_t{3})
                           .set("u", std::int32_t{4})
                           .set("none", std::int32_t{-14})
                           .set("taken", std::int32_t{-17})
                           .bytes();
    ValueNames names;
    names.kernel = [](std::uint64_t at, ValueNames::Place) { return cat("k", at); };
    names.user = [](std::uint32_t pid, std::uint64_t at, ValueNames::Place) {
        return cat("u", at, " of ", pid);
    };
    names.frames = [](std::string_view map, std::int32_t id) {
        BOOST_TEST(map == "stacks");
        return std::vector<std::uint64_t>{static_cast<std::uint64_t>(id), 1};
    };
    ValueWriter values(names);
    BOOST_TEST(as_text(values, layout, bytes) ==
               "at=k16 pid=42 in=u32 of 42 k=\n        k3\n        k1 "
               "u=\n        u4 of 42\n        u1 of 42 none=\n        [no stack] "
               "taken=\n        [stack not kept: its place was taken]");
    BOOST_TEST(as_json(values, layout, bytes) ==
               "\"k16\",42,\"u32 of 42\",[\"k3\",\"k1\"],[\"u4 of 42\",\"u1 of 42\"],"
               "null,null");
}

BOOST_AUTO_TEST_CASE(a_kernel_stack_begins_below_the_functions_of_the_probe) {
    const Program program = declared(
        ".map stacks stack_trace max 8\n"
        ".record r { k kstack(stacks), u ustack(stacks), all kstack(stacks),\n"
        "            full kstack(stacks) }");
    const Layout& layout = program.records[0].layout;
    const auto bytes = LayoutBytes(layout)
                           .set("k", std::int32_t{1})
                           .set("u", std::int32_t{1})
                           .set("all", std::int32_t{2})
                           .set("full", std::int32_t{-7})
                           .bytes();
    ValueNames names;
    names.kernel = [](std::uint64_t at, ValueNames::Place place) {
        return cat(place == ValueNames::Place::inner_frame ? "in" : "out", at);
    };
    names.user = [](std::uint32_t, std::uint64_t at, ValueNames::Place) { return cat("u", at); };
    names.frames = [](std::string_view, std::int32_t id) {
        return id == 1 ? std::vector<std::uint64_t>{100, 101, 5, 102, 6}
                       : std::vector<std::uint64_t>{100, 101};
    };
    const auto shown = [&] {
        ValueWriter values(names);
        return as_json(values, layout, bytes);
    };
    constexpr const char* kFull = "null";
    BOOST_TEST(shown() == cat(R"(["in100","out101","out5","out102","out6"],)",
                              R"(["u100","u101","u5","u102","u6"],["in100","out101"],)", kFull));
    names.is_probe = [](std::uint64_t at, ValueNames::Place) { return at >= 100; };
    // Only on top, and never all of it.
    BOOST_TEST(
        shown() ==
        cat(R"(["out5","out102","out6"],["u100","u101","u5","u102","u6"],["out101"],)", kFull));
}

BOOST_AUTO_TEST_CASE(texts_that_fill_their_bytes_are_counted_as_cut) {
    const Program program = declared(".record r { comm str16, file str32, raw str20 }");
    const Layout& layout = program.records[0].layout;
    const auto bytes = LayoutBytes(layout)
                           .text("comm", "fifteen-letters")
                           .text("file", std::string(31, 'x'))
                           .text("raw", std::string(20, 'y'))
                           .bytes();
    ValueWriter values;
    BOOST_TEST(as_text(values, layout, bytes) ==
               "comm=fifteen-letters file=" + std::string(31, 'x') +
                   " raw=" + std::string(20, 'y'));
    BOOST_TEST(values.cut_texts() == 2);
}

BOOST_AUTO_TEST_CASE(a_number_that_is_written_out_is_one_in_json) {
    const Program program = declared(".record r { rate num8 }");
    const Layout& layout = program.records[0].layout;
    ValueWriter values;
    const auto json = [&](const char* text) {
        const auto bytes = LayoutBytes(layout).text("rate", text).bytes();
        BOOST_TEST(as_text(values, layout, bytes) == cat("rate=", text));
        return as_json(values, layout, bytes);
    };
    BOOST_TEST(json("144.00") == "144.00");
    BOOST_TEST(json(" 60.00") == "60.00");
    BOOST_TEST(json("  0.50") == "0.50");
    BOOST_TEST(json("0") == "0");
    for (const char* none : {"-", "", " ", "1.", ".5", "1.2.3", "007", "1e5", "60 Hz"})
        BOOST_TEST(json(none) == "null", none);
}

BOOST_AUTO_TEST_CASE(quantities_have_units_for_people) {
    BOOST_TEST(quantity_text(12'345, false, "us") == "12.3 ms");
    BOOST_TEST(quantity_text(1'529, false, "us") == "1.52 ms");
    BOOST_TEST(quantity_text(9'999, false, "us") == "9.99 ms");
    BOOST_TEST(quantity_text(10'000, false, "us") == "10.0 ms");
    BOOST_TEST(quantity_text(999, false, "us") == "999 us");
    BOOST_TEST(quantity_text(1'500, false, "ms") == "1.500 s");
    BOOST_TEST(quantity_text(static_cast<std::uint64_t>(-1500), true, "ns") == "-1.50 us");
    BOOST_TEST(quantity_text(1023, false, "bytes") == "1023 B");
    BOOST_TEST(quantity_text(1536, false, "bytes") == "1.5 KiB");
    BOOST_TEST(quantity_text(~std::uint64_t{0}, false, "bytes") == "15.9 EiB");
    BOOST_TEST(quantity_text(3, false, "pages") == "3 pages");
    BOOST_TEST(quantity_text(~std::uint64_t{0}, false, "s") == "18446744073709551615 s");
    BOOST_TEST(quantity_text(7, false, "") == "7");
}

BOOST_AUTO_TEST_CASE(small_means_have_a_decimal_where_they_are_not_whole) {
    Aggregation how;
    how.kind = Aggregation::Kind::avg;
    const auto mean = [&](std::uint64_t count, std::int64_t total, const char* unit = "") {
        return mean_text(how, std::vector<std::uint64_t>{count, static_cast<std::uint64_t>(total)},
                         unit);
    };
    BOOST_TEST(mean(21, 30) == "1.4");
    BOOST_TEST(mean(21, 10) == "0.4");  // 0.476
    BOOST_TEST(mean(21, 1) == "0.0");
    BOOST_TEST(mean(10, 20) == "2");
    BOOST_TEST(mean(10, 999) == "99.9");
    BOOST_TEST(mean(10, 1001) == "100");
    BOOST_TEST(mean(0, 0) == "0");
    BOOST_TEST(mean(7, 5, "us") == "0.7 us");
    BOOST_TEST(mean(10, 99, "ms") == "9.9 ms");
    BOOST_TEST(mean(10, 101, "us") == "10 us");
    BOOST_TEST(mean(2, 3001, "us") == "1.50 ms");
    BOOST_TEST(mean(2, 3, "ns") == "1 ns");
    BOOST_TEST(mean(2, 3, "bytes") == "1 B");
    BOOST_TEST(mean(2, 3, "pages") == "1.5 pages");
    how.is_signed = true;
    BOOST_TEST(mean(3, -1) == "-0.3");
    BOOST_TEST(mean(3, -25, "us") == "-8.3 us");
    BOOST_TEST(mean(1, -5, "us") == "-5 us");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
