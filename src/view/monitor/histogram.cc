#include "view/monitor/histogram.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/cat.h"
#include "view/bars.h"
#include "view/json.h"
#include "view/monitor/value_text.h"

namespace gpufs {
namespace {

// A bound of a bucket. The bits of linear ones are signed; bits == 0 with is_past_all means 2^64.
struct Bound {
    std::uint64_t bits = 0;
    bool is_signed = false, is_past_all = false;

    std::string number() const {
        if (is_past_all) return "18446744073709551616";
        return is_signed ? cat(static_cast<std::int64_t>(bits)) : cat(bits);
    }
    double value() const {
        if (is_past_all) return 18446744073709551616.0;
        return is_signed ? static_cast<double>(static_cast<std::int64_t>(bits))
                         : static_cast<double>(bits);
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
Bucket power_bucket_bounds(unsigned bits, std::size_t i) {
    const std::uint64_t each = std::uint64_t{1} << bits, n = i;
    if (n < each) return {Bound{n}, Bound{n + 1}};
    const std::uint64_t power = n / each - 1;
    const std::uint64_t from = (each + n % each) << power, to = from + (std::uint64_t{1} << power);
    return {Bound{from}, Bound{to, false, to == 0}};
}

// The rows that are drawn: buckets, or the powers of two that log2 has several of.
struct Rows {
    std::vector<Bucket> bounds;
    std::vector<std::uint64_t> counts;
};

// Of values of so many bits.
std::size_t power_of(std::uint32_t bucket) {
    const unsigned bits = Aggregation::kLog2Bits;
    const std::uint32_t each = 1U << bits;
    return bucket < each ? static_cast<std::size_t>(std::bit_width(bucket)) : bucket / each + bits;
}

Rows powers_of_two(std::span<const std::uint64_t> counts) {
    Rows rows;
    for (std::size_t i = 0; i < counts.size(); ++i)
        rows.bounds.push_back(power_bucket_bounds(0, i));
    rows.counts.assign(counts.begin(), counts.end());
    return rows;
}

// Bucket 0 of powers of two has all that is less, too.
bool has_less_than_zero(const Aggregation& how, Buckets buckets) {
    return how.is_signed && how.kind != Aggregation::Kind::linear && !buckets.empty() &&
           buckets.front().number == 0 && static_cast<std::int64_t>(buckets.front().least) < 0;
}

Rows bounded_rows(const Aggregation& how, Buckets buckets) {
    if (how.kind == Aggregation::Kind::log2) {
        std::array<std::uint64_t, 65> counts{};
        for (const HistogramBucket& one : buckets) counts[power_of(one.number)] += one.count;
        return powers_of_two(counts);
    }
    Rows rows;
    if (buckets.empty()) return rows;
    const std::size_t first = buckets.front().number, last = buckets.back().number;
    rows.counts.resize(last - first + 1);
    for (std::size_t i = first; i <= last; ++i)
        rows.bounds.push_back(how.kind == Aggregation::Kind::linear
                                  ? linear_bucket(how, i, how.buckets())
                                  : power_bucket_bounds(how.sub_bits, i));
    for (const HistogramBucket& one : buckets) rows.counts[one.number - first] += one.count;
    return rows;
}

Rows rows_of(const Aggregation& how, Buckets buckets) {
    Rows rows = bounded_rows(how, buckets);
    if (has_less_than_zero(how, buckets)) rows.bounds.front().from.reset();
    return rows;
}

std::string label_of(const Bucket& bucket) {
    if (!bucket.from) return cat("(..., ", bucket.to->label(), ")");
    if (!bucket.to) return cat("[", bucket.from->label(), ", ...)");
    if (bucket.from->bits + 1 == bucket.to->bits) return cat("[", bucket.from->label(), "]");
    return cat("[", bucket.from->label(), ", ", bucket.to->label(), ")");
}

std::string number(const Aggregation& how, std::uint64_t word) {
    return how.is_signed ? cat(static_cast<std::int64_t>(word)) : cat(word);
}

Bucket bounds_of(const Aggregation& how, std::uint32_t number) {
    return how.kind == Aggregation::Kind::linear ? linear_bucket(how, number, how.buckets())
                                                 : power_bucket_bounds(how.bucket_bits(), number);
}

// Whether the bucket has no end and its values are further apart than those of others are.
bool is_open(const Aggregation& how, const HistogramBucket& bucket) {
    const std::uint64_t width = bucket.most - bucket.least;
    if (how.kind != Aggregation::Kind::linear) return bucket.number == 0 && width != 0;
    const Bucket bounds = bounds_of(how, bucket.number);
    return (!bounds.from || !bounds.to) && width > static_cast<std::uint64_t>(how.step);
}

std::string open_text(const Aggregation& how, std::uint32_t bucket, std::string_view unit) {
    if (how.kind != Aggregation::Kind::linear) return cat("<= ", quantity_text(0, true, unit));
    const Bucket bounds = bounds_of(how, bucket);
    return bounds.from ? cat(">= ", quantity_text(bounds.from->bits, true, unit))
                       : cat("< ", quantity_text(bounds.to->bits, true, unit));
}

std::string text_of(const Rows& rows, std::string_view unit, const Screen& screen) {
    std::vector<CountedRow> lines;
    for (std::size_t i = 0; i < rows.counts.size(); ++i)
        lines.push_back({label_of(rows.bounds[i]), rows.counts[i]});
    return bars_text(lines, unit, screen);
}

std::string json_of(const Rows& rows) {
    JsonArray array;
    for (std::size_t i = 0; i < rows.counts.size(); ++i) {
        if (rows.counts[i] == 0) continue;
        const Bucket& bucket = rows.bounds[i];
        JsonObject row;
        row.raw("from", bucket.from ? bucket.from->number() : "null");
        row.raw("to", bucket.to ? bucket.to->number() : "null");
        array.add(row.number("count", rows.counts[i]).done());
    }
    return array.done();
}

}  // namespace

std::string histogram_text(const Aggregation& how, Buckets buckets, std::string_view unit,
                           const Screen& screen) {
    return text_of(rows_of(how, buckets), unit, screen);
}

std::string histogram_json(const Aggregation& how, Buckets buckets) {
    return json_of(rows_of(how, buckets));
}

BucketRange bucket_range(const Aggregation& how, std::uint32_t number) {
    const Bucket bucket = bounds_of(how, number);
    BucketRange range;
    if (bucket.from) range.from = bucket.from->value();
    if (bucket.to) range.to = bucket.to->value();
    return range;
}

// Rounded up. In parts, as all * per_mille may have more than 64 bits.
std::uint64_t percentile_rank(std::uint64_t all, std::uint64_t per_mille) {
    return std::max<std::uint64_t>(1,
                                   all / 1000 * per_mille + (all % 1000 * per_mille + 999) / 1000);
}

PercentileValue percentile(const Aggregation& how, Buckets buckets, std::uint64_t per_mille) {
    std::uint64_t all = 0;
    for (const HistogramBucket& one : buckets) all += one.count;
    const std::uint64_t rank = percentile_rank(all, per_mille);
    std::uint64_t before = 0;
    for (const HistogramBucket& one : buckets) {
        if (before + one.count < rank) {
            before += one.count;
            continue;
        }
        PercentileValue found{one.least, false, one.least, one.most, one.number};
        if (rank - before == 1) return found;
        found.value = one.most;
        if (rank - before == one.count) return found;
        found.value = one.least + (one.most - one.least) / 2;  // of signed words, too
        found.is_open = is_open(how, one);
        return found;
    }
    return {buckets.back().most};
}

std::vector<std::pair<std::string_view, std::string>> percentiles(
    const Aggregation& how, std::span<const std::uint64_t> words, Buckets buckets,
    std::string_view unit) {
    std::vector<std::pair<std::string_view, std::string>> all;
    const bool has_any = !words.empty() && words[0] != 0;
    const auto add = [&](std::string_view name, std::size_t word) {
        all.emplace_back(name, has_any ? quantity_text(words[word], how.is_signed, unit) : "-");
    };
    add("min", 2);
    all.emplace_back("avg", has_any ? mean_text(how, words, unit) : "-");
    for (const Percentile& one : kPercentiles) {
        if (!has_any) {
            all.emplace_back(one.name, "-");
            continue;
        }
        const PercentileValue found = percentile(how, buckets, one.per_mille);
        all.emplace_back(one.name, found.is_open ? open_text(how, found.bucket, unit)
                                                 : quantity_text(found.value, how.is_signed, unit));
    }
    add("max", 3);
    return all;
}

std::string percentiles_text(const Aggregation& how, std::span<const std::uint64_t> words,
                             Buckets buckets, std::string_view unit) {
    std::string text;
    for (const auto& [name, value] : percentiles(how, words, buckets, unit))
        text += cat(text.empty() ? "" : ", ", name, ' ', value);
    return text;
}

std::string percentiles_json(const Aggregation& how, Buckets buckets) {
    JsonObject object, between;
    bool has_open = false;
    for (const Percentile& one : kPercentiles) {
        PercentileValue found;
        if (!buckets.empty()) found = percentile(how, buckets, one.per_mille);
        object.raw(one.name, buckets.empty() || found.is_open ? "null" : number(how, found.value));
        if (!found.is_open) continue;
        has_open = true;
        between.raw(one.name,
                    cat('[', number(how, found.least), ',', number(how, found.most), ']'));
    }
    if (has_open) object.raw("between", between.done());
    return object.done();
}

void Log2Histogram::add(std::uint64_t value, std::uint64_t count) {
    counts_[static_cast<std::size_t>(std::bit_width(value))] += count;
}

bool Log2Histogram::empty() const {
    return std::ranges::all_of(counts_, [](std::uint64_t n) { return n == 0; });
}

std::string Log2Histogram::to_text(std::string_view unit) const {
    return text_of(powers_of_two(counts_), unit, {});
}

std::string Log2Histogram::to_json(std::uint64_t times) const {
    Rows rows = powers_of_two(counts_);
    for (Bucket& bucket : rows.bounds) {
        for (std::optional<Bound>* bound : {&bucket.from, &bucket.to}) {
            const bool is_past_all = (*bound)->bits > ~std::uint64_t{0} / times;
            if ((*bound)->is_past_all || is_past_all)
                **bound = {0, false, true};
            else
                (*bound)->bits *= times;
        }
    }
    return json_of(rows);
}

}  // namespace gpufs
