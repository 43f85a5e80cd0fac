#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpufs {

// Appends a number in base 128, the lowest digits first (Protocol Buffers, "Encoding").
void append_varint(std::string& out, std::uint64_t number);
// A negative int32 or int64 is its 64 bits: ten bytes.
inline void append_signed_varint(std::string& out, std::int64_t number) {
    append_varint(out, static_cast<std::uint64_t>(number));
}
// Small numbers of both signs as small ones: 0, -1, 1, -2 are 0, 1, 2, 3.
inline std::uint64_t zigzag(std::int64_t number) {
    return static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
}

// The text as UTF-8: U+FFFD for each byte that is none.
std::string valid_utf8(std::string_view text);

// Writes messages of Protocol Buffers, field by field, into one text.
//
//   const std::size_t event = out.open(11);
//   out.number(9, 3);
//   out.close(event);
class Protobuf {
public:
    void number(unsigned field, std::uint64_t value);
    void signed_number(unsigned field, std::int64_t value) {
        number(field, static_cast<std::uint64_t>(value));
    }
    void fixed64(unsigned field, std::uint64_t value);
    void bytes(unsigned field, std::string_view value);
    // A string must be UTF-8: bytes that are not become U+FFFD.
    void text(unsigned field, std::string_view value);

    // What follows, up to the close() of what this returns, is the message in the field.
    std::size_t open(unsigned field);
    void close(std::size_t opened);

    const std::string& written() const noexcept { return bytes_; }
    void clear() noexcept { bytes_.clear(); }

private:
    void key(unsigned field, unsigned wire_type);

    std::string bytes_;
};

}  // namespace gpufs
