#include "lang/variable/variable_value.h"

#include <algorithm>
#include <utility>

#include "base/cat.h"
#include "lang/ir/read_memory.h"
#include "lang/program/registers.h"
#include "lang/variable/begin_values.h"

namespace gpufs {
namespace {

using Kind = ValueStep::Kind;

constexpr unsigned kWordBits = 64;
constexpr std::size_t kWordBytes = 8;

// Where struct pt_regs has the register of DWARF's number.
std::optional<std::size_t> place_of_register(std::int64_t number) {
    const auto name = register_of_dwarf(static_cast<unsigned>(number));
    return name ? register_offset(*name) : std::nullopt;
}

ir::Cmp comparison_of(Kind kind) {
    switch (kind) {
        case Kind::equal:
            return ir::Cmp::eq;
        case Kind::not_equal:
            return ir::Cmp::ne;
        case Kind::less:
            return ir::Cmp::lt;
        case Kind::less_equal:
            return ir::Cmp::le;
        case Kind::greater:
            return ir::Cmp::gt;
        default:
            return ir::Cmp::ge;
    }
}

ir::Op operation_of(Kind kind) {
    switch (kind) {
        case Kind::add:
            return ir::Op::add;
        case Kind::subtract:
            return ir::Op::sub;
        case Kind::multiply:
            return ir::Op::mul;
        case Kind::divide:
            return ir::Op::div;
        case Kind::rest:
            return ir::Op::mod;
        case Kind::bit_and:
            return ir::Op::bit_and;
        case Kind::bit_or:
            return ir::Op::bit_or;
        case Kind::bit_xor:
            return ir::Op::bit_xor;
        case Kind::shift_left:
            return ir::Op::shl;
        default:
            return ir::Op::shr;
    }
}

// Is this step a register, and the next one its value at the function's begin?
bool is_begin_of_register(const ValueSteps& steps, std::size_t at) {
    return at + 1 < steps.size() && steps[at].kind == Kind::in_register &&
           steps[at + 1].kind == Kind::at_begin;
}

// Compiles steps: a stack of temps and constants stands for theirs.
class StepCode {
public:
    StepCode(ir::Code& code, ir::Temp context, const VariableValue& value, ir::Label unknown)
        : code_(code), context_(context), value_(value), unknown_(unknown) {}

    ir::Operand append(const ValueSteps& steps) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (is_begin_of_register(steps, i))
                stack_.push_back(at_begin(static_cast<unsigned>(steps[i++].number)));
            else
                stack_.push_back(result_of(steps[i]));
        }
        return pop();
    }

    // A number without sign at an address; 0 if it cannot be read.
    ir::Temp read(const ir::Operand& address, std::size_t bytes) {
        const ir::Slot word = code_.new_slot(kWordBytes);
        code_.store(word, 0, ir::kU64);
        append_read(code_, Space::user, code_.address(word), bytes,
                    code_.convert(address, ir::kU64));
        return code_.load(word, ir::kU64);
    }

private:
    ir::Operand pop() {
        ir::Operand last = stack_.back();
        stack_.pop_back();
        return last;
    }

    ir::Operand result_of(const ValueStep& step) {
        switch (step.kind) {
            case Kind::constant:
                return step.number;
            case Kind::linked:
                return linked(step.number);
            case Kind::in_register:
                return load_register(place_of_register(step.number).value());
            case Kind::thread:
                return thread_pointer();
            case Kind::read:
                return code_.convert(read(pop(), step.type.bytes), step.type);
            case Kind::convert:
                return code_.convert(pop(), step.type);
            case Kind::negate:
                return code_.negate(pop(), step.type);
            case Kind::invert:
                return code_.compute(ir::Op::bit_xor, step.type, pop(), ~std::uint64_t{0});
            case Kind::absolute:
                return absolute(pop(), step.type);
            case Kind::choose:
                return choose();
            default:
                break;
        }
        const ir::Operand right = pop(), left = pop();
        if (step.kind >= Kind::equal) return compare(step, left, right);
        if (step.kind == Kind::shift_left || step.kind == Kind::shift_right)
            return shift(step, left, right);
        return code_.compute(operation_of(step.kind), step.type, left, right);
    }

