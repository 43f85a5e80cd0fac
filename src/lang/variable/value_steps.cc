#include "lang/variable/value_steps.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/cat.h"
#include "base/hex.h"
#include "lang/program/registers.h"

namespace gpufs {
namespace {

using Kind = ValueStep::Kind;

constexpr std::size_t kLongestText = 200;

std::string_view sign_of(Kind kind) {
    static constexpr std::pair<Kind, std::string_view> kSigns[] = {
        {Kind::negate, "-"},        {Kind::invert, "~"},      {Kind::absolute, "abs "},
        {Kind::add, "+"},           {Kind::subtract, "-"},    {Kind::multiply, "*"},
        {Kind::divide, "/"},        {Kind::rest, "%"},        {Kind::bit_and, "&"},
        {Kind::bit_or, "|"},        {Kind::bit_xor, "^"},     {Kind::shift_left, "<<"},
        {Kind::shift_right, ">>"},  {Kind::equal, "=="},      {Kind::not_equal, "!="},
        {Kind::less, "<"},          {Kind::less_equal, "<="}, {Kind::greater, ">"},
        {Kind::greater_equal, ">="}};
    const auto known = std::ranges::find(kSigns, kind, &std::pair<Kind, std::string_view>::first);
    return known == std::end(kSigns) ? "?" : known->second;
}

std::uint64_t shifted(const ValueStep& step, std::uint64_t left, std::uint64_t count) {
    const std::uint64_t bits = 8 * std::uint64_t{step.type.bytes};
    if (step.kind == Kind::shift_left) return count < bits ? left << count : 0;
    if (!step.type.is_signed) return count < bits ? left >> count : 0;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(left) >>
                                      std::min<std::uint64_t>(count, 63));
}

// For 64 bits of the type's sign; the caller cuts.
std::optional<std::uint64_t> quotient(const ValueStep& step, std::uint64_t left,
                                      std::uint64_t right) {
    const bool wants_rest = step.kind == Kind::rest;
    if (right == 0) return std::nullopt;
    if (!step.type.is_signed) return wants_rest ? left % right : left / right;
    if (right == ~std::uint64_t{0}) return wants_rest ? 0 : 0 - left;
    const auto a = static_cast<std::int64_t>(left), b = static_cast<std::int64_t>(right);
    return static_cast<std::uint64_t>(wants_rest ? a % b : a / b);
}

bool is_true(const ValueStep& step, std::uint64_t left, std::uint64_t right) {
    const auto a = static_cast<std::int64_t>(left), b = static_cast<std::int64_t>(right);
    const bool is_less = step.type.is_signed ? a < b : left < right;
    switch (step.kind) {
        case Kind::equal:
            return left == right;
        case Kind::not_equal:
            return left != right;
        case Kind::less:
            return is_less;
        case Kind::less_equal:
            return is_less || left == right;
        case Kind::greater:
            return !is_less && left != right;
        default:
            return !is_less;
    }
}

std::optional<std::uint64_t> computed_in_64_bits(const ValueStep& step, std::uint64_t left,
                                                 std::uint64_t right) {
    switch (step.kind) {
        case Kind::negate:
            return 0 - left;
        case Kind::invert:
            return ~left;
        case Kind::absolute:
            return static_cast<std::int64_t>(left) < 0 ? 0 - left : left;
        case Kind::convert:
            return left;
        case Kind::add:
            return left + right;
        case Kind::subtract:
            return left - right;
        case Kind::multiply:
            return left * right;
        case Kind::divide:
        case Kind::rest:
            return quotient(step, left, right);
        case Kind::bit_and:
            return left & right;
        case Kind::bit_or:
            return left | right;
        case Kind::bit_xor:
            return left ^ right;
        case Kind::shift_left:
        case Kind::shift_right:
            return shifted(step, left, right);
        default:
            if (step.kind < Kind::equal) return std::nullopt;
            return is_true(step, left, right);
    }
}

std::string sum_text(std::string_view text, std::int64_t number) {
    return number < 0 ? cat(text, number) : cat(text, '+', number);
}

class TextMaker {
public:
    std::string make(const ValueSteps& steps) {
        for (const ValueStep& step : steps) {
            texts_.push_back(text_of(step));
            if (texts_.back().text.size() > kLongestText) texts_.back() = {"(…)", {}};
        }
        return pop().text;
    }

private:
    struct Part {
        std::string text;
        std::optional<std::int64_t> number;  // of a constant
    };

    Part pop() {
        if (texts_.empty()) return {};
        Part last = std::move(texts_.back());
        texts_.pop_back();
        return last;
    }

    Part text_of(const ValueStep& step) {
        switch (step.kind) {
            case Kind::constant:
                return {cat(step.number), step.number};
            case Kind::linked:
                return {hex(static_cast<std::uint64_t>(step.number)), {}};
            case Kind::in_register:
                return {register_text(static_cast<unsigned>(step.number)), {}};
            case Kind::thread:
                return {cat('%', thread_pointer_register().name), {}};
            case Kind::at_begin:
                return {cat('(', pop().text, " at the function's begin)"), {}};
            case Kind::read:
                return {cat('[', pop().text, ']'), {}};
            case Kind::convert:
                return pop();
            case Kind::choose: {
                const Part other = pop(), first = pop(), condition = pop();
                return {cat('(', condition.text, " ? ", first.text, " : ", other.text, ')'), {}};
            }
            default:
                break;
        }
        if (step.is_unary()) return {cat('(', sign_of(step.kind), pop().text, ')'), {}};
        const Part right = pop(), left = pop();
        if (step.kind == Kind::add && right.number) return {sum_text(left.text, *right.number), {}};
        return {cat('(', left.text, ' ', sign_of(step.kind), ' ', right.text, ')'), {}};
    }

    std::vector<Part> texts_;
};

}  // namespace

std::optional<std::uint64_t> computed(const ValueStep& step, std::uint64_t left,
                                      std::uint64_t right) {
    const auto made = computed_in_64_bits(step, left, right);
    if (!made || step.kind >= Kind::equal) return made;
    return ir::converted(*made, step.type);
}

ValueSteps joined(ValueSteps left, const ValueSteps& right, const ValueStep& last) {
    left.insert(left.end(), right.begin(), right.end());
    left.push_back(last);
    return left;
}

std::string to_text(const ValueSteps& steps) {
    return TextMaker().make(steps);
}

std::string register_text(unsigned reg) {
    const auto name = register_of_dwarf(reg);
    return name ? cat('%', *name) : cat("register ", reg);
}

}  // namespace gpufs
