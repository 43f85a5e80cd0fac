#include "lang/dwarf/location.h"

#include <algorithm>
#include <utility>

#include "base/byte_reader.h"
#include "base/cat.h"
#include "base/hex.h"
#include "lang/dwarf/numbers.h"
#include "lang/dwarf/operations.h"
#include "lang/dwarf/ranges.h"

namespace gpufs {
namespace {

constexpr int kDeepestExpression = 8;  // expressions in expressions
constexpr int kMostOperations = 500;   // damaged ones may jump in circles

using StepKind = ValueStep::Kind;

// Why an expression ends without a place.
struct Refused {
    std::string reason;
};

class Evaluation {
public:
    Evaluation(const LocationContext& context, int depth) : context_(context), depth_(depth) {
        if (depth_ > kDeepestExpression) throw Refused{"its description goes in circles"};
    }

    VariablePlace run(std::string_view expression) {
        expression_ = expression;
        return run(ByteReader(expression));
    }

private:
    using Base = RuntimeNumber::Base;
    using Kind = VariablePlace::Kind;

    // A number on the stack. Without a type it is of DWARF's generic one.
    struct Entry {
        RuntimeNumber number;
        std::optional<ir::Type> type;
    };

    VariablePlace run(ByteReader in) {
        for (int count = 0; !in.at_end(); ++count) {
            if (count == kMostOperations) throw Refused{"its description is too long"};
            operation(in.byte(), in);
            if (chosen_) return *std::move(chosen_);
            if (!in.is_good()) throw Refused{"its description is damaged"};
        }
        if (!made_.pieces.empty()) {
            made_.kind = VariablePlace::Kind::pieces;
            return std::move(made_);
        }
        return simple();
    }

    // What the operations so far describe, without pieces.
    VariablePlace simple() {
        if (simple_) return *std::exchange(simple_, std::nullopt);
        VariablePlace made;
        if (stack_.empty()) return made;  // an empty piece: optimized out
        made.kind = Kind::memory;
        made.number = pop().number;
        return made;
    }

    void operation(unsigned op, ByteReader& in) {
        if (op >= dw::OP_lit0 && op < dw::OP_reg0) return push(constant(op - dw::OP_lit0));
        if (op >= dw::OP_reg0 && op < dw::OP_breg0) return in_register(op - dw::OP_reg0);
        if (op >= dw::OP_breg0 && op < dw::OP_regx)
            return push(register_number(op - dw::OP_breg0, in.sleb()));
        switch (op) {
            case dw::OP_addr:
                return push(linked(in.number(context_.unit->address_bytes)));
            case dw::OP_addrx:
            case dw::OP_GNU_addr_index: {
                const auto address = indexed_address(*context_.unit, in.uleb());
                if (!address) throw Refused{"the file has no address for it"};
                return push(linked(*address));
            }
            case dw::OP_constx:
            case dw::OP_GNU_const_index: {
                const auto number = indexed_address(*context_.unit, in.uleb());
                if (!number) throw Refused{"the file has no number for it"};
                return push(constant(*number));
            }
            case dw::OP_const1u:
                return push(constant(in.number(1)));
            case dw::OP_const1s:
                return push(signed_constant(static_cast<std::int8_t>(in.number(1))));
            case dw::OP_const2u:
                return push(constant(in.number(2)));
            case dw::OP_const2s:
                return push(signed_constant(static_cast<std::int16_t>(in.number(2))));
            case dw::OP_const4u:
                return push(constant(in.number(4)));
            case dw::OP_const4s:
                return push(signed_constant(static_cast<std::int32_t>(in.number(4))));
            case dw::OP_const8u:
            case dw::OP_const8s:
                return push(constant(in.number(8)));
            case dw::OP_constu:
                return push(constant(in.uleb()));
            case dw::OP_consts:
                return push(signed_constant(in.sleb()));
            case dw::OP_regx:
                return in_register(static_cast<unsigned>(in.uleb()));
            case dw::OP_bregx: {
                const auto reg = static_cast<unsigned>(in.uleb());
                return push(register_number(reg, in.sleb()));
            }
            case dw::OP_fbreg: {
                RuntimeNumber base = frame_base();
                const std::int64_t offset = in.sleb();
                return push(sum({std::move(base), {}}, offset));
            }
            case dw::OP_call_frame_cfa:
                return push(frame_address());
            case dw::OP_piece:
                return piece(8 * in.uleb(), 0);
            case dw::OP_bit_piece: {
                const std::uint64_t bits = in.uleb();
                return piece(bits, static_cast<unsigned>(in.uleb()));
            }
            case dw::OP_stack_value: {
                VariablePlace made;
                made.kind = Kind::value;
                made.number = pop().number;
                simple_ = std::move(made);
                return;
            }
            case dw::OP_implicit_value: {
                VariablePlace made;
                made.kind = Kind::bytes;
                made.bytes = in.take(in.uleb());
                simple_ = std::move(made);
                return;
            }
            case dw::OP_implicit_pointer:
            case dw::OP_GNU_implicit_pointer:
                return implicit_pointer(in);
            case dw::OP_entry_value:
            case dw::OP_GNU_entry_value:
                return entry_value(in.take(in.uleb()));
            case dw::OP_form_tls_address:
            case dw::OP_GNU_push_tls_address:
                return thread_address();
            case dw::OP_nop:
            case dw::OP_GNU_uninit:
                return;
            default:
                return stack_operation(op, in);
        }
    }