    ir::Temp at_begin(unsigned reg) {
        const ir::Operand frame =
            StepCode(code_, context_, value_, unknown_).append(value_.function->frame);
        return append_begin_value(code_, frame, reg, unknown_);
    }

    ir::Temp load_register(std::size_t at) {
        return code_.load({context_, static_cast<std::int64_t>(at)}, ir::kU64);
    }

    // The code and the variables of a file move together: from the place to the address it is as
    // far in each process as in the file.
    ir::Operand linked(std::int64_t address) {
        return code_.compute(ir::Op::add, ir::kU64, load_register(register_offset("ip").value()),
                             static_cast<std::uint64_t>(address) - value_.code_address);
    }

    ir::Temp thread_pointer() {
        const ir::Temp task = code_.call(BPF_FUNC_get_current_task, {});
        const ir::Temp at = code_.symbol(Relocation::to(
            Relocation::Kind::btf_offset, std::string(thread_pointer_register().kept_in)));
        const ir::Slot word = code_.new_slot(kWordBytes);
        append_read(code_, Space::kernel, code_.address(word), kWordBytes,
                    code_.compute(ir::Op::add, ir::kU64, task, at));
        return code_.load(word, ir::kU64);
    }

    ir::Temp absolute(const ir::Operand& value, ir::Type type) {
        const ir::Temp made = code_.convert(value, type);
        const ir::Label done = code_.new_label();
        code_.branch(ir::Cmp::ge, ir::kS64, made, 0, done);
        code_.assign(made, code_.negate(made, type));
        code_.bind(done);
        return made;
    }

    ir::Temp compare(const ValueStep& step, const ir::Operand& left, const ir::Operand& right) {
        const ir::Temp made = code_.new_temp(ir::kU64);
        const ir::Label done = code_.new_label();
        code_.assign(made, 1);
        code_.branch(comparison_of(step.kind), step.type, left, right, done);
        code_.assign(made, 0);
        code_.bind(done);
        return made;
    }

    // BPF takes only the lower bits of a count; DWARF shifts all bits out.
    ir::Temp shift(const ValueStep& step, const ir::Operand& left, const ir::Operand& right) {
        const unsigned bits = 8 * step.type.bytes;
        const ir::Op how = operation_of(step.kind);
        const bool keeps_sign = how == ir::Op::shr && step.type.is_signed;
        if (!right.temp()) {
            if (right.number() < bits) return code_.compute(how, step.type, left, right);
            return keeps_sign ? code_.compute(how, step.type, left, bits - 1)
                              : code_.convert(0, step.type);
        }
        const ir::Temp made = code_.new_temp(step.type);
        const ir::Label done = code_.new_label(), is_near = code_.new_label();
        code_.branch(ir::Cmp::lt, ir::kU64, right, bits, is_near);
        if (keeps_sign)
            code_.assign(made, code_.compute(how, step.type, left, bits - 1));
        else
            code_.assign(made, 0);
        code_.jump(done);
        code_.bind(is_near);
        code_.assign(made, code_.compute(how, step.type, left, right));
        code_.bind(done);
        return made;
    }

    ir::Temp choose() {
        const ir::Operand other = pop(), first = pop(), condition = pop();
        const ir::Temp made = code_.convert(first, ir::kU64);
        const ir::Label done = code_.new_label();
        code_.branch(ir::Cmp::ne, ir::kU64, condition, 0, done);
        code_.assign(made, other);
        code_.bind(done);
        return made;
    }

    ir::Code& code_;
    ir::Temp context_;
    const VariableValue& value_;
    ir::Label unknown_;
    std::vector<ir::Operand> stack_;
};

// The bits of a part as the lowest ones, the others 0.
ir::Temp append_part(ir::Code& code, ir::Temp context, const VariableValue& value,
                     const VariableValue::Part& part, ir::Label unknown) {
    StepCode steps(code, context, value, unknown);
    const ir::Operand found = steps.append(part.steps);
    const unsigned end = part.first_bit + part.bits;
    ir::Temp bits =
        part.in_memory ? steps.read(found, (end + 7) / 8) : code.convert(found, ir::kU64);
    // Two shifts cut both ends.
    if (end < kWordBits) bits = code.compute(ir::Op::shl, ir::kU64, bits, kWordBits - end);
    if (part.bits < kWordBits)
        bits = code.compute(ir::Op::shr, ir::kU64, bits, kWordBits - part.bits);
    return bits;
}

