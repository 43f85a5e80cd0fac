#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/symbol.h"
#include "lang/event/field_value.h"

namespace gpufs {

// The conversions of the kernel's vsnprintf (lib/vsprintf.c), one function each, appending to
// `out`. Where the kernel differs from printf(3), the kernel is right: "%#x" of 0 is "0x0".

struct NumberStyle {
    unsigned base = 10;      // 8, 10 or 16
    bool is_signed = false;  // "%d"
    bool is_upper = false;   // "%X"
    bool left = false;       // '-'
    bool zero = false;       // '0'
    bool plus = false;       // '+'
    bool space = false;      // ' '
    bool special = false;    // '#'
    int width = -1;          // -1: none
    int precision = -1;
};
// `value` is already as wide as the conversion says, sign-extended for a signed one.
void append_number(std::string& out, std::uint64_t value, const NumberStyle& style);

// One conversion of a format: "%-8s", "%016llx", "%*pbl".
struct Conversion {
    NumberStyle style;
    char letter = 0;           // 'd', 's', 'p', ..., '%' for "%%"
    std::uint8_t size = 4;     // bytes of the number's type
    bool takes_width = false;  // "*": an argument of its own comes first
    bool takes_precision = false;
    std::string_view pointer;  // the letters behind %p: "S", "I6c"
};
// `at` is behind the '%'. Returns where the conversion ends. Throws Error for one the kernel does
// not have.
std::size_t parse_conversion(std::string_view format, std::size_t at, Conversion& found);

// `value` cut to `size` bytes, sign-extended for a signed conversion.
std::uint64_t narrowed(std::uint64_t value, std::uint8_t size, bool is_signed);

// Pads what was appended to `out` from `start` on, as a string conversion pads.
void pad_from(std::string& out, std::size_t start, int width, bool left);

// "%px": 16 digits, also what "%p" prints with the option hash-ptr off.
void append_pointer(std::string& out, std::uint64_t address);
// "%ps": "name" or "name [module]"; with offset, "%pS": "name+0x12/0x34 [module]".
// "0x..." where nothing is known of the address.
void append_symbol(std::string& out, std::uint64_t address, const AddressNames& names,
                   bool with_offset);

// The rest print bytes of the record that the conversion's argument points at. `letters` is what
// follows "%p". Bytes that the record does not have are printed as nothing.
void append_ip(std::string& out, std::string_view letters, RecordBytes bytes);    // I4 i4 I6 I6c IS
void append_mac(std::string& out, std::string_view letters, RecordBytes bytes);   // M MF m
void append_uuid(std::string& out, std::string_view letters, RecordBytes bytes);  // U Ub Ul UB UL
// "%*ph": bytes in hex, joined by `separator` (0: by nothing).
void append_hex_bytes(std::string& out, RecordBytes bytes, char separator);
// "%*pb": words of 32 bits in hex, highest first; "%*pbl": "0-3,7".
void append_bitmap(std::string& out, std::size_t bits, RecordBytes bytes);
void append_bit_list(std::string& out, std::size_t bits, RecordBytes bytes);

}  // namespace gpufs
