#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lang/perf_data/sample.h"

namespace gpufs {

// Puts the records of a perf.data in order of time. perf writes what each CPU's ring holds, ring by
// ring; behind each such round nothing comes that is earlier than the latest of the round before.
class PerfQueue {
public:
    // Copies the record.
    void add(std::uint64_t time, perf_data::Bytes record);
    // A round is over: what was there at the end of the one before can be taken.
    void end_round();
    // Nothing follows: all can be taken.
    void end();
    // A file without rounds would be held whole; then the earlier half is taken as it is.
    bool is_full() const { return bytes_.size() > kMostBytes; }
    void give_way();

    // The next record that can be taken; valid until the next call of any function. Empty if there
    // is none.
    perf_data::Bytes take();

private:
    static constexpr std::size_t kMostBytes = 256 << 20;
    struct Entry {
        std::uint64_t time;
        std::size_t at, size;  // in bytes_
    };
    void release(std::uint64_t up_to);
    void compact();

    std::vector<std::byte> bytes_;
    std::vector<Entry> entries_;  // ascending up to released_, then as they came
    std::size_t taken_ = 0, released_ = 0;
    std::uint64_t latest_ = 0, latest_of_round_before_ = 0;
};

}  // namespace gpufs