std::string part_text(const VariableValue::Part& part, unsigned whole) {
    std::string text = part.in_memory ? cat('[', to_text(part.steps), ']') : to_text(part.steps);
    if (part.first_bit == 0 && part.bits >= whole) return text;
    return cat(part.bits, " bits from bit ", part.first_bit, " of ", text);
}

}  // namespace

std::string VariableValue::to_text() const {
    std::string text;
    for (const Part& part : parts)
        text += cat(text.empty() ? "" : ", ",
                    part_text(part, parts.size() == 1 ? 8 * type.bytes : kWordBits + 1));
    return text;
}

VariableUse variable_use(const CodeItem& item) {
    if (item.kind == CodeItem::Kind::field_address) return VariableUse::address;
    const bool is_size = item.kind == CodeItem::Kind::field_length ||
                         item.relocation.kind == Relocation::Kind::field_size;
    return is_size ? VariableUse::size : VariableUse::number;
}

std::string NamedVariable::to_text() const {
    return cat(use == VariableUse::address ? "&@"
               : use == VariableUse::size  ? "sizeof @"
                                           : "@",
               name);
}

std::string trouble_with(const VariableValue& value) {
    for (const VariableValue::Part& part : value.parts) {
        if (part.first_bit + part.bits > kWordBits) return "it is in more than 64 bits";
        for (std::size_t i = 0; i < part.steps.size(); ++i) {
            const ValueStep& step = part.steps[i];
            const bool is_of_register = i != 0 && is_begin_of_register(part.steps, i - 1);
            if (step.kind == Kind::at_begin && !(is_of_register && value.function))
                return cat("only what it was when the function began is known: ",
                           to_text(part.steps));
            if (step.kind == Kind::in_register && !place_of_register(step.number))
                return cat("it is in a register that probes do not see (DWARF's number ",
                           step.number, ')');
        }
    }
    return {};
}

std::vector<unsigned> VariableValue::begin_registers() const {
    std::vector<unsigned> found;
    for (const Part& part : parts)
        for (std::size_t i = 0; i < part.steps.size(); ++i) {
            const auto reg = static_cast<unsigned>(part.steps[i].number);
            if (is_begin_of_register(part.steps, i) && std::ranges::count(found, reg) == 0)
                found.push_back(reg);
        }
    return found;
}

ir::Temp append_variable(ir::Code& code, ir::Temp context, const VariableValue& value,
                         ir::Label unknown) {
    const ir::Temp whole = code.new_temp(ir::kU64);
    code.assign(whole, 0);
    unsigned bits = 0;
    for (const VariableValue::Part& part : value.parts) {
        ir::Temp some = append_part(code, context, value, part, unknown);
        if (bits != 0) some = code.compute(ir::Op::shl, ir::kU64, some, bits);
        code.assign(whole, code.compute(ir::Op::bit_or, ir::kU64, whole, some));
        bits += part.bits;
    }
    if (bits >= 8u * value.type.bytes) return code.convert(whole, value.type);
    const ir::Temp high = code.compute(ir::Op::shl, ir::kU64, whole, kWordBits - bits);
    return code.compute(ir::Op::shr, value.type.is_signed ? ir::kS64 : ir::kU64, high,
                        kWordBits - bits);
}

std::vector<CodeItem> variable_function(const VariableValue& value, const SourceRef& at) {
    ir::Code code;
    code.set_source(at);
    const ir::Temp context = code.argument(1);
    const ir::Label unknown = code.new_label();
    code.leave(append_variable(code, context, value, unknown));
    if (!value.begin_registers().empty()) {
        code.bind(unknown);
        append_unseen_begin(code);
        code.leave(0);
    }
    return code.assemble();
}

}  // namespace gpufs
