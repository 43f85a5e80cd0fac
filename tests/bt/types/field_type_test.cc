#include "bt/types/field_type.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "base/cat.h"
#include "bt/types/sample_world.h"

namespace gpufs::bt {
namespace {

// The type of the one field of an event that this line of a format file describes.
TypePtr type_of(std::string_view system, std::string_view declaration, std::size_t bytes,
                bool is_signed = false, std::string_view event = "sample") {
    const EventFormat format = parse_event_format(
        system, cat("name: ", event, "\nID: 7\nformat:\n",
                    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n",
                    "\tfield:", declaration, ";\toffset:8;\tsize:", bytes,
                    ";\tsigned:", is_signed ? 1 : 0, ";\n\nprint fmt: \"\"\n"));
    test::SampleWorld world;
    return field_type(format, format.fields.back(), world);
}
std::string name(std::string_view declaration, std::size_t bytes, bool is_signed = false) {
    return name_of(*type_of("sched", declaration, bytes, is_signed));
}
std::string argument(std::string_view declaration) {
    return name_of(*type_of("syscalls", declaration, 8, false, "sys_enter_sample"));
}

BOOST_AUTO_TEST_SUITE(bt_field_type)

BOOST_AUTO_TEST_CASE(numbers_have_size_and_sign_of_the_format) {
    BOOST_TEST(name("int x", 4, true) == "int32");
    BOOST_TEST(name("unsigned int x", 4) == "uint32");
    BOOST_TEST(name("u64 x", 8) == "uint64");
    BOOST_TEST(name("long x", 8, true) == "int64");
    BOOST_TEST(name("xfs_ino_t x", 8) == "uint64");
    BOOST_TEST(name("umode_t x", 2) == "uint16");
    BOOST_TEST(name("char x", 1, true) == "int8");
    BOOST_TEST(name("bool x", 1) == "bool");
    BOOST_TEST(name("enum nobody_knows x", 4) == "uint32");
}

BOOST_AUTO_TEST_CASE(an_enum_of_the_world_has_its_words) {
    const TypePtr type = type_of("sched", "enum samples x", 4);
    BOOST_TEST(name_of(*type) == "enum samples");
    BOOST_TEST_REQUIRE(type->words.size() == 1u);
    BOOST_TEST(type->words[0].second == "SAMPLE_ONE");
    BOOST_TEST(name("enum samples x", 8) == "uint64");  // not of its size
}

BOOST_AUTO_TEST_CASE(text_is_a_string_and_other_arrays_are_arrays) {
    BOOST_TEST(name("char comm[16]", 16) == "string[16]");
    BOOST_TEST(name("__data_loc char[] name", 4) == "string[0]");
    BOOST_TEST(name("u8 address[6]", 6) == "uint8[6]");
    BOOST_TEST(name("unsigned long args[6]", 48) == "uint64[6]");
    BOOST_TEST(name("__data_loc u8[] bytes", 4) == "uint8[0]");
    BOOST_TEST(name("struct sample whole", 16) == "struct sample");
    BOOST_TEST(type_of("sched", "struct sample whole", 16)->bytes == 16u);
}

BOOST_AUTO_TEST_CASE(pointers_are_typed_by_the_text) {
    BOOST_TEST(name("const char * name", 8) == "int8 *");
    BOOST_TEST(name("void * p", 8) == name_of(*pointer_type(none_type(), Space::kernel)));
    BOOST_TEST(name("struct file * f", 8) == "struct file *");
    BOOST_TEST(name("const struct sample *const f", 8) == "struct sample *");
    BOOST_TEST(name("u32 * f", 8) == "uint32 *");
    BOOST_TEST(name("sample_t * f", 8) == "struct sample *");
    BOOST_TEST((type_of("sched", "struct file * f", 8)->space == Space::kernel));
}

BOOST_AUTO_TEST_CASE(arguments_of_system_calls_point_to_user_space) {
    BOOST_TEST(argument("const char *const * argv") == "int8 * *");
    BOOST_TEST(argument("struct __kernel_timespec * rqtp") == "struct __kernel_timespec *");
    const TypePtr path = type_of("syscalls", "const char * name", 8, false, "sys_enter_sample");
    BOOST_TEST((path->space == Space::user));
    // Only on entry: what sys_exit has is a number.
    BOOST_TEST(
        (type_of("syscalls", "char * p", 8, false, "sys_exit_sample")->space == Space::kernel));
}

BOOST_AUTO_TEST_CASE(arguments_of_system_calls_have_the_sign_of_their_c_type) {
    // The kernel says "signed:0" of all of them.
    BOOST_TEST(argument("int fd") == "int64");
    BOOST_TEST(argument("unsigned int flags") == "uint64");
    BOOST_TEST(argument("size_t count") == "uint64");
    BOOST_TEST(argument("umode_t mode") == "uint64");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
