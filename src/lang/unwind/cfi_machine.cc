#include "lang/unwind/cfi_machine.h"

#include <limits>

#include "lang/dwarf/operations.h"

namespace gpufs {
namespace {

constexpr unsigned kNumbered = 32;           // of lit0… and breg0…
constexpr std::size_t kMostRemembered = 64;  // compilers nest one deep

// "breg N offset" in front of an expression: the register.
std::optional<std::uint64_t> take_breg(ByteReader& from, std::int64_t& offset) {
    const std::uint8_t op = from.byte();
    if (op < dw::OP_breg0 || op >= dw::OP_breg0 + kNumbered) return std::nullopt;
    offset = from.sleb();
    return op - dw::OP_breg0;
}

template <class T>
bool fits(std::int64_t value) {
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

}  // namespace

void CfiMachine::begin(const UnwindMachine& machine, const CommonFrames& common) {
    machine_ = &machine;
    common_ = common;
    initial_ = state_ = {};
    remembered_.clear();
    ByteReader from(common.code);
    FrameStep step;
    while (!from.at_end())
        if (!read_frame_step(from, common_, step) || !take(step)) break;
    initial_ = state_;
}

CfiMachine::Place* CfiMachine::find(std::uint64_t reg) {
    if (reg == machine_->frame) return &state_.frame;
    if (reg == machine_->other) return &state_.other;
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
        const bool is_low = plt.byte() == dw::OP_lit0 + 15 && plt.byte() == dw::OP_and;
        const std::uint8_t from_here = plt.byte();
        if (ip == common_.return_register && low == 0 && is_low && from_here >= dw::OP_lit0 &&
            from_here < dw::OP_lit0 + kNumbered && plt.byte() == dw::OP_ge &&
            plt.byte() == dw::OP_lit0 + 3 && plt.byte() == dw::OP_shl &&
            plt.byte() == dw::OP_plus && plt.is_good() && plt.at_end()) {
            state_.kind = UnwindRule::Kind::plt;
            state_.extra = from_here - dw::OP_lit0;
            return;
        }
    }
    if (from.byte() != dw::OP_deref) return;
    if (!from.at_end()) {
        if (from.byte() != dw::OP_plus_uconst) return;
        state_.extra = static_cast<std::int64_t>(from.uleb());
    }
    if (from.is_good() && from.at_end()) state_.kind = UnwindRule::Kind::indirect;
}

bool CfiMachine::take(const FrameStep& step) {
    using Step = FrameStep::Kind;
    switch (step.kind) {
        case Step::none:
        case Step::advance:
            return true;
        case Step::cfa:
        case Step::cfa_register:
        case Step::cfa_offset:
            if (step.kind != Step::cfa_offset) state_.base = step.reg;
            if (step.kind != Step::cfa_register) state_.offset = step.number;
            state_.kind = UnwindRule::Kind::plain;
            return true;
        case Step::cfa_expression:
            define_cfa(step.expression);
            return true;
        case Step::saved:
            set(step.reg, {Place::Kind::at_cfa, step.number});
            return true;
        case Step::saved_where:
            set(step.reg, place_of(step.expression));
            return true;
        case Step::elsewhere:
            set(step.reg, {Place::Kind::other});
            return true;
        case Step::lost:
            set(step.reg, {Place::Kind::undefined});
            return true;
        case Step::kept:
            set(step.reg, {Place::Kind::same});
            return true;
        case Step::restored:
            restore(step.reg);
            return true;
        case Step::remember:
            if (remembered_.size() == kMostRemembered) return false;
            remembered_.push_back(state_);
            return true;
        case Step::recall:
            if (remembered_.empty()) return false;
            state_ = remembered_.back();
            remembered_.pop_back();
            return true;
        case Step::sign:
            // The code that walks takes signatures off all return addresses.
            return !machine_->pushes_return;
    }
    return false;
}

CfiMachine::Place CfiMachine::place_of(std::string_view expression) const {
    ByteReader from(expression);
    Place place{Place::Kind::other};
    const bool is_at_base = take_breg(from, place.offset) == machine_->frame && from.at_end();
    if (is_at_base && from.is_good()) place.kind = Place::Kind::at_base;
    return place;
}

UnwindRule CfiMachine::rule() const {
    using Kind = UnwindRule::Kind;
    using Saved = UnwindRule::Saved;
    UnwindRule rule{Kind::unknown};
    if (common_.is_signal) return {Kind::signal};
    const UnwindMachine& machine = *machine_;
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
