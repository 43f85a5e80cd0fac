#include "bt/code/calls.h"

// Functions of maps: taking elements away, asking for them, counting them; and frames of stacks.
namespace gpufs::bt {

// delete(@m[k], …) or delete(@m, k).
Value ProbeCode::Calls::delete_() {
    const auto drop = [&](const Expr& of, const Key& key) {
        const ir::Temp failed = code_.call(BPF_FUNC_map_delete_elem,
                                           {in_.map_symbol(in_.map_of(of)), in_.address_of(*key)});
        if (in_.shared_.options().tells_failures) {
            const ir::Label is_gone = code_.new_label();
            code_.branch(ir::Cmp::eq, ir::kU32, failed, 0, is_gone);
            in_.tell_failure(of, "map_delete_elem", code_.convert(failed, ir::kS32));
            code_.bind(is_gone);
        }
        return failed;
    };
    std::optional<ir::Temp> result;
    const Expr& first = *call_.operands[0];
    if (in_.map_of(first).has_key_behind(call_)) {
        result = drop(first, in_.key_of(in_.map_of(first), call_.operands, 1));
    } else {
        for (const ExprPtr& one : call_.operands)
            result = drop(*one, in_.key_of(in_.map_of(*one), one->operands, 0));
    }
    return truth([&](ir::Label no) { code_.branch(ir::Cmp::ne, ir::kU32, *result, 0, no); });
}

Value ProbeCode::Calls::has_key() {
    const Expr& of = *call_.operands[0];
    const TypedMap& map = in_.map_of(of);
    const Local key = in_.key_of(map, call_.operands, 1).value();
    const ir::Temp entry =
        code_.call(BPF_FUNC_map_lookup_elem, {in_.map_symbol(map), in_.address_of(key)});
    return truth([&](ir::Label no) { code_.branch(ir::Cmp::eq, ir::kU64, entry, 0, no); });
}

// A function of its own counts: the kernel says how many elements there are from Linux 6.6 on only.
Value ProbeCode::Calls::len() {
    const Expr& of = argument(0);
    if (of.kind != Expr::Kind::map || !of.operands.empty() || !in_.map_of(of).is_keyed)
        return stack_depth();
    const TypedMap& map = in_.map_of(of);
    const char* const name = "count_elements";
    if (!in_.shared_.program().find_subprogram(name)) {
        ir::Code count;
        for (unsigned i = 1; i <= 3; ++i) count.argument(i);
        const ir::Temp counter = count.argument(4);
        // Of a sum the verifier would follow each value there may be.
        count.atomic(AtomicOp::add, {counter, 0}, 1, ir::kU64);
        count.leave(0);
        Subprogram function;
        function.name = name;
        function.code = count.assemble();
        in_.shared_.program().subprograms.push_back(std::move(function));
    }
    const ir::Slot counter = code_.new_slot(kWord);
    code_.store(counter, 0, ir::kU64);
    code_.call(BPF_FUNC_for_each_map_elem,
               {in_.map_symbol(map), code_.symbol(Relocation::to(Relocation::Kind::callback, name)),
                code_.address(counter), 0});
    return number_value(code_.load(counter, ir::kU64), type_);
}

// As many as are shown: of a kernel stack more are kept.
Value ProbeCode::Calls::stack_depth() {
    const TypePtr stack = in_.type_of(argument(0));
    const ir::Temp depth = code_.new_temp(ir::kU64);
    code_.assign(depth, code_.call(in_.shared_.depth_function_of(*stack),
                                   {code_.convert(in_.number(argument(0)), ir::kU32)}));
    const ir::Label fits = code_.new_label();
    code_.branch(ir::Cmp::le, ir::kU64, depth, stack->frames, fits);
    code_.assign(depth, stack->frames);
    code_.bind(fits);
    return number_value(depth, type_);
}

}  // namespace gpufs::bt
