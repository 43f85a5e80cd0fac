#pragma once

#include <optional>

#include "lang/asm/work.h"
#include "lang/insn/tokens.h"

namespace gpufs {

// Parses the types of a .bpf text. All throw SourceError.
class AsmLayoutParser {
public:
    AsmLayoutParser(const AsmWork& work, AsmTokens& tokens) : work_(work), tokens_(tokens) {}

    //   layout  = members | STRUCT | type          `only` names the member that a lone type becomes
    //   members = "{" member { "," member } [ "," ] "}"
    //   member  = NAME type | NAME STRUCT | STRUCT      the last: its members become members here
    //   type    = INTEGER | strN | numN | bytesN | time | ksym | usym ["(" MAP ")"] | kstack "("
    //   MAP ")" | ustack ...
    //             and behind it, if it is a number, its unit or the enum whose words it stands for
    Layout layout(std::string_view only);
    Layout members(Layout begun = {});
    // The structure of that name.
    const Layout& structure(const AsmToken& name);
    ValueType type();
    // Steps over a unit, if one stands here.
    std::string unit();
    static bool is_unit(std::string_view word);

private:
    const Layout* find_structure(const AsmToken& name) const;
    void embed(const AsmToken& name, const Layout& structure, bool is_open, Layout& into);
    void take_words(ValueType& type);
    std::size_t digits_behind(const AsmToken& word, std::size_t prefix);
    const MapDeclaration& map_in_parentheses(AsmToken& name);
    std::string stack_map();
    std::string text_map();

    const AsmWork& work_;
    AsmTokens& tokens_;
};

}  // namespace gpufs
