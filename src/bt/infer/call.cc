#include <algorithm>

#include "base/align.h"
#include "base/cat.h"
#include "base/kernel_abi.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bt/infer/inference.h"
#include "bt/syntax/words.h"
#include "bt/types/format.h"
#include "lang/program/registers.h"

namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

constexpr std::int64_t kMostBits = 5;               // of hist()
constexpr std::int64_t kMostIntervals = 1'000'000;  // of tseries()
constexpr std::int64_t kMostLinearSlots = 1000;     // of lhist()

TypePtr uint64() {
    return integer_type(kWord, false);
}

bool has_registers_at(Provider provider) {
    return is_at_function(provider) || provider == Provider::profile ||
           provider == Provider::software || provider == Provider::hardware;
}

}  // namespace

TypePtr Inference::type_of_call(const Expr& expr) {
    const FunctionRow* row = find_function(expr.text);
    if (!row && (expr.text == "pid" || expr.text == "tid") && expr.operands.size() == 1)
        return type_of_task_id(expr);
    if (!row) {
        bool is_known = expr.operands.empty();
        if (is_known)
            if (TypePtr type = type_of_builtin(expr, is_known); is_known) return type;
        const std::string_view reason = why_absent(expr.text);
        complain(expr.at, gpufs::cat("Unknown function: ", expr.text),
                 reason.empty() ? did_you_mean(expr.text, function_names()) : std::string(reason));
        return nullptr;
    }
    if (row->is_unsafe && !in_.options.is_unsafe)
        complain(expr.at, gpufs::cat(row->name, "() is an unsafe function being used in safe mode"),
                 "--unsafe allows it");
    const std::size_t given = expr.operands.size();
    if (given < row->least || given > row->most) {
        complain(expr.at,
                 row->least == row->most
                     ? gpufs::cat(row->name, "() requires ", gpufs::counted(row->least, "argument"),
                                  " (", given, " provided)")
                     : gpufs::cat(row->name, "() takes ", row->least, " to ", row->most,
                                  " arguments (", given, " provided)"));
        return nullptr;
    }
    if (row->is_aggregation && &expr != aggregation_) {
        complain(expr.at, gpufs::cat(row->name, "() should be directly assigned to a map"));
        return nullptr;
    }
    return type_of_function(expr, *row);
}

TypePtr Inference::number_argument(const Expr& call, std::size_t which) {
    TypePtr type = type_of(*call.operands[which]);
    if (type && !type->is_number() && !type->is(Kind::pointer))
        complain(call.operands[which]->at,
                 gpufs::cat(call.text, "() only supports numbers (", name_of(*type), " provided)"));
    return type;
}

