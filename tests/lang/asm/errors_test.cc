#include "lang/asm/assembler.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/text.h"
#include "support/assemble_text.h"

namespace gpufs {
namespace {

// tests/data/asm/mistakes.txt: "==== title", the text, "----", all that gpufs says to it.
struct Case {
    std::string title, text, said;
};
std::vector<Case> read_cases() {
    std::vector<Case> cases;
    bool is_said = false;
    const std::string file = read_file("tests/data/asm/mistakes.txt");
    for (const std::string_view line : lines_of(file)) {
        if (line.starts_with("==== ")) {
            cases.push_back({std::string(line.substr(5)), {}, {}});
            is_said = false;
        } else if (line == "----") {
            is_said = true;
        } else {
            (is_said ? cases.back().said : cases.back().text) += cat(line, '\n');
        }
    }
    return cases;
}

BOOST_AUTO_TEST_SUITE(assembler_errors)

BOOST_AUTO_TEST_CASE(every_mistake_of_a_text_is_told_at_once_with_place_and_hint) {
    const std::vector<Case> cases = read_cases();
    BOOST_TEST(cases.size() > 30u);
    for (const Case& one : cases) BOOST_TEST_CONTEXT(one.title) {
            BOOST_TEST(try_assemble(one.text).mistakes + '\n' == one.said);
        }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
