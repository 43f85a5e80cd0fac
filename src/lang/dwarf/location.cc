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
constexpr std::size_t kLongestFormula = 200;

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
        ByteReader in(expression);
        if (expression.empty()) return {};
        for (int count = 0; !in.at_end(); ++count) {
            if (count == kMostOperations) throw Refused{"its description is too long"};
            operation(in.byte(), in);
            if (!in.is_good()) throw Refused{"its description is damaged"};
        }
        if (!made_.pieces.empty()) {
            made_.kind = VariablePlace::Kind::pieces;
            return std::move(made_);
        }
        return simple();
    }

private:
    using Base = RuntimeNumber::Base;
    using Kind = VariablePlace::Kind;

    // What the operations so far describe, without pieces.
    VariablePlace simple() {
        if (simple_) return *std::exchange(simple_, std::nullopt);
        VariablePlace made;
        if (stack_.empty()) return made;  // an empty piece: optimized out
        made.kind = Kind::memory;
        made.number = pop();
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
                return push(sum(std::move(base), offset));
            }
            case dw::OP_call_frame_cfa:
                return push(frame_address());
            case dw::OP_piece:
                return piece(8 * in.uleb());
            case dw::OP_bit_piece: {
                const std::uint64_t bits = in.uleb();
                if (in.uleb() != 0) throw Refused{"it begins inside of a register"};
                return piece(bits);
            }
            case dw::OP_stack_value: {
                VariablePlace made;
                made.kind = Kind::value;
                made.number = pop();
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
                throw Refused{"each thread has its own (thread-local storage)"};
            case dw::OP_nop:
                return;
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
                const std::size_t bytes = in.byte();
                require_integer(type_at(in.uleb()));
                return deref(bytes);
            }
            case dw::OP_regval_type:
            case dw::OP_GNU_regval_type: {
                const auto reg = static_cast<unsigned>(in.uleb());
                push(register_number(reg, 0));
                return convert(in.uleb());
            }
            case dw::OP_const_type:
            case dw::OP_GNU_const_type: {
                require_integer(type_at(in.uleb()));
                ByteReader bytes(in.take(in.byte()));
                return push(constant(bytes.number(std::min<std::size_t>(bytes.left(), 8))));
            }
            case dw::OP_convert:
            case dw::OP_GNU_convert:
            case dw::OP_reinterpret:
            case dw::OP_GNU_reinterpret:
                return convert(in.uleb());
            case dw::OP_plus_uconst: {
                RuntimeNumber number = pop();
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
                const RuntimeNumber number = pop();
                if (!number.is_constant())
                    throw Refused{"where it is depends on what the program computes"};
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
    static RuntimeNumber computed(std::string formula, bool of_entry) {
        RuntimeNumber made;
        made.base = Base::computed;
        if (formula.size() > kLongestFormula) formula = "(…)";
        made.formula = std::move(formula);
        made.of_entry = of_entry;
        return made;
    }
    static std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) +
                                         static_cast<std::uint64_t>(b));
    }
    static RuntimeNumber sum(RuntimeNumber number, std::int64_t offset) {
        if (offset == 0) return number;
        if (number.bytes < 8) number = computed(number.to_text(), number.of_entry);
        number.offset = wrapped_sum(number.offset, offset);
        return number;
    }

    void push(RuntimeNumber number) { stack_.push_back(std::move(number)); }
    RuntimeNumber& top(std::size_t n) {
        if (n >= stack_.size()) throw Refused{"its description is damaged"};
        return stack_[stack_.size() - 1 - n];
    }
    RuntimeNumber pop() {
        RuntimeNumber number = std::move(top(0));
        stack_.pop_back();
        return number;
    }

    void in_register(unsigned reg) {
        VariablePlace made;
        made.kind = Kind::in_register;
        made.reg = reg;
        simple_ = std::move(made);
    }

    void piece(std::uint64_t bits) { made_.pieces.push_back({bits, simple()}); }

    void deref(std::size_t bytes) {
        RuntimeNumber number = pop();
        if (number.base == Base::computed || number.bytes < 8) {
            push(computed(cat('[', number.to_text(), ']'), number.of_entry));
            return;
        }
        number.reads.push_back({std::exchange(number.offset, 0), bytes});
        if (bytes < 8) number.bytes = bytes;
        push(std::move(number));
    }

    void unary(unsigned op) {
        RuntimeNumber number = pop();
        const auto bits = static_cast<std::uint64_t>(number.offset);
        if (number.is_constant()) {
            push(constant(op == dw::OP_not                        ? ~bits
                          : op == dw::OP_neg || number.offset < 0 ? 0 - bits
                                                                  : bits));
            return;
        }
        const char* sign = op == dw::OP_neg ? "-" : op == dw::OP_not ? "~" : "abs ";
        push(computed(cat('(', sign, number.to_text(), ')'), number.of_entry));
    }

    void binary(unsigned op) {
        static constexpr std::pair<unsigned, std::string_view> kSigns[] = {
            {dw::OP_and, "&"},  {dw::OP_div, "/"},   {dw::OP_minus, "-"}, {dw::OP_mod, "%"},
            {dw::OP_mul, "*"},  {dw::OP_or, "|"},    {dw::OP_plus, "+"},  {dw::OP_shl, "<<"},
            {dw::OP_shr, ">>"}, {dw::OP_shra, ">>"}, {dw::OP_xor, "^"},   {dw::OP_eq, "=="},
            {dw::OP_ge, ">="},  {dw::OP_gt, ">"},    {dw::OP_le, "<="},   {dw::OP_lt, "<"},
            {dw::OP_ne, "!="}};
        const auto sign =
            std::ranges::find(kSigns, op, &std::pair<unsigned, std::string_view>::first);
        if (sign == std::end(kSigns))
            throw Refused{
                cat("its description has an operation (", hex(op), ") that is not known here")};
        RuntimeNumber right = pop(), left = pop();
        if (left.is_constant() && right.is_constant()) {
            const auto folded = fold(op, left.offset, right.offset);
            if (!folded) throw Refused{"its description divides by 0"};
            push(signed_constant(*folded));
        } else if (op == dw::OP_plus && right.is_constant()) {
            push(sum(std::move(left), right.offset));
        } else if (op == dw::OP_plus && left.is_constant()) {
            push(sum(std::move(right), left.offset));
        } else if (op == dw::OP_minus && right.is_constant()) {
            push(sum(std::move(left), wrapped_sum(~right.offset, 1)));
        } else {
            push(computed(cat('(', left.to_text(), ' ', sign->second, ' ', right.to_text(), ')'),
                          left.of_entry || right.of_entry));
        }
    }

    static std::optional<std::int64_t> fold(unsigned op, std::int64_t left, std::int64_t right) {
        const auto a = static_cast<std::uint64_t>(left), b = static_cast<std::uint64_t>(right);
        const auto whole = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
        switch (op) {
            case dw::OP_and:
                return whole(a & b);
            case dw::OP_or:
                return whole(a | b);
            case dw::OP_xor:
                return whole(a ^ b);
            case dw::OP_plus:
                return whole(a + b);
            case dw::OP_minus:
                return whole(a - b);
            case dw::OP_mul:
                return whole(a * b);
            case dw::OP_div:
                if (right == 0) return std::nullopt;
                return right == -1 ? whole(0 - a) : left / right;
            case dw::OP_mod:
                if (b == 0) return std::nullopt;
                return whole(a % b);
            case dw::OP_shl:
                return b < 64 ? whole(a << b) : 0;
            case dw::OP_shr:
                return b < 64 ? whole(a >> b) : 0;
            case dw::OP_shra:
                return left >> std::min<std::uint64_t>(b, 63);
            case dw::OP_eq:
                return left == right;
            case dw::OP_ne:
                return left != right;
            case dw::OP_lt:
                return left < right;
            case dw::OP_le:
                return left <= right;
            case dw::OP_gt:
                return left > right;
            default:
                return left >= right;
        }
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
        const DwarfEntry type = type_at(to);
        if (!type) return;
        require_integer(type);
        const auto bytes = number_of(type, dw::AT_byte_size).value_or(8);
        const auto encoding = number_of(type, dw::AT_encoding);
        RuntimeNumber& number = top(0);
        if (bytes >= number.bytes || bytes == 0) return;
        if (number.is_constant()) return;
        if (number.offset != 0) number = computed(number.to_text(), number.of_entry);
        number.bytes = bytes;
        number.is_signed = encoding == dw::ATE_signed || encoding == dw::ATE_signed_char;
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
        const std::string what =
            place.kind == Kind::in_register ? register_text(place.reg) : place.number.to_text();
        push(computed(cat('(', what, " at the function's begin)"), true));
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
    std::vector<RuntimeNumber> stack_;
    std::optional<VariablePlace> simple_;  // what is not simply on the stack
    VariablePlace made_;
};

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
