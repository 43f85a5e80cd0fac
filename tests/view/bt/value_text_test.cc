#include "view/bt/value_text.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "view/bt/value_samples.h"

namespace gpufs::bt {
namespace {

using namespace test;
using Kind = Type::Kind;

ValueWriter writer() {
    return ValueWriter(known_tables(), known_names());
}

std::string as_text(const TypePtr& type, Bytes bytes, std::uint64_t div = 1) {
    std::string out;
    writer().text(out, *type, bytes, div);
    return out;
}

std::string as_key(const TypePtr& type, Bytes bytes) {
    std::string out;
    writer().key(out, *type, bytes);
    return out;
}

std::string as_json(const TypePtr& type, Bytes bytes, std::uint64_t div = 1) {
    std::string out;
    writer().json(out, *type, bytes, div);
    return out;
}

std::string as_json_key(const TypePtr& type, Bytes bytes) {
    std::string out;
    writer().json_key(out, *type, bytes);
    return out;
}

const TypePtr kNumberType = integer_type(8, true), kUint64 = integer_type(8, false);

BOOST_AUTO_TEST_SUITE(bt_value_text)

BOOST_AUTO_TEST_CASE(each_type_has_its_text_and_its_json) {
    const std::uint64_t top = ~std::uint64_t{0};
    const TypePtr signed_sum = aggregation(Kind::sum, true);
    const struct {
        TypePtr type;
        ByteVector bytes;
        const char *text, *json;
    } cases[] = {
        {none_type(), {}, "null", "null"},
        {kNumberType, bytes_of(top), "-1", "-1"},
        {kUint64, bytes_of(top), "18446744073709551615", "\"18446744073709551615\""},
        {integer_type(1, true), bytes_of(std::int8_t{-2}), "-2", "-2"},
        {integer_type(2, false), bytes_of(std::uint16_t{65535}), "65535", "65535"},
        {integer_type(4, true), bytes_of(std::int32_t{-70000}), "-70000", "-70000"},
        {boolean_type(), bytes_of(std::uint8_t{1}), "true", "true"},
        {boolean_type(), bytes_of(std::uint8_t{0}), "false", "false"},
        {enumeration(), bytes_of(1U), "GREEN", "1"},
        {enumeration(), bytes_of(~0U), "NONE", "4294967295"},
        {enumeration(), bytes_of(100U), "100", "100"},
        {string_type(8), text_bytes("a \"b\"", 8), "a \"b\"", "\"a \\\"b\\\"\""},
        {string_type(8), text_bytes("a\n\\\x01", 8), "a\n\\\x01", "\"a\\n\\\\\\u0001\""},
        {string_type(3), text_bytes("abc", 3), "abc..", "\"abc..\""},
        {char_array_type(3), text_bytes("abc", 3), "abc", "\"abc\""},
        {string_type(4), text_bytes("abc", 4), "abc", "\"abc\""},
        {buffer_type(4), Sample().add(3U).text("h\n\xff", 4).bytes(), "h\\x0a\\xff",
         "[104,10,255]"},
        {pointer_type(kNumberType, Space::kernel), bytes_of(std::uint64_t{0x32}), "0x32", "50"},
        {array_type(integer_type(4, true), 3), bytes_of(1, -2, 3), "[1,-2,3]", "[1,-2,3]"},
        {array_type(array_type(integer_type(1, true), 2), 2), bytes_of(0x04030201), "[[1,2],[3,4]]",
         "[[1,2],[3,4]]"},
        {point_type(), bytes_of(-7, 0b11111'010U), "{ .x = -7, .low = 2, .high = -1 }",
         R"({"x": -7, "low": 2, "high": -1})"},
        {structure_type("unknown"), {}, "{}", "{}"},
        {kNumberType, bytes_of(std::int64_t{1} << 53), "9007199254740992", "9007199254740992"},
        {kNumberType, bytes_of((std::int64_t{1} << 53) + 1), "9007199254740993",
         "\"9007199254740993\""},
        {kNumberType, bytes_of(-(std::int64_t{1} << 53) - 1), "-9007199254740993",
         "\"-9007199254740993\""},
        {plain_type(Kind::count), bytes_of(std::uint64_t{9}), "9", "9"},
        {signed_sum, bytes_of(std::int64_t{-9}), "-9", "-9"},
    };
    for (const auto& one : cases) {
        BOOST_TEST_CONTEXT(name_of(*one.type)) {
            BOOST_TEST(as_text(one.type, one.bytes) == one.text);
            BOOST_TEST(as_json(one.type, one.bytes) == one.json);
        }
    }
}

BOOST_AUTO_TEST_CASE(what_names_have_is_asked_for) {
    const std::uint64_t second = 1'000'000'000;
    const struct {
        TypePtr type;
        ByteVector bytes;
        const char* text;
    } cases[] = {
        {plain_type(Kind::kernel_symbol), bytes_of(std::uint64_t{0x1005}), "vfs_read"},
        {plain_type(Kind::kernel_symbol), bytes_of(std::uint64_t{0x5}), "0x5"},
        {plain_type(Kind::user_symbol), bytes_of(std::uint64_t{0x2005}, std::uint64_t{7}), "main"},
        {plain_type(Kind::user_symbol), bytes_of(std::uint64_t{1}, std::uint64_t{8}), "0x1"},
        {plain_type(Kind::user_name), bytes_of(std::uint64_t{0}), "root"},
        {plain_type(Kind::task_name), bytes_of(std::uint64_t{7}), "cat"},
        {plain_type(Kind::task_name), bytes_of(std::uint64_t{8}), ""},
        {plain_type(Kind::task_name), bytes_of(std::uint64_t{0}), "swapper"},
        {plain_type(Kind::cgroup_path), bytes_of(std::uint64_t{5}), "unified:/system.slice"},
        {plain_type(Kind::error_name), bytes_of(std::uint64_t{7}), "Argument list too long"},
        {plain_type(Kind::signal_name), bytes_of(std::uint64_t{9}), "Killed"},
        {plain_type(Kind::signal_name), bytes_of(std::uint64_t{0}), "Unknown signal 0"},
        {plain_type(Kind::signal_name), bytes_of(std::uint64_t{35}), "Real-time signal 1"},
        {plain_type(Kind::signal_name), bytes_of(std::uint64_t{1024}), "N/A"},
        {plain_type(Kind::error_name), bytes_of(std::uint64_t{9999}), "Unknown error"},
        {plain_type(Kind::syscall_name), bytes_of(~std::uint64_t{0}), "Unknown syscall"},
        {plain_type(Kind::syscall_name), bytes_of(std::uint64_t{SYS_read}), "read"},
        {plain_type(Kind::probe_name), bytes_of(std::uint64_t{0x77}), "kprobe:vfs_read"},
        {plain_type(Kind::probe_name), bytes_of(std::uint64_t{0x78}), ""},
        {plain_type(Kind::timestamp), bytes_of(second + 1500, 0U, 0U), "101.000001"},
        {plain_type(Kind::timestamp), bytes_of(5 * second, 0U, 2U), "305.000000"},
        {plain_type(Kind::timestamp), bytes_of(second, 9U, 0U), ""},
    };
    for (const auto& one : cases) {
        BOOST_TEST_CONTEXT(name_of(*one.type)) {
            BOOST_TEST(as_text(one.type, one.bytes) == one.text);
            BOOST_TEST(as_json(one.type, one.bytes) == '"' + std::string(one.text) + '"');
        }
    }
}

BOOST_AUTO_TEST_CASE(addresses_of_networks_are_told_as_they_are_written) {
    const auto inet = [](unsigned family, const std::vector<int>& address) {
        Sample sample;
        sample.add(family);
        for (const int byte : address) sample.add(static_cast<std::uint8_t>(byte));
        return as_text(plain_type(Kind::inet), sample.zeros(16 - address.size()));
    };
    BOOST_TEST(inet(AF_INET, {127, 0, 0, 1}) == "127.0.0.1");
    BOOST_TEST(inet(AF_INET6, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}) == "::1");
    BOOST_TEST(inet(0, {1, 2, 3, 4}) == "");
    BOOST_TEST(as_text(plain_type(Kind::mac_address), text_bytes("\x00\xaf\x01\x02\x03\xff", 6)) ==
               "00:00:00:00:00:00");
    const Sample mac = Sample().add(0x0201af00U).add(std::uint16_t{0xff03});
    BOOST_TEST(as_text(plain_type(Kind::mac_address), mac) == "00:AF:01:02:03:FF");
}

BOOST_AUTO_TEST_CASE(a_stack_has_a_line_for_each_frame) {
    const ByteVector id = bytes_of(3, 7);
    BOOST_TEST(as_text(stack(Kind::user_stack), id) ==
               "\n        main+31\n        main+4095@cat.c:7\n        0x10\n");
    BOOST_TEST(as_text(stack(Kind::kernel_stack), id) ==
               "\n        vfs_read+4127\n        vfs_read+8191\n        0x10\n");
    BOOST_TEST(as_text(stack(Kind::user_stack, Type::StackForm::perf), id) ==
               "\n\t201f main+31 (/bin/cat)\n\t2fff main+4095 (/bin/cat)\n\t10 0x10\n");
    BOOST_TEST(as_text(stack(Kind::kernel_stack, Type::StackForm::perf), id) ==
               "\n\t201f vfs_read+4127\n\t2fff vfs_read+8191\n\t10 0x10\n");
    BOOST_TEST(as_text(stack(Kind::kernel_stack, Type::StackForm::raw), id) ==
               "\n201f\n2fff\n10\n");
    BOOST_TEST(as_text(stack(Kind::user_stack, Type::StackForm::build_id), id) ==
               "\n0aff 0x1f\n0aff 0xfff\n10\n");
    BOOST_TEST(as_json(stack(Kind::kernel_stack, Type::StackForm::raw), id) ==
               R"("\n201f\n2fff\n10\n")");
}

BOOST_AUTO_TEST_CASE(a_stack_that_is_missing_is_an_empty_line) {
    BOOST_TEST(as_text(stack(Kind::kernel_stack), bytes_of(-17, 7)) == "\n");
    BOOST_TEST(as_text(stack(Kind::kernel_stack), bytes_of(4, 7)) == "\n");
}

BOOST_AUTO_TEST_CASE(a_stack_shows_no_more_frames_than_its_type_has) {
    Type type = *stack(Kind::kernel_stack);
    type.frames = 1;
    BOOST_TEST(as_text(std::make_shared<const Type>(type), bytes_of(3, 7)) ==
               "\n        vfs_read+4127\n");
}

BOOST_AUTO_TEST_CASE(tuples_keep_their_parentheses_but_as_a_key) {
    const TypePtr inner = pair_of(integer_type(4, true), integer_type(4, true));
    const TypePtr type = tuple_type({{.name = "", .type = kNumberType},
                                     {.name = "", .type = string_type(8)},
                                     {.name = "", .type = inner}});
    const ByteVector bytes =
        fields_of(type, {bytes_of(std::int64_t{1}), text_bytes("a b", 8), bytes_of(2, 3)});
    BOOST_TEST(as_text(type, bytes) == "(1, a b, (2, 3))");
    BOOST_TEST(as_key(type, bytes) == "1, a b, (2, 3)");
    BOOST_TEST(as_json(type, bytes) == R"([1,"a b",[2,3]])");
    BOOST_TEST(as_json_key(type, bytes) == "\"1,a b,(2,3)\"");
    BOOST_TEST(as_text(tuple_type({}), Bytes()) == "()");
    BOOST_TEST(as_key(string_type(4), text_bytes("(a)", 4)) == "(a)");
}

BOOST_AUTO_TEST_CASE(records_are_shown_as_structures) {
    const TypePtr type =
        tuple_type({{.name = "x", .type = kNumberType}, {.name = "y", .type = string_type(8)}});
    const ByteVector bytes = fields_of(type, {bytes_of(std::int64_t{1}), text_bytes("s", 8)});
    BOOST_TEST(as_text(type, bytes) == "{ .x = 1, .y = s }");
    BOOST_TEST(as_key(type, bytes) == "{ .x = 1, .y = s }");
    BOOST_TEST(as_json(type, bytes) == R"({"x": 1, "y": "s"})");
    BOOST_TEST(as_json_key(type, bytes) == R"("{.x=1,.y=s}")");
}

// As lang/program/types.h lays them out.
BOOST_AUTO_TEST_CASE(aggregations_are_read_as_the_kernel_keeps_them) {
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    const auto encoded = [](std::int64_t n) { return static_cast<std::uint64_t>(n) ^ kSign; };
    const std::uint64_t one = 1, three = 3;
    const auto signed_max = aggregation(Kind::max, true), signed_min = aggregation(Kind::min, true);
    BOOST_TEST(as_text(signed_max, bytes_of(encoded(-5), one)) == "-5");
    BOOST_TEST(as_text(signed_min, bytes_of(~encoded(-5), one)) == "-5");
    BOOST_TEST(as_text(plain_type(Kind::max), bytes_of(std::uint64_t{5}, one)) == "5");
    BOOST_TEST(as_text(plain_type(Kind::min), bytes_of(~std::uint64_t{5}, one)) == "5");
    BOOST_TEST(as_text(signed_min, Sample().zeros(16)) == "0");
    const auto avg = aggregation(Kind::avg, true);
    BOOST_TEST(as_text(avg, bytes_of(three, std::int64_t{-10})) == "-3");
    BOOST_TEST(as_text(avg, Sample().zeros(16)) == "0");
    const auto stats = aggregation(Kind::stats, true);
    const Sample sample = Sample().add(three).add(std::int64_t{-10}).zeros(16);
    BOOST_TEST(as_text(stats, sample) == "{ .count = 3, .average = -3, .total = -10 }");
    BOOST_TEST(as_json(stats, sample) == R"({"count": 3, "average": -3, "total": -10})");
    BOOST_TEST(as_text(stats, Sample().zeros(32)) == "{ .count = 0, .average = 0, .total = 0 }");
}

BOOST_AUTO_TEST_CASE(what_is_divided_is_cut_off_towards_zero) {
    BOOST_TEST(as_text(kNumberType, bytes_of(std::int64_t{-7}), 2) == "-3");
    BOOST_TEST(as_text(kUint64, bytes_of(~std::uint64_t{0}), 2) == "9223372036854775807");
    BOOST_TEST(as_text(kNumberType, bytes_of(std::int64_t{7}), 0) == "7");
    BOOST_TEST(as_json(array_type(kNumberType, 2), bytes_of(std::int64_t{10}, std::int64_t{-25}),
                       10) == "[1,-2]");
    const auto stats = aggregation(Kind::stats, true);
    const Sample sample = Sample().add(std::uint64_t{2}).add(std::int64_t{40}).zeros(16);
    BOOST_TEST(as_text(stats, sample, 10) == "{ .count = 2, .average = 2, .total = 40 }");
    BOOST_TEST(as_text(pointer_type(kNumberType, Space::none), bytes_of(std::uint64_t{16}), 2) ==
               "0x10");
}

BOOST_AUTO_TEST_CASE(a_buffer_never_shows_more_than_it_holds) {
    BOOST_TEST(as_text(buffer_type(2), Sample().add(~0U).text("abc", 3)) == "ab");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
