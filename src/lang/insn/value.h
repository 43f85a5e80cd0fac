#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/insn/tokens.h"
#include "lang/program/program.h"

namespace gpufs {

// Holds every 64-bit number, signed or unsigned, so that arithmetic is exact.
__extension__ typedef __int128 Int128;
// What the signed field of an instruction holds: its immediate, a long jump.
inline constexpr Int128 kMax31 = std::numeric_limits<std::int32_t>::max();
inline constexpr Int128 kMin31 = std::numeric_limits<std::int32_t>::min();

// A use of a name in an expression: `name`, or `name(argument)` such as sizeof(key), or
// `name(argument ? fallback)` such as btf(task_struct.pid ? 2468).
struct NameUse {
    std::string_view name;      // with its '@', if it is a field
    std::string_view argument;  // empty when there are no parentheses
    Span span;
    Span argument_span = {};
    std::optional<Int128> fallback = {};
};

// The caller's answer about a name: its number now, or a relocation to be resolved later.
struct NameMeaning {
    enum class Kind { unknown, number, later };
    Kind kind = Kind::unknown;
    Int128 number = 0;
    Relocation relocation;  // for `later`; `at` is ignored

    static NameMeaning of_number(Int128 value) { return {Kind::number, value, {}}; }
    static NameMeaning of_later(Relocation to) { return {Kind::later, 0, std::move(to)}; }
};

// The names that expressions may use. Either function may be empty: no names.
struct AsmNames {
    // May throw SourceError for a better message than "no constant is named so".
    std::function<NameMeaning(const NameUse&)> find;
    // Names to suggest for a misspelled one.
    std::function<std::vector<std::string>()> known;

    NameMeaning meaning_of(const NameUse& use) const { return find ? find(use) : NameMeaning{}; }
};

// `number`, or `later` + `number` once `later` is resolved.
struct AsmValue {
    Int128 number = 0;
    std::optional<Relocation> later;
    Span span;
    Span later_span;  // of the name alone
};

// Parses the longest constant expression at the current token:
//
//   value = [ value OP ] unary          OP = * / %  + -  << >>  &  ^  |   by C's precedence
//   unary = [ "+" | "-" | "~" ] ( NUMBER | NAME | call | "(" value ")" )
//   call  = NAME "(" NAME [ "?" value ] ")"
//
// Throws SourceError. Operators whose precedence differs between C and LLVM's assembler (1 << 2 +
// 1) need parentheses. To a `later` name a number may only be added or subtracted. The result must
// fit in 64 bits, signed or unsigned. Parentheses may nest 64 deep.
AsmValue parse_asm_value(AsmTokens& tokens, const AsmNames& names);

// True if a value can begin with this token.
bool begins_value(const AsmToken& token);

std::string to_text(Int128 number);

}  // namespace gpufs
