#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "base/cat.h"
#include "bt/code/probe_code.h"

// Calls of functions that have a value.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

// The clocks of Type::Kind::timestamp.
constexpr int kMonotonic = 1;
constexpr std::size_t kFormatAt = 8, kClockAt = 12;

}  // namespace

Value ProbeCode::eval_call(const Expr& expr) {
    if (const auto known = constant(expr)) return number_value(*known, type_of(expr));
    const FunctionRow* row = find_function(expr.text);
    if (!row && !expr.operands.empty() && expr.operands[0]->text == "init")
        return eval_initial_id(expr);
    if (!row) return eval_builtin(expr);
    const TypePtr type = type_of(expr);
    const auto argument = [&](std::size_t i) -> const Expr& { return *expr.operands[i]; };
    switch (row->function) {
        case Fn::delete_:
            return eval_delete(expr);
        case Fn::has_key:
            return eval_has_key(expr);
        case Fn::len:
            return eval_len(expr);
        case Fn::str:
            return eval_str(expr);
        case Fn::buf:
            return eval_buf(expr);
        case Fn::strncmp: {
            // Only whether they are equal can be said without a loop over bytes; 0 is equal.
            const Value a = eval(argument(0)), b = eval(argument(1));
            const ir::Temp differs = code_.new_temp(ir::kU8);
            const ir::Label is_different = code_.new_label();
            code_.assign(differs, 1);
            unless_equal(a, b, is_different, static_cast<std::size_t>(*constant(argument(2))));
            code_.assign(differs, 0);
            code_.bind(is_different);
            return number_value(differs, type);
        }
        case Fn::strcontains: {
            const ir::Temp place = place_in(eval(argument(0)), eval(argument(1)), expr.at);
            const ir::Temp is_there = code_.new_temp(ir::kU8);
            const ir::Label done = code_.new_label();
            code_.assign(is_there, 0);
            code_.branch(ir::Cmp::lt, ir::kS64, place, 0, done);
            code_.assign(is_there, 1);
            code_.bind(done);
            return number_value(is_there, type);
        }
        case Fn::strlen: {
            const Value text = eval(argument(0));
            if (text.literal) return number_value(text.literal->size(), type);
            return number_value(text_length(text), type);
        }
        case Fn::strstr:
            return number_value(place_in(eval(argument(0)), eval(argument(1)), expr.at), type);
        case Fn::str_concat:
            return eval_concat(expr);
        case Fn::memcmp:
            return eval_memcmp(expr);
        case Fn::path:
            return eval_path(expr);
        case Fn::socket_cookie:
            return number_value(code_.call(BPF_FUNC_get_socket_cookie, {number(argument(0))}),
                                type);
        case Fn::strftime: {
            Value value;
            value.type = type;
            value.bytes = allocate(type->bytes);
            code_.store(value.bytes->place(), number(argument(1)), ir::kU64);
            code_.store(value.bytes->place(kFormatAt), shared_.add_format(*literal_of(argument(0))),
                        ir::kU32);
            code_.store(value.bytes->place(kClockAt), kMonotonic, ir::kU32);
            return value;
        }
        case Fn::usym: {
            shared_.made().has_user_addresses = true;
            Value value;
            value.type = type;
            value.bytes = allocate(type->bytes);
            code_.store(value.bytes->place(), number(argument(0)), ir::kU64);
            code_.store(value.bytes->place(kWord),
                        code_.compute(ir::Op::shr, ir::kU64,
                                      code_.call(BPF_FUNC_get_current_pid_tgid, {}), 32),
                        ir::kU64);
            return value;
        }
        case Fn::kaddr:
            return number_value(*shared_.world().kernel_symbol(*literal_of(argument(0))), type);
        case Fn::uaddr:
            return number_value(
                shared_.world()
                    .user_symbol(instance_.points.front().target, *literal_of(argument(0)))
                    ->address,
                type);
        case Fn::percpu_kaddr: {
            const ir::Operand cpu = expr.operands.size() == 2
                                        ? number(argument(1))
                                        : code_.call(BPF_FUNC_get_smp_processor_id, {});
            World& world = shared_.world();
            const ir::Temp place =
                code_.compute(ir::Op::add, ir::kU64, *world.kernel_symbol(kPerCpuOffsets),
                              code_.compute(ir::Op::mul, ir::kU64, cpu, kWord));
            const Value offset = remote_value(place, Space::kernel, integer_type(kWord, false));
            return number_value(code_.compute(ir::Op::add, ir::kU64, number(offset),
                                              *world.kernel_symbol(*literal_of(argument(0)))),
                                type);
        }
        case Fn::reg:
            return number_value(register_value(*literal_of(argument(0)), argument(0).at), type);
        case Fn::bswap:
            return number_value(code_.swap_bytes(number(argument(0)), ir_type(*type)), type);
        case Fn::nsecs: {
            const std::string clock = expr.operands.empty() ? "monotonic" : argument(0).text;
            if (clock == "sw_tai")
                return number_value(
                    code_.compute(ir::Op::add, ir::kU64, code_.call(BPF_FUNC_ktime_get_ns, {}),
                                  shared_.options().tai_ahead_ns),
                    type);
            const int helper = clock == "boot"  ? BPF_FUNC_ktime_get_boot_ns
                               : clock == "tai" ? BPF_FUNC_ktime_get_tai_ns
                                                : BPF_FUNC_ktime_get_ns;
            return number_value(code_.call(helper, {}), type);
        }
        case Fn::ntop:
            return eval_ntop(expr);
        case Fn::pton: {
            const std::string text = *literal_of(argument(0));
            unsigned char address[16] = {};
            if (::inet_pton(type->bytes == 4 ? AF_INET : AF_INET6, text.c_str(), address) != 1)
                fail(argument(0).at,
                     gpufs::cat("pton() wants an IPv4 or IPv6 address, got ", text));
            Value value;
            value.type = type;
            value.bytes = allocate(type->bytes);
            put_literal(std::string(reinterpret_cast<const char*>(address), type->bytes),
                        type->bytes, *value.bytes);
            return value;
        }
        case Fn::macaddr: {
            const Value from = eval(argument(0));
            Value value;
            value.type = type;
            value.bytes = allocate(type->bytes);
            zero(*value.bytes, type->bytes);
            if (from.number)
                read(*value.bytes, type->bytes, code_.convert(*from.number, ir::kU64),
                     from.type->is(Kind::pointer) ? from.type->space : Space::none);
            else
                put(from, array_type(integer_type(1, false), type->bytes), *value.bytes);
            return value;
        }
        case Fn::kstack:
        case Fn::ustack:
            return eval_stack(type);
        case Fn::cgroupid: {
            const std::string path = *literal_of(argument(0));
            const auto id = shared_.world().cgroup_id(path);
            if (!id)
                fail(argument(0).at,
                     gpufs::cat("Failed to retrieve the id of cgroup '", path, '\''));
            return number_value(*id, type);
        }
        case Fn::write_user: {
            const Value from = eval(argument(1));
            const Local bytes = in_memory(from, from.type);
            return number_value(
                code_.convert(code_.call(BPF_FUNC_probe_write_user,
                                         {code_.convert(number(argument(0)), ir::kU64),
                                          address_of(bytes), *constant(argument(2))}),
                              ir::kS32),
                type);
        }
        case Fn::strerror:
        case Fn::syscall_name:
        case Fn::signal_name:
        case Fn::ksym:
        case Fn::cgroup_path:
        case Fn::kptr:
        case Fn::uptr:
            return number_value(code_.convert(number(argument(0)), ir::kU64), type);
        default:
            emit_output(expr, *row);
            Value nothing;
            nothing.type = none_type();
            return nothing;
    }
}

