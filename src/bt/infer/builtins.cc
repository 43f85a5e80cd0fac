#include <algorithm>

#include "base/align.h"
#include "base/cat.h"
#include "base/kernel_abi.h"
#include "base/text.h"
#include "bt/infer/inference.h"
#include "bt/syntax/words.h"

// The types of builtins: pid, args, kstack.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

constexpr std::int64_t kMostFrames = Type::kMostFrames;
constexpr std::size_t kProbeTypeBytes = 16;  // of the longest name of a provider

struct PlainBuiltin {
    std::string_view name;
    Kind kind = Kind::integer;
    std::size_t bytes = kWord;
};
constexpr PlainBuiltin kPlain[] = {
    {"pid", Kind::integer, 4},
    {"tid", Kind::integer, 4},
    {"uid", Kind::integer, 4},
    {"gid", Kind::integer, 4},
    {"nsecs"},
    {"elapsed"},
    {"cpu", Kind::integer, 4},
    {"numaid", Kind::integer, 4},
    {"cgroup"},
    {"rand", Kind::integer, 4},
    {"cpid"},
    {"jiffies"},
    {"ncpus"},
    {"usermode", Kind::integer, 1},
    {"username", Kind::user_name},
};

bool at_return(Provider provider) {
    return provider == Provider::kretprobe || provider == Provider::uretprobe ||
           provider == Provider::fexit;
}
bool is_fentry(Provider provider) {
    return provider == Provider::fentry || provider == Provider::fexit;
}

}  // namespace

TypePtr Inference::type_of_builtin(const Expr& expr, bool& is_known) {
    const std::string& name = expr.text;
    const Provider provider = instance_->provider();
    const auto plain = std::ranges::find(kPlain, name, &PlainBuiltin::name);
    if (plain != std::end(kPlain))
        return plain->kind == Kind::integer ? integer_type(plain->bytes, false)
                                            : plain_type(plain->kind);
    if (names_as_texts_.contains(&expr))
        return string_type(align_up(known_probe_text(expr, *instance_)->size() + 1, kWord));
    if (name == "probe") return plain_type(Kind::probe_name);
    if (name == "probetype") return string_type(kProbeTypeBytes);
    if (name == "comm") return string_type(kCommBytes);
    if (name == "kstack" || name == "ustack") return type_of_stack(expr, name == "ustack");
    if (name == "curtask") return pointer_type(structure_type("task_struct"), Space::kernel);
    if (name == "ctx")
        return pointer_type(provider == Provider::iter
                                ? structure_type(iterator_context(instance_->points.front()))
                                : none_type(),
                            Space::kernel);
    if (name == "retval") {
        if (!at_return(provider))
            complain(expr.at,
                     "The retval builtin can only be used with kretprobe, uretprobe and fexit");
        const auto& parameters = instance_->parameters;
        if (!parameters.empty() && parameters.back().name == "retval")
            return as_value(parameters.back().type);
        if (is_fentry(provider)) complain(expr.at, "the function returns nothing");
        return integer_type(kWord, false);
    }
    if (name == "func") {
        if (!is_at_function(provider) && !is_fentry(provider))
            complain(expr.at, "The func builtin is for the probes of functions only");
        return plain_type(Kind::probe_name);
    }
    if (name == "args") return type_of_args(expr);
    if (const auto number = static_argument_number(name)) return type_of_argument(expr, *number);
    is_known = false;
    return nullptr;
}

TypePtr Inference::type_of_argument(const Expr& expr, std::size_t number) {
    const Provider provider = instance_->provider();
    const bool has_arguments = is_at_function(provider) || provider == Provider::rawtracepoint;
    if (!has_arguments || at_return(provider))
        complain(expr.at, gpufs::cat("The ", expr.text,
                                     " builtin can only be used with kprobe, "
                                     "uprobe, usdt and rawtracepoint"));
    else if (provider == Provider::usdt)
        return type_of_static_argument(expr, number);
    else if (number > 5 && provider != Provider::rawtracepoint)
        complain(expr.at, gpufs::cat(expr.text, ": the first six arguments are in registers"));
    else if (number > 11)  // CAST_TO_U64() of include/linux/args.h has as many
        complain(expr.at, "a raw tracepoint has at most 12 arguments");
    return integer_type(kWord, false);
}

