#include "view/monitor/histogram.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "base/cat.h"
#include "view/json.h"
#include "view/monitor/value_text.h"

namespace gpufs {
namespace {

using Kind = Aggregation::Kind;

constexpr int kLabelWidth = 16, kCountWidth = 12;
constexpr std::size_t kBarWidth = 52, kNarrowBar = 10;
constexpr std::size_t kMostEmptyRows = 3;

// A bound of a bucket. The bits of linear ones are signed; 2^64 is a 0 that is past all.
struct Bound {
    std::uint64_t bits = 0;
    bool is_signed = false, is_past_all = false;

    std::string number() const {
        if (is_past_all) return "18446744073709551616";
        return is_signed ? cat(static_cast<std::int64_t>(bits)) : cat(bits);
    }
    // With the largest unit that divides it: "512", "64K", "1M", "-4K".
    std::string label() const {
        if (is_past_all) return "16E";
        constexpr std::string_view kUnits[] = {"", "K", "M", "G", "T", "P", "E"};
        const bool is_negative = is_signed && static_cast<std::int64_t>(bits) < 0;
        std::uint64_t n = is_negative ? ~bits + 1 : bits;
        std::size_t unit = 0;
        for (; n != 0 && n % 1024 == 0; n /= 1024) ++unit;
        return cat(is_negative ? "-" : "", n, kUnits[unit]);
    }
};

// Absent: no bound on that side.
struct Bucket {
    std::optional<Bound> from, to;
};

Bucket linear_bucket(const Aggregation& how, std::size_t i, std::size_t count) {
    const auto bound = [&](std::size_t steps) {
        const std::int64_t at = how.low + static_cast<std::int64_t>(steps) * how.step;
        return Bound{static_cast<std::uint64_t>(std::min(at, how.high)), true};
    };
    Bucket bucket;
    if (i != 0) bucket.from = bound(i - 1);
    if (i + 1 != count) bucket.to = bound(i);
    return bucket;
}

// 2^bits buckets of one value each, then as many for each power of two.
Bucket power_bucket(unsigned bits, std::size_t i) {
    const std::uint64_t each = std::uint64_t{1} << bits, n = i;
    if (n < each) return {Bound{n}, Bound{n + 1}};
    const std::uint64_t power = n / each - 1;
    const std::uint64_t from = (each + n % each) << power, to = from + (std::uint64_t{1} << power);
    return {Bound{from}, Bound{to, false, to == 0}};
}

Bucket bucket_of(const Aggregation& how, std::size_t i, std::size_t count) {
    if (how.kind == Kind::linear) return linear_bucket(how, i, count);
    return power_bucket(how.kind == Kind::log2 ? 0 : how.sub_bits, i);
}

std::string label_of(const Bucket& bucket) {
    if (!bucket.from) return cat("(..., ", bucket.to->label(), ")");
    if (!bucket.to) return cat("[", bucket.from->label(), ", ...)");
    if (bucket.from->bits + 1 == bucket.to->bits) return cat("[", bucket.from->label(), "]");
    return cat("[", bucket.from->label(), ", ", bucket.to->label(), ")");
}

struct Percentile {
    std::string_view name;
    std::uint64_t per_mille;
};
constexpr Percentile kPercentiles[] = {
    {"p50", 500}, {"p95", 950}, {"p99", 990}, {"p99.9", 999}, {"max", 1000}};

// The upper bound of the bucket in which the value of this rank lies.
std::optional<Bound> upper_bound_of(const Aggregation& how, std::span<const std::uint64_t> slots,
                                    std::uint64_t per_mille) {
    const auto all =
        static_cast<long double>(std::accumulate(slots.begin(), slots.end(), std::uint64_t{0}));
    const long double rank = all * static_cast<long double>(per_mille) / 1000;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        seen += slots[i];
        if (slots[i] != 0 && static_cast<long double>(seen) >= rank)
            return bucket_of(how, i, slots.size()).to;
    }
    return std::nullopt;
}

}  // namespace

