#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/symbol.h"
#include "lang/event/field_value.h"

namespace gpufs {

// The conversions of the kernel's vsnprintf() (lib/vsprintf.c), one function each, appending to
// `out`. They follow the kernel where it differs from printf(3): "%#x" of 0 is "0x0".

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
// `value` must already have the conversion's width: see extend() in base/extend.h.
void append_number(std::string& out, std::uint64_t value, const NumberStyle& style);

// One conversion of a format: "%-8s", "%016llx", "%*pbl".
struct Conversion {
    NumberStyle style;
    char letter = 0;           // 'd', 's', 'p', ..., '%' for "%%"
    std::uint8_t size = 4;     // bytes of the number's type
    bool takes_width = false;  // "*": the width is an argument of its own, in front
    bool takes_precision = false;
    std::string_view pointer;  // the letters behind %p: "S", "I6c"
};
// Parses the conversion whose '%' is right in front of `at`. Returns the offset of its end. Throws
// Error for a conversion that the kernel does not have.
std::size_t parse_conversion(std::string_view format, std::size_t at, Conversion& found);

// What the arguments of "%*" and "%.*" mean: a negative width is one with '-', a negative precision
// is 0 (format_decode() in lib/vsprintf.c).
void set_width(NumberStyle& style, std::uint64_t argument);
void set_precision(NumberStyle& style, std::uint64_t argument);

// Cuts the text from `start` to the end of `out` to the precision, as a string conversion does.
void cut_from(std::string& out, std::size_t start, const NumberStyle& style);
// Pads it to the width.
void pad_from(std::string& out, std::size_t start, const NumberStyle& style);

// "%px": 16 digits; also "%p" with the option hash-ptr off.
void append_pointer(std::string& out, std::uint64_t address);
// "%ps": "name" or "name [module]"; with offset, "%pS": "name+0x12/0x34 [module]". "0x..." for an
// address without a symbol.
void append_symbol(std::string& out, std::uint64_t address, const AddressNames& names,
                   bool with_offset);
void append_symbol(std::string& out, const Symbol& symbol, bool with_offset);

// The functions below print `bytes`, the data in the record that the argument points at. `letters`
// is what follows "%p". Nothing is printed for missing bytes.
void append_ip(std::string& out, std::string_view letters, RecordBytes bytes);    // I4 i4 I6 I6c IS
void append_mac(std::string& out, std::string_view letters, RecordBytes bytes);   // M MF m
void append_uuid(std::string& out, std::string_view letters, RecordBytes bytes);  // U Ub Ul UB UL
// "%*ph": bytes in hex, joined by `separator` (0: by nothing).
void append_hex_bytes(std::string& out, RecordBytes bytes, char separator);
// "%*pb": words of 32 bits in hex, highest first; "%*pbl": "0-3,7".
void append_bitmap(std::string& out, std::size_t bits, RecordBytes bytes);
void append_bit_list(std::string& out, std::size_t bits, RecordBytes bytes);

}  // namespace gpufs
