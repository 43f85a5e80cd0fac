#include "base/printable.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/byte_order_mark.h"
#include "base/source.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(printable_text)

BOOST_AUTO_TEST_CASE(control_characters_are_escaped) {
    BOOST_TEST(printable("\x1b[31mEVIL\a\n") == "\\x1b[31mEVIL\\x07\\n");
    BOOST_TEST(printable(std::string_view("a\0b\tc\x7f", 6)) == "a\\x00b\\tc\\x7f");
    // U+009b is what "\x1b[" is.
    BOOST_TEST(printable("\xc2\x9b"
                         "31m") == "\\xc2\\x9b31m");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_not_utf_8_are_escaped_and_others_stay) {
    BOOST_TEST(printable("\x9b"
                         "31m \xff") == "\\x9b31m \\xff");
    BOOST_TEST(printable("\xe2\x82") == "\\xe2\\x82");
    BOOST_TEST(printable("5 \xe2\x82\xac \\ caf\xc3\xa9") == "5 \xe2\x82\xac \\ caf\xc3\xa9");
}

BOOST_AUTO_TEST_CASE(a_control_character_is_found_at_any_place) {
    for (std::size_t length = 1; length < 40; ++length) {
        for (std::size_t at = 0; at < length; ++at) {
            for (const char c : {'\0', '\x1f', '\x7f', '\x80'}) {
                std::string text(length, 'x'), expected = text;
                text[at] = c;
                const char* const escaped = c == '\0'     ? "\\x00"
                                            : c == '\x1f' ? "\\x1f"
                                            : c == '\x7f' ? "\\x7f"
                                                          : "\\x80";
                expected.replace(at, 1, escaped);
                BOOST_REQUIRE(printable(text) == expected);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(the_end_of_a_text_is_made_printable) {
    std::string out = "\x1b[7m", plain = out + "plain";
    out += "\x1b[31m";
    make_printable(out, 4);
    BOOST_TEST(out == "\x1b[7m\\x1b[31m");
    make_printable(plain, 4);
    BOOST_TEST(plain == "\x1b[7mplain");
}

BOOST_AUTO_TEST_CASE(lines_and_tabs_of_a_text_stay) {
    BOOST_TEST(printable_lines("a\tb\n\x1b"
                               "c\n") == "a\tb\n\\x1bc\n");
}

BOOST_AUTO_TEST_CASE(raw_text_is_unchanged) {
    const std::string evil = "\x1b[31m\xff\n";
    BOOST_TEST(printable(evil, Controls::raw) == evil);
    BOOST_TEST(printable_lines(evil, Controls::raw) == evil);
    std::string out = evil;
    make_printable(out, 0, Controls::raw);
    BOOST_TEST(out == evil);
}

BOOST_AUTO_TEST_CASE(a_caret_stands_below_what_was_escaped) {
    const SourceText source{"t", std::string("a\0b \x1b!", 6)};
    BOOST_TEST(point_at(source, {4, 6}, std::string("wrong \0", 7)) ==
               "t:1:5: error: wrong \\x00\n"
               "a\\x00b \\x1b!\n"
               "       ^~~~~");
}

BOOST_AUTO_TEST_CASE(a_byte_order_mark_is_no_text) {
    BOOST_TEST(without_byte_order_mark("\xef\xbb\xbf.prog") == ".prog");
    BOOST_TEST(without_byte_order_mark(".prog \xef\xbb\xbf") == ".prog \xef\xbb\xbf");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
