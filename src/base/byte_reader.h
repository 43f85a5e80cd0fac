#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace gpufs {

// Reads the values of binary formats from bytes, in this machine's byte order. Past the end all
// values are 0 and is_good() is false.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes)
        : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    bool is_good() const { return is_good_; }
    bool at_end() const { return at_ == end_; }
    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
    const char* position() const { return at_; }

    std::string_view take(std::uint64_t n) {
        if (n > left()) {
            fail();
            return {};
        }
        const std::string_view taken(at_, n);
        at_ += n;
        return taken;
    }
    template <class T>
    T number() {
        T value{};
        const std::string_view taken = take(sizeof value);
        if (!taken.empty()) std::memcpy(&value, taken.data(), sizeof value);
        return value;
    }
    // An unsigned number of `bytes` bytes, at most 8.
    std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        const std::string_view taken = take(bytes);
        if (taken.empty()) return 0;
        if constexpr (kIsLittle) {
            std::memcpy(&value, taken.data(), taken.size());
        } else {
            for (const char c : taken) value = value << 8 | static_cast<unsigned char>(c);
        }
        return value;
    }
    std::uint8_t byte() { return number<std::uint8_t>(); }
    // LEB128, as DWARF and .eh_frame have it; of more than 64 bits the lower ones.
    std::uint64_t uleb() { return leb().first; }
    std::int64_t sleb() {
        const auto [value, bits] = leb();
        const bool is_negative = bits > 0 && bits < 64 && (value >> (bits - 1) & 1);
        return static_cast<std::int64_t>(is_negative ? value | ~std::uint64_t{0} << bits : value);
    }
    // Up to a NUL byte, which is taken, too.
    std::string_view text() {
        const void* nul = at_end() ? nullptr : std::memchr(at_, 0, left());
        if (!nul) {
            fail();
            return {};
        }
        const auto bytes = static_cast<std::size_t>(static_cast<const char*>(nul) - at_);
        return take(bytes + 1).substr(0, bytes);
    }

    // What a unit of DWARF begins with: the length of the rest, and of the offsets in it.
    struct UnitLength {
        std::uint64_t bytes = 0;
        std::size_t field_bytes = 0;  // of the length itself
        std::size_t offset_bytes = 4;
    };
    UnitLength unit_length() {
        constexpr std::uint32_t kLong = 0xffffffff;  // followed by a length of 64 bits
        const std::uint64_t length = number(4);
        if (length != kLong) return {length, 4, 4};
        return {number(8), 12, 8};
    }

private:
    static constexpr bool kIsLittle = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

    void fail() {
        is_good_ = false;
        at_ = end_;
    }
    // The value, and how many bits of it were given.
    std::pair<std::uint64_t, unsigned> leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; at_ != end_;) {
            const auto part = static_cast<std::uint8_t>(*at_++);
            if (shift < 64) value |= std::uint64_t{part & 0x7fu} << shift;
            shift += 7;
            if (!(part & 0x80)) return {value, std::min(shift, 64u)};
        }
        fail();
        return {0, 0};
    }

    const char *at_, *end_;
    bool is_good_ = true;
};

}  // namespace gpufs
