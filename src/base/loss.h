#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace gpufs {

// How much is missing: a number where it is known, else the bounds that it lies between.
struct Loss {
    static constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};

    std::uint64_t least = 0;
    std::uint64_t most = 0;  // kUnbounded: no upper bound is known

    static constexpr Loss exactly(std::uint64_t n) { return {n, n}; }
    static constexpr Loss at_least(std::uint64_t n) { return {n, kUnbounded}; }
    static constexpr Loss at_most(std::uint64_t n) { return {0, n}; }

    bool is_exact() const { return least == most; }
    // Nothing is missing. False if something may be.
    bool is_zero() const { return most == 0; }

    // Adds another loss of other things: the bounds add up.
    Loss& operator+=(const Loss& other);
    bool operator==(const Loss&) const = default;
};

// A loss and what is missing: "records, a ring was full".
struct KindOfLoss {
    std::string what;
    Loss loss;

    bool operator==(const KindOfLoss&) const = default;
};

// The account of all that is missing in a result. Losses are counted where records are read
// (engine/trace/raw_buffer.cc the kernel's buffer, engine/monitor/reader.cc rings,
// engine/monitor/replay.cc recordings, engine/recorder/ what it writes), by the kernel
// (engine/monitor/monitor.cc missed()), and by programs (engine/results/lost_counters.cc).
class LossLedger {
public:
    LossLedger() = default;
    LossLedger(std::initializer_list<KindOfLoss> kinds) : kinds_(kinds) {}

    // Adds to the kind of this name.
    void add(std::string what, Loss loss);
    void add(const LossLedger& other);
    // A second count of the same losses: the larger one is kept.
    void add_same(std::string what, Loss loss);

    // In the order in which they were added first, including those that are zero.
    const std::vector<KindOfLoss>& kinds() const { return kinds_; }
    Loss total() const;
    // Nothing is missing, for certain.
    bool is_complete() const { return total().is_zero(); }

private:
    std::vector<KindOfLoss> kinds_;
};

}  // namespace gpufs