std::string histogram_text(const Aggregation& how, std::span<const std::uint64_t> slots,
                           std::string_view unit, const Screen& screen) {
    const auto used = [](std::uint64_t n) { return n != 0; };
    const auto first = static_cast<std::size_t>(std::ranges::find_if(slots, used) - slots.begin());
    if (first == slots.size()) return {};
    std::size_t last = slots.size() - 1;
    while (slots[last] == 0) --last;
    std::vector<std::string> labels(slots.size());
    int width = kLabelWidth;
    for (std::size_t i = first; i <= last; ++i) {
        labels[i] = label_of(bucket_of(how, i, slots.size()));
        width = std::max(width, static_cast<int>(labels[i].size()) + 1);
    }
    const std::size_t around = static_cast<std::size_t>(width + kCountWidth) + 3;
    const std::size_t bar =
        screen.columns == 0
            ? kBarWidth
            : std::clamp(screen.columns - std::min(screen.columns, around), kNarrowBar, kBarWidth);
    const std::uint64_t most = *std::ranges::max_element(slots);
    std::string text;
    append_padded(text, unit, -width);
    append_padded(text, "count", kCountWidth);
    text += '\n';
    for (std::size_t i = first; i <= last; ++i) {
        std::size_t empty = 0;
        while (slots[i + empty] == 0) ++empty;
        if (empty > kMostEmptyRows) {
            text += "...\n";
            i += empty;
        }
        const auto length = static_cast<std::size_t>(
            static_cast<double>(slots[i]) / static_cast<double>(most) * static_cast<double>(bar));
        append_padded(text, labels[i], -width);
        append_padded(text, cat(slots[i]), kCountWidth);
        text += " |";
        text.append(length, '@').append(bar - length, ' ');
        text += "|\n";
    }
    return text;
}

std::string histogram_json(const Aggregation& how, std::span<const std::uint64_t> slots) {
    JsonArray rows;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i] == 0) continue;
        const Bucket bucket = bucket_of(how, i, slots.size());
        JsonObject row;
        if (bucket.from) row.raw("from", bucket.from->number());
        if (bucket.to) row.raw("to", bucket.to->number());
        rows.add(row.number("count", slots[i]).done());
    }
    return rows.done();
}

std::string percentiles_text(const Aggregation& how, std::span<const std::uint64_t> slots,
                             std::string_view unit) {
    std::string text;
    for (const auto& [name, value] : percentiles(how, slots, unit))
        text += cat(text.empty() ? "" : ", ", name, ' ', value);
    return text;
}

std::vector<std::pair<std::string_view, std::string>> percentiles(
    const Aggregation& how, std::span<const std::uint64_t> slots, std::string_view unit) {
    std::vector<std::pair<std::string_view, std::string>> all;
    for (const Percentile& one : kPercentiles) {
        const auto bound = upper_bound_of(how, slots, one.per_mille);
        std::string text = "-";
        if (bound && bound->is_past_all)
            text = "<16E";
        else if (bound)
            text = '<' + quantity_text(bound->bits, bound->is_signed, unit);
        all.emplace_back(one.name, std::move(text));
    }
    return all;
}

std::string percentiles_json(const Aggregation& how, std::span<const std::uint64_t> slots) {
    JsonObject object;
    for (const Percentile& one : kPercentiles) {
        const auto bound = upper_bound_of(how, slots, one.per_mille);
        object.raw(one.name, bound ? bound->number() : "null");
    }
    return object.done();
}

void Log2Histogram::add(std::uint64_t value, std::uint64_t count) {
    counts_[static_cast<std::size_t>(std::bit_width(value))] += count;
}

bool Log2Histogram::empty() const {
    return std::ranges::all_of(counts_, [](std::uint64_t n) { return n == 0; });
}

std::string Log2Histogram::to_text(std::string_view unit) const {
    return histogram_text(kHow, counts_, unit);
}

std::string Log2Histogram::to_json() const {
    return histogram_json(kHow, counts_);
}

}  // namespace gpufs
