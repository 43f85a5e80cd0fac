#include "view/bt/format_text.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "view/bt/value_samples.h"

namespace gpufs::bt {
namespace {

using namespace test;
using Kind = Type::Kind;

// The format over one record, whose values lie one after the other behind the id.
class Record {
public:
    Record& value(TypePtr type, Bytes bytes) {
        values_.push_back({std::move(type), bytes_.size()});
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return *this;
    }
    Record& number(std::int64_t number) { return value(integer_type(8, true), bytes_of(number)); }
    Record& text(std::string_view text) {
        return value(string_type(text.size() + 1), text_bytes(text, text.size() + 1));
    }
    std::string print(std::string_view format, Controls controls = Controls::escaped) const {
        std::string out;
        FormatText(format, values_).append(out, bytes_, {known_tables(), known_names()}, controls);
        return out;
    }

private:
    ByteVector bytes_ = ByteVector(4);
    std::vector<SentValue> values_;
};

std::string number_as(const char* format, std::int64_t number) {
    return Record().number(number).print(format);
}

std::string text_as(const char* format, std::string_view text) {
    return Record().text(text).print(format);
}

BOOST_AUTO_TEST_SUITE(bt_format_text)

// What bpftrace 0.17 printed for these.
BOOST_AUTO_TEST_CASE(numbers_are_printed_as_c_does) {
    const struct {
        const char* format;
        std::int64_t number;
        const char* text;
    } cases[] = {
        {"%d", -5, "-5"},
        {"%6d", -5, "    -5"},
        {"%-6d|", -5, "-5    |"},
        {"%06d", -5, "-00005"},
        {"%-05d|", -1, "-1   |"},
        {"%ld", -5, "-5"},
        {"%lld", -5, "-5"},
        {"%hhd", 300, "44"},
        {"%hd", 70000, "4464"},
        {"%d", 0xffffffffff, "-1"},
        {"%u", -1, "4294967295"},
        {"%lu", -1, "18446744073709551615"},
        {"%x", 255, "ff"},
        {"%lx", 0xffffffffff, "ffffffffff"},
        {"%x", 0xffffffffff, "ffffffff"},
        {"%X", 48879, "BEEF"},
        {"%o", 8, "10"},
        {"%hhx", 511, "ff"},
        {"%hhx", 0x12345678abcdef, "ef"},
        {"%hx", 0x12345678abcdef, "cdef"},
        {"%jx", 0x12345678abcdef, "12345678abcdef"},
        {"%08x", 48879, "0000beef"},
        {"%-8x|", 48879, "beef    |"},
        {"%.4x", 10, "000a"},
        {"%8.4d", -7, "   -0007"},
        {"%.4d", 7, "0007"},
        {"%.0d", 0, ""},
        {"%.3d", 5, "005"},
        {"%8.3d", 5, "     005"},
        {"%-8.3d|", 5, "005     |"},
        {"%c", 65, "A"},
        {"%3c", 66, "  B"},
        {"%-3c|", 67, "C  |"},
        {"%p", 4096, "0x1000"},
        {"%12p", 4096, "      0x1000"},
        {"%-8p|", 16, "0x10    |"},
        {"%zd", 2, "2"},
        {"%jd", 2, "2"},
        {"%td", 2, "2"},
    };
    for (const auto& one : cases) BOOST_TEST_CONTEXT(one.format) {
            BOOST_TEST(number_as(one.format, one.number) == one.text);
        }
}

BOOST_AUTO_TEST_CASE(the_flags_that_came_later_mean_what_they_mean_in_c) {
    const struct {
        const char* format;
        std::int64_t number;
        const char* text;
    } cases[] = {
        {"%+d", 5, "+5"},     {"%+d", -5, "-5"},         {"% d", 5, " 5"}, {"%+05d", 5, "+0005"},
        {"%#x", 255, "0xff"}, {"%#X", 255, "0XFF"},      {"%#x", 0, "0"},  {"%#o", 8, "010"},
        {"%#o", 0, "0"},      {"%#08x", 1, "0x000001"},  {"%i", 7, "7"},   {"%#.0o", 0, "0"},
        {"%+u", 5, "5"},      {"%08.3d", 5, "     005"},
    };
    for (const auto& one : cases) BOOST_TEST_CONTEXT(one.format) {
            BOOST_TEST(number_as(one.format, one.number) == one.text);
        }
}

BOOST_AUTO_TEST_CASE(the_least_number_has_its_sign) {
    const auto least = std::numeric_limits<std::int64_t>::min();
    BOOST_TEST(number_as("%lld", least) == "-9223372036854775808");
    BOOST_TEST(number_as("%d", 0x80000000) == "-2147483648");
}

BOOST_AUTO_TEST_CASE(texts_are_padded_and_cut) {
    BOOST_TEST(text_as("[%s]", "abc") == "[abc]");
    BOOST_TEST(text_as("[%6s]", "abc") == "[   abc]");
    BOOST_TEST(text_as("[%-6s]", "abc") == "[abc   ]");
    BOOST_TEST(text_as("[%.2s]", "abc") == "[ab]");
    BOOST_TEST(text_as("[%5.1s]", "abc") == "[    a]");
    BOOST_TEST(text_as("[%06s]", "abc") == "[   abc]");
    BOOST_TEST(text_as("[%2s]", "abc") == "[abc]");
}

BOOST_AUTO_TEST_CASE(a_format_keeps_its_text_and_its_order) {
    BOOST_TEST(Record().number(1).text("a").number(2).text("ab").print(
                   "%dst: %sa; %dnd: %sb;; 100%% %y") == "1st: aa; 2nd: abb;; 100% %y");
    BOOST_TEST(Record().print("no argument\n") == "no argument\n");
}

BOOST_AUTO_TEST_CASE(a_conversion_without_an_argument_stands_for_itself) {
    BOOST_TEST(Record().number(1).print("%d %s") == "1 %s");
}

BOOST_AUTO_TEST_CASE(a_smaller_integer_is_widened_by_its_sign) {
    const auto as = [](const char* format, TypePtr type, Bytes bytes) {
        return Record().value(std::move(type), bytes).print(format);
    };
    BOOST_TEST(as("%d", integer_type(1, true), bytes_of(std::int8_t{-1})) == "-1");
    BOOST_TEST(as("%u", integer_type(1, true), bytes_of(std::int8_t{-1})) == "4294967295");
    BOOST_TEST(as("%d", integer_type(1, false), bytes_of(std::uint8_t{255})) == "255");
    BOOST_TEST(as("%d", boolean_type(), bytes_of(std::uint8_t{1})) == "1");
    BOOST_TEST(as("%d", enumeration(), bytes_of(1U)) == "1");
    BOOST_TEST(as("%lx", pointer_type(nullptr, Space::none), bytes_of(std::uint64_t{0xabc})) ==
               "abc");
    BOOST_TEST(as("%d", plain_type(Kind::count), bytes_of(std::uint64_t{12})) == "12");
}

BOOST_AUTO_TEST_CASE(s_prints_anything) {
    const auto as_s = [](TypePtr type, Bytes bytes) {
        return Record().value(std::move(type), bytes).print("[%4s]");
    };
    BOOST_TEST(as_s(integer_type(8, true), bytes_of(std::int64_t{-3})) == "[  -3]");
    BOOST_TEST(as_s(boolean_type(), bytes_of(std::uint8_t{1})) == "[true]");
    BOOST_TEST(as_s(enumeration(), bytes_of(0U)) == "[ RED]");
    BOOST_TEST(as_s(plain_type(Kind::user_name), bytes_of(std::uint64_t{0})) == "[root]");
    BOOST_TEST(as_s(pair_of(boolean_type(), boolean_type()), bytes_of(std::uint16_t{1})) ==
               "[(true, false)]");
    BOOST_TEST(as_s(stack(Kind::kernel_stack, Type::StackForm::raw), bytes_of(3, 0)) ==
               "[\n201f\n2fff\n10\n]");
}

BOOST_AUTO_TEST_CASE(texts_of_others_do_not_control_the_terminal) {
    const Record record = Record().text("\x1b[31mE\a\n");
    BOOST_TEST(record.print("\x1b[1m%s|") == "\x1b[1m\\x1b[31mE\\x07\n|");
    BOOST_TEST(record.print("%s|", Controls::raw) == "\x1b[31mE\a\n|");
    // The precision is of the text, the width of what is shown.
    BOOST_TEST(record.print("%-6.2s|") == "\\x1b[ |");
}

BOOST_AUTO_TEST_CASE(gr_names_the_flags_of_an_allocation) {
    BOOST_TEST(number_as("%gr", 1) == "GFP_DMA");
    BOOST_TEST(number_as("%gr", 0) == "0");
    BOOST_TEST(number_as("%gr", 0xcc0) == "GFP_KERNEL");
    BOOST_TEST(number_as("[%24gr]", 0xdc0) == "[   GFP_KERNEL|__GFP_ZERO]");
    BOOST_TEST(number_as("%gr", 0x820) == "GFP_ATOMIC");
    BOOST_TEST(number_as("%gr", 0x40000820) == "GFP_ATOMIC|0x40000000");
}

// What bpftrace 0.17 printed for "hi\n".
BOOST_AUTO_TEST_CASE(buffers_have_three_forms) {
    const Sample buffer = Sample().add(3U).text("hi\n", 4);
    const auto as = [&](const char* format) {
        return Record().value(buffer_type(4), buffer).print(format);
    };
    BOOST_TEST(as("%r") == "hi\\x0a");
    BOOST_TEST(as("%rx") == "\\x68\\x69\\x0a");
    BOOST_TEST(as("%rh") == "68 69 0a");
    BOOST_TEST(as("%s") == "hi\\x0a");
    BOOST_TEST(as("[%8r]") == "[  hi\\x0a]");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
