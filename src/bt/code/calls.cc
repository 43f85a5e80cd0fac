#include "bt/code/calls.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "base/cat.h"
#include "bt/code/output.h"
#include "bt/types/constants.h"

// Calls of functions that have a value.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

constexpr std::size_t kFormatAt = 8, kClockAt = 12;

}  // namespace

struct ProbeCode::Calls::Rule {
    Fn function;
    Value (Calls::*value)();
};

std::optional<Value> ProbeCode::Calls::value(Fn function) {
    static constexpr Rule kRules[] = {
        {Fn::delete_, &Calls::delete_},
        {Fn::has_key, &Calls::has_key},
        {Fn::len, &Calls::len},
        {Fn::str, &Calls::str},
        {Fn::buf, &Calls::buf},
        {Fn::strncmp, &Calls::strncmp},
        {Fn::strcontains, &Calls::strcontains},
        {Fn::strlen, &Calls::strlen},
        {Fn::strstr, &Calls::strstr},
        {Fn::str_concat, &Calls::str_concat},
        {Fn::memcmp, &Calls::memcmp},
        {Fn::strftime, &Calls::strftime},
        {Fn::usym, &Calls::usym},
        {Fn::kaddr, &Calls::kaddr},
        {Fn::uaddr, &Calls::uaddr},
        {Fn::percpu_kaddr, &Calls::percpu_kaddr},
        {Fn::reg, &Calls::reg},
        {Fn::bswap, &Calls::bswap},
        {Fn::nsecs, &Calls::nsecs},
        {Fn::ntop, &Calls::ntop},
        {Fn::pton, &Calls::pton},
        {Fn::macaddr, &Calls::macaddr},
        {Fn::kstack, &Calls::stack},
        {Fn::ustack, &Calls::stack},
        {Fn::cgroupid, &Calls::cgroupid},
        {Fn::write_user, &Calls::write_user},
        {Fn::path, &Calls::path},
        {Fn::socket_cookie, &Calls::socket_cookie},
        {Fn::strerror, &Calls::same_number},
        {Fn::syscall_name, &Calls::same_number},
        {Fn::signal_name, &Calls::same_number},
        {Fn::ksym, &Calls::same_number},
        {Fn::cgroup_path, &Calls::same_number},
        {Fn::comm, &Calls::same_number},
        {Fn::kptr, &Calls::same_number},
        {Fn::uptr, &Calls::same_number},
    };
    const auto rule = std::ranges::find(kRules, function, &Rule::function);
    if (rule == std::end(kRules)) return std::nullopt;
    return (this->*rule->value)();
}

Value ProbeCode::eval_call(const Expr& expr) {
    if (const auto known = constant(expr)) return number_value(*known, type_of(expr));
    const FunctionRow* row = find_function(expr.text);
    if (!row && !expr.operands.empty() && expr.operands[0]->text == "init")
        return Calls(*this, expr).initial_id();
    if (!row) return eval_builtin(expr);
    if (const auto value = Calls(*this, expr).value(row->function)) return *value;
    Output(*this, expr).emit(*row);
    Value nothing;
    nothing.type = none_type();
    return nothing;
}

Value ProbeCode::Calls::same_number() {
    return number_value(code_.convert(in_.number(argument(0)), ir::kU64), type_);
}

Value ProbeCode::Calls::stack() {
    return in_.eval_stack(type_);
}

Value ProbeCode::Calls::socket_cookie() {
    return number_value(code_.call(BPF_FUNC_get_socket_cookie, {in_.number(argument(0))}), type_);
}

Value ProbeCode::Calls::strftime() {
    Value value;
    value.type = type_;
    value.bytes = in_.allocate(type_->bytes);
    code_.store(value.bytes->place(), in_.number(argument(1)), ir::kU64);
    code_.store(value.bytes->place(kFormatAt), in_.shared_.add_format(*literal_of(argument(0))),
                ir::kU32);
    code_.store(value.bytes->place(kClockAt), in_.type_of(argument(1))->clock, ir::kU32);
    return value;
}

Value ProbeCode::Calls::usym() {
    in_.shared_.made().has_user_addresses = true;
    Value value;
    value.type = type_;
    value.bytes = in_.allocate(type_->bytes);
    code_.store(value.bytes->place(), in_.number(argument(0)), ir::kU64);
    code_.store(
        value.bytes->place(kWord),
        code_.compute(ir::Op::shr, ir::kU64, code_.call(BPF_FUNC_get_current_pid_tgid, {}), 32),
        ir::kU64);
    return value;
}

Value ProbeCode::Calls::kaddr() {
    return number_value(*in_.shared_.world().kernel_symbol(*literal_of(argument(0))), type_);
}

Value ProbeCode::Calls::uaddr() {
    const World::UserSymbol symbol = *in_.shared_.world().user_symbol(
        in_.instance_.points.front().target, *literal_of(argument(0)));
    if (!symbol.is_moved) return number_value(symbol.address, type_);
    // The code and the variables of a file move together.
    const ir::Temp here = in_.register_value("ip", call_.at);
    return number_value(code_.compute(ir::Op::add, ir::kU64, here,
                                      symbol.address - in_.instance_.file_address.value()),
                        type_);
}

Value ProbeCode::Calls::percpu_kaddr() {
    const ir::Operand cpu = call_.operands.size() == 2
                                ? in_.number(argument(1))
                                : code_.call(BPF_FUNC_get_smp_processor_id, {});
    World& world = in_.shared_.world();
    const ir::Temp place =
        code_.compute(ir::Op::add, ir::kU64, *world.kernel_symbol(kPerCpuOffsets),
                      code_.compute(ir::Op::mul, ir::kU64, cpu, kWord));
    const Value offset = in_.remote_value(place, Space::kernel, integer_type(kWord, false));
    return number_value(code_.compute(ir::Op::add, ir::kU64, in_.number(offset),
                                      *world.kernel_symbol(*literal_of(argument(0)))),
                        type_);
}

