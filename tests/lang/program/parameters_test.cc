#include "lang/program/parameters.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "lang/asm/assembler.h"

namespace gpufs {
namespace {

const Program& program() {
    static const Program made =
        assemble({"test",
                  ".param n = 5 \"a number\"\n.param wait = 10 us \"a time\"\n"
                  ".param room = 4096 bytes \"a size\"\n.param who = \"me\" \"a text\"\n"
                  ".prog p begin\n  r0 = 0\n  exit\n"});
    return made;
}

std::int64_t number(const std::string& word) {
    const std::vector<std::string> words{word};
    return parse_program_arguments(program(), words).numbers.begin()->second;
}

std::string refusal(const std::string& word) {
    const std::vector<std::string> words{word};
    try {
        parse_program_arguments(program(), words);
    } catch (const UsageError& e) {
        return cat(e.what(), " | ", e.hint());
    }
    return "taken";
}

BOOST_AUTO_TEST_SUITE(program_arguments)

BOOST_AUTO_TEST_CASE(a_bare_number_counts_what_the_parameter_counts) {
    BOOST_TEST(number("n=-3") == -3);
    BOOST_TEST(number("n=0x1f") == 31);
    BOOST_TEST(number("wait=3000") == 3000);
    BOOST_TEST(number("wait=3ms") == 3000);
    BOOST_TEST(number("wait=1600ns") == 2);
    BOOST_TEST(number("room=64k") == 65536);
}

BOOST_AUTO_TEST_CASE(the_programs_name_may_stand_before_a_parameter) {
    const std::vector<std::string> words{"test.n=3"};
    BOOST_TEST(parse_program_arguments(program(), words).numbers.at("n") == 3);
    BOOST_TEST(refusal("other.n=1") ==
               "this program has no parameter 'other.n' | it has n, wait, room, who");
}

BOOST_AUTO_TEST_CASE(what_gpufs_sets_itself_is_not_listed) {
    const Program own = assemble(
        {"own",
         ".param freezing = 0 \"f\"\n.param following = 0 \"f\"\n.param n = 5 \"a number\"\n"
         ".prog p begin\n  r0 = 0\n  exit\n"});
    BOOST_TEST(parameters_text(own) == "  n=5  a number\n");
    const std::vector<std::string> words{"zzzzzzz=1"};
    BOOST_CHECK_EXCEPTION(parse_program_arguments(own, words), UsageError,
                          [](const UsageError& e) { return e.hint() == "it has n"; });
}

BOOST_AUTO_TEST_CASE(texts_are_taken_as_they_are) {
    const std::vector<std::string> words{"who=a=b c", "n=1"};
    const ParameterValues values = parse_program_arguments(program(), words);
    BOOST_TEST(values.texts.at("who") == "a=b c");
    BOOST_TEST(values.numbers.at("n") == 1);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_said_with_a_way_out) {
    BOOST_TEST(refusal("latency=1") ==
               "this program has no parameter 'latency' | it has n, wait, room, who");
    BOOST_TEST(refusal("wiat=1") == "this program has no parameter 'wiat' | did you mean 'wait'?");
    BOOST_TEST(refusal("n") == "'n' is no name=value | such as n=…");
    BOOST_TEST(refusal("n=") == "n takes a number, not '' | decimal, or hexadecimal as in 0x1f");
    BOOST_TEST(refusal("n=99999999999999999999") ==
               "n takes a number, not '99999999999999999999' | decimal, or hexadecimal as in 0x1f");
    BOOST_TEST(refusal("wait=-1") == "wait cannot be less than 0 us | a number of us");
    BOOST_TEST(refusal("wait=3x") ==
               "wait takes a time, not '3x' | a number of us, or with a unit: 10ms");
    BOOST_TEST(refusal("room=big") ==
               "room takes a size, not 'big' | a number of bytes, or with a unit: 4M");
}

BOOST_AUTO_TEST_CASE(parameters_are_listed_with_default_unit_and_help) {
    BOOST_TEST(parameters_text(program()) ==
               "  n=5  a number\n  wait=10 us  a time\n  room=4096 bytes  a size\n"
               "  who=me  a text\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
