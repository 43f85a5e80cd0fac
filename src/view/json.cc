#include "view/json.h"

#include <algorithm>

#include "base/hex.h"

namespace gpufs {
namespace {

// The length of the UTF-8 sequence at the beginning; 0 if it is invalid. Overlong forms, surrogates
// and code points beyond U+10FFFF are invalid.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    const unsigned char second = byte(1);
    if (lead == 0xe0 && second < 0xa0) return 0;
    if (lead == 0xed && second > 0x9f) return 0;
    if (lead == 0xf0 && second < 0x90) return 0;
    if (lead == 0xf4 && second > 0x8f) return 0;
    return length;
}

bool is_plain(char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

void append_escaped(std::string& out, char c) {
    switch (c) {
        case '"':
            out += "\\\"";
            return;
        case '\\':
            out += "\\\\";
            return;
        case '\n':
            out += "\\n";
            return;
        case '\t':
            out += "\\t";
            return;
        default:
            break;
    }
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
        out += "\\u00";
        append_hex_byte(out, byte);
    } else {
        out += c;
    }
}

}  // namespace

void append_json_quoted(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        // Append runs of plain characters at once.
        const auto plain =
            static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
        out += text.substr(0, plain);
        text.remove_prefix(plain);
        if (text.empty()) break;
        const std::size_t length = utf8_length(text);
        if (length == 0)
            out += "\\ufffd";
        else if (length == 1)
            append_escaped(out, text[0]);
        else
            out += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    out += '"';
}

std::string json_quote(std::string_view text) {
    std::string out;
    append_json_quoted(out, text);
    return out;
}

JsonObject& JsonObject::raw(std::string_view key, std::string_view json) {
    body_ += body_.empty() ? '{' : ',';
    body_ += json_quote(key);
    body_ += ':';
    body_ += json;
    return *this;
}

JsonArray& JsonArray::add(std::string_view json) {
    body_ += body_.empty() ? '[' : ',';
    body_ += json;
    return *this;
}

}  // namespace gpufs
