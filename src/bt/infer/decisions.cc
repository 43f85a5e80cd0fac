#include "base/cat.h"
#include "bt/infer/inference.h"
#include "bt/types/constants.h"

// Calls that the compiler decides by the types and names of their arguments.
namespace gpufs::bt {

namespace {

using Kind = Type::Kind;

}  // namespace

// pid(init), tid(curr_ns)
TypePtr Inference::type_of_task_id(const Expr& expr) {
    const Expr& where = *expr.operands[0];
    if (where.kind != Expr::Kind::identifier || (where.text != "init" && where.text != "curr_ns"))
        complain(where.at, gpufs::cat("Invalid PID namespace mode: ", where.text),
                 "init or curr_ns");
    else if (where.text == "init" && !in_.table.structure(*structure_type("task_struct")))
        complain(expr.at,
                 "the id in the initial namespace is found by the kernel's types (BTF), "
                 "which it does not tell");
    return integer_type(sizeof(std::uint32_t), false);
}

// fail(TEXT) and static_assert(CONDITION, TEXT)
TypePtr Inference::type_of_assertion(const Expr& expr, const FunctionRow& row) {
    const bool is_failure = row.function == Fn::fail;
    const Expr& message = *expr.operands[is_failure ? 0 : 1];
    const auto text = literal_of(message);
    if (!text) complain(message.at, gpufs::cat(expr.text, "() wants a text in quotes here"));
    if (is_failure) {
        complain(expr.at, text.value_or(""));
        return none_type();
    }
    const Expr& of = *expr.operands[0];
    type_of(of);
    const auto holds = constant(of);
    if (!holds)
        complain(of.at, "static_assert() wants what is known before the program runs");
    else if (*holds == 0)
        complain(expr.at, text.value_or(""));
    return none_type();
}

// What is known before the program runs, of the arguments' types.
TypePtr Inference::type_of_decision(const Expr& expr, const FunctionRow& row) {
    const Expr& of = *expr.operands[0];
    const TypePtr type = type_of(of);
    if (!type) return nullptr;
    bool truth = false;
    switch (row.function) {
        case Fn::is_str:
            truth = type->is(Kind::string);
            break;
        case Fn::is_ptr:
            truth = type->is(Kind::pointer);
            break;
        case Fn::is_array:
            truth = type->is(Kind::array);
            break;
        case Fn::is_integer:
            truth = type->is(Kind::integer);
            break;
        case Fn::is_unsigned_integer:
            truth = type->is(Kind::integer) && !type->is_signed;
            break;
        default:
            truth = of.kind == Expr::Kind::integer || of.kind == Expr::Kind::boolean ||
                    literal_of(of).has_value();
    }
    instance_->constants[&expr] = truth;
    return boolean_type();
}

}  // namespace gpufs::bt
