#include <algorithm>
#include <cstddef>

#include "base/cat.h"
#include "base/kernel_abi.h"
#include "bt/code/probe_code.h"
#include "lang/ir/static_argument.h"
#include "lang/program/function_fields.h"
#include "lang/program/registers.h"

// What a program knows without being told: the task, the time, the place, the arguments.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

std::optional<ProbeTarget::Kind> function_kind(Provider provider) {
    switch (provider) {
        case Provider::kprobe:
            return ProbeTarget::Kind::kprobe;
        case Provider::kretprobe:
            return ProbeTarget::Kind::kretprobe;
        case Provider::uprobe:
        case Provider::usdt:
            return ProbeTarget::Kind::uprobe;
        case Provider::uretprobe:
            return ProbeTarget::Kind::uretprobe;
        default:
            return std::nullopt;
    }
}

// Run by gpufs, not by what happens on the machine.
bool is_own(Provider provider) {
    return provider == Provider::begin || provider == Provider::end || provider == Provider::self;
}

}  // namespace

Value ProbeCode::eval_identifier(const Expr& expr) {
    if (const auto known = constant(expr)) return number_value(*known, type_of(expr));
    const auto record = instance_.written_out.find(&expr);
    return record == instance_.written_out.end() ? eval_builtin(expr) : eval(*record->second);
}

ir::Temp ProbeCode::context_word(std::size_t offset) {
    return code_.load({*context_, static_cast<std::int64_t>(offset)}, ir::kU64);
}

ir::Temp ProbeCode::argument_number(std::size_t number) {
    if (instance_.provider() == Provider::rawtracepoint) return context_word(number * kWord);
    if (instance_.static_probe)
        return append_static_argument(code_, *context_,
                                      instance_.static_probe->arguments.at(number));
    const auto kind = function_kind(instance_.provider());
    const std::string name = gpufs::cat("arg", number);
    for (const gpufs::Field& field : function_fields(*kind))
        if (field.name == name) return context_word(field.offset);
    fail(instance_.points.front().at, gpufs::cat("this machine has no register for ", name));
}

ir::Temp ProbeCode::register_value(const std::string& name, const SourceRef& at) {
    const auto offset = register_offset(name);
    if (!offset) fail(at, gpufs::cat("'", name, "' is not a valid register on this architecture"));
    return context_word(*offset);
}

// A parameter of a traced function, or of a raw tracepoint: 8 bytes each, in order; or of a
// function of a program.
Value ProbeCode::parameter_value(const Type::Field& field, const SourceRef& at) {
    const auto found = std::ranges::find(instance_.parameters, field.name, &Type::Field::name);
    const auto index = static_cast<std::size_t>(found - instance_.parameters.begin());
    const auto& places = instance_.parameter_places;
    const bool is_there = places.empty() || places[index].kind != StaticArgument::Kind::unknown;
    if (!field.type->is_scalar())
        fail(at,
             gpufs::cat("args.", field.name, " cannot be read: it is no integer and no pointer"));
    if (!is_there)
        fail(at, gpufs::cat("where args.", field.name, " is passed is not known"),
             "optimized functions may not be given all of their parameters");
    const ir::Temp word = places.empty() ? context_word(index * kWord)
                                         : append_static_argument(code_, *context_, places[index]);
    return number_value(code_.convert(word, ir_type(*field.type)), field.type);
}

Value ProbeCode::eval_args_member(const Expr& expr) {
    const TypePtr type = type_of(expr);
    if (!instance_.event) {
        const auto found = std::ranges::find(instance_.parameters, expr.text, &Type::Field::name);
        Value value = parameter_value(*found, expr.at);
        value.type = type;
        return value;
    }
    const gpufs::Field& field = *instance_.event->find(expr.text);
    if (type->is_scalar())
        return number_value(
            code_.load_field(*context_, Relocation::to(Relocation::Kind::field_offset, field.name)),
            type);
    Value value;
    value.type = type;
    value.field = &field;
    value.space = Space::kernel;
    if (!field.is_dynamic()) value.most_bytes = field.size;
    return value;
}

// Loaded, not read, as only so the verifier knows what pointers of it are: it wants them tested.
Value ProbeCode::eval_context_member(const Expr& expr) {
    const auto structure =
        shared_.table().structure(*structure_type(iterator_context(instance_.points.front())));
    const Type::Field& field = *member(*structure, expr.text);
    const TypePtr type = type_of(expr);
    const ir::Temp loaded =
        code_.load({*context_, static_cast<std::int64_t>(field.offset)}, ir_type(*field.type));
    if (type->is(Kind::pointer)) code_.branch(ir::Cmp::eq, ir::kU64, loaded, 0, *end_);
    return number_value(loaded, type);
}

