#include "lang/link/check.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <random>

#include "base/cat.h"
#include "lang/link/link.h"
#include "support/assemble_text.h"
#include "support/rounds.h"

namespace gpufs {
namespace {

constexpr std::size_t kConditions = 4;

std::string condition(std::size_t i) {
    return i == 0 ? "event a:x" : i == 1 ? "event a:y" : cat("feature f", i);
}

// Instructions, labels and jumps, under .ifs that nest.
std::string random_code(std::mt19937& random) {
    const auto below = [&](std::size_t n) { return random() % n; };
    std::string text = ".prog p begin\n        r0 = 0\n";
    std::vector<bool> has_else;
    for (std::size_t lines = 3 + below(14); lines > 0; --lines) {
        switch (below(9)) {
            case 0:
            case 1:
                text +=
                    cat("        .if ", below(2) ? "! " : "", condition(below(kConditions)), '\n');
                has_else.push_back(false);
                break;
            case 2:
                if (has_else.empty() || has_else.back()) break;
                text += "        .else\n";
                has_else.back() = true;
                break;
            case 3:
                if (has_else.empty()) break;
                text += "        .endif\n";
                has_else.pop_back();
                break;
            case 4:
                text += cat("l", below(3), ":\n");
                break;
            case 5:
                text += cat("        if r0 == ", below(9), " goto l", below(3), '\n');
                break;
            case 6:
                text += cat("        if r0 == 1 goto +", below(3), '\n');
                break;
            case 7:
                text += below(2) ? "        exit\n" : cat("        goto l", below(3), '\n');
                break;
            default:
                text += cat("        r0 += ", below(9), '\n');
        }
    }
    for (; !has_else.empty(); has_else.pop_back()) text += "        .endif\n";
    return text + "        exit\n";
}

// What each of the machines says to the program, as far as there are such; the first of them.
std::string mistake_on_some_machine(const Program& program) {
    for (std::size_t bits = 0; bits < std::size_t{1} << kConditions; ++bits) {
        if ((bits & 3) == 3) continue;  // a program is at one event
        LinkTarget machine;
        machine.attached_to = bits & 1 ? "a:x" : bits & 2 ? "a:y" : "a:z";
        for (std::size_t i = 2; i < kConditions; ++i)
            if (bits >> i & 1) machine.features.insert(cat("f", i));
        try {
            link(program, program.programs[0], machine);
        } catch (const UsageError& e) {
            return e.what();
        }
    }
    return {};
}

BOOST_AUTO_TEST_SUITE(check_code_test)

BOOST_AUTO_TEST_CASE(what_is_accepted_links_on_every_machine) {
    const int rounds = test::rounds(20'000);
    std::mt19937 random(13);
    int accepted = 0, refused = 0, too_strict = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::string text = random_code(random);
        const Program program = assemble({"t.bpf", text}, {}, AsmScope::unchecked);
        Diagnostics mistakes;
        check_code(program, {}, mistakes);
        const std::string mistake = mistake_on_some_machine(program);
        if (mistakes.empty())
            BOOST_TEST(mistake == "", text << mistake);
        else
            too_strict += mistake.empty();
        ++(mistakes.empty() ? accepted : refused);
    }
    BOOST_TEST(accepted > rounds / 10);
    BOOST_TEST(refused > rounds / 10);
    // It does not follow all that the .if of a text have to do with one another.
    BOOST_TEST(too_strict < rounds / 1000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
