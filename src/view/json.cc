#include "view/json.h"

#include <algorithm>

#include "base/hex.h"
#include "base/utf8.h"

namespace gpufs {
namespace {

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
        case '\r':
            out += "\\r";
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

// A character of two bytes or more.
void append_character(std::string& out, std::string_view character) {
    if (is_wide_control(character)) {
        out += "\\u00";
        append_hex_byte(out, static_cast<unsigned char>(character[1]));
    } else {
        out += character;
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
            append_character(out, text.substr(0, length));
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

std::string json_texts_or_null(const std::vector<std::string>& texts) {
    if (texts.empty()) return "null";
    JsonArray array;
    for (const std::string& text : texts) array.add_text(text);
    return array.done();
}

JsonArray& JsonArray::add(std::string_view json) {
    body_ += body_.empty() ? '[' : ',';
    body_ += json;
    return *this;
}

}  // namespace gpufs
