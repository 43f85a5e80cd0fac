#include "lang/asm/assembler.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <charconv>
#include <filesystem>
#include <random>

#include "base/text.h"
#include "lang/link/link.h"
#include "support/assemble_text.h"
#include "support/rounds.h"

namespace gpufs {
namespace {

std::vector<std::string> shipped_texts() {
    std::vector<std::string> texts;
    for (const auto& file : std::filesystem::directory_iterator(kBpfFolder))
        if (file.path().extension() == ".bpf") texts.push_back(read_file(file.path().string()));
    const std::string mistakes = read_file("tests/data/asm/mistakes.txt");
    for (std::size_t at = 0; (at = mistakes.find("====", at)) != mistakes.npos; ++at) {
        const std::size_t begin = mistakes.find('\n', at) + 1;
        texts.push_back(mistakes.substr(begin, mistakes.find("----\n", begin) - begin));
    }
    return texts;
}

// Is the place of a complaint, "NAME:LINE:COLUMN: error", inside the text?
bool is_inside(std::string_view complaint, std::string_view text) {
    const auto first = complaint.find(':'), second = complaint.find(':', first + 1);
    std::size_t line = 0, column = 0;
    std::from_chars(complaint.data() + first + 1, complaint.data() + second, line);
    std::from_chars(complaint.data() + second + 1, complaint.data() + complaint.size(), column);
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
    const SourceText source{"", std::string(text)};
    return line >= 1 && line <= lines && column >= 1 && column <= source.line(line).size() + 1;
}

// Words that a text of this language may have anywhere.
constexpr std::string_view kWords[] = {".map ",
                                       ".prog ",
                                       ".func f",
                                       ".if ",
                                       ".else",
                                       ".endif",
                                       ".record ",
                                       ".stack ",
                                       "{",
                                       "}",
                                       "(",
                                       ")",
                                       "@pid",
                                       "\"",
                                       "sizeof(",
                                       "btf(",
                                       " ? ",
                                       "r1",
                                       "w2",
                                       " = ",
                                       "map[",
                                       "]",
                                       "0x7fffffff",
                                       " ll",
                                       "call ",
                                       "goto ",
                                       "exit\n",
                                       "\n",
                                       ",",
                                       "|",
                                       "#",
                                       "; ",
                                       "<<",
                                       "-",
                                       "* (u32 *)",
                                       "key ",
                                       "value log2",
                                       "report ",
                                       "\\",
                                       "12: (b7) ",
                                       "\xff\n",
                                       ":",
                                       ".include \"x\"\n",
                                       ".const A = A\n",
                                       ".when a = ",
                                       ".struct a { ",
                                       "zero ",
                                       "copy ",
                                       "&v.",
                                       "call keep(",
                                       "(r7)"};

std::string mutated(std::string text, std::mt19937& random) {
    const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
    for (std::size_t n = 1 + below(4); n > 0; --n) {
        const std::size_t at = below(text.size() + 1);
        switch (below(5)) {
            case 0:
                text.erase(at, 1 + below(20));
                break;
            case 1:
                text.insert(at, kWords[below(std::size(kWords))]);
                break;
            case 2:
                text.insert(at, text.substr(below(text.size() + 1), below(60)));
                break;
            case 3:
                if (at < text.size()) text[at] = static_cast<char>(random());
                break;
            default:
                text.resize(at);
        }
    }
    return text;
}

// What assembles can be linked, or is refused: nothing else happens.
void link_somewhere(const Program& program) {
    for (const ProbeProgram& probe : program.programs) try {
            link(program, probe, {});
        } catch (const Error&) {
            continue;
        }
}

BOOST_AUTO_TEST_SUITE(assembler_random)

BOOST_AUTO_TEST_CASE(any_text_becomes_a_program_or_mistakes_at_places_of_it) {
    std::mt19937 random(4);
    const std::vector<std::string> texts = shipped_texts();
    const auto read = [](std::string_view file, const SourceText& from) {
        const std::string shipped = cat("bpf_asm/", file.starts_with("lib/") ? "" : "lib/", file);
        if (std::filesystem::is_regular_file(shipped))
            return SourceText{shipped, read_file(shipped)};
        return SourceText{"lib.bpf", from.text.substr(0, 200)};
    };
    int programs = 0;
    for (int round = 0; round < test::rounds(3000); ++round) {
        const std::string text = mutated(texts[random() % texts.size()], random);
        const Tried tried = try_assemble(text, read);
        if (tried.mistakes.empty()) {
            ++programs;
            BOOST_TEST(!tried.program.programs.empty());
            link_somewhere(tried.program);
            continue;
        }
        for (const std::string_view line : lines_of(tried.mistakes))
            if (line.starts_with("t.bpf:") && line.find(": error: ") != line.npos)
                BOOST_TEST(is_inside(line, text), line << " in:\n" << text);
    }
    BOOST_TEST(programs > 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
