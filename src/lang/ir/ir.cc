#include "lang/ir/ir.h"

#include <bit>
#include <stdexcept>
#include <utility>

#include "lang/insn/insn.h"
#include "lang/ir/body.h"
#include "lang/ir/ops.h"

namespace gpufs::ir {
namespace {

constexpr RegId kResult = 0;  // register of a call's result

// Registers are assigned later, to the dst and src of the item.
constexpr Reg kLater = Reg::r0;

Item& emit(Code::Body& body, const bpf_insn& op, RegId dst = 0, RegId src = 0) {
    Item item;
    item.op = op;
    item.dst = dst;
    item.src = src;
    item.at = body.at;
    return body.items.emplace_back(item);
}

void emit_move(Code::Body& body, RegId dst, RegId src) {
    emit(body, insn::mov(kLater, kLater), dst, src);
}

void emit_number(Code::Body& body, RegId dst, std::uint64_t number) {
    if (fits_s32(number)) {
        emit(body, insn::mov(kLater, static_cast<__s32>(number)), dst);
    } else if (converted(number, kU32) == number) {
        emit(body, insn::alu32(AluOp::mov, kLater, static_cast<__s32>(number)), dst);
    } else {
        emit(body, insn::load_imm64(kLater, 0)[0], dst).wide = number;
    }
}

void emit_operand(Code::Body& body, RegId dst, const Operand& value) {
    if (value.temp())
        emit_move(body, dst, value.temp()->id);
    else
        emit_number(body, dst, value.number());
}

void emit_alu(Code::Body& body, AluOp op, RegId dst, RegId src) {
    emit(body, insn::alu64(op, kLater, kLater), dst, src);
}
void emit_alu(Code::Body& body, AluOp op, RegId dst, __s32 number) {
    emit(body, insn::alu64(op, kLater, number), dst);
}

// Converts the register's value to the type.
void emit_cut(Code::Body& body, RegId reg, Type type) {
    if (type.bytes == 8) return;
    const int spare = 64 - type.bytes * 8;
    if (type.is_signed) {
        emit_alu(body, AluOp::lsh, reg, spare);
        emit_alu(body, AluOp::arsh, reg, spare);
    } else if (type.bytes == 4) {
        emit(body, insn::alu32(AluOp::mov, kLater, kLater), reg, reg);
    } else {
        emit_alu(body, AluOp::and_, reg, (1 << type.bytes * 8) - 1);
    }
}

// The operand in a register, which is loaded if it is a number.
RegId in_register(Code::Body& body, const Operand& value) {
    if (value.temp()) return value.temp()->id;
    const RegId reg = body.new_temp(kU64);
    emit_number(body, reg, value.number());
    return reg;
}

std::uint32_t add_relocation(Code::Body& body, Relocation relocation) {
    body.relocations.push_back(std::move(relocation));
    return static_cast<std::uint32_t>(body.relocations.size()) - 1;
}

// The operand of a load or store.
struct Address {
    RegId base = kFramePointer;
    __s16 offset = 0;
    std::uint32_t slot = kNone, relocation = kNone;
};
Address address_of(Code::Body& body, const Place& place) {
    Address address;
    address.offset = static_cast<__s16>(place.offset);
    if (place.slot) {
        if (place.offset < 0 || place.offset >= 512)
            throw std::logic_error("a place outside of its slot");
        address.slot = place.slot->id;
        return address;
    }
    address.base = place.base.value().id;
    if (place.relocation) address.relocation = add_relocation(body, *place.relocation);
    if (address.offset == place.offset) return address;
    const RegId moved = body.new_temp(kU64);
    emit_move(body, moved, address.base);
    emit_alu(body, AluOp::add, moved,
             in_register(body, Operand(static_cast<std::uint64_t>(place.offset))));
    return {moved, 0, kNone, address.relocation};
}

void set_address(Item& item, const Address& address) {
    item.slot = address.slot;
    item.relocation = address.relocation;
}

// Signed division without the instruction, which Linux has only since 6.6: divides the magnitudes
// and restores the sign. `s ^ x - s` negates x if s is -1 and leaves it if s is 0.
RegId emit_signed_division(Code::Body& body, Op op, RegId a, const Operand& by) {
    const auto negated_where = [&](RegId value, RegId sign) {
        emit_alu(body, AluOp::xor_, value, sign);
        emit_alu(body, AluOp::sub, value, sign);
    };
    const auto copy = [&](RegId from) {
        const RegId reg = body.new_temp(kU64);
        emit_move(body, reg, from);
        return reg;
    };
    const RegId sign_a = copy(a);
    emit_alu(body, AluOp::arsh, sign_a, 63);
    const RegId result = copy(a);
    negated_where(result, sign_a);
    const AluOp alu = op == Op::div ? AluOp::div : AluOp::mod;
    if (!by.temp() && static_cast<std::int64_t>(by.number()) > 0 && fits_s32(by.number())) {
        emit_alu(body, alu, result, static_cast<__s32>(by.number()));
        negated_where(result, sign_a);
        return result;
    }
    const RegId b = in_register(body, by);
    const RegId sign_b = copy(b);
    emit_alu(body, AluOp::arsh, sign_b, 63);
    const RegId divisor = copy(b);
    negated_where(divisor, sign_b);
    emit_alu(body, alu, result, divisor);
    if (op == Op::div) emit_alu(body, AluOp::xor_, sign_a, sign_b);
    negated_where(result, sign_a);
    return result;
}

}  // namespace

Code::Code() : body_(std::make_unique<Body>()) {}
Code::~Code() = default;
Code::Code(Code&&) noexcept = default;
Code& Code::operator=(Code&&) noexcept = default;

Temp Code::argument(unsigned number) {
    if (number < 1 || number > 5) throw std::logic_error("arguments are counted from 1 to 5");
    for (const Item& item : body_->items)
        if (!item.is_move() || is_temp(item.src))
            throw std::logic_error("arguments are asked for before anything else");
    const Temp temp = new_temp(kU64);
    emit_move(*body_, temp.id, number);
    return temp;
}

Temp Code::new_temp(Type type) {
    width_of(type);
    return {body_->new_temp(type)};
}

Type Code::type_of(Temp temp) const {
    return body_->types.at(temp.id - kFirstTemp);
}

void Code::assign(Temp to, Operand value) {
    const Type type = type_of(to);
    if (!value.temp()) return emit_number(*body_, to.id, converted(value.number(), type));
    if (value.temp()->id == to.id) return;
    emit_move(*body_, to.id, value.temp()->id);
    if (!includes(type, type_of(*value.temp()))) emit_cut(*body_, to.id, type);
}

Temp Code::convert(Operand value, Type type) {
    if (value.temp() && includes(type, type_of(*value.temp()))) return *value.temp();
    const Temp result = new_temp(type);
    assign(result, value);
    return result;
}

Temp Code::compute(Op op, Type type, Operand a, Operand b) {
    const auto in_type = [&](const Operand& x) -> Operand {
        if (x.temp()) return convert(x, type);
        return converted(x.number(), type);
    };
    a = in_type(a);
    // A shift count is not converted to the type.
    const bool is_shift = op == Op::shl || op == Op::shr;
    if (is_shift && b.temp() && type.bytes < 8)
        b = compute(Op::bit_and, kU32, b, 31);
    else if (is_shift)
        b = b.temp() ? b : Operand(shift_count(b.number(), type));
    else
        b = in_type(b);

    const Temp result = new_temp(type);
    if (!a.temp() && !b.temp()) {
        assign(result, folded(op, type, a.number(), b.number()));
        return result;
    }
    const bool is_division = op == Op::div || op == Op::mod;
    if (is_division && !b.temp() && b.number() == 0) {
        // The verifier refuses an immediate 0.
        assign(result, op == Op::div ? Operand(0) : a);
        return result;
    }
    if (is_division && type.is_signed) {
        emit_move(*body_, result.id, emit_signed_division(*body_, op, in_register(*body_, a), b));
    } else {
        emit_operand(*body_, result.id, a);
        // The 32-bit instructions truncate their result.
        const bool is_u32 = type == kU32;
        const AluOp alu = alu_op(op, type.is_signed);
        if (b.temp() || !(is_u32 || fits_s32(b.number()))) {
            const RegId right = in_register(*body_, b);
            emit(*body_, insn::alu(is_u32 ? BPF_ALU : BPF_ALU64, alu, kLater, kLater), result.id,
                 right);
        } else {
            const auto right = static_cast<__s32>(b.number());
            emit(*body_, insn::alu(is_u32 ? BPF_ALU : BPF_ALU64, alu, kLater, right), result.id);
        }
        if (is_u32) return result;
    }
    if (!stays_in_type(op, type)) emit_cut(*body_, result.id, type);
    return result;
}

Temp Code::negate(Operand value, Type type) {
    return compute(Op::sub, type, 0, value);
}

Temp Code::swap_bytes(Operand value, Type type) {
    const Temp result = new_temp(type);
    emit_operand(*body_, result.id, value);
    if (type.bytes == 1) {
        emit_cut(*body_, result.id, type);
        return result;
    }
    const int bits = type.bytes * 8;
    const bool is_little = std::endian::native == std::endian::little;
    emit(*body_, is_little ? insn::to_be(kLater, bits) : insn::to_le(kLater, bits), result.id);
    if (type.is_signed) emit_cut(*body_, result.id, type);
    return result;
}

Temp Code::symbol(Relocation relocation, Type type) {
    const Temp result = new_temp(type);
    const auto index = add_relocation(*body_, std::move(relocation));
    emit(*body_, insn::load_imm64(kLater, 0)[0], result.id).relocation = index;
    return result;
}

Temp Code::load(const Place& from, Type type) {
    const Address address = address_of(*body_, from);
    const Temp result = new_temp(type);
    set_address(emit(*body_, insn::load(width_of(type), kLater, kLater, address.offset), result.id,
                     address.base),
                address);
    if (type.is_signed) emit_cut(*body_, result.id, type);
    return result;
}

Temp Code::load_field(Temp record, Relocation field) {
    const Temp result = new_temp(kU64);
    const auto index = add_relocation(*body_, std::move(field));
    Item& item = emit(*body_, {}, result.id, record.id);
    item.kind = Item::Kind::load_field;
    item.relocation = index;
    return result;
}

Temp Code::field_address(Temp record, Relocation field) {
    const Temp result = load_field(record, std::move(field));
    body_->items.back().kind = Item::Kind::field_address;
    return result;
}

void Code::store(const Place& to, Operand value, Type type) {
    const Address address = address_of(*body_, to);
    const Width width = width_of(type);
    if (!value.temp()) {
        // In narrower types the upper bits are ignored.
        const std::uint64_t number = converted(value.number(), {type.bytes, true});
        if (fits_s32(number)) {
            const auto op = insn::store(width, kLater, address.offset, static_cast<__s32>(number));
            return set_address(emit(*body_, op, address.base), address);
        }
    }
    const RegId source = in_register(*body_, value);
    set_address(
        emit(*body_, insn::store(width, kLater, address.offset, kLater), address.base, source),
        address);
}

void Code::atomic(AtomicOp op, const Place& at, Operand value, Type type) {
    const Address address = address_of(*body_, at);
    const RegId operand = in_register(*body_, value);
    set_address(emit(*body_, insn::atomic(op, width_of(type), kLater, address.offset, kLater),
                     address.base, operand),
                address);
}

Temp Code::fetch(AtomicOp op, const Place& at, Operand value, Type type) {
    const Temp result = new_temp(type);
    emit_operand(*body_, result.id, value);
    atomic(op, at, result, type);
    if (type.is_signed) emit_cut(*body_, result.id, type);
    return result;
}

Temp Code::compare_exchange(const Place& at, Operand expected, Operand desired, Type type) {
    const Address address = address_of(*body_, at);
    const RegId operand = in_register(*body_, desired);
    emit_operand(*body_, kResult, expected);
    set_address(
        emit(*body_,
             insn::atomic(AtomicOp::cmpxchg, width_of(type), kLater, address.offset, kLater),
             address.base, operand),
        address);
    const Temp result = new_temp(type);
    emit_move(*body_, result.id, kResult);
    if (type.is_signed) emit_cut(*body_, result.id, type);
    return result;
}

std::size_t Code::size() const {
    return body_->items.size();
}

Slot Code::new_slot(std::size_t bytes, std::size_t alignment) {
    if (!std::has_single_bit(alignment) || alignment > 8)
        throw std::logic_error("stack bytes are aligned to 1, 2, 4 or 8");
    body_->slots.push_back({bytes, alignment});
    return {static_cast<std::uint32_t>(body_->slots.size()) - 1};
}

Temp Code::address(Slot slot, std::int64_t offset) {
    const Temp result = new_temp(kU64);
    bpf_insn op{};
    op.imm = static_cast<__s32>(offset);
    Item& item = emit(*body_, op, result.id);
    item.kind = Item::Kind::slot_address;
    item.slot = slot.id;
    return result;
}

Label Code::new_label() {
    return {body_->labels++};
}

void Code::bind(Label label) {
    Item& item = emit(*body_, {});
    item.kind = Item::Kind::label;
    item.label = label.id;
}

void Code::jump(Label target) {
    emit(*body_, insn::go(0)).label = target.id;
}

void Code::branch(Cmp cmp, Type type, Operand a, Operand b, Label target) {
    if (!a.temp() && !b.temp()) {
        if (is_true(cmp, type, converted(a.number(), type), converted(b.number(), type)))
            jump(target);
        return;
    }
    if (!a.temp()) {
        std::swap(a, b);
        cmp = mirrored(cmp);
    }
    const RegId left = convert(a, type).id;
    const JumpOp op = jump_op(cmp, type.is_signed);
    if (b.temp()) {
        const RegId right = convert(b, type).id;
        emit(*body_, insn::jump64(op, kLater, kLater, 0), left, right).label = target.id;
        return;
    }
    const std::uint64_t number = converted(b.number(), type);
    if (fits_s32(number)) {
        emit(*body_, insn::jump64(op, kLater, static_cast<__s32>(number), 0), left).label =
            target.id;
        return;
    }
    const RegId right = in_register(*body_, number);
    emit(*body_, insn::jump64(op, kLater, kLater, 0), left, right).label = target.id;
}

Temp Code::call(int helper, std::initializer_list<Operand> arguments) {
    if (arguments.size() > 5) throw std::logic_error("a call has at most five arguments");
    RegId reg = 1;
    for (const Operand& argument : arguments) emit_operand(*body_, reg++, argument);
    emit(*body_, insn::call(helper)).arguments = static_cast<unsigned>(arguments.size());
    const Temp result = new_temp(kU64);
    emit_move(*body_, result.id, kResult);
    return result;
}

Temp Code::call(std::string function, std::initializer_list<Operand> arguments) {
    const Temp result = call(0, arguments);
    Item& item = *(body_->items.end() - 2);
    item.op = insn::call_local(0);
    Relocation target = Relocation::to(Relocation::Kind::subprogram, std::move(function));
    target.at = body_->at;
    item.relocation = add_relocation(*body_, std::move(target));
    return result;
}

void Code::leave(Operand result) {
    emit_operand(*body_, kResult, result);
    emit(*body_, insn::leave());
}

void Code::fall_through(Operand context) {
    emit_operand(*body_, 1, context);
    emit(*body_, {}).kind = Item::Kind::fall_through;
}

void Code::set_source(const SourceRef& at) {
    body_->at = at;
}

}  // namespace gpufs::ir
