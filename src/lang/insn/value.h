#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/insn/tokens.h"
#include "lang/program/program.h"

namespace gpufs {

// Exact arithmetic on everything that 64 bits can hold, signed or not.
__extension__ typedef __int128 Int128;

// A use of a name in an expression: `name`, or `name(argument)` such as sizeof(key), or
// `name(argument ? fallback)` such as btf(task_struct.pid ? 2468).
struct NameUse {
    std::string_view name;      // with its '@', if it is a field
    std::string_view argument;  // empty when there are no parentheses
    Span span;
    Span argument_span = {};
    std::optional<Int128> fallback = {};
};

// What the caller of the parser knows about that name.
struct NameMeaning {
    enum class Kind { unknown, number, later };
    Kind kind = Kind::unknown;
    Int128 number = 0;
    Relocation relocation;  // of `later`; its place is not looked at

    static NameMeaning of_number(Int128 value) { return {Kind::number, value, {}}; }
    static NameMeaning of_later(Relocation to) { return {Kind::later, 0, std::move(to)}; }
};

// The names that expressions may use. Both functions may be empty: then there are none.
struct AsmNames {
    // May throw SourceError where it knows better than "no constant is named so".
    std::function<NameMeaning(const NameUse&)> find;
    // What to offer a user who mistyped one.
    std::function<std::vector<std::string>()> known;

    NameMeaning meaning_of(const NameUse& use) const { return find ? find(use) : NameMeaning{}; }
};

// A number, or a name that becomes one later plus a number.
struct AsmValue {
    Int128 number = 0;
    std::optional<Relocation> later;
    Span span;
    Span later_span;  // of the name alone
};

// Parses the longest constant expression that stands here:
//
//   value = [ value OP ] unary          OP = * / %  + -  << >>  &  ^  |   by C's precedence
//   unary = [ "+" | "-" | "~" ] ( NUMBER | NAME | call | "(" value ")" )
//   call  = NAME "(" NAME [ "?" value ] ")"
//
// C and LLVM's assembler group some neighbours differently (1 << 2 + 1): those want parentheses.
// A later name may only be added to or have a number subtracted. Throws SourceError; a value that
// no 64 bits hold, signed or unsigned, is an error too. Parentheses may nest 64 deep.
AsmValue parse_asm_value(AsmTokens& tokens, const AsmNames& names);

// May a value begin with this token?
bool begins_value(const AsmToken& token);

std::string to_text(Int128 number);

}  // namespace gpufs
