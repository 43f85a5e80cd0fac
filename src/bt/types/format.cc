#include "bt/types/format.h"

#include <algorithm>
#include <array>

#include "base/cat.h"
#include "base/scan.h"

namespace gpufs::bt {

namespace {

using Kind = Type::Kind;

// What a specifier prints, and what it is called in messages. Empty: anything.
struct SpecifierRow {
    std::string_view specifier;
    enum class Takes { number, buffer, anything, nothing } takes;
};
using Takes = SpecifierRow::Takes;
// The longer of two that begin alike comes first. Those that take nothing are C's for floating
// point and %n.
constexpr std::array kSpecifiers = {
    SpecifierRow{"d", Takes::number},  SpecifierRow{"i", Takes::number},
    SpecifierRow{"u", Takes::number},  SpecifierRow{"o", Takes::number},
    SpecifierRow{"x", Takes::number},  SpecifierRow{"X", Takes::number},
    SpecifierRow{"c", Takes::number},  SpecifierRow{"p", Takes::number},
    SpecifierRow{"gr", Takes::number}, SpecifierRow{"s", Takes::anything},
    SpecifierRow{"rx", Takes::buffer}, SpecifierRow{"rh", Takes::buffer},
    SpecifierRow{"r", Takes::buffer},  SpecifierRow{"e", Takes::nothing},
    SpecifierRow{"E", Takes::nothing}, SpecifierRow{"f", Takes::nothing},
    SpecifierRow{"F", Takes::nothing}, SpecifierRow{"g", Takes::nothing},
    SpecifierRow{"G", Takes::nothing}, SpecifierRow{"a", Takes::nothing},
    SpecifierRow{"A", Takes::nothing}, SpecifierRow{"n", Takes::nothing},
};

const SpecifierRow* find_specifier(std::string_view specifier) {
    const auto* row = std::ranges::find(kSpecifiers, specifier, &SpecifierRow::specifier);
    return row == kSpecifiers.end() ? nullptr : row;
}

void take_flags(Scan& scan, Conversion& to) {
    for (;;) {
        if (scan.take("-"))
            to.is_left = true;
        else if (scan.take("0"))
            to.has_zeros = true;
        else if (scan.take("+"))
            to.has_plus = true;
        else if (scan.take(" "))
            to.has_blank = true;
        else if (scan.take("#"))
            to.is_alternate = true;
        else
            return;
    }
}

Conversion::Length take_length(Scan& scan) {
    using Length = Conversion::Length;
    if (scan.take("hh")) return Length::hh;
    if (scan.take("h")) return Length::h;
    for (const char* word : {"ll", "l", "j", "z", "t"})
        if (scan.take(word)) return Length::l;
    return Length::none;
}

// What stands behind a '%'. Absent: no conversion.
std::optional<Conversion> take_conversion(Scan& scan) {
    Conversion out;
    take_flags(scan, out);
    // Far more than a line holds; a width that is no number of this machine's is no width.
    constexpr std::size_t kMost = 65536;
    out.width = std::min(kMost, scan.take_number<std::size_t>().value_or(0));
    if (scan.take("."))
        out.precision = std::min(kMost, scan.take_number<std::size_t>().value_or(0));
    out.length = take_length(scan);
    for (const SpecifierRow& row : kSpecifiers) {
        if (!scan.take(row.specifier)) continue;
        out.specifier = row.specifier;
        return out;
    }
    return std::nullopt;
}

// What a type is called in messages about formats, whatever its size.
std::string_view word_of(const Type& type) {
    switch (type.kind) {
        case Kind::none:
            return "none";
        case Kind::integer:
            return "integer";
        case Kind::boolean:
            return "bool";
        case Kind::string:
            return "string";
        case Kind::buffer:
            return "buffer";
        case Kind::pointer:
            return "pointer";
        case Kind::array:
            return "array";
        case Kind::structure:
            return "record";
        case Kind::tuple:
            return "tuple";
        default:
            return {};
    }
}

std::string mistake_of(const Conversion& conversion, const Type& type) {
    const Takes takes = find_specifier(conversion.specifier)->takes;
    if (takes == Takes::nothing) return cat("Unknown format string token: %", conversion.specifier);
    const bool fits = takes == Takes::anything ? !type.is(Kind::none)
                      : takes == Takes::buffer ? type.is(Kind::buffer)
                                               : type.is_number() || type.is(Kind::pointer);
    if (fits) return {};
    const char* expected = takes == Takes::anything ? "string"
                           : takes == Takes::buffer ? "buffer"
                                                    : "integer";
    const std::string_view word = word_of(type);
    return cat('%', conversion.specifier, " specifier expects a value of type ", expected, " (",
               word.empty() ? name_of(type) : std::string(word), " supplied)");
}

}  // namespace

std::vector<Conversion> parse_format(std::string_view format) {
    std::vector<Conversion> out;
    for (std::size_t at = format.find('%'); at != format.npos; at = format.find('%', at)) {
        Scan scan(format.substr(at + 1));
        if (scan.take("%")) {
            at += 2;
            continue;
        }
        std::optional<Conversion> conversion = take_conversion(scan);
        if (!conversion) {
            ++at;
            continue;
        }
        conversion->begin = at;
        conversion->end = at = format.size() - scan.rest().size();
        out.push_back(std::move(*conversion));
    }
    return out;
}

std::string hint_for_format(std::string_view format) {
    const std::vector<Conversion> known = parse_format(format);
    for (std::size_t at = format.find('%'); at != format.npos; at = format.find('%', at + 1)) {
        if (format.substr(at, 2) == "%%") {
            ++at;
            continue;
        }
        if (std::ranges::find(known, at, &Conversion::begin) != known.end()) continue;
        return cat("'", format.substr(at, 2),
                   "' is text: values are written by %d, %u, %x, %o, %c, %p, %s and %r");
    }
    return {};
}

std::string literal_text(std::string_view between) {
    std::string out;
    for (std::size_t i = 0; i < between.size(); ++i) {
        out += between[i];
        if (between.substr(i, 2) == "%%") ++i;
    }
    return out;
}

bool is_number_specifier(std::string_view specifier) {
    const SpecifierRow* row = find_specifier(specifier);
    return row && row->takes == Takes::number;
}

std::string mistake_in(std::span<const Conversion> conversions,
                       std::span<const TypePtr> arguments) {
    if (arguments.size() != conversions.size())
        return cat(arguments.size() < conversions.size() ? "Not enough" : "Too many",
                   " arguments for format string (", arguments.size(), " supplied, ",
                   conversions.size(), " expected)");
    for (std::size_t i = 0; i < conversions.size(); ++i)
        if (std::string mistake = mistake_of(conversions[i], *arguments[i]); !mistake.empty())
            return mistake;
    return {};
}

}  // namespace gpufs::bt