TypePtr Inference::type_of_function(const Expr& expr, const FunctionRow& row) {
    const auto number = [&](std::size_t i) { return number_argument(expr, i); };
    const auto literal = [&](std::size_t i) {
        type_of(*expr.operands[i]);
        if (!literal_of(*expr.operands[i]))
            complain(expr.operands[i]->at, gpufs::cat(row.name, "() wants a text in quotes here"));
    };
    const auto aggregation = [&](Kind kind) -> TypePtr {
        const TypePtr of = number(0);
        if (!of) return nullptr;
        auto type = std::make_shared<Type>(*plain_type(kind));
        type->is_signed = fits_int64(*of);
        return type;
    };
    switch (row.function) {
        case Fn::printf:
        case Fn::errorf:
        case Fn::warnf:
        case Fn::debugf:
        case Fn::system:
        case Fn::cat:
        case Fn::print:
        case Fn::clear:
        case Fn::zero:
        case Fn::exit:
        case Fn::time:
        case Fn::join:
            check_output(expr, row);
            return none_type();
        case Fn::delete_:
        case Fn::has_key: {
            check_map_argument(expr);
            return boolean_type();
        }
        case Fn::len: {
            const Expr& of = *expr.operands[0];
            if (of.kind == Expr::Kind::map && of.operands.empty()) {
                requires_keys(expr, map_of(of));
                return integer_type(kWord, true);
            }
            complain(expr.at, "len() counts the elements of a map");
            return nullptr;
        }
        case Fn::str:
            return type_of_str(expr);
        case Fn::buf:
            return type_of_buf(expr);
        case Fn::strncmp:
        case Fn::memcmp:
        case Fn::strcontains:
        case Fn::strstr:
        case Fn::str_concat:
        case Fn::strlen:
        case Fn::strcap:
        case Fn::default_str_length:
            return type_of_text_call(expr, row.function);
        case Fn::strftime:
            literal(0), number(1);
            return plain_type(Kind::timestamp);
        case Fn::strerror:
            number(0);
            return plain_type(Kind::error_name);
        case Fn::syscall_name:
            number(0);
            return plain_type(Kind::syscall_name);
        case Fn::signal_name:
            number(0);
            return plain_type(Kind::signal_name);
        case Fn::ksym:
            number(0);
            return plain_type(Kind::kernel_symbol);
        case Fn::usym:
            number(0);
            return plain_type(Kind::user_symbol);
        case Fn::kaddr:
        case Fn::uaddr: {
            literal(0);
            const auto name = literal_of(*expr.operands[0]);
            if (!name) return nullptr;
            if (row.function == Fn::kaddr) {
                if (!in_.world.kernel_symbol(*name))
                    complain(expr.at, gpufs::cat("Failed to resolve kernel symbol: ", *name),
                             "/proc/kallsyms does not have it: variables are there where "
                             "CONFIG_KALLSYMS_ALL is set");
                return uint64();
            }
            const auto found = in_.world.user_symbol(instance_->points.front().target, *name);
            if (!found) {
                complain(expr.at, gpufs::cat("Could not resolve symbol: ",
                                             instance_->points.front().target, ":", *name));
                return nullptr;
            }
            const bool is_whole = found->bytes == 1 || found->bytes == 2 || found->bytes == 4;
            return pointer_type(integer_type(is_whole ? found->bytes : kWord, false), Space::user);
        }
        case Fn::percpu_kaddr: {
            literal(0);
            if (expr.operands.size() == 2) number(1);
            const auto name = literal_of(*expr.operands[0]);
            for (const std::string& symbol : {name.value_or(""), std::string(kPerCpuOffsets)})
                if (!in_.world.kernel_symbol(symbol))
                    complain(expr.at, gpufs::cat("Failed to resolve kernel symbol: ", symbol));
            return pointer_type(integer_type(kWord, true), Space::kernel);
        }
        case Fn::reg:
            literal(0);
            if (!has_registers_at(instance_->provider()))
                complain(expr.at, "reg() is for probes that have registers");
            return uint64();
        case Fn::bswap: {
            const TypePtr of = number(0);
            if (of && of->is(Kind::pointer)) return uint64();
            return of ? integer_type(told_size(*of), false) : nullptr;
        }
        case Fn::kptr:
        case Fn::uptr: {
            const TypePtr of = number(0);
            if (!of) return nullptr;
            return pointer_type(of->is(Kind::pointer) ? of->element : none_type(),
                                row.function == Fn::kptr ? Space::kernel : Space::user);
        }
        case Fn::nsecs:
            if (!expr.operands.empty()) {
                const std::string& clock = expr.operands[0]->text;
                if (clock != "monotonic" && clock != "boot" && clock != "tai" && clock != "sw_tai")
                    complain(expr.operands[0]->at, gpufs::cat("Unknown clock: ", clock),
                             "monotonic, boot, tai or sw_tai");
            }
            return uint64();
        case Fn::ntop: {
            if (expr.operands.size() == 2) number(0);
            const TypePtr of = type_of(*expr.operands.back());
            const bool is_address =
                of && (of->is_number() || of->is(Kind::pointer) ||
                       ((of->is(Kind::array) || of->is(Kind::string)) &&
                        (of->bytes == 4 || of->bytes == 16 || of->is(Kind::string))));
            if (of && !is_address)
                complain(expr.at, gpufs::cat("ntop() expects an integer or array argument, got ",
                                             name_of(*of)));
            return plain_type(Kind::inet);
        }
        case Fn::pton: {
            literal(0);
            const auto address = literal_of(*expr.operands[0]);
            const bool is_ipv6 = address && address->find(':') != std::string::npos;
            return array_type(integer_type(1, false), is_ipv6 ? 16 : 4);
        }
        case Fn::macaddr: {
            const TypePtr of = type_of(*expr.operands[0]);
            if (of && !of->is_number() && !of->is(Kind::pointer) && !of->is(Kind::array) &&
                !of->is(Kind::string))
                complain(expr.operands[0]->at, gpufs::cat("macaddr() wants an address or 6 bytes (",
                                                          name_of(*of), " provided)"));
            return plain_type(Kind::mac_address);
        }
        case Fn::kstack:
        case Fn::ustack:
            return type_of_stack(expr, row.function == Fn::ustack);
        case Fn::cgroupid:
            literal(0);
            return uint64();
        case Fn::cgroup_path:
            number(0);
            if (expr.operands.size() == 2) literal(1);
            return plain_type(Kind::cgroup_path);
        case Fn::signal:
        case Fn::signal_thread:
            if (!literal_of(*expr.operands[0])) number(0);
            return none_type();
        case Fn::write_user: {
            number(0);
            const TypePtr from = type_of(*expr.operands[1]);
            number(2);
            const auto bytes = constant(*expr.operands[2]);
            if (!bytes || *bytes < 1)
                complain(expr.operands[2]->at,
                         "write_user() wants a number of bytes that is known before it runs");
            else if (from && static_cast<std::uint64_t>(*bytes) > from->bytes)
                complain(expr.operands[2]->at,
                         gpufs::cat(name_of(*from), " has no ", *bytes, " bytes to write"));
            return integer_type(4, true);
        }
        case Fn::path:
        case Fn::socket_cookie:
        case Fn::override_:
        case Fn::kfunc_exist:
        case Fn::kfunc_allowed:
            return type_of_kernel_call(expr, row.function);
        case Fn::fail:
        case Fn::static_assert_:
        case Fn::is_str:
        case Fn::is_ptr:
        case Fn::is_array:
        case Fn::is_integer:
        case Fn::is_unsigned_integer:
        case Fn::is_literal:
            return type_of_decision(expr, row.function);
        case Fn::count:
            return plain_type(Kind::count);
        case Fn::sum:
            return aggregation(Kind::sum);
        case Fn::avg:
            return aggregation(Kind::avg);
        case Fn::min:
            return aggregation(Kind::min);
        case Fn::max:
            return aggregation(Kind::max);
        case Fn::stats:
            return aggregation(Kind::stats);
        case Fn::hist: {
            number(0);
            auto type = std::make_shared<Type>(*plain_type(Kind::hist));
            if (expr.operands.size() == 2) {
                type_of(*expr.operands[1]);
                const auto bits = constant(*expr.operands[1]);
                if (!bits || *bits < 0 || *bits > kMostBits)
                    complain(expr.operands[1]->at, gpufs::cat("hist: bits must be 0..", kMostBits));
                type->bits =
                    static_cast<unsigned>(std::clamp<std::int64_t>(bits.value_or(0), 0, kMostBits));
            }
            return type;
        }
        case Fn::tseries:
            return type_of_series(expr);
        case Fn::lhist: {
            number(0);
            auto type = std::make_shared<Type>(*plain_type(Kind::lhist));
            std::int64_t* const parts[] = {&type->low, &type->high, &type->step};
            for (std::size_t i = 0; i < 3; ++i) {
                type_of(*expr.operands[i + 1]);
                const auto value = constant(*expr.operands[i + 1]);
                if (!value)
                    complain(expr.operands[i + 1]->at,
                             "lhist() wants numbers that are known before it runs");
                *parts[i] = value.value_or(i == 0 ? 0 : 1);
            }
            if (type->step < 1)
                complain(expr.at,
                         gpufs::cat("lhist() step must be >= 1 (", type->step, " provided)"));
            else if (type->low >= type->high)
                complain(expr.at, gpufs::cat("lhist() min must be less than max (provided min ",
                                             type->low, " and max ", type->high, ")"));
            else if ((type->high - type->low) / type->step > kMostLinearSlots)
                complain(expr.at,
                         gpufs::cat("lhist() too many buckets, must be <= ", kMostLinearSlots));
            return type;
        }
    }
    return nullptr;
}

