#include "lang/unwind/cfi_machine.h"

#include <limits>

namespace gpufs {
namespace {

// DWARF 5, section 7.24, and GNU's extensions.
enum Opcode : std::uint8_t {
    kAdvance = 0x40,  // and the two others with an operand in their low bits
    kOffset = 0x80,
    kRestore = 0xc0,
    kNop = 0x00,
    kSetLocation = 0x01,
    kAdvance1 = 0x02,
    kAdvance2 = 0x03,
    kAdvance4 = 0x04,
    kOffsetExtended = 0x05,
    kRestoreExtended = 0x06,
    kUndefined = 0x07,
    kSameValue = 0x08,
    kRegister = 0x09,
    kRememberState = 0x0a,
    kRestoreState = 0x0b,
    kDefCfa = 0x0c,
    kDefCfaRegister = 0x0d,
    kDefCfaOffset = 0x0e,
    kDefCfaExpression = 0x0f,
    kExpression = 0x10,
    kOffsetExtendedSigned = 0x11,
    kDefCfaSigned = 0x12,
    kDefCfaOffsetSigned = 0x13,
    kValOffset = 0x14,
    kValOffsetSigned = 0x15,
    kValExpression = 0x16,
    // On arm64, whether the return address is signed: DW_CFA_AARCH64_negate_ra_state_with_pc and
    // DW_CFA_AARCH64_negate_ra_state. Elsewhere the second is GNU's window_save.
    kNegateSignedWithPc = 0x2c,
    kNegateSigned = 0x2d,
    kGnuArgsSize = 0x2e,
    kGnuNegativeOffset = 0x2f,
};
constexpr std::uint8_t kOperand = 0x3f;

// DW_OP_*.
constexpr std::uint8_t kDeref = 0x06, kAnd = 0x1a, kPlus = 0x22, kPlusConst = 0x23, kShl = 0x24,
                       kGe = 0x2a, kLit0 = 0x30, kLit31 = 0x4f, kBreg0 = 0x70, kBreg31 = 0x8f;
constexpr std::size_t kMostRemembered = 64;  // compilers nest one deep

// "breg N offset" in front of an expression: the register.
std::optional<std::uint64_t> take_breg(ByteReader& from, std::int64_t& offset) {
    const std::uint8_t op = from.byte();
    if (op < kBreg0 || op > kBreg31) return std::nullopt;
    offset = from.sleb();
    return op - kBreg0;
}

std::int64_t product(std::uint64_t value, std::int64_t factor) {
    return static_cast<std::int64_t>(value * static_cast<std::uint64_t>(factor));
}

template <class T>
bool fits(std::int64_t value) {
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

}  // namespace

void CfiMachine::begin(const Common& common, std::string_view code) {
    common_ = common;
    initial_ = state_ = {};
    remembered_.clear();
    ByteReader from(code);
    while (!from.at_end())
        if (!take(from) || !from.is_good()) break;
    initial_ = state_;
}

CfiMachine::Place* CfiMachine::find(std::uint64_t reg) {
    if (reg == common_.machine->frame) return &state_.frame;
    if (reg == common_.machine->other) return &state_.other;
    if (reg == common_.return_register) return &state_.back;
    return nullptr;
}

void CfiMachine::set(std::uint64_t reg, Place place) {
    if (Place* of = find(reg)) *of = place;
}

void CfiMachine::restore(std::uint64_t reg) {
    const State now = state_;
    Place* const of = find(reg);
    if (!of) return;
    state_ = initial_;
    const Place before = *of;
    state_ = now;
    *of = before;
}

// Of all expressions, those that compilers and linkers write: a function that aligned its stack,
// and a stub of the procedure linkage table, which pushes on its way.
void CfiMachine::define_cfa(std::string_view expression) {
    state_.kind = UnwindRule::Kind::unknown;
    ByteReader from(expression);
    std::int64_t offset = 0, low = 0;
    const auto base = take_breg(from, offset);
    if (!base) return;
    state_.base = *base;
    state_.offset = offset;
    state_.extra = 0;
    if (from.at_end()) {
        state_.kind = UnwindRule::Kind::plain;
        return;
    }
    constexpr std::size_t kPltBytes = 9;  // breg16 0, lit15, and, litN, ge, lit3, shl, plus
    if (from.left() == kPltBytes) {
        ByteReader plt = from;
        const auto ip = take_breg(plt, low);
        const bool is_low = plt.byte() == kLit0 + 15 && plt.byte() == kAnd;
        const std::uint8_t from_here = plt.byte();
        if (ip == common_.return_register && low == 0 && is_low && from_here >= kLit0 &&
            from_here <= kLit31 && plt.byte() == kGe && plt.byte() == kLit0 + 3 &&
            plt.byte() == kShl && plt.byte() == kPlus && plt.is_good() && plt.at_end()) {
            state_.kind = UnwindRule::Kind::plt;
            state_.extra = from_here - kLit0;
            return;
        }
    }
    if (from.byte() != kDeref) return;
    if (!from.at_end()) {
        if (from.byte() != kPlusConst) return;
        state_.extra = static_cast<std::int64_t>(from.uleb());
    }
    if (from.is_good() && from.at_end()) state_.kind = UnwindRule::Kind::indirect;
}

std::optional<std::uint64_t> CfiMachine::take(ByteReader& from) {
    const std::uint8_t opcode = from.byte(), operand = opcode & kOperand;
    switch (opcode & ~kOperand) {
        case kAdvance:
            return operand * common_.code_step;
        case kOffset:
            set(operand, {Place::Kind::at_cfa, product(from.uleb(), common_.data_step)});
            return 0;
        case kRestore:
            restore(operand);
            return 0;
    }
    switch (opcode) {
        case kNop:
            return 0;
        case kAdvance1:
            return from.byte() * common_.code_step;
        case kAdvance2:
            return from.number<std::uint16_t>() * common_.code_step;
        case kAdvance4:
            return from.number<std::uint32_t>() * common_.code_step;
        case kDefCfa:
            state_.base = from.uleb();
            [[fallthrough]];
        case kDefCfaOffset:
            state_.offset = static_cast<std::int64_t>(from.uleb());
            state_.kind = UnwindRule::Kind::plain;
            return 0;
        case kDefCfaRegister:
            state_.base = from.uleb();
            state_.kind = UnwindRule::Kind::plain;
            return 0;
        case kRememberState:
            if (remembered_.size() == kMostRemembered) return std::nullopt;
            remembered_.push_back(state_);
            return 0;
        case kRestoreState:
            if (remembered_.empty()) return std::nullopt;
            state_ = remembered_.back();
            remembered_.pop_back();
            return 0;
        default:
            return take_extended(from, opcode);
    }
}

// The rare ones.
std::optional<std::uint64_t> CfiMachine::take_extended(ByteReader& from, std::uint8_t opcode) {
    switch (opcode) {
        case kOffsetExtended: {
            const std::uint64_t reg = from.uleb();
            set(reg, {Place::Kind::at_cfa, product(from.uleb(), common_.data_step)});
            return 0;
        }
        case kOffsetExtendedSigned: {
            const std::uint64_t reg = from.uleb();
            set(reg, {Place::Kind::at_cfa,
                      product(static_cast<std::uint64_t>(from.sleb()), common_.data_step)});
            return 0;
        }
        case kGnuNegativeOffset: {
            const std::uint64_t reg = from.uleb();
            set(reg, {Place::Kind::at_cfa, -product(from.uleb(), common_.data_step)});
            return 0;
        }
        case kRestoreExtended:
            restore(from.uleb());
            return 0;
        case kUndefined:
            set(from.uleb(), {Place::Kind::undefined});
            return 0;
        case kSameValue:
            set(from.uleb(), {Place::Kind::same});
            return 0;
        case kRegister: {
            set(from.uleb(), {Place::Kind::other});
            from.uleb();
            return 0;
        }
        case kDefCfaSigned:
            state_.base = from.uleb();
            [[fallthrough]];
        case kDefCfaOffsetSigned:
            state_.offset = product(static_cast<std::uint64_t>(from.sleb()), common_.data_step);
            state_.kind = UnwindRule::Kind::plain;
            return 0;
        case kDefCfaExpression:
            define_cfa(from.take(from.uleb()));
            return 0;
        case kExpression: {
            const std::uint64_t reg = from.uleb();
            ByteReader expression(from.take(from.uleb()));
            Place place{Place::Kind::other};
            const bool is_at_base = take_breg(expression, place.offset) == common_.machine->frame &&
                                    expression.at_end();
            if (is_at_base && expression.is_good()) place.kind = Place::Kind::at_base;
            set(reg, place);
            return 0;
        }
        case kValOffset:
        case kValOffsetSigned:
            set(from.uleb(), {Place::Kind::other});
            from.uleb();
            return 0;
        case kValExpression:
            set(from.uleb(), {Place::Kind::other});
            from.take(from.uleb());
            return 0;
        case kGnuArgsSize:
            from.uleb();
            return 0;
        case kNegateSignedWithPc:
        case kNegateSigned:
            // The code that walks takes signatures off all return addresses.
            if (common_.machine->pushes_return) return std::nullopt;
            return 0;
        case kSetLocation:  // with the encoding of the function's address, which gcc never writes
        default:
            return std::nullopt;
    }
}

UnwindRule CfiMachine::rule() const {
    using Kind = UnwindRule::Kind;
    using Saved = UnwindRule::Saved;
    UnwindRule rule{Kind::unknown};
    if (common_.is_signal) return {Kind::signal};
    const UnwindMachine& machine = *common_.machine;
    const Place& back = machine.pushes_return ? state_.back : state_.other;
    if (back.kind == Place::Kind::undefined) return {Kind::outermost};
    constexpr std::int64_t kPushedAt = -8, kWord = 8;
    if (machine.pushes_return && (back.kind != Place::Kind::at_cfa || back.offset != kPushedAt))
        return rule;
    const auto save = [](const Place& place, Saved& saved, std::int16_t& words) {
        const std::int64_t offset = place.offset / kWord;
        if (place.kind == Place::Kind::other || place.offset % kWord != 0 ||
            !fits<std::int16_t>(offset))
            return false;
        if (place.kind == Place::Kind::at_cfa) saved = Saved::at_cfa;
        if (place.kind == Place::Kind::at_base) saved = Saved::at_base;
        words = static_cast<std::int16_t>(offset);
        return true;
    };
    UnwindRule made{state_.kind};
    if (state_.kind == Kind::unknown || state_.base >= machine.registers ||
        !fits<std::int32_t>(state_.offset) || !fits<std::int32_t>(state_.extra) ||
        !save(state_.frame, made.frame, made.frame_words) ||
        !save(state_.other, made.other, made.other_words))
        return rule;
    made.base = static_cast<std::uint8_t>(state_.base);
    made.offset = static_cast<std::int32_t>(state_.offset);
    made.extra = static_cast<std::int32_t>(state_.extra);
    return made;
}

}  // namespace gpufs
