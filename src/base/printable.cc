#include "base/printable.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/hex.h"
#include "base/utf8.h"

namespace gpufs {
namespace {

constexpr bool is_plain(char c) {
    return c >= ' ' && c <= '~';
}

// How many characters at the beginning are printable ASCII. Looks at 8 at a time, because every
// line of a report passes here.
std::size_t plain_length(std::string_view text) {
    constexpr std::uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;
    std::size_t at = 0;
    for (; text.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
        std::uint64_t bytes;
        std::memcpy(&bytes, text.data() + at, sizeof bytes);
        // A top bit is set where a byte is below ' ', is 0x7f, or is not ASCII. A borrow can set
        // one wrongly, behind a byte for which it is set rightly.
        if (((bytes - kOnes * ' ') | (bytes + kOnes) | bytes) & kTops) break;
    }
    while (at < text.size() && is_plain(text[at])) ++at;
    return at;
}

void append_escaped(std::string& out, char c) {
    if (c == '\n') {
        out += "\\n";
    } else if (c == '\t') {
        out += "\\t";
    } else {
        out += "\\x";
        append_hex_byte(out, static_cast<unsigned char>(c));
    }
}

void append(std::string& out, std::string_view text, bool keeps_lines) {
    for (;;) {
        const std::size_t plain = plain_length(text);
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) return;
        const std::size_t length = utf8_length(text);
        const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
        text.remove_prefix(sequence.size());
        const bool is_layout = sequence == "\n" || sequence == "\t";
        if ((length > 1 && !is_wide_control(sequence)) || (is_layout && keeps_lines))
            out += sequence;
        else
            for (const char c : sequence) append_escaped(out, c);
    }
}

void escape_from(std::string& out, std::size_t start, bool keeps_lines) {
    const std::string_view text = std::string_view(out).substr(start);
    if (plain_length(text) == text.size()) return;
    const std::string copy(text);
    out.resize(start);
    append(out, copy, keeps_lines);
}

}  // namespace

void append_printable(std::string& out, std::string_view text, Controls controls) {
    if (controls == Controls::raw)
        out += text;
    else
        append(out, text, false);
}

std::string printable(std::string_view text, Controls controls) {
    std::string out;
    append_printable(out, text, controls);
    return out;
}

void make_printable(std::string& out, std::size_t start, Controls controls) {
    if (controls == Controls::escaped) escape_from(out, start, false);
}

std::string printable_lines(std::string_view text, Controls controls) {
    if (controls == Controls::raw) return std::string(text);
    std::string out;
    append(out, text, true);
    return out;
}

void make_lines_printable(std::string& out, std::size_t start, Controls controls) {
    if (controls == Controls::escaped) escape_from(out, start, true);
}

}  // namespace gpufs