Value ProbeCode::Calls::reg() {
    return number_value(in_.register_value(*literal_of(argument(0)), argument(0).at), type_);
}

Value ProbeCode::Calls::bswap() {
    return number_value(code_.swap_bytes(in_.number(argument(0)), ir_type(*type_)), type_);
}

Value ProbeCode::Calls::nsecs() {
    const std::string clock = call_.operands.empty() ? "monotonic" : argument(0).text;
    if (clock == "sw_tai")
        return number_value(
            code_.compute(ir::Op::add, ir::kU64, code_.call(BPF_FUNC_ktime_get_ns, {}),
                          in_.shared_.options().tai_ahead_ns),
            type_);
    const int helper = clock == "boot"  ? BPF_FUNC_ktime_get_boot_ns
                       : clock == "tai" ? BPF_FUNC_ktime_get_tai_ns
                                        : BPF_FUNC_ktime_get_ns;
    return number_value(code_.call(helper, {}), type_);
}

Value ProbeCode::Calls::pton() {
    const std::string text = *literal_of(argument(0));
    unsigned char address[16] = {};
    if (::inet_pton(type_->bytes == 4 ? AF_INET : AF_INET6, text.c_str(), address) != 1)
        in_.fail(argument(0).at, gpufs::cat("pton() wants an IPv4 or IPv6 address, got ", text));
    Value value;
    value.type = type_;
    value.bytes = in_.allocate(type_->bytes);
    in_.put_literal(std::string(reinterpret_cast<const char*>(address), type_->bytes), type_->bytes,
                    *value.bytes);
    return value;
}

Value ProbeCode::Calls::macaddr() {
    const Value from = in_.eval(argument(0));
    Value value;
    value.type = type_;
    value.bytes = in_.allocate(type_->bytes);
    in_.zero(*value.bytes, type_->bytes);
    if (from.number)
        in_.read(*value.bytes, type_->bytes, code_.convert(*from.number, ir::kU64),
                 from.type->is(Kind::pointer) ? from.type->space : Space::none);
    else
        in_.put(from, array_type(integer_type(1, false), type_->bytes), *value.bytes);
    return value;
}

Value ProbeCode::Calls::cgroupid() {
    const std::string path = *literal_of(argument(0));
    const auto id = in_.shared_.world().cgroup_id(path);
    if (!id)
        in_.fail(argument(0).at, gpufs::cat("Failed to retrieve the id of cgroup '", path, '\''),
                 "it is to be a directory of the cgroup2 file system, or a path below its mount");
    return number_value(*id, type_);
}

Value ProbeCode::Calls::write_user() {
    const Value from = in_.eval(argument(1));
    const Local bytes = in_.in_memory(from, from.type);
    return number_value(
        code_.convert(code_.call(BPF_FUNC_probe_write_user,
                                 {code_.convert(in_.number(argument(0)), ir::kU64),
                                  in_.address_of(bytes), *in_.constant(argument(2))}),
                      ir::kS32),
        type_);
}

// The kernel writes the path's end first, so it wants all of the memory; what it could not write
// stays empty.
Value ProbeCode::Calls::path() {
    const ir::Temp path = in_.address_of(in_.eval(*call_.operands[0]));
    const Local made = in_.allocate(type_->bytes);
    in_.zero(made, type_->bytes);
    code_.call(BPF_FUNC_d_path, {path, in_.address_of(made), type_->bytes});
    return in_.load(made, type_);
}

// pid(init): as the initial namespace knows the task, wherever gpufs runs.
Value ProbeCode::Calls::initial_id() {
    const auto task = in_.shared_.table().structure(*structure_type("task_struct"));
    const Type::Field& field = *member(*task, call_.text == "pid" ? "tgid" : "pid");
    const ir::Temp at = code_.compute(ir::Op::add, ir::kU64,
                                      code_.call(BPF_FUNC_get_current_task, {}), field.offset);
    return in_.remote_value(at, Space::kernel, type_);
}

// ntop([af,] address): 4 bytes or an int are IPv4, 16 bytes IPv6.
Value ProbeCode::Calls::ntop() {
    constexpr std::size_t kAddressBytes = 16, kFamilyBytes = 4;
    const Expr& address = *call_.operands.back();
    Value from = in_.eval(address);
    Value value;
    value.type = type_;
    value.bytes = in_.allocate(value.type->bytes);
    in_.zero(*value.bytes, value.type->bytes);
    const bool is_long = !from.number && from.type->bytes > kFamilyBytes;
    if (call_.operands.size() == 2)
        code_.store(value.bytes->place(), in_.number(*call_.operands[0]), ir::kU32);
    else
        code_.store(value.bytes->place(), is_long ? AF_INET6 : AF_INET, ir::kU32);
    const Local to = value.bytes->at(kFamilyBytes);
    if (from.number) {
        code_.store(to.place(), *from.number, ir::kU32);
        return value;
    }
    // A text of the kernel's (char[16]) has room for its end behind it here.
    const TypePtr bytes =
        array_type(integer_type(1, false), is_long ? kAddressBytes : kFamilyBytes);
    if (from.type->is(Kind::string)) from.type = bytes;
    in_.put(from, bytes, to);
    return value;
}

}  // namespace gpufs::bt
