#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/program/types.h"
#include "view/columns.h"

namespace gpufs {

// Histograms the way bpftrace and bcc draw them:
//
//   us                      count
//   [64K, 128K)                 7 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//   [128K, 256K)                1 |@@@@@                                   |
//
// A bucket holds its lower bound and not the upper one. K, M, G are powers of 1024; `(..., 0)` and
// `[100, ...)` hold what is below and above all others. `slots` are an aggregation's, as many as it
// has: log2, log_linear or linear.

// The rows from the first bucket that is not empty to the last, below a line with the unit; more
// than three empty ones in a row are one row of dots. Empty where nothing was counted. The bars get
// narrower where the screen is.
std::string histogram_text(const Aggregation& how, std::span<const std::uint64_t> slots,
                           std::string_view unit, const Screen& screen = {});

// [{"from":65536,"to":131072,"count":7}]: `to` is not in the bucket; a bucket without a bound on
// one side lacks that member; empty buckets are left out.
std::string histogram_json(const Aggregation& how, std::span<const std::uint64_t> slots);

// "p50 <128.0 us, p95 <1.0 ms, p99 <1.0 ms, p99.9 <2.0 ms, max <2.0 ms": below which value so much
// of all values is. These are upper bounds of buckets: what is said is true, and the value itself
// may be less by up to the bucket's width. "-" where the last bucket has no bound.
std::string percentiles_text(const Aggregation& how, std::span<const std::uint64_t> slots,
                             std::string_view unit);
// The same, each by its name.
std::vector<std::pair<std::string_view, std::string>> percentiles(
    const Aggregation& how, std::span<const std::uint64_t> slots, std::string_view unit);
// {"p50":131072,"p95":...,"p99":...,"p99.9":...,"max":...}, the same bounds; null for none.
std::string percentiles_json(const Aggregation& how, std::span<const std::uint64_t> slots);

// Counts values by their power of two.
class Log2Histogram {
public:
    void add(std::uint64_t value, std::uint64_t count = 1);

    bool empty() const;
    std::string to_text(std::string_view unit) const;
    std::string to_json() const;

private:
    static constexpr std::size_t kBuckets = 65;
    static constexpr Aggregation kHow{Aggregation::Kind::log2};
    std::array<std::uint64_t, kBuckets> counts_{};
};

}  // namespace gpufs
