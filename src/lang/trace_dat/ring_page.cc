#include "lang/trace_dat/ring_page.h"

#include <bit>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/text.h"

namespace gpufs {
namespace {

// The commit word: the low bits are the number of data bytes, two high bits flag lost events
// (kernel/trace/ring_buffer.c, RB_MISSED_EVENTS and RB_MISSED_STORED).
constexpr std::uint64_t kLengthMask = (1u << 27) - 1;
constexpr std::uint64_t kMissedEvents = 1u << 31;
constexpr std::uint64_t kMissedStored = 1u << 30;

// type_len values above 28 (include/linux/ring_buffer.h).
constexpr std::uint32_t kPadding = 29;
constexpr std::uint32_t kTimeExtend = 30;
constexpr std::uint32_t kTimeStamp = 31;
constexpr unsigned kDeltaBits = 27;

template <class T>
T load(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

// An absolute time stamp has 59 bits; the top five come from the time before it.
std::uint64_t with_top_bits(std::uint64_t absolute, std::uint64_t before) {
    constexpr std::uint64_t kTop = std::uint64_t{0xf8} << 56;
    if ((before & kTop) == 0) return absolute;
    absolute |= before & kTop;
    return absolute < before ? absolute + (std::uint64_t{1} << 59) : absolute;
}

std::size_t number_after(std::string_view line, std::string_view key) {
    std::size_t value = 0;
    const auto at = line.find(key);
    if (at != line.npos) {
        const std::string_view digits = line.substr(at + key.size());
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    }
    return value;
}

}  // namespace

PageLayout parse_page_layout(std::string_view header_page) {
    PageLayout layout;
    bool has_commit = false;
    std::size_t data_bytes = 0;
    for (const std::string_view line : lines_of(header_page)) {
        const auto semicolon = line.find(';');
        if (semicolon == line.npos) continue;
        const std::string_view declaration = line.substr(0, semicolon);
        const std::size_t offset = number_after(line, "offset:"),
                          size = number_after(line, "size:");
        if (declaration.ends_with(" commit")) {
            layout.commit_offset = offset;
            layout.commit_size = size;
            has_commit = true;
        } else if (declaration.ends_with(" data")) {
            layout.data_offset = offset;
            data_bytes = size;
        }
    }
    // The text may come from an untrusted file: sums of its numbers could wrap around.
    const bool plausible = (layout.commit_size == 4 || layout.commit_size == 8) &&
                           layout.commit_offset >= 8 && layout.commit_size <= layout.data_offset &&
                           layout.commit_offset <= layout.data_offset - layout.commit_size &&
                           data_bytes > 0 && data_bytes <= SIZE_MAX - layout.data_offset;
    if (!has_commit || !plausible)
        throw Error("cannot parse header_page: it does not describe a ring buffer page");
    layout.page_bytes = layout.data_offset + data_bytes;
    return layout;
}

void clear_lost(std::span<std::byte> head, const PageLayout& layout) {
    const auto clear = [word = head.data() + layout.commit_offset](auto commit) {
        std::memcpy(&commit, word, sizeof commit);
        commit &= kLengthMask;
        std::memcpy(word, &commit, sizeof commit);
    };
    layout.commit_size == 8 ? clear(std::uint64_t{}) : clear(std::uint32_t{});
}

RingPage::RingPage(std::span<const std::byte> page, const PageLayout& layout)
    : data_offset_(layout.data_offset) {
    if (page.size() < layout.data_offset) {
        damaged(cat("the page has ", page.size(), " bytes, its header alone ", layout.data_offset));
        return;
    }
    timestamp_ = first_timestamp_ = load<std::uint64_t>(page.data());
    const std::byte* word = page.data() + layout.commit_offset;
    const std::uint64_t commit =
        layout.commit_size == 8 ? load<std::uint64_t>(word) : load<std::uint32_t>(word);
    std::size_t length = commit & kLengthMask;
    const std::size_t room = page.size() - layout.data_offset;
    if (commit & kMissedEvents) {
        lost_ = Loss::at_least(1);
        // The count is a long behind the data, if there is room for it.
        if ((commit & kMissedStored) && length <= room && room - length >= layout.commit_size) {
            const std::byte* count = page.data() + layout.data_offset + length;
            lost_ = Loss::exactly(layout.commit_size == 8 ? load<std::uint64_t>(count)
                                                          : load<std::uint32_t>(count));
        }
    }
    if (length > room) {
        damaged(cat("the page claims ", length, " bytes of data and has room for ", room));
        length = 0;
    }
    data_ = page.subspan(layout.data_offset, length);
}

bool RingPage::damaged(std::string_view what) {
    damage_ = cat("at byte ", data_offset_ + at_, ": ", what);
    at_ = data_.size();
    return false;
}

bool RingPage::next(RingRecord& record) {
    while (at_ < data_.size()) {
        const std::size_t left = data_.size() - at_;
        if (left < 4) return damaged(cat("an event header is cut after ", left, " bytes"));
        const std::byte* const event = data_.data() + at_;
        const auto word = load<std::uint32_t>(event);
        constexpr bool kLittle = std::endian::native == std::endian::little;
        const std::uint32_t type = kLittle ? word & 31 : word >> kDeltaBits;
        const std::uint32_t delta = kLittle ? word >> 5 : word & ((1u << kDeltaBits) - 1);

        if (type > 0 && type < kPadding) {
            const std::size_t length = std::size_t{4} * type;
            if (length > left - 4)
                return damaged(cat("an event of ", length, " bytes has ", left - 4, " left"));
            timestamp_ += delta;
            at_ += 4 + length;
            record = {timestamp_, {event + 4, length}};
            return true;
        }
        // Padding with a time delta of 0 ends the page.
        if (type == kPadding && delta == 0) {
            at_ = data_.size();
            return false;
        }
        if (left < 8) return damaged(cat("an event header is cut after ", left, " bytes"));
        const auto extra = load<std::uint32_t>(event + 4);
        switch (type) {
            case kTimeExtend:
                timestamp_ += (std::uint64_t{extra} << kDeltaBits) + delta;
                at_ += 8;
                break;
            case kTimeStamp:
                timestamp_ =
                    with_top_bits((std::uint64_t{extra} << kDeltaBits) + delta, timestamp_);
                at_ += 8;
                break;
            default: {
                // `extra` counts itself: 4 bytes more than the data of a record, and all but the
                // first word of a discarded one.
                if (extra < 4 || extra > left - 4)
                    return damaged(cat("an event of ", extra, " bytes has ", left - 4, " left"));
                // The delta of a discarded event counts, because the next one is relative to it.
                // The kernel stores 1 for a delta of 0, because 0 marks the end of the page.
                if (type == 0 || delta != 1) timestamp_ += delta;
                at_ += 4 + extra;
                if (type == 0) {
                    record = {timestamp_, {event + 8, extra - 4}};
                    return true;
                }
            }
        }
    }
    return false;
}

}  // namespace gpufs
