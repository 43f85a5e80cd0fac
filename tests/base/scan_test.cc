#include "base/scan.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cctype>

#include "base/error.h"
#include "base/extend.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/kernel_version.h"
#include "base/pieces.h"
#include "base/read_at.h"
#include "support/temp_file.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(scan)

BOOST_AUTO_TEST_CASE(classes_are_those_of_the_c_locale) {
    for (int c = 0; c < 256; ++c) {
        const char one = static_cast<char>(c);
        BOOST_TEST(is_digit(one) == (std::isdigit(c) != 0), c);
        BOOST_TEST(is_letter(one) == (std::isalpha(c) != 0), c);
        BOOST_TEST(is_hex_digit(one) == (std::isxdigit(c) != 0), c);
        BOOST_TEST(is_space(one) == (std::isspace(c) != 0), c);
        BOOST_TEST(is_word_char(one) == (std::isalnum(c) != 0 || c == '_'), c);
        BOOST_TEST((hex_digit_value(one) >= 0) == is_hex_digit(one), c);
    }
}

BOOST_AUTO_TEST_CASE(a_scan_steps_over_what_it_takes_only) {
    Scan scan("name: 12;rest");
    BOOST_TEST(!scan.take("nome"));
    BOOST_TEST(scan.take_all(is_letter) == "name");
    BOOST_TEST(scan.take_all(is_letter) == "");
    BOOST_TEST(!scan.take_number<int>().has_value());
    BOOST_TEST(scan.take(": "));
    BOOST_TEST(!scan.take_until('!').has_value());
    BOOST_TEST(scan.take_number<int>().value() == 12);
    BOOST_TEST(scan.take_until(';').value() == "");
    BOOST_TEST(!scan.at_end());
    BOOST_TEST(scan.rest() == "rest");
    BOOST_TEST(!Scan("70000").take_number<std::uint16_t>().has_value());
    BOOST_TEST(Scan("ff").take_number<unsigned>(16).value() == 255u);
}

BOOST_AUTO_TEST_CASE(hexadecimal_has_lower_case_digits) {
    BOOST_TEST(hex(0) == "0x0");
    BOOST_TEST(hex(0xc0de) == "0xc0de");
    BOOST_TEST(hex(5, 2) == "0x05");
    BOOST_TEST(hex(~std::uint64_t{0}, 16) == "0xffffffffffffffff");
    std::string text;
    append_hex_byte(text, 0x0a);
    BOOST_TEST(text == "0a");
    BOOST_TEST(hex_digit_value('F') == 15);
    BOOST_TEST(hex_digit_value('g') == -1);
}

BOOST_AUTO_TEST_CASE(values_are_extended_by_their_sign_or_by_zeros) {
    BOOST_TEST(extend(0x1280, 1, false) == 0x80u);
    BOOST_TEST(extend(0x1280, 1, true) == 0xffff'ffff'ffff'ff80u);
    BOOST_TEST(extend(0x7fff, 2, true) == 0x7fffu);
    BOOST_TEST(extend(0xffff'ffff'8000'0000, 4, false) == 0x8000'0000u);
    BOOST_TEST(extend(~std::uint64_t{1}, 8, true) == ~std::uint64_t{1});
}

BOOST_AUTO_TEST_CASE(a_release_begins_with_the_numbers_of_a_version) {
    BOOST_TEST((parse_kernel_release("6.1.0-56-amd64") == KernelVersion{6, 1, 0}));
    BOOST_TEST((parse_kernel_release("6.17-rc3") == KernelVersion{6, 17, 0}));
    BOOST_TEST((parse_kernel_release("4.19.316") == KernelVersion{4, 19, 316}));
    BOOST_TEST((parse_kernel_release("") == KernelVersion{}));
    BOOST_TEST(parse_kernel_release("4.19.316").code() == 0x0413ffu);
}

BOOST_AUTO_TEST_CASE(lines_of_a_text_in_pieces_are_whole) {
    const std::string text = "one\n\nthree\nfour";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        std::string lines;
        for_each_line(
            [&](const auto& take) {
                for (std::size_t at = 0; at < text.size(); at += size)
                    take(std::string_view(text).substr(at, size));
            },
            [&](std::string_view line) { lines.append(line) += '|'; });
        BOOST_TEST(lines == "one||three|four|", size);
    }
}

BOOST_AUTO_TEST_CASE(a_file_is_read_at_a_place_up_to_its_end) {
    const test::TempFile file("0123456789");
    const Fd fd = open_file(file.path(), 0);
    std::string bytes(4, '-');
    const auto into = std::as_writable_bytes(std::span(bytes));
    BOOST_TEST(read_at(fd.get(), 3, into, "it") == 4u);
    BOOST_TEST(bytes == "3456");
    BOOST_TEST(read_at(fd.get(), 8, into, "it") == 2u);
    BOOST_TEST(bytes == "8956");
    BOOST_TEST(read_at(fd.get(), ~std::uint64_t{0} >> 1, into, "it") == 0u);
    BOOST_CHECK_EXCEPTION(read_at(-1, 0, into, "it"), SysError, [](const SysError& e) {
        return std::string(e.what()) == "cannot read 'it': Bad file descriptor";
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
