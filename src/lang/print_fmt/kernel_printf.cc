#include "lang/print_fmt/kernel_printf.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>

#include "base/error.h"
#include "base/hex.h"
#include "base/scan.h"

namespace gpufs {
namespace {

// The kernel prints an event into 8192 bytes (TRACE_SEQ_BUFFER_SIZE) and truncates longer output.
constexpr int kMostColumns = 8192;

constexpr std::string_view kUpperDigits = "0123456789ABCDEF";

std::uint8_t byte_at(RecordBytes bytes, std::size_t i) {
    return i < bytes.size() ? std::to_integer<std::uint8_t>(bytes[i]) : std::uint8_t{0};
}

void append_hex(std::string& out, std::uint64_t value) {
    char digits[16];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value, 16).ptr);
}

void append_ip4(std::string& out, RecordBytes bytes, bool leading_zeros) {
    for (std::size_t i = 0; i < 4; ++i) {
        if (i) out += '.';
        const std::uint8_t part = byte_at(bytes, i);
        if (leading_zeros && part < 100) out += '0';
        if (leading_zeros && part < 10) out += '0';
        append(out, unsigned{part});
    }
}

void append_ip6_compressed(std::string& out, RecordBytes bytes) {
    std::array<unsigned, 8> words{};
    for (std::size_t i = 0; i < 8; ++i)
        words[i] = static_cast<unsigned>(byte_at(bytes, 2 * i) << 8 | byte_at(bytes, 2 * i + 1));
    const bool mapped = std::all_of(words.begin(), words.begin() + 5, [](auto w) { return !w; }) &&
                        words[5] == 0xffff;
    const bool isatap = (words[4] | 0x0200) == 0x0200 && words[5] == 0x5efe;
    const bool ends_as_ip4 = mapped || isatap;
    const std::size_t count = ends_as_ip4 ? 6 : 8;

    // The longest run of two or more zero words; the first one if several are equally long.
    std::size_t gap = count, gap_length = 1;
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t end = i;
        while (end < count && words[end] == 0) ++end;
        if (end - i > gap_length) {
            gap = i;
            gap_length = end - i;
        }
    }
    bool needs_colon = false;
    for (std::size_t i = 0; i < count; ++i) {
        if (i == gap) {
            if (needs_colon || i == 0) out += ':';
            out += ':';
            needs_colon = false;
            i += gap_length - 1;
            continue;
        }
        if (needs_colon) out += ':';
        append_hex(out, words[i]);
        needs_colon = true;
    }
    if (ends_as_ip4) {
        if (needs_colon) out += ':';
        append_ip4(out, bytes.size() > 12 ? bytes.subspan(12) : RecordBytes{}, false);
    }
}

void append_ip6(std::string& out, RecordBytes bytes, bool compressed, bool colons) {
    if (compressed) return append_ip6_compressed(out, bytes);
    for (std::size_t i = 0; i < 16; ++i) {
        if (colons && i && i % 2 == 0) out += ':';
        append_hex_byte(out, byte_at(bytes, i));
    }
}

// "%pIS", then any of c (compressed), p (port), f (flow), s (scope).
void append_sockaddr(std::string& out, std::string_view options, RecordBytes bytes) {
    const auto has = [&](char c) { return options.find(c) != options.npos; };
    const auto part = [&](std::size_t at) {
        return at < bytes.size() ? bytes.subspan(at) : RecordBytes{};
    };
    // The family is in the machine's byte order, the port in the network's.
    const unsigned family = std::max(byte_at(bytes, 0), byte_at(bytes, 1));
    const unsigned port = static_cast<unsigned>(byte_at(bytes, 2) << 8 | byte_at(bytes, 3));
    if (family == 2) {
        append_ip4(out, part(4), false);
        if (has('p')) append(out, ':'), append(out, port);
    } else if (family == 10) {
        const bool brackets = has('p') || has('f') || has('s');
        if (brackets) out += '[';
        append_ip6(out, part(8), has('c'), true);
        if (brackets) out += ']';
        if (has('p')) append(out, ':'), append(out, port);
    } else {
        out += "(einval)";
    }
}

// Is the character a flag of a conversion? Then the style has it.
bool take_flag(char c, NumberStyle& style) {
    switch (c) {
        case '-':
            style.left = true;
            return true;
        case '+':
            style.plus = true;
            return true;
        case ' ':
            style.space = true;
            return true;
        case '#':
            style.special = true;
            return true;
        case '0':
            style.zero = true;
            return true;
        default:
            return false;
    }
}

