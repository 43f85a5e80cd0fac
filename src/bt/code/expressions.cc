#include <algorithm>
#include <utility>

#include "base/align.h"
#include "base/cat.h"
#include "base/scoped_value.h"
#include "bt/code/output.h"
#include "bt/syntax/walk.h"
#include "bt/types/common_type.h"

// Expressions: from a tree to values.
namespace gpufs::bt {
namespace {

using Kind = Type::Kind;

// The kernel takes no more, which nested unrolled loops would reach.
constexpr std::size_t kMostInstructions = 100'000;
constexpr const char* kOutOfBounds =
    "Array access out of bounds. This can lead to unexpected results.";
constexpr const char* kDividedByZero =
    "Divide or modulo by 0 detected. This can lead to unexpected results. 1 is being used as the "
    "result.";

ir::Op ir_op(BinaryOp op) {
    switch (op) {
        case BinaryOp::sub:
            return ir::Op::sub;
        case BinaryOp::mul:
            return ir::Op::mul;
        case BinaryOp::div:
            return ir::Op::div;
        case BinaryOp::mod:
            return ir::Op::mod;
        case BinaryOp::shl:
            return ir::Op::shl;
        case BinaryOp::shr:
            return ir::Op::shr;
        case BinaryOp::bit_and:
            return ir::Op::bit_and;
        case BinaryOp::bit_or:
            return ir::Op::bit_or;
        case BinaryOp::bit_xor:
            return ir::Op::bit_xor;
        default:
            return ir::Op::add;
    }
}

ir::Cmp ir_cmp(BinaryOp op) {
    switch (op) {
        case BinaryOp::ne:
            return ir::Cmp::ne;
        case BinaryOp::lt:
            return ir::Cmp::lt;
        case BinaryOp::le:
            return ir::Cmp::le;
        case BinaryOp::gt:
            return ir::Cmp::gt;
        case BinaryOp::ge:
            return ir::Cmp::ge;
        default:
            return ir::Cmp::eq;
    }
}

ir::Cmp inverted(ir::Cmp cmp) {
    switch (cmp) {
        case ir::Cmp::eq:
            return ir::Cmp::ne;
        case ir::Cmp::ne:
            return ir::Cmp::eq;
        case ir::Cmp::lt:
            return ir::Cmp::ge;
        case ir::Cmp::le:
            return ir::Cmp::gt;
        case ir::Cmp::gt:
            return ir::Cmp::le;
        default:
            return ir::Cmp::lt;
    }
}

}  // namespace

std::size_t stride_of(const Type& type, const TypeTable& table) {
    if (!type.is(Kind::pointer) || !type.element || type.element->is(Kind::none)) return 1;
    if (const auto structure = table.structure(*type.element))
        return std::max<std::size_t>(structure->bytes, 1);
    return std::max<std::size_t>(type.element->bytes, 1);
}

std::int64_t step_of(const Expr& increment, const Type& type, const TypeTable& table) {
    const auto stride = static_cast<std::int64_t>(stride_of(type, table));
    return increment.is_decrement ? -stride : stride;
}

ir::Operand ProbeCode::number(const Value& value) {
    if (value.number) return *value.number;
    const std::size_t bytes = std::min(value.type->bytes, kWord);
    const Local word = allocate(kWord);
    code_.store(word.place(), 0, ir::kU64);
    put(value, array_type(integer_type(1, false), bytes), word);
    return code_.load(word.place(), ir::kU64);
}

ir::Operand ProbeCode::number(const Expr& expr) {
    return number(eval(expr));
}

Value ProbeCode::eval(const Expr& expr) {
    const ScopedValue asking(asked_, &expr);
    Value value = find_value(expr);
    if (value.remote && !value.reader) value.reader = &expr;
    return value;
}

Value ProbeCode::find_value(const Expr& expr) {
    code_.set_source(expr.at);
    if (code_.size() > kMostInstructions)
        fail(expr.at,
             cat("the code of this probe gets longer than ", kMostInstructions, " instructions"));
    switch (expr.kind) {
        case Expr::Kind::integer:
        case Expr::Kind::boolean:
        case Expr::Kind::positional_count:
            return number_value(expr.number, type_of(expr));
        case Expr::Kind::size_of:
        case Expr::Kind::offset_of:
            return number_value(*constant(expr), type_of(expr));
        case Expr::Kind::string:
        case Expr::Kind::positional: {
            const TypePtr type = type_of(expr);
            if (type->is(Kind::integer)) return number_value(*constant(expr), type);
            Value value;
            value.type = type;
            value.literal = expr.text;
            return value;
        }
        case Expr::Kind::identifier:
            return eval_identifier(expr);
        case Expr::Kind::variable:
            return eval_variable(instance_.uses.at(&expr));
        case Expr::Kind::map:
            return eval_map(expr);
        case Expr::Kind::call:
            return eval_call(expr);
        case Expr::Kind::member:
            return eval_member(expr);
        case Expr::Kind::tuple_index: {
            const Value tuple = eval(*expr.operands[0]);
            return field_at(tuple, tuple.type->fields[expr.number]);
        }
        case Expr::Kind::index:
            return eval_index(expr);
        case Expr::Kind::unary:
            return eval_unary(expr);
        case Expr::Kind::binary:
            return eval_binary(expr);
        case Expr::Kind::increment:
            return eval_increment(expr);
        case Expr::Kind::ternary:
            return eval_ternary(expr);
        case Expr::Kind::cast:
            return eval_cast(expr);
        case Expr::Kind::tuple:
        case Expr::Kind::record:
            return eval_tuple(expr);
        case Expr::Kind::block:
            if (expr.is_function)
                emit_function(expr);
            else
                emit(expr.body);
            if (expr.operands[0]) return eval(*expr.operands[0]);
            break;
        case Expr::Kind::type:
            break;
    }
    Value nothing;
    nothing.type = none_type();
    return nothing;
}

// return leaves the function, exit() the program.
void ProbeCode::emit_function(const Expr& call) {
    const ir::Label behind = code_.new_label();
    const ScopedValue out(out_, std::optional(behind));
    const ScopedValue functions(functions_, functions_ + 1);
    const ScopedValue loops(loops_, std::vector<Loop>());
    emit(call.body);
    code_.bind(behind);
}

Value ProbeCode::eval_variable(std::size_t which) {
    const VariablePlace& place = variables_[which];
    const TypePtr& type = instance_.variables[which].type;
    if (place.number) return number_value(*place.number, type);
    return load(place.bytes.value(), type);
}

Value ProbeCode::kept(Value value, std::span<const ExprPtr> later) {
    std::vector<const Expr*> targets;
    for (const ExprPtr& expr : later) {
        for_each_expr(*expr, [&](const Expr& one) {
            if (one.kind == Expr::Kind::increment) targets.push_back(one.operands[0].get());
        });
        for_each_stmt(*expr, [&](const Stmt& one) {
            if (one.kind == Stmt::Kind::assign && one.target) targets.push_back(one.target.get());
        });
    }
    const auto is_assigned = [&](ir::Temp temp) {
        return std::ranges::any_of(targets, [&](const Expr* target) {
            if (target->kind != Expr::Kind::variable) return false;
            const auto& number = variables_[instance_.uses.at(target)].number;
            return number && number->id == temp.id;
        });
    };
    const auto copied = [&](ir::Temp temp) {
        const ir::Temp made = code_.new_temp(ir::kU64);
        code_.assign(made, temp);
        return made;
    };
    if (value.number && value.number->temp() && is_assigned(*value.number->temp()))
        value.number = copied(*value.number->temp());
    if (value.remote && is_assigned(*value.remote)) value.remote = copied(*value.remote);
    const auto is_of_bytes = [&](const Expr* target) {
        const auto type = instance_.types.find(target);
        return type != instance_.types.end() && !type->second->is_scalar();
    };
    if (value.bytes && std::ranges::any_of(targets, is_of_bytes)) {
        const Local made = allocate(value.type->bytes + room_behind(*value.type));
        put(value, value.type, made, TextEnd::roomy);
        value.bytes = made;
    }
    return value;
}

// What lies at an address: numbers are read at once, all else when it is wanted.
Value ProbeCode::remote_value(ir::Temp address, Space space, const TypePtr& type) {
    Value value;
    value.type = type;
    value.space = space;
    if (!type->is_scalar()) {
        value.remote = address;
        return value;
    }
    const Local word = allocate(kWord);
    code_.store(word.place(), 0, ir::kU64);
    read(word, type->bytes, address, space);
    value.number = code_.load(word.place(), ir_type(*type));
    return value;
}

ir::Temp ProbeCode::bytes_at(const Value& of, std::size_t offset, std::size_t count) {
    if (of.bytes) return bytes_of(of.bytes->at(offset), count);
    const Local word = allocate(kWord);
    code_.store(word.place(), 0, ir::kU64);
    read(word, count, code_.compute(ir::Op::add, ir::kU64, address_of(of), offset), of.space);
    return code_.load(word.place(), ir::kU64);
}

Value ProbeCode::bit_field_at(const Value& of, const Type::Field& field) {
    ir::Type type = ir_type(*field.type);
    ir::Temp number_there;
    unsigned shift = field.bit_shift;
    const std::size_t end = field.offset + field.type->bytes;
    if (field.bit_bytes() <= field.type->bytes && end <= of.type->bytes) {
        Type::Field unit = field;
        unit.bit_size = 0;
        number_there = code_.convert(number(field_at(of, unit)), type);
    } else {
        type = field.type->is_signed ? ir::kS64 : ir::kU64;
        number_there = bytes_at(of, field.offset, std::min(field.bit_bytes(), kWord));
        if (field.bit_bytes() > kWord) {
            const ir::Temp low = code_.compute(ir::Op::shr, ir::kU64, number_there, shift);
            const ir::Temp high = bytes_at(of, field.offset + kWord, 1);
            number_there =
                code_.compute(ir::Op::bit_or, ir::kU64, low,
                              code_.compute(ir::Op::shl, ir::kU64, high, 8 * kWord - shift));
            shift = 0;
        }
    }
    const unsigned bits = type.bytes * 8u;
    const ir::Temp high =
        code_.compute(ir::Op::shl, type, number_there, bits - shift - field.bit_size);
    const ir::Temp low = code_.compute(ir::Op::shr, type, high, bits - field.bit_size);
    return number_value(code_.convert(low, ir_type(*field.type)), field.type);
}

Value ProbeCode::field_at(const Value& of, const Type::Field& field) {
    if (field.bit_size != 0) return bit_field_at(of, field);
    if (of.bytes) return load(of.bytes->at(field.offset), field.type);
    const ir::Temp base = address_of(of);
    const ir::Temp at =
        field.offset == 0 ? base : code_.compute(ir::Op::add, ir::kU64, base, field.offset);
    return remote_value(at, of.space, field.type);
}

Value ProbeCode::eval_member(const Expr& expr) {
    const Expr& of = *expr.operands[0];
    if (of.kind == Expr::Kind::identifier && of.text == "args") return eval_args_member(expr);
    if (of.kind == Expr::Kind::identifier && of.text == "ctx" &&
        instance_.provider() == Provider::iter)
        return eval_context_member(expr);
    Value value = eval(of);
    const auto named = std::ranges::find(value.type->fields, expr.text, &Type::Field::name);
    if (value.type->is(Kind::tuple) && named != value.type->fields.end())
        return field_at(value, *named);
    if (value.type->is(Kind::pointer)) {
        const Space space = value.type->space;
        const TypePtr element = value.type->element;
        const ir::Temp address = code_.convert(number(value), ir::kU64);
        value = {};
        value.type = element;
        value.remote = address;
        value.space = space;
    }
    const auto structure = shared_.table().structure(*value.type);
    Type::Field field = *member(*structure, expr.text);
    const std::size_t bytes = field.type->bytes;
    // As the types pass has it: a text with room for its end, a pointer with its space.
    if (!field.bit_size) field.type = type_of(expr);
    if (!field.type->is(Kind::string)) return field_at(value, field);
    // It is read from the program's memory, too: what is behind its NUL may be anything.
    if (value.bytes) value.remote = address_of(*std::exchange(value.bytes, std::nullopt));
    Value text = field_at(value, field);
    text.most_bytes = bytes;
    return text;
}

Value ProbeCode::eval_index(const Expr& expr) {
    const Value of = kept(eval(*expr.operands[0]), {&expr.operands[1], 1});
    const Type& type = *of.type;
    if (type.is(Kind::tuple))
        return field_at(of, type.fields[static_cast<std::size_t>(*constant(*expr.operands[1]))]);
    const TypePtr element = type_of(expr);
    std::size_t stride = type.element ? type.element->bytes : element->bytes;
    if (type.is(Kind::pointer)) stride = stride_of(type, shared_.table());
    if (stride == 0) stride = kWord;
    const bool is_text = element->is(Kind::string);
    if (!is_text && (of.bytes || of.literal || of.is_task_name))
        return eval_own_index(of, *expr.operands[1], stride, element);
    const ir::Temp base = address_of(of);
    const ir::Operand index = number(*expr.operands[1]);
    // A structure that ends in one of what it has several of says 0 or 1.
    const std::uint64_t count = type.is(Kind::array)    ? type.count
                                : type.is(Kind::string) ? told_size(type)
                                                        : 0;
    if (count > 1 && index.temp()) {
        const ir::Label is_inside = code_.new_label();
        code_.branch(ir::Cmp::lt, ir::kU64, index, count, is_inside);
        Output(*this, *expr.operands[1]).warn(kOutOfBounds);
        code_.bind(is_inside);
    }
    const ir::Temp at = code_.compute(ir::Op::add, ir::kU64, base,
                                      code_.compute(ir::Op::mul, ir::kU64, index, stride));
    Value found = remote_value(at, space_of(of), element);
    if (is_text) found.most_bytes = type.element->bytes;
    return found;
}

// An element of an array or text in the program's memory; zeros for one that it does not have.
Value ProbeCode::eval_own_index(const Value& of, const Expr& index, std::size_t stride,
                                const TypePtr& element) {
    const Local from = in_memory(of, of.type);
    const std::size_t count = of.type->bytes / stride;
    const auto known = constant(index);
    if (known && static_cast<std::uint64_t>(*known) < count)
        return load(from.at(static_cast<std::size_t>(*known) * stride), element);
    const Local made = allocate(element->bytes);
    zero(made, align_up(element->bytes, kWord));
    if (!known) {
        // Through the helper: old kernels do not load from the stack at an offset that they do not
        // know.
        const ir::Label done = code_.new_label(), is_inside = code_.new_label();
        const ir::Temp at = code_.new_temp(ir::kU64);
        code_.assign(at, number(index));
        code_.branch(ir::Cmp::lt, ir::kU64, at, count, is_inside);
        Output(*this, index).warn(kOutOfBounds);
        code_.jump(done);
        code_.bind(is_inside);
        const ir::Temp place = code_.compute(ir::Op::add, ir::kU64, address_of(from),
                                             code_.compute(ir::Op::mul, ir::kU64, at, stride));
        read(made, element->bytes, place, Space::kernel);
        code_.bind(done);
    }
    return load(made, element);
}

Value ProbeCode::eval_unary(const Expr& expr) {
    const TypePtr type = type_of(expr);
    if (expr.unary == UnaryOp::logical_not) return eval_truth(expr);
    if (expr.unary == UnaryOp::address_of) {
        // By way of memory, which makes a number of it: the verifier follows pointers.
        const Local word = allocate_in_frame(kWord);
        const VariablePlace& place = variables_[instance_.uses.at(expr.operands[0].get())];
        code_.store(word.place(), address_of(*place.bytes), ir::kU64);
        return number_value(code_.load(word.place(), ir::kU64), type);
    }
    const Value of = eval(*expr.operands[0]);
    switch (expr.unary) {
        case UnaryOp::negate:
            return number_value(code_.negate(number(of), ir_type(*type)), type);
        case UnaryOp::bit_not:
            return number_value(
                code_.compute(ir::Op::bit_xor, ir_type(*type), number(of), ~std::uint64_t{0}),
                type);
        default: {
            Value found = remote_value(address_of(of), space_of(of), type);
            if (type->is(Kind::string)) found.most_bytes = of.type->element->bytes;
            return found;
        }
    }
}

Value ProbeCode::eval_binary(const Expr& expr) {
    if (expr.binary >= BinaryOp::eq) return eval_truth(expr);
    const TypePtr type = type_of(expr);
    if (const auto known = constant(expr)) return number_value(*known, type);
    ir::Operand a = number(kept(eval(*expr.operands[0]), {&expr.operands[1], 1}));
    ir::Operand b = number(*expr.operands[1]);
    const auto scale = [&](const Expr& pointer, ir::Operand& count) {
        const std::size_t stride = stride_of(*type_of(pointer), shared_.table());
        if (stride != 1) count = code_.compute(ir::Op::mul, ir::kU64, count, stride);
    };
    if (type->is(Kind::pointer)) {
        const bool is_first = type_of(*expr.operands[0])->is(Kind::pointer);
        scale(*expr.operands[is_first ? 0 : 1], is_first ? b : a);
    }
    return number_value(arithmetic(expr.binary, ir_type(*type), a, b, expr), type);
}

// What is divided by 0 is 1.
ir::Operand ProbeCode::arithmetic(BinaryOp op, ir::Type type, ir::Operand a, ir::Operand b,
                                  const Expr& at) {
    const bool divides = op == BinaryOp::div || op == BinaryOp::mod;
    if (!divides || (!b.temp() && b.number() != 0)) return code_.compute(ir_op(op), type, a, b);
    const ir::Temp result = code_.new_temp(type);
    const ir::Label done = code_.new_label();
    const ir::Label divide = code_.new_label();
    code_.assign(result, 1);
    code_.branch(ir::Cmp::ne, ir::kU64, b, 0, divide);
    Output(*this, at).warn(kDividedByZero);
    code_.jump(done);
    code_.bind(divide);
    code_.assign(result, code_.compute(ir_op(op), type, a, b));
    code_.bind(done);
    return result;
}

Value ProbeCode::computed(BinaryOp op, const Value& before, ir::Operand operand, const Expr& at) {
    const TypePtr type = integer_type(kWord, before.type->is_signed);
    return number_value(arithmetic(op, ir_type(*type), number(before), operand, at), type);
}

// 1 or 0, by jumps.
Value ProbeCode::eval_truth(const Expr& expr) {
    const ir::Temp truth = code_.new_temp(ir::kU8);
    const ir::Label is_false = code_.new_label();
    code_.assign(truth, 0);
    unless(expr, is_false);
    code_.assign(truth, 1);
    code_.bind(is_false);
    return number_value(truth, type_of(expr));
}

void ProbeCode::unless(const Expr& condition, ir::Label otherwise) {
    if (const auto known = constant(condition)) {
        if (*known == 0) code_.jump(otherwise);
        return;
    }
    if (condition.kind == Expr::Kind::unary && condition.unary == UnaryOp::logical_not) {
        const ir::Label is_false = code_.new_label();
        unless(*condition.operands[0], is_false);
        code_.jump(otherwise);
        return code_.bind(is_false);
    }
    if (condition.kind != Expr::Kind::binary || condition.binary < BinaryOp::eq)
        return code_.branch(ir::Cmp::eq, ir::kU64, number(condition), 0, otherwise);
    const Expr &a = *condition.operands[0], &b = *condition.operands[1];
    const std::span<const ExprPtr> second_operand(&condition.operands[1], 1);
    if (condition.binary == BinaryOp::logical_and) {
        unless(a, otherwise);
        return unless(b, otherwise);
    }
    if (condition.binary == BinaryOp::logical_or) {
        const ir::Label second = code_.new_label(), is_true = code_.new_label();
        unless(a, second);
        code_.jump(is_true);
        code_.bind(second);
        unless(b, otherwise);
        return code_.bind(is_true);
    }
    const TypePtr type = type_of(a), other = type_of(b);
    if (type->is_scalar() && other->is_scalar()) {
        const auto is_large = [](const Type& one) { return !one.is_number() || !fits_int64(one); };
        const auto is_plain = [&](const Expr& one) {
            const auto number = constant(one);
            return number && *number >= 0;
        };
        const bool is_old = shared_.options().types.is_old;
        const bool is_unsigned = is_old ? !(type->is_signed && other->is_signed)
                                        : (is_large(*type) && (is_large(*other) || is_plain(b))) ||
                                              (is_large(*other) && is_plain(a));
        const ir::Operand x = number(kept(eval(a), second_operand)), y = number(b);
        return code_.branch(inverted(ir_cmp(condition.binary)), is_unsigned ? ir::kU64 : ir::kS64,
                            x, y, otherwise);
    }
    const Value x = kept(eval(a), second_operand), y = eval(b);
    const auto jump_unless_equal = [&](ir::Label to) {
        const bool is_text = type->is(Kind::string) || other->is(Kind::string);
        if (is_text) return unless_equal(x, y, to);
        const TypePtr as = type->is(Kind::tuple) ? merged(type, other) : type;
        unless_same_bytes(in_memory(x, as), in_memory(y, as), as->bytes, to);
    };
    if (condition.binary == BinaryOp::eq) return jump_unless_equal(otherwise);
    const ir::Label differs = code_.new_label();
    jump_unless_equal(differs);
    code_.jump(otherwise);
    code_.bind(differs);
}

Value ProbeCode::eval_increment(const Expr& expr) {
    const Expr& target = *expr.operands[0];
    const TypePtr type = type_of(expr);
    const std::int64_t step = step_of(expr, *type, shared_.table());
    if (target.kind == Expr::Kind::map) {
        const TypedMap& map = map_of(target);
        const Key key = key_of(map, target.operands, 0);
        const std::string function = shared_.fetch_function_of(map);
        const ir::Temp before =
            key ? code_.call(function, {address_of(*key), step}) : code_.call(function, {step});
        const ir::Operand result = expr.is_postfix
                                       ? ir::Operand(before)
                                       : code_.compute(ir::Op::add, ir::kU64, before, step);
        return number_value(result, type);
    }
    const std::size_t which = instance_.uses.at(&target);
    // Of its own: the variable's register changes.
    const ir::Temp before = code_.new_temp(ir_type(*type));
    code_.assign(before, number(eval_variable(which)));
    const ir::Operand after = code_.compute(ir::Op::add, ir::kU64, before, step);
    set_variable(which, number_value(after, type));
    return number_value(expr.is_postfix ? ir::Operand(before) : after, type);
}

Value ProbeCode::eval_ternary(const Expr& expr) {
    const TypePtr type = type_of(expr);
    const ir::Label is_false = code_.new_label(), done = code_.new_label();
    std::optional<ir::Temp> result;
    std::optional<Local> bytes;
    if (type->is_scalar())
        result = code_.new_temp(ir_type(*type));
    else if (!type->is(Kind::none))
        bytes = allocate(type->bytes + room_behind(*type));
    const auto take = [&](const Value& value) {
        if (result)
            code_.assign(*result, number(value));
        else if (bytes)
            put(value, type, *bytes, TextEnd::roomy);
    };
    std::optional<Value> condition;
    if (expr.operands[1]) {
        unless(*expr.operands[0], is_false);
        take(eval(*expr.operands[1]));
    } else {
        condition = eval(*expr.operands[0]);
        const ir::Operand test = number(*condition);
        code_.branch(ir::Cmp::eq, ir::kU64, test, 0, is_false);
        take(number_value(test, condition->type));
    }
    code_.jump(done);
    code_.bind(is_false);
    take(eval(*expr.operands[2]));
    code_.bind(done);
    Value value;
    value.type = type;
    if (result) value.number = *result;
    value.bytes = bytes;
    return value;
}

Value ProbeCode::eval_cast(const Expr& expr) {
    const TypePtr to = type_of(expr);
    Value value = eval(*expr.operands[0]);
    if (to->is(Kind::string)) {
        if (value.type->is(Kind::pointer)) {
            const ir::Temp from = code_.convert(number(value), ir::kU64);
            const Space space = value.type->space;
            value = {};
            value.remote = from;
            value.space = space;
        }
        value.type = to;
        return value;
    }
    if (to->is_scalar()) return number_value(code_.convert(number(value), ir_type(*to)), to);
    const Local made = allocate(to->bytes);
    zero(made, to->bytes);
    put(value, to, made);
    return load(made, to);
}

Value ProbeCode::eval_tuple(const Expr& expr) {
    const TypePtr type = type_of(expr);
    const Local made = allocate(type->bytes + room_behind(*type));
    zero(made, type->bytes);
    // In order: what comes next is written over the byte behind a text.
    for (std::size_t i = 0; i < expr.operands.size(); ++i)
        put(eval(*expr.operands[i]), type->fields[i].type, made.at(type->fields[i].offset),
            TextEnd::roomy);
    Value value;
    value.type = type;
    value.bytes = made;
    return value;
}

}  // namespace gpufs::bt
