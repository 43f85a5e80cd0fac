#include "lang/asm/assembler.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "support/assemble_text.h"
#include "support/cases.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(assembler_errors)

BOOST_AUTO_TEST_CASE(every_mistake_of_a_text_is_told_at_once_with_place_and_hint) {
    const std::vector<test::Case> cases = test::read_cases("tests/data/asm/mistakes.txt");
    BOOST_TEST(cases.size() > 30u);
    for (const test::Case& one : cases) BOOST_TEST_CONTEXT(one.title) {
            BOOST_TEST(try_assemble(one.text).mistakes + '\n' == one.said);
        }
}

BOOST_AUTO_TEST_CASE(of_very_many_mistakes_the_first_are_told_and_the_others_counted) {
    constexpr int kLines = 20'000;
    std::string text = ".prog p begin\n", shown;
    for (int i = 2; i < kLines + 2; ++i) {
        text += "  nonsense\n";
        if (i < 22)
            shown += cat("t.bpf:", i,
                         ":3: error: no instruction begins with 'nonsense'\n"
                         "  nonsense\n"
                         "  ^~~~~~~~\n");
    }
    BOOST_TEST(try_assemble(text).mistakes ==
               shown + "and 980 more mistakes; the rest was not looked at");
}

BOOST_AUTO_TEST_CASE(a_long_chain_of_constants_is_followed) {
    std::string text = ".const c0 = 1\n";
    for (int i = 1; i < 20'000; ++i) text += cat(".const c", i, " = c", i - 1, " + 1\n");
    const Tried tried = try_assemble(text + ".prog p begin\n  r0 = c19999\n  exit\n");
    BOOST_TEST(tried.mistakes == "");
    BOOST_TEST(tried.program.programs.at(0).code.at(0).insn.imm == 20'000);
}

BOOST_AUTO_TEST_CASE(more_instructions_than_any_kernel_takes_are_refused) {
    std::string text = ".prog p begin\n\n# they follow\n";
    for (std::size_t i = 0; i < 1'000'002; ++i) text += "exit\n";
    const std::string refusal = "error: more than 1000000 instructions: no kernel takes them\n";
    BOOST_TEST(try_assemble(text).mistakes == cat("t.bpf:1000004:1: ", refusal, "exit\n^~~~"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
