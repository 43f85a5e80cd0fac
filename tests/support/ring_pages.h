#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "lang/trace_dat/ring_page.h"

namespace gpufs::test {

// Builds one sub-buffer as the kernel lays it out, little-endian as the machines we run on.
class PageBuilder {
public:
    explicit PageBuilder(std::uint64_t timestamp, PageLayout layout = {})
        : layout_(layout), timestamp_(timestamp) {}

    // A record of these bytes, padded to 4, `delta` after what was before.
    PageBuilder& record(std::uint32_t delta, std::string_view bytes) {
        std::string padded(bytes);
        padded.resize((bytes.size() + 3) / 4 * 4);
        if (padded.size() <= 28 * 4)
            return event(static_cast<std::uint32_t>(padded.size() / 4), delta, padded);
        word(0 | delta << 5);
        word(static_cast<std::uint32_t>(padded.size() + 4));
        data_ += padded;
        return *this;
    }
    // A record that was discarded: its bytes stay, its time counts.
    PageBuilder& discarded(std::uint32_t delta, std::uint32_t bytes) {
        word(29 | delta << 5);
        word(bytes);
        data_.append(bytes - 4, '\xee');
        return *this;
    }
    PageBuilder& end_padding() { return event(29, 0, {}); }
    PageBuilder& extend(std::uint64_t delta) { return event_with(30, delta); }
    PageBuilder& absolute(std::uint64_t timestamp) { return event_with(31, timestamp); }
    PageBuilder& raw(std::string_view bytes) {
        data_ += bytes;
        return *this;
    }
    // Events lost before this page.
    PageBuilder& lost(std::uint64_t count) {
        lost_ = count;
        return *this;
    }
    // The same from a kernel that does not say how many.
    PageBuilder& lost_some() { return lost(kSome); }

    std::string text() const {
        std::string page(layout_.page_bytes, '\0');
        std::memcpy(page.data(), &timestamp_, 8);
        std::uint64_t commit = data_.size();
        const bool room = page.size() - layout_.data_offset - data_.size() >= 8;
        if (lost_ != 0) commit |= 0xffffffff80000000;  // an int's top bit, as a long
        if (lost_ != 0 && lost_ != kSome && room) commit |= 1u << 30;
        std::memcpy(page.data() + layout_.commit_offset, &commit, layout_.commit_size);
        std::memcpy(page.data() + layout_.data_offset, data_.data(), data_.size());
        if (commit & (1u << 30))
            std::memcpy(page.data() + layout_.data_offset + data_.size(), &lost_,
                        layout_.commit_size);
        return page;
    }
    std::vector<std::byte> bytes() const {
        const std::string page = text();
        std::vector<std::byte> copy(page.size());
        std::memcpy(copy.data(), page.data(), page.size());
        return copy;
    }

private:
    PageBuilder& event(std::uint32_t type, std::uint32_t delta, std::string_view bytes) {
        word(type | delta << 5);
        data_ += bytes;
        return *this;
    }
    PageBuilder& event_with(std::uint32_t type, std::uint64_t value) {
        word(type | static_cast<std::uint32_t>(value & ((1u << 27) - 1)) << 5);
        word(static_cast<std::uint32_t>(value >> 27));
        return *this;
    }
    void word(std::uint32_t value) {
        data_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }

    PageLayout layout_;
    std::uint64_t timestamp_;
    static constexpr std::uint64_t kSome = ~std::uint64_t{0};
    std::uint64_t lost_ = 0;
    std::string data_;
};

// A number's bytes, for records put together by hand.
template <class T>
std::string bytes_of(T value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

inline RecordBytes as_record(std::string_view bytes) {
    return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}
inline std::string as_string(RecordBytes bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace gpufs::test