// What the letter says about numbers. Throws Error for one that the kernel does not have.
void style_for(char letter, NumberStyle& style) {
    switch (letter) {
        case 'd':
        case 'i':
            style.is_signed = true;
            return;
        case 'o':
            style.base = 8;
            return;
        case 'x':
            style.base = 16;
            return;
        case 'X':
            style.base = 16;
            style.is_upper = true;
            return;
        case 'u':
        case 'c':
        case 's':
        case 'p':
        case '%':
            return;
        default:
            throw Error(cat("has the conversion '%", letter, "'"));
    }
}

}  // namespace

std::size_t parse_conversion(std::string_view format, std::size_t at, Conversion& found) {
    const auto peek = [&] { return at < format.size() ? format[at] : '\0'; };
    const auto number_or_star = [&](int& number, bool& is_taken) {
        is_taken = peek() == '*';
        if (is_taken) {
            ++at;
            return;
        }
        const auto [end, error] =
            std::from_chars(format.data() + at, format.data() + format.size(), number);
        if (error == std::errc()) at = static_cast<std::size_t>(end - format.data());
    };

    found = {};
    NumberStyle& style = found.style;
    while (take_flag(peek(), style)) ++at;
    number_or_star(style.width, found.takes_width);
    if (peek() == '.') {
        ++at;
        style.precision = 0;
        number_or_star(style.precision, found.takes_precision);
    }
    for (bool more = true; more; at += more) {
        if (peek() == 'h')
            found.size = found.size == 2 ? 1 : 2;
        else if (peek() && std::string_view("lLqjzZt").find(peek()) != std::string_view::npos)
            found.size = 8;
        else
            more = false;
    }
    found.letter = peek();
    style_for(found.letter, style);
    const std::size_t letters = ++at;
    if (found.letter == 'p') {
        while (is_letter(peek()) || is_digit(peek())) ++at;
        found.pointer = format.substr(letters, at - letters);
    }
    return at;
}

void append_number(std::string& out, std::uint64_t value, const NumberStyle& style) {
    char digits[24];
    char sign = 0;
    if (style.is_signed) {
        if (static_cast<std::int64_t>(value) < 0) {
            sign = '-';
            value = 0 - value;
        } else if (style.plus) {
            sign = '+';
        } else if (style.space) {
            sign = ' ';
        }
    }
    char* const end =
        std::to_chars(digits, digits + sizeof digits, value, static_cast<int>(style.base)).ptr;
    if (style.is_upper)
        for (char* c = digits; c != end; ++c)
            if (*c >= 'a') *c = static_cast<char>(*c - 'a' + 'A');

    const bool prefix = style.special && style.base != 10;
    int width = std::min(style.width, kMostColumns);
    if (sign) --width;
    if (prefix && style.base == 16) width -= 2;
    if (prefix && style.base == 8 && value != 0) --width;
    const auto length = static_cast<int>(end - digits);
    const int precision = std::max(length, std::min(style.precision, kMostColumns));
    width -= precision;

    const bool zero = style.zero && !style.left;
    if (!zero && !style.left)
        for (; width > 0; --width) out += ' ';
    if (sign) out += sign;
    if (prefix && (style.base == 16 || value != 0)) out += '0';
    if (prefix && style.base == 16) out += style.is_upper ? 'X' : 'x';
    if (!style.left)
        for (; width > 0; --width) out += '0';
    out.append(static_cast<std::size_t>(precision - length), '0');
    out.append(digits, end);
    for (; width > 0; --width) out += ' ';
}

void set_width(NumberStyle& style, std::uint64_t argument) {
    style.width = static_cast<int>(argument);
    if (style.width >= 0) return;
    style.left = true;
    style.width = -std::max(style.width, -INT_MAX);
}

void set_precision(NumberStyle& style, std::uint64_t argument) {
    style.precision = std::max(0, static_cast<int>(argument));
}

void cut_from(std::string& out, std::size_t start, const NumberStyle& style) {
    if (style.precision >= 0)
        out.resize(std::min(out.size(), start + static_cast<std::size_t>(style.precision)));
}

void pad_from(std::string& out, std::size_t start, const NumberStyle& style) {
    const std::size_t length = out.size() - start;
    const int columns = std::min(style.width, kMostColumns);
    if (columns <= 0 || length >= static_cast<std::size_t>(columns)) return;
    out.insert(style.left ? out.size() : start, static_cast<std::size_t>(columns) - length, ' ');
}

