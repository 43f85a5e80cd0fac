#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "lang/program/types.h"
#include "view/monitor/histogram.h"

namespace gpufs {

// Divides the values of histograms into a few steps, for pictures made of text: powers of two, or
// the steps of a linear histogram; several of them are one where there would be too many.
class HistogramScale {
public:
    // At most `most` steps.
    HistogramScale(const Aggregation& how, std::size_t most) : how_(how), most_(most) {}

    // Its range is to have this bucket, too.
    void widen(std::uint32_t bucket);
    bool is_empty() const noexcept { return first_ > last_; }

    // From the step of the least bucket to that of the greatest; both are in the range.
    std::size_t size() const;
    std::size_t step_of(std::uint32_t bucket) const;
    // "16 us": the least value of a step; "below 5" where it has none.
    std::string from_text(std::size_t step, std::string_view unit) const;
    // "16 us to 4.10 ms": of all steps.
    std::string range_text(std::string_view unit) const;

private:
    std::uint64_t unit_of(std::uint32_t bucket) const;
    std::uint64_t each() const;
    BucketRange range_of(std::uint64_t unit) const;

    Aggregation how_;
    std::size_t most_;
    std::uint64_t first_ = 1, last_ = 0;  // powers or steps
};

}  // namespace gpufs
