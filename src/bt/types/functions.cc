#include "bt/types/functions.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

constexpr unsigned kAny = 64;

// clang-format off
constexpr FunctionRow kFunctions[] = {
    {.function = Fn::printf, .name = "printf", .least = 1, .most = kAny, .is_statement = true},
    {.function = Fn::errorf, .name = "errorf", .least = 1, .most = kAny, .is_statement = true},
    {.function = Fn::warnf, .name = "warnf", .least = 1, .most = kAny, .is_statement = true},
    {.function = Fn::debugf, .name = "debugf", .least = 1, .most = 4, .is_statement = true},
    {.function = Fn::system, .name = "system", .least = 1, .most = kAny, .is_unsafe = true, .is_statement = true},
    {.function = Fn::cat, .name = "cat", .least = 1, .most = kAny, .is_statement = true},
    {.function = Fn::print, .name = "print", .least = 1, .most = 3, .is_statement = true},
    {.function = Fn::clear, .name = "clear", .least = 1, .most = 1, .is_statement = true},
    {.function = Fn::zero, .name = "zero", .least = 1, .most = 1, .is_statement = true},
    {.function = Fn::exit, .name = "exit", .least = 0, .most = 1, .arguments = "n", .is_statement = true},
    {.function = Fn::time, .name = "time", .least = 0, .most = 1, .arguments = "q", .is_statement = true},
    {.function = Fn::join, .name = "join", .least = 1, .most = 2, .arguments = "nq", .is_statement = true},
    {.function = Fn::delete_, .name = "delete", .least = 1, .most = kAny, .value = Kind::boolean},
    {.function = Fn::has_key, .name = "has_key", .least = 2, .most = 2, .value = Kind::boolean},
    {.function = Fn::len, .name = "len", .least = 1, .most = 1},
    {.function = Fn::str, .name = "str", .least = 1, .most = 2, .arguments = ".n"},
    {.function = Fn::buf, .name = "buf", .least = 1, .most = 2, .arguments = ".n"},
    {.function = Fn::strncmp, .name = "strncmp", .least = 3, .most = 3, .arguments = "ssn", .value = Kind::integer},
    {.function = Fn::strcontains, .name = "strcontains", .least = 2, .most = 2, .arguments = "ss", .value = Kind::boolean},
    {.function = Fn::strlen, .name = "strlen", .least = 1, .most = 1, .arguments = "s", .value = Kind::integer},
    {.function = Fn::strcap, .name = "strcap", .least = 1, .most = 1},
    {.function = Fn::strstr, .name = "strstr", .least = 2, .most = 2, .arguments = "ss"},
    {.function = Fn::str_concat, .name = "str_concat", .least = 2, .most = 2, .arguments = "ss"},
    {.function = Fn::memcmp, .name = "memcmp", .least = 3, .most = 3, .arguments = "..n"},
    {.function = Fn::default_str_length, .name = "default_str_length", .least = 0, .most = 0},
    {.function = Fn::strftime, .name = "strftime", .least = 2, .most = 2, .arguments = "qn", .value = Kind::timestamp},
    {.function = Fn::strerror, .name = "strerror", .least = 1, .most = 1, .arguments = "n", .value = Kind::error_name},
    {.function = Fn::syscall_name, .name = "syscall_name", .least = 1, .most = 1, .arguments = "n", .value = Kind::syscall_name},
    {.function = Fn::signal_name, .name = "signal_name", .least = 1, .most = 1, .arguments = "n", .value = Kind::signal_name},
    {.function = Fn::ksym, .name = "ksym", .least = 1, .most = 1, .arguments = "n", .value = Kind::kernel_symbol},
    {.function = Fn::usym, .name = "usym", .least = 1, .most = 1, .arguments = "n", .value = Kind::user_symbol},
    {.function = Fn::kaddr, .name = "kaddr", .least = 1, .most = 1, .arguments = "q", .value = Kind::integer},
    {.function = Fn::uaddr, .name = "uaddr", .least = 1, .most = 1, .arguments = "q"},
    {.function = Fn::percpu_kaddr, .name = "percpu_kaddr", .least = 1, .most = 2, .arguments = "qn"},
    {.function = Fn::reg, .name = "reg", .least = 1, .most = 1, .arguments = "q", .value = Kind::integer},
    {.function = Fn::bswap, .name = "bswap", .least = 1, .most = 1, .arguments = "n"},
    {.function = Fn::kptr, .name = "kptr", .least = 1, .most = 1, .arguments = "n"},
    {.function = Fn::uptr, .name = "uptr", .least = 1, .most = 1, .arguments = "n"},
    {.function = Fn::nsecs, .name = "nsecs", .least = 0, .most = 1, .value = Kind::integer},
    {.function = Fn::ntop, .name = "ntop", .least = 1, .most = 2, .value = Kind::inet},
    {.function = Fn::pton, .name = "pton", .least = 1, .most = 1, .arguments = "q"},
    {.function = Fn::macaddr, .name = "macaddr", .least = 1, .most = 1, .value = Kind::mac_address},
    {.function = Fn::kstack, .name = "kstack", .least = 0, .most = 2},
    {.function = Fn::ustack, .name = "ustack", .least = 0, .most = 2},
    {.function = Fn::ustack, .name = "dw_ustack", .least = 0, .most = 2},
    {.function = Fn::cgroupid, .name = "cgroupid", .least = 1, .most = 1, .arguments = "q", .value = Kind::integer},
    {.function = Fn::cgroup_path, .name = "cgroup_path", .least = 1, .most = 2, .arguments = "nq", .value = Kind::cgroup_path},
    {.function = Fn::comm, .name = "comm", .least = 1, .most = 1, .arguments = "n", .value = Kind::task_name},
    {.function = Fn::signal, .name = "signal", .least = 1, .most = 1, .is_unsafe = true, .is_statement = true},
    {.function = Fn::signal_thread, .name = "signal_thread", .least = 1, .most = 1, .is_unsafe = true, .is_statement = true},
    {.function = Fn::write_user, .name = "write_user", .least = 3, .most = 3, .arguments = "n.n", .is_unsafe = true},
    {.function = Fn::path, .name = "path", .least = 1, .most = 2, .arguments = ".n"},
    {.function = Fn::socket_cookie, .name = "socket_cookie", .least = 1, .most = 1, .value = Kind::integer},
    {.function = Fn::override_, .name = "override", .least = 1, .most = 1, .arguments = "n", .is_unsafe = true, .is_statement = true},
    {.function = Fn::kfunc_exist, .name = "kfunc_exist", .least = 1, .most = 1, .arguments = "q"},
    {.function = Fn::kfunc_allowed, .name = "kfunc_allowed", .least = 1, .most = 1, .arguments = "q"},
    {.function = Fn::fail, .name = "fail", .least = 1, .most = kAny, .is_statement = true},
    {.function = Fn::static_assert_, .name = "static_assert", .least = 2, .most = 2, .is_statement = true},
    {.function = Fn::is_str, .name = "is_str", .least = 1, .most = 1},
    {.function = Fn::is_ptr, .name = "is_ptr", .least = 1, .most = 1},
    {.function = Fn::is_array, .name = "is_array", .least = 1, .most = 1},
    {.function = Fn::is_integer, .name = "is_integer", .least = 1, .most = 1},
    {.function = Fn::is_unsigned_integer, .name = "is_unsigned_integer", .least = 1, .most = 1},
    {.function = Fn::is_literal, .name = "is_literal", .least = 1, .most = 1},
    {.function = Fn::count, .name = "count", .least = 0, .most = 0, .value = Kind::count, .is_aggregation = true},
    {.function = Fn::sum, .name = "sum", .least = 1, .most = 1, .arguments = "n", .value = Kind::sum, .is_aggregation = true},
    {.function = Fn::avg, .name = "avg", .least = 1, .most = 1, .arguments = "n", .value = Kind::avg, .is_aggregation = true},
    {.function = Fn::min, .name = "min", .least = 1, .most = 1, .arguments = "n", .value = Kind::min, .is_aggregation = true},
    {.function = Fn::max, .name = "max", .least = 1, .most = 1, .arguments = "n", .value = Kind::max, .is_aggregation = true},
    {.function = Fn::stats, .name = "stats", .least = 1, .most = 1, .arguments = "n", .value = Kind::stats, .is_aggregation = true},
    {.function = Fn::hist, .name = "hist", .least = 1, .most = 2, .arguments = "n", .value = Kind::hist, .is_aggregation = true},
    {.function = Fn::lhist, .name = "lhist", .least = 4, .most = 4, .arguments = "n", .value = Kind::lhist, .is_aggregation = true},
    {.function = Fn::tseries, .name = "tseries", .least = 3, .most = 4, .is_aggregation = true},
};
// clang-format on

}  // namespace