void append_pointer(std::string& out, std::uint64_t address) {
    char digits[16];
    for (std::size_t i = sizeof digits; i-- > 0; address >>= 4)
        digits[i] = kHexDigits[address & 15];
    out.append(digits, sizeof digits);
}

void append_symbol(std::string& out, std::uint64_t address, const AddressNames& names,
                   bool with_offset) {
    const auto symbol = names.symbol ? names.symbol(address) : std::nullopt;
    if (!symbol) {
        out += "0x";
        return append_hex(out, address);
    }
    append_symbol(out, *symbol, with_offset);
}

void append_symbol(std::string& out, const Symbol& symbol, bool with_offset) {
    out += symbol.name;
    if (with_offset) {
        out += "+0x";
        append_hex(out, symbol.offset);
        out += "/0x";
        append_hex(out, symbol.size);
    }
    if (!symbol.module.empty()) {
        out += " [";
        out += symbol.module;
        out += ']';
    }
}

void append_ip(std::string& out, std::string_view letters, RecordBytes bytes) {
    const char version = letters.size() > 1 ? letters[1] : '4';
    const bool is_upper = letters.starts_with('I');
    const std::string_view options = letters.substr(std::min<std::size_t>(2, letters.size()));
    if (version == 'S')
        append_sockaddr(out, options, bytes);
    else if (version == '6')
        append_ip6(out, bytes, is_upper && options.starts_with('c'), is_upper);
    else
        append_ip4(out, bytes, !is_upper);
}

void append_mac(std::string& out, std::string_view letters, RecordBytes bytes) {
    const bool reversed = letters.find('R') != letters.npos;
    const char separator = letters.starts_with('m')            ? '\0'
                           : letters.find('F') != letters.npos ? '-'
                                                               : ':';
    for (std::size_t i = 0; i < 6; ++i) {
        if (i && separator) out += separator;
        append_hex_byte(out, byte_at(bytes, reversed ? 5 - i : i));
    }
}

void append_uuid(std::string& out, std::string_view letters, RecordBytes bytes) {
    constexpr std::array<std::size_t, 16> kBig{0, 1, 2,  3,  4,  5,  6,  7,
                                               8, 9, 10, 11, 12, 13, 14, 15};
    constexpr std::array<std::size_t, 16> kLittle{3, 2, 1,  0,  5,  4,  7,  6,
                                                  8, 9, 10, 11, 12, 13, 14, 15};
    const char variant = letters.size() > 1 ? letters[1] : 'b';
    const auto& order = variant == 'l' || variant == 'L' ? kLittle : kBig;
    const std::string_view digits = variant == 'B' || variant == 'L' ? kUpperDigits : kHexDigits;
    for (std::size_t i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
        append_hex_byte(out, byte_at(bytes, order[i]), digits);
    }
}

void append_hex_bytes(std::string& out, RecordBytes bytes, char separator) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (i && separator) out += separator;
        append_hex_byte(out, byte_at(bytes, i));
    }
}

void append_bitmap(std::string& out, std::size_t bits, RecordBytes bytes) {
    bits = std::min(bits, std::size_t{kMostColumns} * 4);  // 4 bits a digit
    // Words of 32 bits; the first one printed has only the remaining bits.
    for (std::size_t chunk = (bits + 31) / 32; chunk-- > 0;) {
        const std::size_t chunk_bits = std::min<std::size_t>(32, bits - chunk * 32);
        std::uint32_t word = 0;
        for (std::size_t i = 0; i < 4; ++i)
            word |= std::uint32_t{byte_at(bytes, chunk * 4 + i)} << (8 * i);
        if (chunk_bits < 32) word &= (1u << chunk_bits) - 1;
        NumberStyle style{.base = 16, .zero = true, .width = static_cast<int>(chunk_bits + 3) / 4};
        append_number(out, word, style);
        if (chunk) out += ',';
    }
}

void append_bit_list(std::string& out, std::size_t bits, RecordBytes bytes) {
    const auto is_set = [&](std::size_t i) {
        return i < bits && ((byte_at(bytes, i / 8) >> (i % 8)) & 1) != 0;
    };
    bool is_first = true;
    bits = std::min(bits, bytes.size() * 8);
    for (std::size_t begin = 0; begin < bits; ++begin) {
        if (!is_set(begin)) continue;
        std::size_t end = begin;
        while (is_set(end + 1)) ++end;
        if (!is_first) out += ',';
        is_first = false;
        append(out, begin);
        if (end > begin) append(out, '-'), append(out, end);
        begin = end;
    }
}

}  // namespace gpufs
