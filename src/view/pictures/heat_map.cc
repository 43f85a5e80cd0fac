#include "view/pictures/heat_map.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "base/saturate.h"
#include "view/monitor/histogram.h"

namespace gpufs {
namespace {

// Rows of 4 pixels are still seen.
constexpr std::size_t kMostRows = 96;

void add_counts(const HeatMap::Counts& from, HeatMap::Counts& to) {
    for (const auto& [bucket, count] : from) to[bucket] = add_saturating(to[bucket], count);
}

}  // namespace

std::uint64_t sum_of(const HeatMap::Counts& counts) {
    std::uint64_t sum = 0;
    for (const auto& [bucket, count] : counts) sum += count;
    return sum;
}

// Times are seldom as long as was asked for: a quarter more is no reason for another column.
bool HeatMap::fits(const Column& column, std::uint64_t to_ns) const {
    return to_ns - column.from_ns <= column_ns_ + column_ns_ / 4;
}

void HeatMap::add(std::uint64_t from_ns, std::uint64_t to_ns, const Counts& counts) {
    if (!has_begun_) begin_ns_ = from_ns;
    has_begun_ = true;
    end_ns_ = to_ns;
    if (counts.empty()) return;
    if (!columns_.empty() && fits(columns_.back(), to_ns)) {
        columns_.back().to_ns = to_ns;
        add_counts(counts, columns_.back().counts);
        return;
    }
    columns_.push_back({from_ns, to_ns, counts});
    if (columns_.size() > kMostColumns) merge_columns();
}

// To half as many as there may be, or as few more as the times without a column leave.
void HeatMap::merge_columns() {
    const std::uint64_t enough = (end_ns_ - begin_ns_) / (kMostColumns / 2);
    column_ns_ = std::max(2 * column_ns_, enough);
    std::vector<Column> merged;
    for (Column& column : columns_) {
        if (merged.empty() || !fits(merged.back(), column.to_ns)) {
            merged.push_back(std::move(column));
            continue;
        }
        merged.back().to_ns = column.to_ns;
        add_counts(column.counts, merged.back().counts);
    }
    columns_ = std::move(merged);
}

bool HeatMap::is_empty() const {
    return columns_.empty();
}

double percentile_of(const Aggregation& how, const HeatMap::Counts& counts, unsigned per_mille) {
    const std::uint64_t rank = percentile_rank(sum_of(counts), per_mille);
    std::uint64_t before = 0;
    for (const auto& [bucket, count] : counts) {
        before = add_saturating(before, count);
        if (before < rank) continue;
        const BucketRange range = bucket_range(how, bucket);
        if (!range.from || !range.to) return range.from.value_or(range.to.value_or(0));
        return *range.to - *range.from <= 1 ? *range.from : (*range.from + *range.to) / 2;
    }
    return 0;
}

HeatRows::HeatRows(const Aggregation& how, const std::vector<HeatMap::Column>& columns)
    : how_(how) {
    std::set<std::uint32_t> used;
    for (const HeatMap::Column& column : columns)
        for (const auto& [bucket, count] : column.counts) used.insert(bucket);
    const auto keys = [&] {
        std::set<std::uint64_t> all;
        for (const std::uint32_t bucket : used) all.insert(key_of(bucket));
        return all;
    };
    if (how.kind != Aggregation::Kind::linear) {
        // By the powers of two that are spanned, not by the rows in use: empty ones have room, too.
        const auto power = [&](std::uint32_t bucket) {
            return std::floor(std::log2(std::max(1.0, bucket_range(how, bucket).from.value_or(0))));
        };
        const double powers = used.empty() ? 1 : power(*used.rbegin()) - power(*used.begin()) + 1;
        each_ = std::uint64_t{1} << how.bucket_bits();
        while (each_ > 1 && powers * static_cast<double>(each_) > kMostRows) each_ /= 2;
    }
    for (const std::uint64_t key : keys()) {
        places_[key] = rows_.size();
        rows_.push_back(range_of(key));
    }
    if (rows_.empty()) return;
    lowest_ = edge(rows_.front().from);
    highest_ = edge(rows_.back().to);
}

// Linear: the bucket. Else 0 for the bucket of 0, and the number of the row from 1 on.
std::uint64_t HeatRows::key_of(std::uint32_t bucket) const {
    if (how_.kind == Aggregation::Kind::linear || bucket == 0) return bucket;
    const auto from = static_cast<std::uint64_t>(*bucket_range(how_, bucket).from);
    const auto power = static_cast<unsigned>(std::bit_width(from)) - 1;
    const std::uint64_t begin = std::uint64_t{1} << power;
    const double part = static_cast<double>(from - begin) / static_cast<double>(begin);
    return 1 + power * each_ + static_cast<std::uint64_t>(part * static_cast<double>(each_));
}

HeatRows::Range HeatRows::range_of(std::uint64_t key) const {
    if (how_.kind == Aggregation::Kind::linear) {
        const BucketRange range = bucket_range(how_, static_cast<std::uint32_t>(key));
        const auto step = static_cast<double>(how_.step);
        return {range.from ? *range.from : *range.to - step,
                range.to ? *range.to : *range.from + step, range.from.has_value(),
                range.to.has_value()};
    }
    if (key == 0) return {0, 1};
    const std::uint64_t power = (key - 1) / each_;
    const double begin = std::exp2(static_cast<double>(power));
    const double height = begin / static_cast<double>(each_);
    const double from = begin + static_cast<double>((key - 1) % each_) * height;
    // Values are whole numbers.
    return {std::ceil(from), std::max(std::ceil(from) + 1, std::ceil(from + height))};
}

std::size_t HeatRows::row_of(std::uint32_t bucket) const {
    return places_.at(key_of(bucket));
}

double HeatRows::edge(double value) const {
    if (how_.kind == Aggregation::Kind::linear) return value;
    return value < 1 ? value - 1 : std::log2(value);
}

double HeatRows::height(double value) const {
    return (edge(value) - lowest_) / (highest_ - lowest_);
}

}  // namespace gpufs
