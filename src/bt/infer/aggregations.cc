#include <algorithm>
#include <utility>

#include "base/cat.h"
#include "bt/infer/inference.h"
#include "bt/types/common_type.h"
#include "bt/types/constants.h"

// The types of what maps accumulate.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

constexpr std::int64_t kMostBits = 5;               // of hist()
constexpr std::int64_t kMostIntervals = 1'000'000;  // of tseries()
constexpr std::uint64_t kMostLinearSlots = 1000;    // of lhist()

}  // namespace

// sum(), avg(), min(), max(), stats(): signed where the number is.
TypePtr Inference::type_of_aggregation(const Expr& expr, const FunctionRow& row) {
    const TypePtr of = type_of(*expr.operands[0]);
    if (!of) return nullptr;
    auto type = std::make_shared<Type>(*plain_type(row.value));
    type->is_signed = fits_int64(*of);
    type->has_any_sign = of->has_any_sign;
    return type;
}

TypePtr Inference::type_of_hist(const Expr& expr, const FunctionRow& row) {
    if (expr.operands.size() == 1) return plain_type(row.value);
    const Expr& argument = *expr.operands[1];
    type_of(argument);
    const auto bits = constant(argument);
    if (!bits || *bits < 0 || *bits > kMostBits)
        complain(argument.at, gpufs::cat("hist: bits must be 0..", kMostBits));
    auto type = std::make_shared<Type>(*plain_type(row.value));
    type->bits = static_cast<unsigned>(std::clamp<std::int64_t>(bits.value_or(0), 0, kMostBits));
    return type;
}

TypePtr Inference::type_of_lhist(const Expr& expr, const FunctionRow& row) {
    auto type = std::make_shared<Type>(*plain_type(row.value));
    std::int64_t* const parts[] = {&type->low, &type->high, &type->step};
    for (std::size_t i = 0; i < 3; ++i) {
        const Expr& argument = *expr.operands[i + 1];
        type_of(argument);
        const auto value = constant(argument);
        if (!value) complain(argument.at, "lhist() wants numbers that are known before it runs");
        *parts[i] = value.value_or(i == 0 ? 0 : 1);
    }
    if (type->step < 1)
        complain(expr.at, gpufs::cat("lhist() step must be >= 1 (", type->step, " provided)"));
    else if (type->low >= type->high)
        complain(expr.at, gpufs::cat("lhist() min must be less than max (provided min ", type->low,
                                     " and max ", type->high, ")"));
    else if (type->steps() > kMostLinearSlots)
        complain(expr.at, gpufs::cat("lhist() too many buckets, must be <= ", kMostLinearSlots));
    else if (type->high > INT64_MAX - type->step)
        complain(expr.at, gpufs::cat("lhist() max and step must be less than 2^63 together "
                                     "(provided max ",
                                     type->high, " and step ", type->step, ")"));
    return type;
}

// tseries(n, interval, intervals[, "avg", "max", "min" or "sum"])
TypePtr Inference::type_of_series(const Expr& expr, const FunctionRow&) {
    const TypePtr of = number_argument(expr, 0);
    const auto known = [&](std::size_t which, std::int64_t most, const char* what) {
        const Expr& argument = *expr.operands[which];
        number_argument(expr, which);
        const auto number = constant(argument);
        if (!number || *number < 1 || *number > most)
            complain(argument.at, gpufs::cat("tseries() wants ", what,
                                             " that is known before it runs, from 1 to ", most));
        return std::clamp<std::int64_t>(number.value_or(1), 1, most);
    };
    const std::int64_t interval = known(1, INT64_MAX, "an interval in ns");
    const std::int64_t intervals = known(2, kMostIntervals, "a number of intervals");
    if (!of) return nullptr;
    auto element = std::make_shared<Type>(*integer_type(kWord, false));
    if (expr.operands.size() == 4) {
        static constexpr std::pair<std::string_view, Kind> kKinds[] = {
            {"avg", Kind::avg}, {"max", Kind::max}, {"min", Kind::min}, {"sum", Kind::sum}};
        type_of(*expr.operands[3]);
        const auto word = literal_of(*expr.operands[3]);
        const auto found =
            std::ranges::find(kKinds, word.value_or(""), &std::pair<std::string_view, Kind>::first);
        if (found == std::end(kKinds))
            complain(expr.operands[3]->at, "tseries() makes avg, max, min or sum of an interval");
        else
            element = std::make_shared<Type>(*plain_type(found->second));
    }
    element->is_signed = fits_int64(*of);
    element->has_any_sign = of->has_any_sign;
    return time_series_type(element, static_cast<std::size_t>(intervals), interval);
}

}  // namespace gpufs::bt