// tseries(n, interval, intervals[, "avg", "max", "min" or "sum"])
TypePtr Inference::type_of_series(const Expr& expr) {
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
    auto element = std::make_shared<Type>(*uint64());
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
    return time_series_type(element, static_cast<std::size_t>(intervals), interval);
}

bool Inference::requires_keys(const Expr& call, const TypedMap& map) {
    if (map.is_keyed || !map.value) return true;
    complain(call.operands[0]->at, gpufs::cat("call to ", call.text,
                                              "() expects a map with explicit keys (non-scalar "
                                              "map)"));
    return false;
}

// A map by its name, and where there are more arguments, its key. delete(@m[k]) has one argument,
// delete(@m, k) two.
void Inference::check_map_argument(const Expr& expr) {
    const Expr& of = *expr.operands[0];
    if (of.kind != Expr::Kind::map)
        return complain(of.at, gpufs::cat(expr.text, "() expects a map to be provided"));
    TypedMap& map = map_of(of);
    if (expr.text == "has_key" && !requires_keys(expr, map)) return;
    if (expr.operands.size() == 2 && of.operands.empty() &&
        expr.operands[1]->kind != Expr::Kind::map)
        return add_key(map, expr.operands[1]->at, expr.operands, 1);
    for (const ExprPtr& one : expr.operands) {
        if (one->kind != Expr::Kind::map)
            return complain(one->at, gpufs::cat(expr.text, "() expects a map to be provided"));
        add_key(map_of(*one), *one);
    }
}