    void stack_operation(unsigned op, ByteReader& in) {
        switch (op) {
            case dw::OP_dup:
                return push(top(0));
            case dw::OP_drop:
                pop();
                return;
            case dw::OP_over:
                return push(top(1));
            case dw::OP_pick:
                return push(top(in.byte()));
            case dw::OP_swap:
                std::swap(top(0), top(1));
                return;
            case dw::OP_rot:
                // The top goes below the two that were under it.
                std::swap(top(0), top(1));
                std::swap(top(1), top(2));
                return;
            case dw::OP_deref:
                return deref(context_.unit->address_bytes);
            case dw::OP_deref_size:
                return deref(in.byte());
            case dw::OP_deref_type:
            case dw::OP_GNU_deref_type: {
                deref(in.byte());
                return convert(in.uleb());
            }
            case dw::OP_regval_type:
            case dw::OP_GNU_regval_type: {
                const auto reg = static_cast<unsigned>(in.uleb());
                push(register_number(reg, 0));
                return convert(in.uleb());
            }
            case dw::OP_const_type:
            case dw::OP_GNU_const_type: {
                const std::uint64_t type = in.uleb();
                ByteReader bytes(in.take(in.byte()));
                push(constant(bytes.number(std::min<std::size_t>(bytes.left(), 8))));
                return convert(type);
            }
            case dw::OP_convert:
            case dw::OP_GNU_convert:
            case dw::OP_reinterpret:
            case dw::OP_GNU_reinterpret:
                return convert(in.uleb());
            case dw::OP_plus_uconst: {
                Entry number = pop();
                return push(sum(std::move(number), static_cast<std::int64_t>(in.uleb())));
            }
            case dw::OP_neg:
            case dw::OP_not:
            case dw::OP_abs:
                return unary(op);
            case dw::OP_skip:
                return jump(in, static_cast<std::int16_t>(in.number(2)));
            case dw::OP_bra: {
                const auto distance = static_cast<std::int16_t>(in.number(2));
                const RuntimeNumber number = pop().number;
                if (!number.is_constant()) return choose(number, in, distance);
                if (number.offset != 0) jump(in, distance);
                return;
            }
            default:
                return binary(op);
        }
    }

