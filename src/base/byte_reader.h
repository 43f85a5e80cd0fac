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
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

    bool is_good() const { return is_good_; }
    bool at_end() const { return rest_.empty(); }
    std::size_t left() const { return rest_.size(); }

    std::string_view take(std::uint64_t n) {
        if (n > rest_.size()) {
            is_good_ = false;
            rest_ = {};
            return {};
        }
        const std::string_view taken = rest_.substr(0, n);
        rest_.remove_prefix(n);
        return taken;
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
    std::uint8_t byte() { return static_cast<std::uint8_t>(number(1)); }
    // LEB128, as DWARF and .eh_frame have it; of more than 64 bits the lower ones.
    std::uint64_t uleb() { return leb().first; }
    std::int64_t sleb() {
        const auto [value, bits] = leb();
        const bool is_negative = bits > 0 && bits < 64 && (value >> (bits - 1) & 1);
        return static_cast<std::int64_t>(is_negative ? value | ~std::uint64_t{0} << bits : value);
    }
    std::string_view text() {
        const auto end = rest_.find('\0');
        const std::string_view taken = take(end == rest_.npos ? rest_.size() + 1 : end + 1);
        return taken.substr(0, taken.empty() ? 0 : taken.size() - 1);
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

    std::pair<std::uint64_t, unsigned> leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;;) {
            const std::uint64_t part = byte();
            if (shift < 64) value |= (part & 0x7f) << shift;
            shift += 7;
            if (!(part & 0x80)) return {value, std::min(shift, 64u)};
        }
    }

    std::string_view rest_;
    bool is_good_ = true;
};

}  // namespace gpufs