void Inference::check_output(const Expr& expr, const FunctionRow& row) {
    const auto whole_map = [&] {
        const Expr& of = *expr.operands[0];
        if (of.kind == Expr::Kind::map && of.operands.empty())
            map_of(of);
        else
            complain(of.at, gpufs::cat(row.name, "() expects a map to be provided"));
    };
    switch (row.function) {
        case Fn::print:
            return check_print(expr);
        case Fn::clear:
        case Fn::zero:
            return whole_map();
        case Fn::exit:
            if (!expr.operands.empty()) number_argument(expr, 0);
            return;
        case Fn::join:
            number_argument(expr, 0);
            if (expr.operands.size() > 1 && !literal_of(*expr.operands[1]))
                complain(expr.operands[1]->at, "join() wants a text in quotes here");
            return;
        case Fn::time:
            if (!expr.operands.empty() && !literal_of(*expr.operands[0]))
                complain(expr.operands[0]->at, "time() wants a text in quotes here");
            return;
        default:
            check_format(expr);
            if (row.function != Fn::debugf) return;
            for (std::size_t i = 1; i < expr.operands.size(); ++i)
                if (const TypePtr type = type_of(*expr.operands[i]); type && !type->is_number() &&
                                                                     !type->is(Kind::pointer) &&
                                                                     !type->is(Kind::string))
                    complain(expr.operands[i]->at, gpufs::cat("debugf() takes numbers and texts (",
                                                              name_of(*type), " provided)"));
    }
}

void Inference::check_format(const Expr& expr) {
    const auto format = literal_of(*expr.operands[0]);
    if (!format)
        return complain(expr.operands[0]->at, gpufs::cat(expr.text, "() wants a format in quotes"));
    std::vector<TypePtr> types;
    for (std::size_t i = 1; i < expr.operands.size(); ++i) {
        TypePtr type = type_of(*expr.operands[i]);
        if (!type) return;
        types.push_back(std::move(type));
    }
    if (!is_final_) return;
    const std::string mistake = mistake_in(parse_format(*format), types);
    if (!mistake.empty()) complain(expr.at, gpufs::cat(expr.text, ": ", mistake));
}

void Inference::check_print(const Expr& expr) {
    const Expr& of = *expr.operands[0];
    if (of.kind == Expr::Kind::map) {
        TypedMap& map = map_of(of);
        if (of.operands.empty()) {
            for (std::size_t i = 1; i < expr.operands.size(); ++i) number_argument(expr, i);
            return;
        }
        add_key(map, of);
        if (map.value && map.value->is_aggregation()) return;
    }
    if (expr.operands.size() > 1)
        complain(expr.at, "only print() of a map takes how many of its elements are printed");
    const TypePtr type = type_of(of);
    if (type && type->is(Kind::none)) complain(of.at, "there is no value to print");
}

}  // namespace gpufs::bt
