#include "bt/types/format.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs::bt {
namespace {

using Kind = Type::Kind;
using Length = Conversion::Length;

std::string mistake(std::string_view format, std::vector<TypePtr> arguments) {
    return mistake_in(parse_format(format), arguments);
}

BOOST_AUTO_TEST_SUITE(bt_format)

BOOST_AUTO_TEST_CASE(a_conversion_says_all_that_stands_in_it) {
    const auto found = parse_format("a%-08.3llx b");
    BOOST_REQUIRE(found.size() == 1U);
    BOOST_TEST(found[0].begin == 1U);
    BOOST_TEST(found[0].end == 10U);
    BOOST_TEST(found[0].is_left);
    BOOST_TEST(found[0].has_zeros);
    BOOST_TEST(found[0].width == 8U);
    BOOST_TEST(found[0].precision.value() == 3U);
    BOOST_TEST((found[0].length == Length::l));
    BOOST_TEST(found[0].specifier == "x");
}

BOOST_AUTO_TEST_CASE(flags_come_in_any_order) {
    const auto found = parse_format("%+ #0-d");
    BOOST_REQUIRE(found.size() == 1U);
    BOOST_TEST(found[0].has_plus);
    BOOST_TEST(found[0].has_blank);
    BOOST_TEST(found[0].is_alternate);
    BOOST_TEST(found[0].has_zeros);
    BOOST_TEST(found[0].is_left);
    BOOST_TEST(!found[0].precision.has_value());
}

BOOST_AUTO_TEST_CASE(the_letters_behind_r_belong_to_it) {
    std::string specifiers;
    for (const Conversion& one : parse_format("%r %rx %rh %gr %rd"))
        specifiers += one.specifier + ' ';
    BOOST_TEST(specifiers == "r rx rh gr r ");
}

BOOST_AUTO_TEST_CASE(lengths_above_int_are_64_bits) {
    for (const char* format : {"%ld", "%lld", "%jd", "%zd", "%td"})
        BOOST_TEST((parse_format(format).at(0).length == Length::l));
    BOOST_TEST((parse_format("%hhd").at(0).length == Length::hh));
    BOOST_TEST((parse_format("%hd").at(0).length == Length::h));
    BOOST_TEST((parse_format("%d").at(0).length == Length::none));
}

BOOST_AUTO_TEST_CASE(a_percent_sign_without_a_specifier_is_text) {
    BOOST_TEST(parse_format("100%% %y % %5").empty());
    BOOST_TEST(parse_format("%%d").empty());
    BOOST_TEST(parse_format("%%%d").size() == 1U);
    BOOST_TEST(literal_text("100%% %y %5 %%%%") == "100% %y %5 %%");
}

BOOST_AUTO_TEST_CASE(a_width_is_never_larger_than_what_could_be_meant) {
    BOOST_TEST(parse_format("%99999999999999999999d").empty());
    BOOST_TEST(parse_format("%9999999999d").at(0).width == 65536U);
}

BOOST_AUTO_TEST_CASE(the_number_of_arguments_is_checked) {
    const TypePtr number = integer_type(8, true);
    BOOST_TEST(mistake("%d %d\n", {number}) ==
               "Not enough arguments for format string (1 supplied, 2 expected)");
    BOOST_TEST(mistake("%d\n", {number, number}) ==
               "Too many arguments for format string (2 supplied, 1 expected)");
    BOOST_TEST(mistake("%%\n", {}) == "");
}

BOOST_AUTO_TEST_CASE(the_kinds_of_arguments_are_checked) {
    const TypePtr number = integer_type(8, true), text = string_type(4);
    BOOST_TEST(mistake("%d", {text}) ==
               "%d specifier expects a value of type integer (string supplied)");
    BOOST_TEST(mistake("%d %x", {number, buffer_type(4)}) ==
               "%x specifier expects a value of type integer (buffer supplied)");
    BOOST_TEST(mistake("%r", {number}) ==
               "%r specifier expects a value of type buffer (integer supplied)");
    BOOST_TEST(mistake("%s", {none_type()}) ==
               "%s specifier expects a value of type string (none supplied)");
    BOOST_TEST(mistake("%d", {plain_type(Kind::kernel_stack)}) ==
               "%d specifier expects a value of type integer (kstack supplied)");
    BOOST_TEST(mistake("%f", {number}) == "Unknown format string token: %f");
}

BOOST_AUTO_TEST_CASE(what_prints_as_a_number_or_as_text_is_accepted) {
    BOOST_TEST(mistake("%d%c%p%x", {integer_type(8, true), boolean_type(),
                                    pointer_type(nullptr, Space::none), integer_type(1, false)}) ==
               "");
    BOOST_TEST(mistake("%s%s%s%s", {integer_type(8, true), string_type(4), boolean_type(),
                                    plain_type(Kind::user_stack)}) == "");
    BOOST_TEST(mistake("%r%rx%rh", {buffer_type(1), buffer_type(1), buffer_type(1)}) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
