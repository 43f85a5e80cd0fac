#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "lang/program/types.h"

namespace gpufs {

// Histograms of one time after another, in constant memory: where there are too many columns,
// neighbours become one. A time in which nothing came has none.
class HeatMap {
public:
    static constexpr std::size_t kMostColumns = 240;
    using Counts = std::map<std::uint32_t, std::uint64_t>;  // by the number of a bucket
    struct Column {
        std::uint64_t from_ns = 0, to_ns = 0;
        Counts counts;
    };

    explicit HeatMap(Aggregation how) : how_(how) {}

    // What was counted from a time to another, not before those that were added.
    void add(std::uint64_t from_ns, std::uint64_t to_ns, const Counts& counts);

    // Nothing was counted.
    bool is_empty() const;
    const Aggregation& how() const noexcept { return how_; }
    const std::vector<Column>& columns() const noexcept { return columns_; }
    // From the begin of the first time that was added to the end of the last one.
    std::uint64_t begin_ns() const noexcept { return begin_ns_; }
    std::uint64_t end_ns() const noexcept { return end_ns_; }
    // How long a column is to be: shorter times become one. 0 until there were too many.
    std::uint64_t column_ns() const noexcept { return column_ns_; }

private:
    bool fits(const Column& column, std::uint64_t to_ns) const;
    void merge_columns();

    Aggregation how_;
    std::vector<Column> columns_;
    std::uint64_t begin_ns_ = 0, end_ns_ = 0, column_ns_ = 0;
    bool has_begun_ = false;
};

// All of them.
std::uint64_t sum_of(const HeatMap::Counts& counts);

// The smallest value at which at least `per_mille` of a thousand values are not larger, to the
// middle of its bucket. The counts must not be empty.
double percentile_of(const Aggregation& how, const HeatMap::Counts& counts, unsigned per_mille);

// The rows of a heat map: a bucket each, or several for a power of two where there are so many that
// they would be too thin.
class HeatRows {
public:
    // For these columns, of which one has counts.
    HeatRows(const Aggregation& how, const std::vector<HeatMap::Column>& columns);

    // What is in a row: `from` up to but without `to`; a row without a bound is as high as others.
    struct Range {
        double from = 0, to = 0;
        bool has_from = true, has_to = true;
    };
    // The row of a bucket, of those in use, the lowest first.
    std::size_t row_of(std::uint32_t bucket) const;
    const std::vector<Range>& rows() const noexcept { return rows_; }

    // Where a value stands, from 0, the lower bound of the lowest row, to 1, the upper one of the
    // highest: by its logarithm, below 1 and for buckets of one size as it is.
    double height(double value) const;

private:
    std::uint64_t key_of(std::uint32_t bucket) const;
    Range range_of(std::uint64_t key) const;
    double edge(double value) const;

    Aggregation how_;
    std::uint64_t each_ = 1;                       // rows for a power of two
    std::map<std::uint64_t, std::size_t> places_;  // by key
    std::vector<Range> rows_;
    double lowest_ = 0, highest_ = 1;
};

}  // namespace gpufs
