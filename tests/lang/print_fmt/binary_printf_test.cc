#include "lang/print_fmt/binary_printf.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "support/ring_pages.h"

namespace gpufs {
namespace {

using test::bytes_of;

std::string printed_binary(std::string_view format, const std::string& arguments) {
    const AddressNames names{[](std::uint64_t) { return Symbol{"f", {}, 2, 16}; }, {}, {}};
    std::string out;
    append_binary_printf(out, format, test::as_record(arguments), names);
    return out;
}

BOOST_AUTO_TEST_SUITE(binary_printf)

BOOST_AUTO_TEST_CASE(arguments_are_taken_as_the_kernel_packed_them) {
    const std::string pad2(2, '\0'), pad3(3, '\0');
    BOOST_TEST(printed_binary("n=%d u=%5u|", bytes_of(-7) + bytes_of(42)) == "n=-7 u=   42|");
    // 8 bytes stand at a multiple of 4, a short at a multiple of 2.
    BOOST_TEST(printed_binary("%d %lld %hd", bytes_of(1) + bytes_of(std::int64_t{-2}) +
                                                 bytes_of(std::int16_t{-3})) == "1 -2 -3");
    BOOST_TEST(printed_binary("%c%s=%x", std::string("Aname\0", 6) + pad2 + bytes_of(255)) ==
               "Aname=ff");
    BOOST_TEST(printed_binary("%.2s|%*d", std::string("abc\0", 4) + bytes_of(4) + bytes_of(9)) ==
               "ab|   9");
    BOOST_TEST(printed_binary("%ps %pS %p",
                              bytes_of(std::uint64_t{1}) + bytes_of(std::uint64_t{1}) +
                                  bytes_of(std::uint64_t{16})) == "f f+0x2/0x10 0000000000000010");
    // What the writer had to look behind the pointer for is text already.
    BOOST_TEST(printed_binary("%pI4 %d", std::string("10.0.0.1\0", 9) + pad3 + bytes_of(1)) ==
               "10.0.0.1 1");
    // So are a return address and a firmware node; the width of a bitmap is its bits.
    BOOST_TEST(printed_binary("%pB %pfwf %d", std::string("g+0x1/0x8\0gpu@0\0", 16) +
                                                  bytes_of(1)) == "g+0x1/0x8 gpu@0 1");
    BOOST_TEST(printed_binary("%*pbl|%-6pI4|", bytes_of(64) + std::string("0-3\0a   \0", 9)) ==
               "0-3|a   |");
    // A negative width is one with '-', a negative precision is 0.
    BOOST_TEST(printed_binary("%*d|", bytes_of(-3) + bytes_of(9)) == "9  |");
    BOOST_TEST(printed_binary("%.*s|%d", bytes_of(-1) + std::string("abc\0", 4) + bytes_of(1)) ==
               "|1");
    BOOST_TEST(printed_binary("100%%", "") == "100%");
}

BOOST_AUTO_TEST_CASE(cut_arguments_and_odd_formats_are_no_danger) {
    BOOST_TEST(printed_binary("%d %s %lld", "") == "0  0");
    BOOST_TEST(printed_binary("%d %y %d", bytes_of(1)) == "1 %y %d");
    BOOST_TEST(printed_binary("%", "") == "%");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