const FunctionRow* find_function(std::string_view name) {
    const auto found = std::ranges::find(kFunctions, name, &FunctionRow::name);
    return found == std::end(kFunctions) ? nullptr : found;
}

std::string_view why_absent(std::string_view function) {
    static constexpr std::pair<std::string_view, std::string_view> kReasons[] = {
        {"skboutput", "gpufs writes no packets to files: print what is wanted of them"},
        {"unwatch", "gpufs removes no watchpoint while the program runs"},
        {"quantize", "hist() makes histograms of powers of two"},
        {"lquantize", "lhist(n, min, max, step) makes histograms of equal steps"},
        {"typeinfo", "is_str, is_ptr, is_array and is_integer tell types apart"}};
    for (const auto& [name, reason] : kReasons)
        if (name == function) return reason;
    return {};
}

std::vector<std::string> function_names() {
    std::vector<std::string> names;
    for (const FunctionRow& row : kFunctions) names.emplace_back(row.name);
    return names;
}

std::vector<const Expr*> maps_emptied_by(const Expr& expr) {
    std::vector<const Expr*> maps;
    const FunctionRow* const row =
        expr.kind == Expr::Kind::call ? find_function(expr.text) : nullptr;
    if (!row ||
        (row->function != Fn::delete_ && row->function != Fn::clear && row->function != Fn::zero))
        return maps;
    for (const ExprPtr& one : expr.operands)
        if (one->kind == Expr::Kind::map) maps.push_back(one.get());
    return maps;
}

const Expr* aggregation_in(const Expr& value) {
    const Expr* call = &value;
    while (call && call->kind == Expr::Kind::block) call = call->operands[0].get();
    if (!call || call->kind != Expr::Kind::call) return nullptr;
    const FunctionRow* const row = find_function(call->text);
    return row && row->is_aggregation ? call : nullptr;
}

}  // namespace gpufs::bt
