#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/results/map_contents.h"
#include "lang/program/types.h"
#include "view/columns.h"

namespace gpufs {

// Histograms the way bpftrace and bcc draw them:
//
//   us                      count
//   [64K, 128K)                 7 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//   [128K, 256K)                1 |@@@@@                                   |
//
// A row holds its lower bound and not the upper one. K, M, G are powers of 1024; `(..., 0)` and
// `[100, ...)` hold what is below and above all others. log2 has a row for each power of two,
// log_linear and linear one for each of their buckets. `buckets` are a histogram's, by number.
using Buckets = std::span<const HistogramBucket>;

// The rows from the first that is not empty to the last, below a line with the unit; more than
// three empty ones in a row are one row of dots. Empty where nothing was counted. The bars get
// narrower where the screen is.
std::string histogram_text(const Aggregation& how, Buckets buckets, std::string_view unit,
                           const Screen& screen = {});

// [{"from":65536,"to":131072,"count":7}]: `to` is not in the row; a missing bound is null; empty
// rows are left out.
std::string histogram_json(const Aggregation& how, Buckets buckets);

// The values of a bucket: from `from` up to but without `to`. Without one of them it has all below
// or above. Exact up to 2^53.
struct BucketRange {
    std::optional<double> from, to;
};
BucketRange bucket_range(const Aggregation& how, std::uint32_t number);

// The percentiles that are told of a histogram.
struct Percentile {
    std::string_view name;
    std::uint64_t per_mille;
};
inline constexpr Percentile kPercentiles[] = {
    {"p50", 500}, {"p95", 950}, {"p99", 990}, {"p99.9", 999}};
// Which of `all` values, sorted, the percentile is: 1 is the first.
std::uint64_t percentile_rank(std::uint64_t all, std::uint64_t per_mille);

// The smallest value that `per_mille` (1 to 1000) of a thousand values do not exceed: exact where
// it is its bucket's least or greatest value; between them the middle, which of log2 is less
// than 1.6 % away, and of linear not half a step. Of a signed histogram, all are an int64's bits.
struct PercentileValue {
    std::uint64_t value = 0;
    // A bucket without an end says no more than that the percentile is between these, its least
    // and its greatest value.
    bool is_open = false;
    std::uint64_t least = 0, most = 0;
    std::uint32_t bucket = 0;
};
// The histogram must not be empty.
PercentileValue percentile(const Aggregation& how, Buckets buckets, std::uint64_t per_mille);

// What is told of the values beside their count, in order: "min", "avg", "p50", "p95", "p99",
// "p99.9", "max". `words` are those of a MapEntry; where there is no value, "-"; of what is in a
// bucket without an end, its bound: "< 0", ">= 100 us", "<= 0".
std::vector<std::pair<std::string_view, std::string>> percentiles(
    const Aggregation& how, std::span<const std::uint64_t> words, Buckets buckets,
    std::string_view unit);
// "min 1.0 us, avg 45.2 us, p50 41.1 us, p95 …, max 1.5 ms"
std::string percentiles_text(const Aggregation& how, std::span<const std::uint64_t> words,
                             Buckets buckets, std::string_view unit);
// {"p50":41,"p95":...,"p99":...,"p99.9":null,"between":{"p99.9":[100,999]}}: those in a bucket
// without an end are null, and `between` has their bounds.
std::string percentiles_json(const Aggregation& how, Buckets buckets);

// Counts values by their power of two.
class Log2Histogram {
public:
    void add(std::uint64_t value, std::uint64_t count = 1);

    bool empty() const;
    std::string to_text(std::string_view unit) const;
    // The rows of histogram_json(), of values that are `times` as large: 1000 for those in us, to
    // have them in ns.
    std::string to_json(std::uint64_t times = 1) const;

private:
    static constexpr std::size_t kPowers = 65;
    std::array<std::uint64_t, kPowers> counts_{};
};

}  // namespace gpufs
