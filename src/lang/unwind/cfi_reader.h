#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace gpufs {

// Reads numbers of a little-endian file. Past the end all are 0 and is_good() is false.
class CfiReader {
public:
    explicit CfiReader(std::string_view bytes)
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
        if (left() < sizeof value) {
            fail();
            return value;
        }
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::uint8_t byte() { return number<std::uint8_t>(); }
    std::uint64_t uleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; at_ != end_; shift += 7) {
            const auto part = static_cast<std::uint8_t>(*at_++);
            if (shift < 64) value |= std::uint64_t{part & 0x7fu} << shift;
            if (!(part & 0x80)) return value;
        }
        fail();
        return 0;
    }
    std::int64_t sleb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; at_ != end_;) {
            const auto part = static_cast<std::uint8_t>(*at_++);
            if (shift < 64) value |= std::uint64_t{part & 0x7fu} << shift;
            shift += 7;
            if (part & 0x80) continue;
            if (shift < 64 && part & 0x40) value |= ~std::uint64_t{0} << shift;
            return static_cast<std::int64_t>(value);
        }
        fail();
        return 0;
    }
    std::string_view text() {
        const void* zero = left() == 0 ? nullptr : std::memchr(at_, 0, left());
        if (!zero) {
            fail();
            return {};
        }
        const std::string_view taken(
            at_, static_cast<std::size_t>(static_cast<const char*>(zero) - at_));
        at_ += taken.size() + 1;
        return taken;
    }

private:
    void fail() {
        is_good_ = false;
        at_ = end_;
    }

    const char *at_, *end_;
    bool is_good_ = true;
};

}  // namespace gpufs
