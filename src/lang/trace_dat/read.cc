#include "lang/trace_dat/read.h"

#include <algorithm>
#include <cstring>

namespace gpufs::trace_dat {
namespace {

// Bytes that a cursor reads at once.
constexpr std::size_t kAhead = 64 << 10;
// Longer than any existing name.
constexpr std::size_t kLongestText = 64 << 10;
// Ten times the size of kallsyms with all modules.
constexpr std::uint64_t kMostBytes = 256 << 20;

}  // namespace

Source in_memory(std::string bytes) {
    return [held = std::move(bytes)](std::uint64_t at, std::span<char> into) {
        if (at >= held.size()) return std::size_t{0};
        return held.copy(into.data(), into.size(), static_cast<std::size_t>(at));
    };
}

// The next `n` bytes, fewer at the end of the data; valid until the next call.
std::span<const char> Cursor::look(std::size_t n) {
    const bool is_held = at_ >= held_at_ && at_ - held_at_ <= held_.size() &&
                         held_.size() - static_cast<std::size_t>(at_ - held_at_) >= n;
    if (!is_held) {
        held_.resize(std::max(n, kAhead));
        held_.resize(source_(at_, held_));
        held_at_ = at_;
    }
    const std::span<const char> from =
        std::span(held_).subspan(static_cast<std::size_t>(at_ - held_at_));
    return from.first(std::min(n, from.size()));
}

template <class T>
T Cursor::number() {
    const auto found = look(sizeof(T));
    if (found.size() < sizeof(T)) throw Truncated(at_ + found.size());
    T value;
    std::memcpy(&value, found.data(), sizeof value);
    at_ += sizeof value;
    return value;
}

std::string Cursor::text() {
    std::string out;
    for (;;) {
        const auto found = look(256);
        const auto end = std::ranges::find(found, '\0');
        out.append(found.begin(), end);
        at_ += static_cast<std::uint64_t>(end - found.begin());
        if (end != found.end()) {
            ++at_;
            return out;
        }
        if (found.empty()) throw Truncated(at_);
        if (out.size() > kLongestText) throw Error(cat("byte ", at_, ": a text has no end"));
    }
}

// Reads piece by piece, so that a wrong size does not allocate memory.
std::string Cursor::bytes(std::uint64_t n) {
    if (n > kMostBytes) throw Error(cat("byte ", at_, ": ", n, " bytes are more than can be"));
    std::string out;
    while (out.size() < n) {
        const auto found =
            look(static_cast<std::size_t>(std::min<std::uint64_t>(n - out.size(), kAhead)));
        if (found.empty()) throw Truncated(at_);
        out.append(found.begin(), found.end());
        at_ += found.size();
    }
    return out;
}

template std::uint16_t Cursor::number();
template std::uint32_t Cursor::number();
template std::uint64_t Cursor::number();

}  // namespace gpufs::trace_dat