    static RuntimeNumber constant(std::uint64_t number) {
        return signed_constant(static_cast<std::int64_t>(number));
    }
    static RuntimeNumber signed_constant(std::int64_t number) {
        RuntimeNumber made;
        made.offset = number;
        return made;
    }
    static RuntimeNumber linked(std::uint64_t address) {
        RuntimeNumber made = constant(address);
        made.base = Base::linked;
        return made;
    }
    static RuntimeNumber register_number(unsigned reg, std::int64_t offset) {
        RuntimeNumber made = signed_constant(offset);
        made.base = Base::in_register;
        made.reg = reg;
        return made;
    }
    static RuntimeNumber computed(ValueSteps steps) {
        RuntimeNumber made;
        made.base = Base::computed;
        made.steps = std::move(steps);
        return made;
    }
    static std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) +
                                         static_cast<std::uint64_t>(b));
    }
    Entry sum(Entry entry, std::int64_t offset) {
        if (offset == 0) return entry;
        RuntimeNumber& number = entry.number;
        if (entry.type && entry.type->bytes < 8)
            return combined(dw::OP_plus, entry, {signed_constant(offset), {}});
        if (number.bytes < 8) number = computed(number.to_steps());
        number.offset = wrapped_sum(number.offset, offset);
        return entry;
    }

    void push(Entry entry) { stack_.push_back(std::move(entry)); }
    void push(RuntimeNumber number) { stack_.push_back({std::move(number), {}}); }
    Entry& top(std::size_t n) {
        if (n >= stack_.size()) throw Refused{"its description is damaged"};
        return stack_[stack_.size() - 1 - n];
    }
    Entry pop() {
        Entry entry = std::move(top(0));
        stack_.pop_back();
        return entry;
    }

    // In the block of the running thread, so far behind its begin.
    void thread_address() {
        if (!context_.thread_block) throw Refused{"each thread has its own (thread-local storage)"};
        const Entry offset = pop();
        ThreadBlockPlace block = context_.thread_block();
        if (!block.trouble.empty()) throw Refused{std::move(block.trouble)};
        const Entry begin = sum({computed(std::move(block.steps)), {}}, block.offset);
        if (offset.number.is_constant())
            push(sum(begin, offset.number.offset));
        else
            push(combined(dw::OP_plus, begin, offset));
    }

    void in_register(unsigned reg) {
        VariablePlace made;
        made.kind = Kind::in_register;
        made.reg = reg;
        simple_ = std::move(made);
    }

    void piece(std::uint64_t bits, unsigned first_bit) {
        made_.pieces.push_back({bits, simple(), first_bit});
    }

    void deref(std::size_t bytes) {
        if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
            throw Refused{cat("it is computed from a number of ", bytes, " bytes")};
        RuntimeNumber number = pop().number;
        if (number.bytes < 8) number = computed(number.to_steps());
        number.reads.push_back({std::exchange(number.offset, 0), bytes});
        number.bytes = bytes;
        push(std::move(number));
    }

    // Of an operation: the type in which it is done, where the operands are of this one.
    static ValueStep step_of(unsigned op, const std::optional<ir::Type>& type) {
        struct Row {
            unsigned op;
            StepKind kind;
            std::optional<bool> is_signed;  // where the standard says so, else of generic operands
        };
        static constexpr Row kRows[] = {
            {dw::OP_and, StepKind::bit_and, {}},        {dw::OP_div, StepKind::divide, {}},
            {dw::OP_minus, StepKind::subtract, {}},     {dw::OP_mod, StepKind::rest, {}},
            {dw::OP_mul, StepKind::multiply, {}},       {dw::OP_or, StepKind::bit_or, {}},
            {dw::OP_plus, StepKind::add, {}},           {dw::OP_shl, StepKind::shift_left, {}},
            {dw::OP_shr, StepKind::shift_right, false}, {dw::OP_shra, StepKind::shift_right, true},
            {dw::OP_xor, StepKind::bit_xor, {}},        {dw::OP_eq, StepKind::equal, {}},
            {dw::OP_ge, StepKind::greater_equal, {}},   {dw::OP_gt, StepKind::greater, {}},
            {dw::OP_le, StepKind::less_equal, {}},      {dw::OP_lt, StepKind::less, {}},
            {dw::OP_ne, StepKind::not_equal, {}},       {dw::OP_neg, StepKind::negate, {}},
            {dw::OP_not, StepKind::invert, {}},         {dw::OP_abs, StepKind::absolute, {}}};
        const auto row = std::ranges::find(kRows, op, &Row::op);
        if (row == std::end(kRows))
            throw Refused{
                cat("its description has an operation (", hex(op), ") that is not known here")};
        ValueStep step{row->kind, 0, type.value_or(ir::kU64)};
        // Generic numbers are compared and divided with their sign; the rest is without.
        if (!type)
            step.type.is_signed =
                op == dw::OP_div || op == dw::OP_abs || step.kind >= StepKind::equal;
        if (row->is_signed) step.type.is_signed = *row->is_signed;
        return step;
    }

    static Entry constant_entry(const ValueStep& step, const std::optional<ir::Type>& type,
                                std::int64_t left, std::int64_t right) {
        const auto of_type = [&](std::int64_t number) {
            return ir::converted(static_cast<std::uint64_t>(number), step.type);
        };
        const auto made = gpufs::computed(step, of_type(left), of_type(right));
        if (!made) throw Refused{"its description divides by 0"};
        return {constant(type ? ir::converted(*made, *type) : *made), type};
    }

    void unary(unsigned op) {
        const Entry entry = pop();
        const ValueStep step = step_of(op, entry.type);
        if (entry.number.is_constant())
            return push(constant_entry(step, entry.type, entry.number.offset, 0));
        push({computed(joined(entry.number.to_steps(), {}, step)), entry.type});
    }

    // The result of a comparison is generic.
    static Entry combined(unsigned op, const Entry& left, const Entry& right) {
        const std::optional<ir::Type> type = left.type ? left.type : right.type;
        const ValueStep step = step_of(op, type);
        const auto result = step.kind >= StepKind::equal ? std::nullopt : type;
        if (left.number.is_constant() && right.number.is_constant())
            return constant_entry(step, result, left.number.offset, right.number.offset);
        ValueSteps steps = joined(left.number.to_steps(), right.number.to_steps(), step);
        if (result && *result != step.type) steps.push_back({StepKind::convert, 0, *result});
        return {computed(std::move(steps)), result};
    }

    void binary(unsigned op) {
        step_of(op, {});  // known?
        Entry right = pop(), left = pop();
        const bool is_narrow =
            (left.type && left.type->bytes < 8) || (right.type && right.type->bytes < 8);
        const bool is_sum = !is_narrow && left.number.is_constant() != right.number.is_constant();
        if (is_sum && op == dw::OP_plus && left.number.is_constant()) std::swap(left, right);
        if (is_sum && op == dw::OP_plus)
            push(sum(std::move(left), right.number.offset));
        else if (is_sum && op == dw::OP_minus && right.number.is_constant())
            push(sum(std::move(left), wrapped_sum(~right.number.offset, 1)));
        else
            push(combined(op, left, right));
    }

    // What the rest of the expression comes to either way, and which of both it is.
    void choose(const RuntimeNumber& condition, const ByteReader& in, std::int64_t distance) {
        if (depth_ == kDeepestExpression || !made_.pieces.empty())
            throw Refused{"where it is depends on what the program computes"};
        ++depth_;
        Evaluation other(*this);
        ByteReader there = in;
        jump(there, distance);
        const VariablePlace first = other.run(there), second = run(in);
        const bool is_number = first.kind == Kind::memory || first.kind == Kind::value;
        if (first.kind != second.kind || !is_number)
            throw Refused{"where it is depends on what the program computes"};
        ValueSteps steps = condition.to_steps();
        steps = joined(std::move(steps), first.number.to_steps(), {});
        steps.pop_back();
        steps = joined(std::move(steps), second.number.to_steps(), {StepKind::choose});
        chosen_ = first;
        chosen_->number = computed(std::move(steps));
    }

    // A type of .debug_info, by its offset in the unit; none is the machine's word.
    DwarfEntry type_at(std::uint64_t offset) const {
        if (offset == 0) return {};
        return entry_at(*context_.unit, context_.unit->begin + offset);
    }
    static void require_integer(const DwarfEntry& type) {
        const auto encoding = number_of(type, dw::AT_encoding);
        if (encoding == dw::ATE_float || encoding == dw::ATE_complex_float)
            throw Refused{"it is computed as a floating point number"};
    }
    void convert(std::uint64_t to) {
        Entry& entry = top(0);
        const DwarfEntry found = type_at(to);
        if (!found) {
            entry.type.reset();
            return;
        }
        require_integer(found);
        const auto bytes = number_of(found, dw::AT_byte_size).value_or(8);
        if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
            throw Refused{cat("it is computed as a number of ", bytes, " bytes")};
        const auto encoding = number_of(found, dw::AT_encoding);
        const ir::Type type{static_cast<std::uint8_t>(bytes),
                            encoding == dw::ATE_signed || encoding == dw::ATE_signed_char};
        entry.type = type;
        RuntimeNumber& number = entry.number;
        if (number.is_constant()) {
            number.offset = static_cast<std::int64_t>(
                ir::converted(static_cast<std::uint64_t>(number.offset), type));
            return;
        }
        const bool is_included = bytes > number.bytes && (type.is_signed || !number.is_signed);
        if (bytes == 8 || is_included) return;
        if (number.offset != 0 || bytes > number.bytes) number = computed(number.to_steps());
        number.bytes = bytes;
        number.is_signed = type.is_signed;
    }

    void jump(ByteReader& in, std::int64_t distance) {
        const auto at = static_cast<std::int64_t>(expression_.size() - in.left()) + distance;
        if (at < 0 || at > static_cast<std::int64_t>(expression_.size()))
            throw Refused{"its description is damaged"};
        in = ByteReader(expression_.substr(static_cast<std::size_t>(at)));
    }

    void implicit_pointer(ByteReader& in) {
        const DwarfUnit& unit = *context_.unit;
        const std::uint64_t to =
            in.number(unit.version <= 2 ? unit.address_bytes : unit.offset_bytes);
        VariablePlace made;
        made.kind = Kind::pointer;
        made.offset = in.sleb();
        const DwarfUnit* other = unit.info->unit_at(to);
        if (other) made.target = entry_at(*other, to);
        simple_ = std::move(made);
    }

    // What a register had, or memory, when the function began: nothing says it now.
    void entry_value(std::string_view expression) {
        Evaluation inner(context_, depth_ + 1);
        const VariablePlace place = inner.run(expression);
        const RuntimeNumber number =
            place.kind == Kind::in_register ? register_number(place.reg, 0) : place.number;
        push(computed(joined(number.to_steps(), {}, {StepKind::at_begin})));
    }

    RuntimeNumber frame_address() {
        const auto found =
            context_.frame_address ? context_.frame_address(context_.address) : std::nullopt;
        if (!found) throw Refused{"the file does not say where the function's frame is"};
        if (found->expression.empty()) return register_number(found->reg, found->offset);
        Evaluation inner(context_, depth_ + 1);
        return inner.run(found->expression).number;
    }

    RuntimeNumber frame_base() {
        const auto base = find_inherited(context_.function, dw::AT_frame_base);
        if (!base) throw Refused{"the file does not say where the function's frame is"};
        const auto expression = location_at(*base, context_.address);
        if (!expression) throw Refused{"the function's frame is not there yet"};
        Evaluation inner(context_, depth_ + 1);
        const VariablePlace place = inner.run(*expression);
        if (place.kind == Kind::in_register) return register_number(place.reg, 0);
        return place.number;
    }

    const LocationContext& context_;
    int depth_;
    std::string_view expression_;
    std::vector<Entry> stack_;
    std::optional<VariablePlace> simple_;  // what is not simply on the stack
    VariablePlace made_;
    std::optional<VariablePlace> chosen_;  // what the whole comes to
};

