#include "bt/types/constants.h"

#include <algorithm>

#include "base/cat.h"
#include "bt/syntax/constant.h"
#include "bt/syntax/literals.h"
#include "bt/syntax/mistake.h"
#include "bt/syntax/words.h"

namespace gpufs::bt {
namespace {

// A parameter of the command line as a number of the language, with a sign or without.
std::optional<std::int64_t> number_in(std::string_view text, const SourceRef& at) try {
    const bool is_negative = text.starts_with('-');
    const std::uint64_t number = number_value(text.substr(is_negative ? 1 : 0), at);
    return static_cast<std::int64_t>(is_negative ? 0 - number : number);
} catch (const Mistake&) {
    return std::nullopt;
}

}  // namespace

std::optional<std::string> literal_of(const Expr& expr) {
    if (expr.kind == Expr::Kind::string) return expr.text;
    if (expr.kind == Expr::Kind::positional) return expr.text;
    if (expr.kind == Expr::Kind::call && expr.text == "str" && expr.operands.size() == 1)
        return argument_text(*expr.operands[0]);
    return std::nullopt;
}

std::optional<std::string> argument_text(const Expr& expr) {
    if (expr.kind == Expr::Kind::positional) return expr.text;
    if (expr.kind != Expr::Kind::binary || expr.binary != BinaryOp::add) return std::nullopt;
    const Expr &of = *expr.operands[0], &from = *expr.operands[1];
    if (of.kind != Expr::Kind::positional || from.kind != Expr::Kind::integer) return std::nullopt;
    return of.text.substr(std::min<std::uint64_t>(from.number, of.text.size()));
}

std::string probe_name(const AttachPoint& point) {
    const std::size_t colon = point.text.find(':');
    return colon == std::string::npos
               ? point.text
               : gpufs::cat(name_of(point.provider), point.text.substr(colon));
}

std::optional<std::string> known_probe_text(const Expr& expr, const Instance& instance) {
    if (expr.kind != Expr::Kind::identifier) return std::nullopt;
    const AttachPoint& point = instance.points.front();
    if (expr.text == "probe") return probe_name(point);
    const bool is_one = instance.points.size() == 1 && !point.has_glob();
    if (expr.text == "func" && is_one) return point.name;
    return std::nullopt;
}

namespace {

auto numbers_of(const Instance& instance, const TypeTable& table) {
    return [&](const Expr& leaf) -> std::optional<std::int64_t> {
        switch (leaf.kind) {
            case Expr::Kind::positional_count:
                return static_cast<std::int64_t>(leaf.number);
            case Expr::Kind::positional:
                return leaf.text.empty() ? 0 : number_in(leaf.text, leaf.at);
            case Expr::Kind::identifier:
                // Also where an enumerator of the kernel has the name.
                if (is_builtin(leaf.text)) return std::nullopt;
                if (const auto known = table.constant(leaf.text)) return known->number;
                return std::nullopt;
            case Expr::Kind::size_of:
            case Expr::Kind::offset_of:
            case Expr::Kind::call:
                // The inference has put the number beside the type.
                if (const auto known = instance.constants.find(&leaf);
                    known != instance.constants.end())
                    return known->second;
                return std::nullopt;
            default:
                return std::nullopt;
        }
    };
}

}  // namespace

std::optional<std::int64_t> constant_of(const Expr& expr, const Instance& instance,
                                        const TypeTable& table) {
    return constant_value(expr, numbers_of(instance, table));
}

bool overflows(const Expr& expr, const Instance& instance, const TypeTable& table) {
    return overflows(expr, numbers_of(instance, table));
}

}  // namespace gpufs::bt