Value ProbeCode::eval_builtin(const Expr& expr) {
    const std::string& name = expr.text;
    const TypePtr type = type_of(expr);
    const auto of = [&](ir::Operand number) { return number_value(number, type); };
    const auto upper = [&](ir::Temp both) {
        return code_.compute(ir::Op::shr, ir::kU64, both, 32);
    };
    if (name == "pid") return of(upper(code_.call(BPF_FUNC_get_current_pid_tgid, {})));
    if (name == "tid")
        return of(code_.convert(code_.call(BPF_FUNC_get_current_pid_tgid, {}), ir::kU32));
    if (name == "uid" || name == "username")
        return of(code_.convert(code_.call(BPF_FUNC_get_current_uid_gid, {}), ir::kU32));
    if (name == "gid") return of(upper(code_.call(BPF_FUNC_get_current_uid_gid, {})));
    if (name == "nsecs") return of(code_.call(BPF_FUNC_ktime_get_ns, {}));
    if (name == "elapsed")
        return of(code_.compute(ir::Op::sub, ir::kU64, code_.call(BPF_FUNC_ktime_get_ns, {}),
                                shared_.options().start_ns()));
    if (name == "cpu") return of(code_.call(BPF_FUNC_get_smp_processor_id, {}));
    if (name == "numaid") return of(code_.call(BPF_FUNC_get_numa_node_id, {}));
    if (name == "cgroup") return of(code_.call(BPF_FUNC_get_current_cgroup_id, {}));
    if (name == "rand")
        return of(code_.convert(code_.call(BPF_FUNC_get_prandom_u32, {}), ir::kU32));
    if (name == "jiffies") return of(code_.call(BPF_FUNC_jiffies64, {}));
    if (name == "cpid")
        return of(code_.load(
            {code_.symbol(Relocation::to(Relocation::Kind::map_value, shared_.child_map())), 0},
            ir::kU64));
    if (name == "ncpus") return of(shared_.options().cpus);
    if (name == "curtask") return of(code_.call(BPF_FUNC_get_current_task, {}));
    if (name == "ctx") return of(*context_);
    if (name == "kstack" || name == "ustack") return eval_stack(type);
    if (name == "probe" && type->is(Kind::probe_name))
        return of(shared_.add_name(probe_name(instance_.points.front())));
    if (name == "func" && type->is(Kind::probe_name)) return eval_func(expr, type);
    if (name == "retval") {
        if (!instance_.parameters.empty()) {
            Value value = parameter_value(instance_.parameters.back(), expr.at);
            value.type = type;
            return value;
        }
        const auto fields = function_fields(*function_kind(instance_.provider()));
        return of(context_word(fields.back().offset));
    }
    if (name == "usermode") return of(user_mode());
    if (name == "probe" || name == "func" || name == "probetype") {
        Value value;
        value.type = type;
        value.literal = name != "probetype"            ? *known_probe_text(expr, instance_)
                        : is_own(instance_.provider()) ? "special"
                                                       : name_of(instance_.provider());
        return value;
    }
    if (name == "comm") {
        Value value;
        value.type = type;
        value.is_task_name = true;
        return value;
    }
    return of(argument_number(static_argument_number(name).value()));
}

// Samples of a CPU may be of either; the other places are in one of the two.
ir::Operand ProbeCode::user_mode() {
    switch (instance_.provider()) {
        case Provider::begin:
        case Provider::end:
        case Provider::self:
        case Provider::uprobe:
        case Provider::uretprobe:
        case Provider::usdt:
            return 1;
        case Provider::profile:
        case Provider::interval:
        case Provider::software:
        case Provider::hardware:
            break;
        default:
            return 0;
    }
    // user_mode() of arch/x86, where the kernel's privilege level is 0, and of arch/arm64, where
    // the user's exception level is.
    const auto cs = register_offset("cs");
    const ir::Temp mode =
        cs ? code_.compute(ir::Op::bit_and, ir::kU64, context_word(*cs), 3)
           : code_.compute(ir::Op::bit_and, ir::kU64,
                           register_value("pstate", instance_.points.front().at), 0xf);
    const ir::Cmp is_kernel = cs ? ir::Cmp::eq : ir::Cmp::ne;
    const ir::Temp is_user = code_.new_temp(ir::kU8);
    const ir::Label done = code_.new_label();
    code_.assign(is_user, 0);
    code_.branch(is_kernel, ir::kU64, mode, 0, done);
    code_.assign(is_user, 1);
    code_.bind(done);
    return is_user;
}

Value ProbeCode::eval_stack(const TypePtr& type) {
    const bool is_user = type->is(Kind::user_stack);
    const ir::Temp id = code_.convert(
        code_.call(shared_.stack_function_of(*type), {*context_, is_user ? BPF_F_USER_STACK : 0}),
        ir::kU32);
    if (!is_user) return number_value(id, type);
    shared_.made().has_user_addresses = true;
    const ir::Temp process =
        code_.compute(ir::Op::shr, ir::kU64, code_.call(BPF_FUNC_get_current_pid_tgid, {}), 32);
    return number_value(code_.compute(ir::Op::bit_or, ir::kU64, id,
                                      code_.compute(ir::Op::shl, ir::kU64, process, 32)),
                        type);
}

// Which function this is: known where there is one; of several the probe's cookie says it.
Value ProbeCode::eval_func(const Expr& expr, const TypePtr& type) {
    if (const auto name = known_probe_text(expr, instance_))
        return number_value(shared_.add_name(*name), type);
    for (const AttachPoint& one : instance_.points) {
        if (!one.has_glob()) {
            shared_.add_name(one.name);
            continue;
        }
        const bool is_user =
            one.provider == Provider::uprobe || one.provider == Provider::uretprobe;
        for (const std::string& function :
             is_user ? shared_.world().user_functions(one.target, one.name)
                     : shared_.world().functions(one.name))
            shared_.add_name(function);
    }
    return number_value(code_.call(BPF_FUNC_get_attach_cookie, {*context_}), type);
}

}  // namespace gpufs::bt
