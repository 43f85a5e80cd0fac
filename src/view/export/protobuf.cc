#include "view/export/protobuf.h"

#include <array>

#include "base/utf8.h"

namespace gpufs {
namespace {

// How a field's value is laid out.
constexpr unsigned kVarint = 0, kFixed64 = 1, kLengthDelimited = 2;

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
    std::string valid;
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0)
            valid += "\xef\xbf\xbd";
        else
            valid += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return valid;
}

void append_varint(std::string& out, std::uint64_t number) {
    if (number < 0x80) {  // most are
        out += static_cast<char>(number);
        return;
    }
    std::array<char, 10> digits{};
    std::size_t count = 0;
    for (; number >= 0x80; number >>= 7) digits[count++] = static_cast<char>(number | 0x80);
    digits[count++] = static_cast<char>(number);
    out.append(digits.data(), count);
}

void Protobuf::key(unsigned field, unsigned wire_type) {
    append_varint(bytes_, field << 3 | wire_type);
}

void Protobuf::number(unsigned field, std::uint64_t value) {
    key(field, kVarint);
    append_varint(bytes_, value);
}

void Protobuf::fixed64(unsigned field, std::uint64_t value) {
    key(field, kFixed64);
    for (unsigned i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
}

void Protobuf::bytes(unsigned field, std::string_view value) {
    key(field, kLengthDelimited);
    append_varint(bytes_, value.size());
    bytes_ += value;
}

void Protobuf::text(unsigned field, std::string_view value) {
    if (is_utf8(value))
        bytes(field, value);
    else
        bytes(field, valid_utf8(value));
}

std::size_t Protobuf::open(unsigned field) {
    key(field, kLengthDelimited);
    bytes_ += '\0';
    return bytes_.size();
}

void Protobuf::close(std::size_t opened) {
    const std::size_t length = bytes_.size() - opened;
    bytes_[opened - 1] = static_cast<char>(length & 0x7f);
    if (length < 0x80) return;
    // Most messages are short: one byte was kept for the length, more are inserted.
    std::string digits;
    append_varint(digits, length);
    bytes_[opened - 1] = digits[0];
    bytes_.insert(opened, digits, 1);
}

}  // namespace gpufs
