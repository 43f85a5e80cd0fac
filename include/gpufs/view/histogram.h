#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpufs {

// Counts values by their power of two, and draws them the way bpftrace and bcc do:
//
//   us                      count
//   [64K, 128K)                 7 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//   [128K, 256K)                1 |@@@@@                                   |
//
// [0] and [1] hold one value each; then a bucket holds [2^n, 2^(n+1)). K, M, G are powers of 1024.
class Log2Histogram {
public:
    void add(std::uint64_t value, std::uint64_t count = 1);
    // A bucket of an array that somebody else counted into: 0 for the value 0, n + 1 for [2^n, …).
    void add_to_bucket(std::size_t bucket, std::uint64_t count) { counts_.at(bucket) += count; }
    static std::size_t bucket_of(std::uint64_t value);

    bool empty() const;
    // The rows from the first bucket that is not empty to the last, below a line with the unit.
    std::string to_text(std::string_view unit) const;
    // [{"from":65536,"to":131072,"count":7}]: `to` is not in the bucket; empty buckets are left
    // out.
    std::string to_json() const;

private:
    static constexpr std::size_t kBuckets = 65;
    std::array<std::uint64_t, kBuckets> counts_{};
};

}  // namespace gpufs
