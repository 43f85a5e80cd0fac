#include "view/monitor/histogram_scale.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/cat.h"
#include "view/monitor/value_text.h"

namespace gpufs {
namespace {

std::string bound_text(double value, std::string_view unit) {
    if (value < 0) return cat(static_cast<std::int64_t>(value), unit.empty() ? "" : " ", unit);
    constexpr double kPastAll = 18446744073709551616.0;
    return value >= kPastAll ? "16E"
                             : quantity_text(static_cast<std::uint64_t>(value), false, unit);
}

}  // namespace

// A linear histogram's bucket, else how many bits its values have.
std::uint64_t HistogramScale::unit_of(std::uint32_t bucket) const {
    if (how_.kind == Aggregation::Kind::linear) return bucket;
    const double from = bucket_range(how_, bucket).from.value_or(0);
    return from < 1 ? 0 : static_cast<std::uint64_t>(std::floor(std::log2(from))) + 1;
}

BucketRange HistogramScale::range_of(std::uint64_t unit) const {
    if (how_.kind == Aggregation::Kind::linear)
        return bucket_range(how_, static_cast<std::uint32_t>(unit));
    if (unit == 0) return {0, 1};
    return {std::exp2(static_cast<double>(unit - 1)), std::exp2(static_cast<double>(unit))};
}

void HistogramScale::widen(std::uint32_t bucket) {
    const std::uint64_t unit = unit_of(bucket);
    if (is_empty())
        first_ = last_ = unit;
    else
        first_ = std::min(first_, unit), last_ = std::max(last_, unit);
}

std::uint64_t HistogramScale::each() const {
    return (last_ - first_) / most_ + 1;
}

std::size_t HistogramScale::size() const {
    return is_empty() ? 0 : (last_ - first_) / each() + 1;
}

std::size_t HistogramScale::step_of(std::uint32_t bucket) const {
    return (unit_of(bucket) - first_) / each();
}

std::string HistogramScale::from_text(std::size_t step, std::string_view unit) const {
    const BucketRange range = range_of(first_ + step * each());
    return range.from ? bound_text(*range.from, unit) : cat("below ", bound_text(*range.to, unit));
}

std::string HistogramScale::range_text(std::string_view unit) const {
    const BucketRange last = range_of(last_);
    const std::string from = from_text(0, unit);
    return last.to ? cat(from, " to ", bound_text(*last.to, unit)) : cat(from, " and more");
}

}  // namespace gpufs
