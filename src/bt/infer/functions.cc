#include <algorithm>

#include "base/cat.h"
#include "bt/infer/inference.h"
#include "bt/syntax/words.h"
#include "bt/types/constants.h"

// The types of functions: most are what their rows say, the others have a rule here.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

TypePtr uint64() {
    return integer_type(kWord, false);
}

bool has_registers_at(Provider provider) {
    return is_at_function(provider) || provider == Provider::profile ||
           provider == Provider::software || provider == Provider::hardware;
}

// What a row's `value` stands for.
TypePtr value_type(Kind kind) {
    if (kind == Kind::integer) return uint64();
    if (kind == Kind::boolean) return boolean_type();
    return kind == Kind::none ? none_type() : plain_type(kind);
}

}  // namespace

struct Inference::Rule {
    Fn function;
    TypePtr (Inference::*type)(const Expr&, const FunctionRow&);
};

TypePtr Inference::type_of_function(const Expr& expr, const FunctionRow& row) {
    const bool tells_day =
        row.function == Fn::strftime || row.function == Fn::time || row.function == Fn::tseries;
    if (is_final_ && tells_day && in_.world.is_recording())
        in_.warn(expr.at, gpufs::cat(row.name,
                                     "() shows the recording's own clock, of which the "
                                     "time of day is not known"));
    static constexpr Rule kRules[] = {
        {Fn::printf, &Inference::type_of_output},
        {Fn::errorf, &Inference::type_of_output},
        {Fn::warnf, &Inference::type_of_output},
        {Fn::debugf, &Inference::type_of_output},
        {Fn::system, &Inference::type_of_output},
        {Fn::cat, &Inference::type_of_output},
        {Fn::print, &Inference::type_of_output},
        {Fn::clear, &Inference::type_of_output},
        {Fn::zero, &Inference::type_of_output},
        {Fn::delete_, &Inference::type_of_element_call},
        {Fn::has_key, &Inference::type_of_element_call},
        {Fn::len, &Inference::type_of_len},
        {Fn::str, &Inference::type_of_str},
        {Fn::buf, &Inference::type_of_buf},
        {Fn::strncmp, &Inference::type_of_strncmp},
        {Fn::strcap, &Inference::type_of_strcap},
        {Fn::strstr, &Inference::type_of_strstr},
        {Fn::str_concat, &Inference::type_of_concat},
        {Fn::memcmp, &Inference::type_of_memcmp},
        {Fn::default_str_length, &Inference::type_of_default_length},
        {Fn::kaddr, &Inference::type_of_kernel_symbol},
        {Fn::uaddr, &Inference::type_of_user_symbol},
        {Fn::percpu_kaddr, &Inference::type_of_cpu_symbol},
        {Fn::reg, &Inference::type_of_register},
        {Fn::bswap, &Inference::type_of_bswap},
        {Fn::kptr, &Inference::type_of_pointer},
        {Fn::uptr, &Inference::type_of_pointer},
        {Fn::nsecs, &Inference::type_of_clock},
        {Fn::ntop, &Inference::type_of_address_text},
        {Fn::macaddr, &Inference::type_of_address_text},
        {Fn::pton, &Inference::type_of_pton},
        {Fn::kstack, &Inference::type_of_stack},
        {Fn::ustack, &Inference::type_of_stack},
        {Fn::signal, &Inference::type_of_signal},
        {Fn::signal_thread, &Inference::type_of_signal},
        {Fn::write_user, &Inference::type_of_write_user},
        {Fn::path, &Inference::type_of_path},
        {Fn::socket_cookie, &Inference::type_of_socket_cookie},
        {Fn::override_, &Inference::type_of_override},
        {Fn::kfunc_exist, &Inference::type_of_kernel_function},
        {Fn::kfunc_allowed, &Inference::type_of_kernel_function},
        {Fn::fail, &Inference::type_of_assertion},
        {Fn::static_assert_, &Inference::type_of_assertion},
        {Fn::is_str, &Inference::type_of_decision},
        {Fn::is_ptr, &Inference::type_of_decision},
        {Fn::is_array, &Inference::type_of_decision},
        {Fn::is_integer, &Inference::type_of_decision},
        {Fn::is_unsigned_integer, &Inference::type_of_decision},
        {Fn::is_literal, &Inference::type_of_decision},
        {Fn::sum, &Inference::type_of_aggregation},
        {Fn::avg, &Inference::type_of_aggregation},
        {Fn::min, &Inference::type_of_aggregation},
        {Fn::max, &Inference::type_of_aggregation},
        {Fn::stats, &Inference::type_of_aggregation},
        {Fn::hist, &Inference::type_of_hist},
        {Fn::lhist, &Inference::type_of_lhist},
        {Fn::tseries, &Inference::type_of_series},
    };
    const auto rule = std::ranges::find(kRules, row.function, &Rule::function);
    return rule == std::end(kRules) ? value_type(row.value) : (this->*rule->type)(expr, row);
}

TypePtr Inference::type_of_kernel_symbol(const Expr& expr, const FunctionRow&) {
    const auto name = literal_of(*expr.operands[0]);
    if (!name) return nullptr;
    if (!in_.world.kernel_symbol(*name))
        complain(expr.at, gpufs::cat("Failed to resolve kernel symbol: ", *name),
                 "/proc/kallsyms does not have it: variables are there where "
                 "CONFIG_KALLSYMS_ALL is set");
    return uint64();
}