TypePtr Inference::type_of_static_argument(const Expr& expr, std::size_t number) {
    // The file is not there: whoever attaches the probe says so.
    if (!instance_->static_probe) return integer_type(kWord, false);
    const auto& arguments = instance_->static_probe->arguments;
    if (number >= arguments.size()) {
        complain(expr.at, gpufs::cat("the probe has ", counted(arguments.size(), "argument"),
                                     arguments.empty() ? "" : ", from arg0 on"));
        return integer_type(kWord, false);
    }
    const StaticArgument& argument = arguments[number];
    if (argument.kind == StaticArgument::Kind::unknown)
        complain(expr.at, gpufs::cat(expr.text, " is at '", argument.text,
                                     "' in the program, where it cannot be read"));
    return integer_type(argument.bytes, argument.is_signed);
}

// What the kernel lets programs of some probes do only.
TypePtr Inference::type_of_path(const Expr& expr, const FunctionRow&) {
    const Provider provider = instance_->provider();
    const TypePtr of = type_of(*expr.operands[0]);
    if (!is_fentry(provider) && provider != Provider::iter)
        complain(expr.at, "path() can only be used with fentry, fexit and iter");
    if (of && !of->is(Kind::structure) && !of->is(Kind::pointer))
        complain(expr.operands[0]->at, gpufs::cat("path() wants a struct path of args or ctx (",
                                                  name_of(*of), " provided)"));
    std::size_t bytes = in_.options.string_bytes;
    if (expr.operands.size() == 2) {
        const auto most = constant(*expr.operands[1]);
        if (!most || *most < 1)
            complain(expr.operands[1]->at, "path() wants a length that is known before it runs");
        bytes = std::min(bytes, align_up(static_cast<std::size_t>(most.value_or(1)), kWord));
    }
    return string_type(bytes);
}

TypePtr Inference::type_of_socket_cookie(const Expr& expr, const FunctionRow&) {
    const TypePtr of = type_of(*expr.operands[0]);
    if (!is_fentry(instance_->provider()))
        complain(expr.at, "socket_cookie() can only be used with fentry and fexit");
    if (of && !of->is(Kind::pointer))
        complain(expr.operands[0]->at, gpufs::cat("socket_cookie() wants a struct sock * of args (",
                                                  name_of(*of), " provided)"));
    return integer_type(kWord, false);
}

TypePtr Inference::type_of_override(const Expr& expr, const FunctionRow&) {
    if (instance_->provider() != Provider::kprobe)
        complain(expr.at, "override() can only be used with kprobe");
    return none_type();
}

// kfunc_exist(), kfunc_allowed(): scripts of gpufs call none.
TypePtr Inference::type_of_kernel_function(const Expr& expr, const FunctionRow&) {
    instance_->constants[&expr] = 0;
    return boolean_type();
}

TypePtr Inference::type_of_stack(const Expr& expr, const FunctionRow& row) {
    return type_of_stack(expr, row.function == Fn::ustack);
}

TypePtr Inference::type_of_stack(const Expr& expr, bool is_user) {
    auto type =
        std::make_shared<Type>(*plain_type(is_user ? Kind::user_stack : Kind::kernel_stack));
    type->form = in_.options.stack_form;
    std::int64_t frames = kMostFrames;
    for (const ExprPtr& argument : expr.operands) {
        const auto form =
            argument->kind == Expr::Kind::identifier ? stack_form(argument->text) : std::nullopt;
        if (form)
            type->form = *form;
        else if (type_of(*argument) && constant(*argument))
            frames = *constant(*argument);
        else
            complain(argument->at,
                     "a stack takes a form (bpftrace, perf, raw, build_id) and a number of "
                     "frames that is known before it runs");
    }
    if (!is_user && type->form == Type::StackForm::build_id)
        complain(expr.at, "the kernel's code has no build ids: build_id is for ustack");
    if (frames < 1 || frames > kMostFrames)
        complain(expr.at, gpufs::cat("a stack has 1 to ", kMostFrames, " frames"));
    type->frames = static_cast<std::size_t>(std::clamp<std::int64_t>(frames, 1, kMostFrames));
    const bool is_whole = type->frames == static_cast<std::size_t>(kMostFrames);
    type->map =
        is_whole ? "stacks" : gpufs::cat(is_user ? "stacks." : "kernel_stacks.", type->frames);
    return type;
}

}  // namespace gpufs::bt
