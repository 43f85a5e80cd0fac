#include "bt/types/type.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

TypePtr tuple_of(std::vector<TypePtr> types) {
    std::vector<Type::Field> fields;
    fields.reserve(types.size());
    for (TypePtr& type : types) fields.push_back({.name = "", .type = std::move(type)});
    return tuple_type(std::move(fields));
}

BOOST_AUTO_TEST_SUITE(bt_type)

BOOST_AUTO_TEST_CASE(types_are_named_as_messages_name_them) {
    const struct {
        TypePtr type;
        const char* name;
    } cases[] = {
        {none_type(), "none"},
        {integer_type(8, true), "int64"},
        {integer_type(1, false), "uint8"},
        {boolean_type(), "bool"},
        {string_type(16), "string[16]"},
        {buffer_type(32), "buffer[32]"},
        {pointer_type(nullptr, Space::none), "void *"},
        {pointer_type(none_type(), Space::user), "void *"},
        {pointer_type(integer_type(4, true), Space::none), "int32 *"},
        {pointer_type(pointer_type(structure_type("s"), Space::kernel), Space::kernel),
         "struct s * *"},
        {structure_type("task_struct"), "struct task_struct"},
        {array_type(integer_type(1, true), 4), "int8[4]"},
        {tuple_of({integer_type(8, true), string_type(4)}), "(int64,string[4])"},
        {tuple_of({}), "()"},
        {tuple_type({{.name = "x", .type = integer_type(1, true)}}), "(x=int8)"},
        {plain_type(Kind::count), "count_t"},
        {plain_type(Kind::lhist), "lhist_t"},
        {time_series_type(integer_type(8, true), 5, 1000), "tseries_t"},
        {plain_type(Kind::kernel_stack), "kstack"},
        {plain_type(Kind::user_symbol), "usym_t"},
    };
    for (const auto& one : cases) BOOST_TEST(name_of(*one.type) == one.name);
}

BOOST_AUTO_TEST_CASE(an_enum_is_named_by_its_name) {
    Type type = *integer_type(4, false);
    type.name = "color";
    BOOST_TEST(name_of(type) == "enum color");
}

BOOST_AUTO_TEST_CASE(a_union_says_that_it_is_one) {
    auto structure = std::make_shared<Structure>();
    structure->is_union = true;
    Type type = *structure_type("u");
    type.structure = structure;
    BOOST_TEST(name_of(type) == "union u");
}

BOOST_AUTO_TEST_CASE(a_tuple_is_laid_out_as_a_structure_of_c) {
    const TypePtr tuple = tuple_of({integer_type(1, true), integer_type(8, true), string_type(3)});
    BOOST_TEST(tuple->fields[0].offset == 0U);
    BOOST_TEST(tuple->fields[1].offset == 8U);
    BOOST_TEST(tuple->fields[2].offset == 16U);
    BOOST_TEST(tuple->bytes == 24U);
    BOOST_TEST(alignment_of(*tuple) == 8U);
    const TypePtr nested = tuple_of({string_type(1), tuple});
    BOOST_TEST(nested->fields[1].offset == 8U);
    BOOST_TEST(tuple_of({})->bytes == 0U);
}

BOOST_AUTO_TEST_CASE(sizes_and_alignments_are_those_of_the_contract) {
    const struct {
        TypePtr type;
        std::size_t bytes, alignment;
    } cases[] = {
        {integer_type(2, true), 2, 2},
        {boolean_type(), 1, 1},
        {string_type(5), 5, 8},
        {buffer_type(10), 14, 8},
        {pointer_type(nullptr, Space::none), 8, 8},
        {array_type(integer_type(4, true), 3), 12, 4},
        {plain_type(Kind::user_stack), 8, 8},
        {plain_type(Kind::user_symbol), 16, 8},
        {plain_type(Kind::inet), 20, 8},
        {plain_type(Kind::mac_address), 6, 8},
        {plain_type(Kind::timestamp), 16, 8},
        {plain_type(Kind::count), 8, 8},
        {plain_type(Kind::min), 16, 8},
        {plain_type(Kind::stats), 32, 8},
        {time_series_type(plain_type(Kind::avg), 5, 1000), 24, 8},
    };
    for (const auto& one : cases) {
        BOOST_TEST_CONTEXT(name_of(*one.type)) {
            BOOST_TEST(one.type->bytes == one.bytes);
            BOOST_TEST(alignment_of(*one.type) == one.alignment);
        }
    }
}

BOOST_AUTO_TEST_CASE(what_fits_a_register_is_a_scalar) {
    BOOST_TEST(integer_type(8, true)->is_scalar());
    BOOST_TEST(plain_type(Kind::kernel_stack)->is_scalar());
    BOOST_TEST(plain_type(Kind::user_name)->is_scalar());
    BOOST_TEST(!plain_type(Kind::user_symbol)->is_scalar());
    BOOST_TEST(!string_type(8)->is_scalar());
    BOOST_TEST(!none_type()->is_scalar());
}

BOOST_AUTO_TEST_CASE(sizes_of_strings_and_integers_do_not_make_types_unlike) {
    BOOST_TEST(is_alike(*string_type(4), *string_type(16)));
    BOOST_TEST(is_alike(*integer_type(1, true), *integer_type(8, false)));
    BOOST_TEST(is_alike(*tuple_of({integer_type(1, true), string_type(2)}),
                        *tuple_of({integer_type(8, true), string_type(9)})));
    BOOST_TEST(!is_alike(*integer_type(1, true), *boolean_type()));
    BOOST_TEST(!is_alike(*integer_type(8, true), *string_type(8)));
    BOOST_TEST(!is_alike(*tuple_of({integer_type(1, true)}), *tuple_of({})));
}

BOOST_AUTO_TEST_CASE(pointers_and_structures_are_alike_by_what_they_are_of) {
    const TypePtr to_s = pointer_type(structure_type("s"), Space::kernel);
    BOOST_TEST(is_alike(*to_s, *pointer_type(structure_type("s"), Space::user)));
    BOOST_TEST(!is_alike(*to_s, *pointer_type(structure_type("t"), Space::kernel)));
    BOOST_TEST(!is_alike(*to_s, *pointer_type(nullptr, Space::kernel)));
    BOOST_TEST(
        !is_alike(*array_type(integer_type(1, true), 4), *array_type(integer_type(1, true), 5)));
}

BOOST_AUTO_TEST_CASE(records_are_alike_only_with_the_same_names) {
    const auto record = [](const char* name) {
        return tuple_type({{.name = name, .type = integer_type(8, true)}});
    };
    BOOST_TEST(is_alike(*record("x"), *record("x")));
    BOOST_TEST(!is_alike(*record("x"), *record("y")));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