// pid(init): as the initial namespace knows the task, wherever gpufs runs.
Value ProbeCode::eval_initial_id(const Expr& expr) {
    const auto task = shared_.table().structure(*structure_type("task_struct"));
    const Type::Field& field = *member(*task, expr.text == "pid" ? "tgid" : "pid");
    const ir::Temp at = code_.compute(ir::Op::add, ir::kU64,
                                      code_.call(BPF_FUNC_get_current_task, {}), field.offset);
    return remote_value(at, Space::kernel, type_of(expr));
}

// ntop([af,] address): 4 bytes or an int are IPv4, 16 bytes IPv6.
Value ProbeCode::eval_ntop(const Expr& expr) {
    constexpr std::size_t kAddressBytes = 16, kFamilyBytes = 4;
    const Expr& address = *expr.operands.back();
    Value from = eval(address);
    Value value;
    value.type = type_of(expr);
    value.bytes = allocate(value.type->bytes);
    zero(*value.bytes, value.type->bytes);
    const bool is_long = !from.number && from.type->bytes > kFamilyBytes;
    if (expr.operands.size() == 2)
        code_.store(value.bytes->place(), number(*expr.operands[0]), ir::kU32);
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
    put(from, bytes, to);
    return value;
}

}  // namespace gpufs::bt
