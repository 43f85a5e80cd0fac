#include "bt/syntax/literals.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/cat.h"
#include "base/hex.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs::bt {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t ns;
};
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::array kUnits{
    Unit{"ns", 1},
    Unit{"us", 1'000},
    Unit{"ms", 1'000'000},
    Unit{"s", kSecond},
    Unit{"m", 60 * kSecond},
    Unit{"h", 3'600 * kSecond},
    Unit{"d", 86'400 * kSecond},
};
constexpr std::array<std::string_view, 9> kSuffixes{"",   "u",   "l",   "ul", "lu",
                                                    "ll", "ull", "llu", "z"};
constexpr std::uint64_t kLargestExponent = 16;

// What follows the digits: the factor it stands for. Absent if it is none.
std::optional<std::uint64_t> factor_of(std::string_view rest) {
    if (std::ranges::find(kSuffixes, lower_case(rest)) != kSuffixes.end()) return 1;
    if (const auto unit = unit_size_of(rest)) return unit;
    if (rest[0] != 'e' && rest[0] != 'E') return std::nullopt;
    Scan scan(rest.substr(1));
    const auto exponent = scan.take_number<std::uint64_t>();
    if (!exponent || *exponent > kLargestExponent) return std::nullopt;
    if (std::ranges::find(kSuffixes, lower_case(scan.rest())) == kSuffixes.end())
        return std::nullopt;
    std::uint64_t factor = 1;
    for (std::uint64_t i = 0; i < *exponent; ++i) factor *= 10;
    return factor;
}

// 16 where it is none.
unsigned digit_of(char c) {
    const int value = hex_digit_value(c);
    return value < 0 ? 16 : static_cast<unsigned>(value);
}

// What is at the beginning of a text that begins with a backslash.
struct Escape {
    bool is_known = false;
    std::size_t length = 2;
    char meant = '\0';
};
Escape escape_of(std::string_view text) {
    const char c = text.size() > 1 ? text[1] : '\0';
    constexpr std::string_view kLetters = "ntr\\\"", kMeant = "\n\t\r\\\"";
    if (const auto known = kLetters.find(c); known != kLetters.npos)
        return {true, 2, kMeant[known]};
    const unsigned base = c == 'x' ? 16 : 8;
    const std::size_t first = c == 'x' ? 2 : 1, most = c == 'x' ? 2 : 3;
    unsigned value = 0;
    std::size_t i = first;
    for (; i < text.size() && i < first + most && digit_of(text[i]) < base; ++i)
        value = value * base + digit_of(text[i]);
    if (i == first || value > 0xff) return {false, std::max<std::size_t>(2, i)};
    return {true, i, static_cast<char>(value)};
}

}  // namespace

std::optional<std::uint64_t> unit_size_of(std::string_view name) {
    const auto unit = std::ranges::find(kUnits, name, &Unit::name);
    return unit == kUnits.end() ? std::nullopt : std::optional(unit->ns);
}

std::uint64_t number_value(std::string_view text, SourceRef at) {
    std::string_view rest = text;
    unsigned base = 10;
    if (rest.size() > 2 && rest[0] == '0' && (rest[1] | 0x20) == 'x') {
        base = 16;
        rest.remove_prefix(2);
    } else if (rest.size() > 1 && rest[0] == '0' && (is_digit(rest[1]) || rest[1] == '_')) {
        base = 8;
    }
    bool fits = true;
    std::uint64_t value = 0;
    std::size_t digits = 0;
    for (; digits < rest.size(); ++digits) {
        if (rest[digits] == '_') continue;
        const auto digit = digit_of(rest[digits]);
        if (digit >= base) break;
        fits = fits && !__builtin_mul_overflow(value, base, &value) &&
               !__builtin_add_overflow(value, digit, &value);
    }
    const auto factor = factor_of(rest.substr(digits));
    if (!factor || digits == 0)
        throw Mistake{at, cat("'", text, "' is not a number"),
                      "numbers are written 12, 1_000, 0x1f, 017, 1e6, 5ms"};
    if (!fits || __builtin_mul_overflow(value, *factor, &value))
        throw Mistake{at, cat("the number ", text, " does not fit in 64 bits"), ""};
    return value;
}

std::uint64_t number_value(const Token& token) {
    return number_value(token.text, token.at);
}

namespace {

// What is between the quotes. `letters` behind a backslash mean what stands at their place in
// `meant`.
std::string unescaped(const Token& token, std::string_view letters, std::string_view meant) {
    const std::string_view text = token.text.substr(1, token.text.size() - 2);
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] != '\\') {
            out += text[i++];
            continue;
        }
        Escape escape = escape_of(text.substr(i));
        if (const auto known = letters.find(i + 1 < text.size() ? text[i + 1] : '\0');
            known != letters.npos)
            escape = {true, 2, meant[known]};
        if (!escape.is_known) {
            const std::size_t at = token.at.span.begin + 1 + i;
            throw Mistake{{token.at.source, {at, at + escape.length}},
                          cat("'", text.substr(i, escape.length), "' is no escape"),
                          "the escapes are \\n \\t \\r \\\\ \\\" \\101 \\x41"};
        }
        out += escape.meant;
        i += escape.length;
    }
    return out;
}

}  // namespace

std::string string_value(const Token& token) {
    // Without the second quote, which was told already, it is no use.
    if (token.text.size() < 2 || !token.text.ends_with('"')) return "";
    return unescaped(token, {}, {});
}

std::int64_t character_value(const Token& token) {
    const std::string bytes = unescaped(token, "abfv'?", "\a\b\f\v'?");
    if (bytes.empty() || bytes.size() > sizeof(std::int32_t))
        throw Mistake{token.at, "between single quotes is one character", ""};
    if (bytes.size() == 1) return bytes[0];
    std::uint32_t value = 0;
    for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
    return static_cast<std::int32_t>(value);
}

}  // namespace gpufs::bt
