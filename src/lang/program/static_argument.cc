#include "lang/program/static_argument.h"

#include <utility>

#include "base/scan.h"
#include "lang/program/registers.h"

namespace gpufs {
namespace {

std::optional<std::int64_t> take_number(Scan& scan) {
    const bool is_negative = scan.take("-");
    const bool is_hex = scan.take("0x");
    const auto number = scan.take_number<std::uint64_t>(is_hex ? 16 : 10);
    if (!number) return std::nullopt;
    return static_cast<std::int64_t>(is_negative ? 0 - *number : *number);
}

std::string take_register(Scan& scan) {
    return std::string(scan.take_all([](char c) { return c == '%' || is_word_char(c); }));
}

void skip_blanks(Scan& scan) {
    scan.take_all([](char c) { return c == ' '; });
}

// Of arm64, behind the base: "24", "#24" or "x1", "x1, lsl 3".
bool take_arm_offset(Scan& scan, StaticArgument& made) {
    skip_blanks(scan);
    const bool is_number = scan.take("#");
    if (const auto number = take_number(scan)) {
        made.number = *number;
        return true;
    }
    const std::string name = take_register(scan);
    // A register of 32 bits would have to be extended.
    if (is_number || name.starts_with('w')) return false;
    made.index = register_of_operand(name);
    if (!made.index || !scan.take(",")) return made.index.has_value();
    skip_blanks(scan);
    if (!scan.take("lsl ")) return false;
    scan.take("#");
    const auto shift = scan.take_number<unsigned>();
    constexpr unsigned kMostShift = 4;
    if (!shift || *shift > kMostShift) return false;
    made.scale = std::int64_t{1} << *shift;
    return true;
}

// "(%rbp)", "(%rax,%rcx,4)", "[x29, 24]": what is behind the displacement.
bool take_place(Scan& scan, StaticArgument& made) {
    const bool is_arm = scan.take("[");
    if (!is_arm && !scan.take("(")) return false;
    made.kind = StaticArgument::Kind::in_memory;
    if (const std::string name = take_register(scan); !name.empty()) {
        made.base = register_of_operand(name);
        if (!made.base) return false;
    }
    if (scan.take(",")) {
        if (is_arm) {
            if (!take_arm_offset(scan, made)) return false;
        } else {
            skip_blanks(scan);
            made.index = register_of_operand(take_register(scan));
            if (!made.index) return false;
            if (scan.take(",")) {
                const auto scale = take_number(scan);
                if (!scale) return false;
                made.scale = *scale;
            }
        }
    }
    return scan.take(is_arm ? "]" : ")") && (made.base || made.index);
}

// What is behind the '@'.
bool take_operand(Scan& scan, StaticArgument& made) {
    using Kind = StaticArgument::Kind;
    if (scan.take("$")) {
        const auto number = take_number(scan);
        made.kind = Kind::constant;
        made.number = number.value_or(0);
        return number.has_value();
    }
    scan.take("#");  // arm64's constants may have it
    const auto number = take_number(scan);
    if (number) made.number = *number;
    if (scan.rest().starts_with('(') || scan.rest().starts_with('[')) return take_place(scan, made);
    if (number) {
        made.kind = Kind::constant;
        return true;
    }
    const std::string name = take_register(scan);
    made.base = register_of_operand(name);
    made.kind = Kind::in_register;
    return made.base.has_value();
}

// "NBuffers(%rip)", "40+CheckpointStats(%rip)", "CheckpointStats+40(%rip)". Notes no variable if it
// is none.
void take_variable(Scan scan, StaticArgument& made) {
    const auto take_offset = [&] {
        const auto number = take_number(scan);
        if (number) made.number += *number;
        return number.has_value();
    };
    made.number = 0;
    if (take_offset() && !scan.take("+")) return;
    const std::string name(scan.take_all([](char c) { return is_word_char(c) || c == '.'; }));
    if (name.empty() || is_digit(name[0])) return;
    if (scan.rest().starts_with('-') && !take_offset()) return;
    if (scan.take("+") && !take_offset()) return;
    if (scan.rest() == "(%rip)") made.symbol = name;
}

StaticArgument parse_one(std::string_view text) {
    StaticArgument made;
    made.text = text;
    Scan scan(text);
    made.is_signed = scan.take("-");
    if (const auto bytes = scan.take_number<std::size_t>()) made.bytes = *bytes;
    const bool is_size = made.bytes == 1 || made.bytes == 2 || made.bytes == 4 || made.bytes == 8;
    if (is_size && scan.take("@")) {
        const Scan operand = scan;
        if (take_operand(scan, made) && scan.rest().empty()) return made;
        take_variable(operand, made);
    }
    made.kind = StaticArgument::Kind::unknown;
    if (!is_size) made.bytes = sizeof(std::uint64_t);
    return made;
}

}  // namespace

std::vector<StaticArgument> parse_static_arguments(std::string_view text) {
    std::vector<StaticArgument> made;
    // Blanks in brackets belong to the argument.
    std::size_t depth = 0, begin = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        const char c = at < text.size() ? text[at] : ' ';
        if (c == '[' || c == '(') ++depth;
        if ((c == ']' || c == ')') && depth > 0) --depth;
        if (c != ' ' || (depth > 0 && at < text.size())) continue;
        if (at > begin) made.push_back(parse_one(text.substr(begin, at - begin)));
        begin = at + 1;
    }
    return made;
}

std::string static_probe_name(std::string_view name) {
    std::string made;
    bool is_in_brackets = false;
    for (const char c : name) {
        if (c == '[' || c == ']') is_in_brackets = c == '[';
        if (c == '-' && !is_in_brackets)
            made += "__";
        else
            made += c;
    }
    return made;
}

std::optional<std::size_t> static_argument_number(std::string_view name) {
    Scan scan(name);
    if (!scan.take("arg")) return std::nullopt;
    const auto number = scan.take_number<std::size_t>();
    return number && scan.at_end() ? number : std::nullopt;
}

}  // namespace gpufs