TypePtr Inference::type_of_user_symbol(const Expr& expr, const FunctionRow&) {
    const auto name = literal_of(*expr.operands[0]);
    if (!name) return nullptr;
    constexpr const char* kHint = "keep it at the begin of a function: @[tid] = uaddr(...)";
    if (!is_in_file(instance_->provider())) {
        complain(expr.at, "uaddr() is for the probes of programs", kHint);
        return nullptr;
    }
    const std::string& file = instance_->points.front().target;
    const auto found = in_.world.user_symbol(file, *name);
    if (!found) {
        complain(expr.at, gpufs::cat("Could not resolve symbol: ", file, ":", *name));
        return nullptr;
    }
    if (found->is_moved && !instance_->file_address) {
        complain(expr.at,
                 gpufs::cat(file, " is loaded to any address, which a return does not tell"),
                 kHint);
        return nullptr;
    }
    const bool is_whole = found->bytes == 1 || found->bytes == 2 || found->bytes == 4;
    return pointer_type(integer_type(is_whole ? found->bytes : kWord, false), Space::user);
}

// percpu_kaddr(): also of the kernel's array with the places of each CPU.
TypePtr Inference::type_of_cpu_symbol(const Expr& expr, const FunctionRow&) {
    const auto name = literal_of(*expr.operands[0]);
    for (const std::string& symbol : {name.value_or(""), std::string(kPerCpuOffsets)})
        if (!in_.world.kernel_symbol(symbol))
            complain(expr.at, gpufs::cat("Failed to resolve kernel symbol: ", symbol));
    return pointer_type(integer_type(kWord, true), Space::kernel);
}

TypePtr Inference::type_of_register(const Expr& expr, const FunctionRow& row) {
    if (!has_registers_at(instance_->provider()))
        complain(expr.at, "reg() is for probes that have registers");
    return value_type(row.value);
}

TypePtr Inference::type_of_bswap(const Expr& expr, const FunctionRow&) {
    const TypePtr of = type_of(*expr.operands[0]);
    if (of && of->is(Kind::pointer)) return uint64();
    return of ? integer_type(told_size(*of), false) : nullptr;
}

// kptr() and uptr(): where it points is as it was.
TypePtr Inference::type_of_pointer(const Expr& expr, const FunctionRow& row) {
    const TypePtr of = type_of(*expr.operands[0]);
    if (!of) return nullptr;
    return pointer_type(of->is(Kind::pointer) ? of->element : none_type(),
                        row.function == Fn::kptr ? Space::kernel : Space::user);
}

TypePtr Inference::type_of_clock(const Expr& expr, const FunctionRow& row) {
    static constexpr std::pair<std::string_view, unsigned> kClocks[] = {
        {"monotonic", kMonotonic}, {"boot", kBoot}, {"tai", kTai}, {"sw_tai", kTai}};
    Type made = *value_type(row.value);
    if (!expr.operands.empty()) {
        const Expr& clock = *expr.operands[0];
        const auto found =
            std::ranges::find(kClocks, clock.text, &std::pair<std::string_view, unsigned>::first);
        if (found != std::end(kClocks))
            made.clock = found->second;
        else
            complain(clock.at, gpufs::cat("Unknown clock: ", clock.text),
                     "monotonic, boot, tai or sw_tai");
    }
    return std::make_shared<const Type>(std::move(made));
}

// ntop([family,] address) and macaddr(address)
TypePtr Inference::type_of_address_text(const Expr& expr, const FunctionRow& row) {
    if (expr.operands.size() == 2) number_argument(expr, 0);
    const Expr& address = *expr.operands.back();
    const TypePtr of = type_of(address);
    const bool is_address = !of || of->is_number() || of->is(Kind::pointer) ||
                            of->is(Kind::array) || of->is(Kind::string);
    const bool is_mac = row.function == Fn::macaddr;
    if (is_mac && !is_address)
        complain(address.at,
                 gpufs::cat("macaddr() wants an address or 6 bytes (", name_of(*of), " provided)"));
    const bool has_size = !of || !of->is(Kind::array) || of->bytes == 4 || of->bytes == 16;
    const bool is_text = of && of->is(Kind::string) && literal_of(address);
    if (!is_mac && (!is_address || !has_size || is_text))
        complain(
            expr.at, gpufs::cat("ntop() expects an integer or array argument, got ", name_of(*of)),
            is_text ? gpufs::cat("pton(\"", *literal_of(address), "\") is the address of a text")
                    : "");
    return value_type(row.value);
}

TypePtr Inference::type_of_pton(const Expr& expr, const FunctionRow&) {
    const auto address = literal_of(*expr.operands[0]);
    const bool is_ipv6 = address && address->find(':') != std::string::npos;
    return array_type(integer_type(1, false), is_ipv6 ? 16 : 4);
}

TypePtr Inference::type_of_signal(const Expr& expr, const FunctionRow&) {
    constexpr std::int64_t kMostSignals = 64;
    const Expr& signal = *expr.operands[0];
    if (literal_of(signal)) return none_type();
    number_argument(expr, 0);
    if (const auto number = constant(signal); number && (*number < 1 || *number > kMostSignals))
        complain(signal.at, gpufs::cat(expr.text, "() takes a signal's name or its number, 1 to ",
                                       kMostSignals));
    return none_type();
}

TypePtr Inference::type_of_write_user(const Expr& expr, const FunctionRow&) {
    const TypePtr from = type_of(*expr.operands[1]);
    const Expr& count = *expr.operands[2];
    const auto bytes = constant(count);
    if (!bytes || *bytes < 1)
        complain(count.at, "write_user() wants a number of bytes that is known before it runs");
    else if (from && static_cast<std::uint64_t>(*bytes) > from->bytes)
        complain(count.at, gpufs::cat(name_of(*from), " has no ", *bytes, " bytes to write"));
    return integer_type(4, true);
}

}  // namespace gpufs::bt
