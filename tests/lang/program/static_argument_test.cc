#include "lang/program/static_argument.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "lang/program/registers.h"

namespace gpufs {
namespace {

// "s4 constant 7", "u8 memory di + cx * 4 - 16", in the order of the note.
std::string read(std::string_view text) {
    using Kind = StaticArgument::Kind;
    const auto name_of = [](std::optional<std::size_t> place) -> std::string {
        for (const char* name :
             {"ax", "cx", "di", "sp", "bp", "r8", "x0", "x1", "x2", "x3", "x19", "x29"})
            if (place && place == register_offset(name)) return name;
        return "-";
    };
    std::string out;
    for (const StaticArgument& one : parse_static_arguments(text)) {
        out += cat(out.empty() ? "" : ", ", one.is_signed ? 's' : 'u', one.bytes);
        if (one.kind == Kind::unknown) out += cat(" unknown ", one.text);
        if (one.kind == Kind::constant) out += cat(" constant ", one.number);
        if (one.kind == Kind::in_register) out += cat(" register ", name_of(one.base));
        if (one.kind == Kind::in_memory)
            out += cat(" memory ", name_of(one.base), " + ", name_of(one.index), " * ", one.scale,
                       " + ", one.number);
    }
    return out;
}

BOOST_AUTO_TEST_SUITE(static_argument)

BOOST_AUTO_TEST_CASE(names_are_those_of_notes) {
    BOOST_TEST(static_probe_name("query-start") == "query__start");
    BOOST_TEST(static_probe_name("gc[a-z]-*__done") == "gc[a-z]__*__done");
    BOOST_TEST(*static_argument_number("arg12") == 12u);
    for (const char* other : {"arg", "arg1x", "argument", "1"})
        BOOST_TEST(!static_argument_number(other));
}

BOOST_AUTO_TEST_CASE(what_is_in_no_form_that_is_known_keeps_its_text) {
    BOOST_TEST(read("") == "");
    BOOST_TEST(read("nonsense 3@$1 8@") == "u8 unknown nonsense, u8 unknown 3@$1, u8 unknown 8@");
    BOOST_TEST(read("4f@%xmm0") == "u4 unknown 4f@%xmm0");
    BOOST_TEST(read("-8@total+8(%rip)") == "s8 unknown -8@total+8(%rip)");
}

BOOST_AUTO_TEST_CASE(a_global_variable_is_named_with_what_is_behind_it) {
    const auto variable = [](std::string_view text) {
        const StaticArgument one = parse_static_arguments(text).at(0);
        return one.symbol.empty() ? "none" : cat(one.symbol, " + ", one.number);
    };
    BOOST_TEST(variable("-4@NBuffers(%rip)") == "NBuffers + 0");
    BOOST_TEST(variable("-4@40+CheckpointStats(%rip)") == "CheckpointStats + 40");
    BOOST_TEST(variable("8@CheckpointStats+0x28(%rip)") == "CheckpointStats + 40");
    BOOST_TEST(variable("8@total-8(%rip)") == "total + -8");
    BOOST_TEST(variable("8@total(%rax)") == "none");
    BOOST_TEST(variable("8@40(%rip)") == "none");
}

#if defined __x86_64__
BOOST_AUTO_TEST_CASE(operands_are_read_as_the_assembler_writes_them) {
    BOOST_TEST(read("-4@%edi 8@%rax 1@%cl 2@%ax 4@%r8d 1@%dil") ==
               "s4 register di, u8 register ax, u1 register cx, u2 register ax, u4 register r8, "
               "u1 register di");
    BOOST_TEST(read("-4@$7 8@$-1 4@$0x10") == "s4 constant 7, u8 constant -1, u4 constant 16");
    BOOST_TEST(read("8@-16(%rbp) -4@(%rsp) 8@0x20(%rdi)") ==
               "u8 memory bp + - * 1 + -16, s4 memory sp + - * 1 + 0, u8 memory di + - * 1 + 32");
    BOOST_TEST(read("8@8(%rax,%rcx,4) 4@(%rdi,%rcx) 8@(,%rax,8)") ==
               "u8 memory ax + cx * 4 + 8, u4 memory di + cx * 1 + 0, u8 memory - + ax * 8 + 0");
}
#elif defined __aarch64__
BOOST_AUTO_TEST_CASE(operands_are_read_as_the_assembler_writes_them) {
    BOOST_TEST(read("8@x19 -4@w0 -4@5 -4@#-5") ==
               "u8 register x19, s4 register x0, s4 constant 5, s4 constant -5");
    BOOST_TEST(read("4@[x29, 24] -4@[sp, 8] 8@[sp]") ==
               "u4 memory x29 + - * 1 + 24, s4 memory sp + - * 1 + 8, u8 memory sp + - * 1 + 0");
    BOOST_TEST(read("8@[x0, x1] 8@[x0, x1, lsl 3] 4@[x0, #-4] 4@[x2, x3, lsl #2]") ==
               "u8 memory x0 + x1 * 1 + 0, u8 memory x0 + x1 * 8 + 0, u4 memory x0 + - * 1 + -4, "
               "u4 memory x2 + x3 * 4 + 0");
    // What would have to be extended, and what only the linker knew.
    BOOST_TEST(read("4@[x0, w1, sxtw 2] 4@[x0, :lo12:counted]") ==
               "u4 unknown 4@[x0, w1, sxtw 2], u4 unknown 4@[x0, :lo12:counted]");
}
#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
