#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// An integer type of C, as this machine and the kernel's headers have it.
struct CInteger {
    std::uint8_t bytes = 4;
    bool is_signed = true;
    bool is_bool = false;
    bool is_char = false;  // plain char: arrays of it are text
};

// By a name of one word that headers define: "u32", "__u32", "uint32_t", "size_t", "bool". Absent
// for another, and for C's own words.
std::optional<CInteger> find_integer_typedef(std::string_view name);
// By its words in any order: "unsigned long int", "const char"; or by a name of one word.
std::optional<CInteger> find_c_integer(std::string_view words);
// The names of one word, for "did you mean" hints.
std::vector<std::string> integer_typedef_names();

// Where a bit field is within a structure: `shift` bits above the begin of the byte at `offset`.
struct BitPlace {
    std::size_t offset = 0;
    unsigned shift = 0;
};
// Of a bit field that starts at this bit of the structure: in its aligned unit of so many bytes; or,
// as in packed structures, where it is in no one of them, in the byte that it begins in.
BitPlace bit_place(std::size_t first_bit, unsigned bits, std::size_t unit_bytes);

}  // namespace gpufs
