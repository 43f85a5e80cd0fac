#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "bt/types/common_type.h"

// Types as the language tells them, beside how they lie here.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

TypePtr told_integer(std::size_t bytes, bool is_signed) {
    return told_as(integer_type(kWord, is_signed), bytes);
}

BOOST_AUTO_TEST_SUITE(bt_told_sizes)

BOOST_AUTO_TEST_CASE(names_and_sizes_are_the_told_ones) {
    BOOST_TEST(name_of(*told_integer(1, true)) == "int8");
    BOOST_TEST(name_of(*told_as(string_type(16), 4)) == "string[4]");
    BOOST_TEST(told_size(*integer_type(4, false)) == 4);
    const TypePtr tuple = tuple_type({{"", told_integer(1, true)},
                                      {"", told_integer(4, true)},
                                      {"", told_as(string_type(8), 3)}});
    BOOST_TEST(tuple->bytes == 24);
    BOOST_TEST(told_size(*tuple) == 12);
    BOOST_TEST(name_of(*tuple) == "(int8,int32,string[3])");
}

BOOST_AUTO_TEST_CASE(what_holds_both_is_told_as_the_larger) {
    BOOST_TEST(name_of(*merged(told_integer(1, true), told_integer(4, true))) == "int32");
    BOOST_TEST(name_of(*merged(told_integer(4, false), told_integer(1, true))) == "int32");
    BOOST_TEST(name_of(*merged(integer_type(8, false), told_integer(1, true))) == "int64");
    BOOST_TEST(name_of(*merged(told_as(string_type(8), 3), told_as(string_type(8), 5))) ==
               "string[5]");
}

BOOST_AUTO_TEST_CASE(an_int64_holds_what_is_told_smaller) {
    BOOST_TEST(fits_int64(*told_integer(4, false)));
    BOOST_TEST(!fits_int64(*integer_type(8, false)));
    BOOST_TEST(fits_int64(*integer_type(8, true)));
}

BOOST_AUTO_TEST_CASE(fields_of_records_are_found_by_name) {
    const TypePtr record = tuple_type({{"a", boolean_type()}, {"b", integer_type(8, true)}});
    const TypePtr other = tuple_type({{"b", integer_type(8, true)}, {"a", boolean_type()}});
    BOOST_TEST(merged(record, other) != nullptr);
    BOOST_TEST(same_field(*other, record->fields[0], 0)->type->is(Kind::boolean));
    BOOST_TEST(merged(record, tuple_type({{"a", boolean_type()}, {"c", boolean_type()}})) ==
               nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