ValueSteps with_sum(ValueSteps steps, std::int64_t number) {
    if (number == 0) return steps;
    return joined(std::move(steps), {{StepKind::constant, number}}, {StepKind::add});
}

VariablePlace constant_place(const DwarfAttribute& value) {
    VariablePlace made;
    if (value.is_block()) {
        made.kind = VariablePlace::Kind::bytes;
        made.bytes = value.bytes;
    } else if (const auto text = text_of(value)) {
        made.kind = VariablePlace::Kind::bytes;
        made.bytes = *text;
    } else if (const auto number = constant_of(value)) {
        made.kind = VariablePlace::Kind::value;
        made.number.offset = static_cast<std::int64_t>(*number);
    }
    return made;
}

}  // namespace

bool RuntimeNumber::is_of_begin() const {
    return std::ranges::count(steps, StepKind::at_begin, &ValueStep::kind) > 0;
}

ValueSteps RuntimeNumber::to_steps() const {
    const std::int64_t first = reads.empty() ? offset : reads.front().at;
    ValueSteps made;
    switch (base) {
        case Base::constant:
            made = {{StepKind::constant, first}};
            break;
        case Base::linked:
            made = {{StepKind::linked, first}};
            break;
        case Base::in_register:
            made = with_sum({{StepKind::in_register, reg}}, first);
            break;
        case Base::computed:
            made = with_sum(steps, first);
            break;
    }
    for (std::size_t i = 0; i < reads.size(); ++i) {
        made.push_back({StepKind::read, 0, {static_cast<std::uint8_t>(reads[i].bytes), false}});
        made = with_sum(std::move(made), i + 1 < reads.size() ? reads[i + 1].at : offset);
    }
    if (bytes < 8)
        made.push_back({StepKind::convert, 0, {static_cast<std::uint8_t>(bytes), is_signed}});
    return made;
}

VariablePlace evaluate_location(std::string_view expression, const LocationContext& context) {
    try {
        return Evaluation(context, 0).run(expression);
    } catch (Refused& refused) {
        VariablePlace made;
        made.kind = VariablePlace::Kind::refused;
        made.reason = std::move(refused.reason);
        return made;
    }
}

VariablePlace place_of(const DwarfEntry& variable, const LocationContext& context) {
    if (const auto location = find_inherited(variable, dw::AT_location)) {
        const auto expression = location_at(*location, context.address);
        if (!expression) return {};
        LocationContext inner = context;
        inner.unit = location->unit;
        return evaluate_location(*expression, inner);
    }
    if (const auto value = find_inherited(variable, dw::AT_const_value))
        return constant_place(*value);
    return {};
}

}  // namespace gpufs
