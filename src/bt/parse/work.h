#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/cat.h"
#include "base/diagnostics.h"
#include "bt/parse/parse.h"
#include "bt/syntax/tokens.h"

namespace gpufs::bt {

// The levels of a tree: few enough for any stack.
inline constexpr std::uint32_t kMostHeight = 600;

// #define NAME BODY, or #define NAME(PARAMETERS) BODY.
struct Define {
    bool has_parameters = false, is_variadic = false;
    std::vector<std::string> parameters;
    std::vector<Token> body;
};

// macro NAME($a, b, @c) { BODY }
struct Macro {
    struct Parameter {
        enum class Kind { expression, variable, map };
        Kind kind = Kind::expression;
        std::string name;
    };
    std::string name;
    std::vector<Parameter> parameters;
    Block body;
    ExprPtr value;  // null: none
    SourceRef at;   // of its name
};

// What the passes over one script have in common.
struct Work {
    explicit Work(const ParseInput& given) : input(given) {}

    const ParseInput& input;
    // A text that was added stays where it is: tokens point into it.
    std::deque<SourceText> sources;
    std::set<std::string> imported;
    // #pragma pack: what holds is the last one; those below it were pushed.
    std::vector<std::uint8_t> packs{0};
    std::map<std::string, Define, std::less<>> defines;
    std::vector<Macro> macros;
    std::vector<std::string> positional;                      // $1…
    std::map<std::string, std::string, std::less<>> options;  // --NAME[=VALUE]
    // Names of the C part, for quick answers.
    std::set<std::string, std::less<>> records, typedefs;
    std::map<std::string, std::int64_t, std::less<>> enumerators;
    Script script;
    Diagnostics mistakes;
    // How many tokens and nodes there may yet be: what stands for more than that is refused.
    std::size_t budget = 200'000;

    void report(const Mistake& mistake) {
        if (mistakes.is_full()) return;
        mistakes.error(sources[mistake.at.source], mistake.at.span, mistake.message, mistake.hint);
    }
    bool is_too_long() const { return budget == 0; }
    // Throws Mistake when the script gets too long.
    void spend(std::size_t amount, SourceRef at) {
        if (amount < budget) {
            budget -= amount;
            return;
        }
        budget = 0;
        throw Mistake{at, "the script is too long",
                      "200000 words are enough, with what #define and macros stand for"};
    }
};

// The tokens of a source of the work with its directives followed, and the names of #define
// replaced by what they stand for. Reads what `import` names, in its place. Functions in C have
// nothing between their braces.
std::vector<Token> preprocess(Work& work, std::size_t source,
                              Lexer::Mode mode = Lexer::Mode::script);

// Parses tokens of a script, or of a header, into work.script and work.macros.
void parse_items(Work& work, std::vector<Token> tokens);
void parse_header(Work& work, std::vector<Token> tokens);
// Parses an expression in C, as behind #if.
ExprPtr parse_one_expression(Work& work, std::vector<Token> tokens);

// Puts what macros stand for in the place of their uses.
void expand_macros(Work& work);
// Puts constants in the place of getopt().
void resolve_options(Work& work);

// The parts of an attach point. Throws Mistake.
AttachPoint parse_attach_point(const Work& work, const Token& token);

}  // namespace gpufs::bt
