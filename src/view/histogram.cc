#include "gpufs/view/histogram.h"

#include <algorithm>
#include <bit>

#include "gpufs/base/cat.h"
#include "gpufs/view/json.h"

namespace gpufs {
namespace {

constexpr std::size_t kLabelWidth = 16, kCountWidth = 12, kBarWidth = 52;

// 2^n with the largest unit that divides it: "512", "64K", "1M".
std::string power_text(std::size_t n) {
    constexpr std::string_view kUnits[] = {"", "K", "M", "G", "T", "P", "E"};
    return cat(std::uint64_t{1} << n % 10, kUnits[n / 10]);
}

std::string label(std::size_t bucket) {
    if (bucket < 2) return cat("[", bucket, "]");
    return cat("[", power_text(bucket - 1), ", ", power_text(bucket), ")");
}

std::string padded_left(const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string padded_right(const std::string& text, std::size_t width) {
    return text + std::string(width - std::min(width, text.size()), ' ');
}

}  // namespace

std::size_t Log2Histogram::bucket_of(std::uint64_t value) {
    return static_cast<std::size_t>(std::bit_width(value));
}

void Log2Histogram::add(std::uint64_t value, std::uint64_t count) {
    counts_[bucket_of(value)] += count;
}

bool Log2Histogram::empty() const {
    return std::ranges::all_of(counts_, [](std::uint64_t n) { return n == 0; });
}

std::string Log2Histogram::to_text(std::string_view unit) const {
    if (empty()) return {};
    const auto used = [](std::uint64_t n) { return n != 0; };
    const auto first =
        static_cast<std::size_t>(std::ranges::find_if(counts_, used) - counts_.begin());
    std::size_t last = counts_.size() - 1;
    while (counts_[last] == 0) --last;
    const std::uint64_t most = *std::ranges::max_element(counts_);
    std::string text =
        cat(padded_right(std::string(unit), kLabelWidth), padded_left("count", kCountWidth), "\n");
    for (std::size_t i = first; i <= last; ++i) {
        const auto length = static_cast<std::size_t>(static_cast<double>(counts_[i]) /
                                                     static_cast<double>(most) * kBarWidth);
        text += cat(padded_right(label(i), kLabelWidth), padded_left(cat(counts_[i]), kCountWidth),
                    " |", padded_right(std::string(length, '@'), kBarWidth), "|\n");
    }
    return text;
}

std::string Log2Histogram::to_json() const {
    JsonArray rows;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i] == 0) continue;
        JsonObject row;
        row.number("from", i == 0 ? 0 : std::uint64_t{1} << (i - 1));
        if (i < 64)
            row.number("to", std::uint64_t{1} << i);
        else
            row.raw("to", "18446744073709551616");
        rows.add(row.number("count", counts_[i]).done());
    }
    return rows.done();
}

}  // namespace gpufs
