#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bt/types/type.h"

// The formats of printf() and its kin: system, cat, errorf, warnf.
namespace gpufs::bt {

// A place in a format where an argument goes: "%-08.3llx".
struct Conversion {
    // As in C; none: an int, 32 bits.
    enum class Length { none, hh, h, l };  // ll, j, z, t: l
    std::size_t begin = 0, end = 0;        // in the format, in bytes
    bool is_left = false;                  // '-'
    bool has_zeros = false;                // '0'
    bool has_plus = false, has_blank = false;
    bool is_alternate = false;  // '#'
    std::size_t width = 0;
    std::optional<std::size_t> precision;
    Length length = Length::none;
    std::string specifier;  // "d", "s", "rx"; in the list of C, of which not all can be printed
};

// The places in the order of their arguments. "%%" is none, and neither is a % that no specifier
// follows: it stands for itself.
std::vector<Conversion> parse_format(std::string_view format);

// What a stretch of a format between two conversions says: "%%" is "%".
std::string literal_text(std::string_view between);

// Whether a specifier takes an integer, boolean or pointer, and prints its number.
bool is_number_specifier(std::string_view specifier);

// What is said of a % that stands for itself, as in "%q". Empty: there is none.
std::string hint_for_format(std::string_view format);

// What is wrong with arguments of these types: "Not enough arguments for format string (1 supplied,
// 2 expected)", "%d specifier expects a value of type integer (string supplied)". Empty: nothing.
std::string mistake_in(std::span<const Conversion> conversions, std::span<const TypePtr> arguments);

}  // namespace gpufs::bt
