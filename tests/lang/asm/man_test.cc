#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/text.h"
#include "support/assemble_text.h"

namespace gpufs {
namespace {

std::string without_troff(std::string line) {
    for (const auto& [escape, plain] :
         {std::pair("\\&", ""), std::pair("\\-", "-"), std::pair("\\(aq", "'")})
        for (std::size_t at = 0; (at = line.find(escape, at)) != line.npos;)
            line.replace(at, std::string_view(escape).size(), plain);
    return line;
}

// The example blocks of a page that hold a program.
std::vector<std::string> programs_of(const std::string& page) {
    std::vector<std::string> programs;
    std::string block;
    bool is_example = false;
    const std::string text = read_file(page);
    for (const std::string_view line : lines_of(text)) {
        if (line == ".EX" || line == ".EE") {
            if (block.find("\n.prog ") != block.npos) programs.push_back(block);
            block.clear();
            is_example = line == ".EX";
        } else if (is_example) {
            block += cat('\n', line == ".PP" ? "" : without_troff(std::string(line)));
        }
    }
    return programs;
}

BOOST_AUTO_TEST_SUITE(assembler_man)

BOOST_AUTO_TEST_CASE(the_examples_of_the_manual_assemble) {
    const std::vector<std::string> programs = programs_of("man/gpufs-asm.5");
    BOOST_TEST(programs.size() >= 6u);
    for (const std::string& program : programs)
        BOOST_TEST(try_assemble(program + '\n').mistakes == "", program);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
