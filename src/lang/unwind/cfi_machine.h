#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "lang/dwarf/call_frames.h"
#include "lang/unwind/machine.h"
#include "lang/unwind/rule.h"

namespace gpufs {

// Makes rules of call frame information, as far as it concerns the CFA, the return address and the
// registers that are followed.
class CfiMachine {
public:
    // What follows has this in common, and begins with what its code leaves behind. Borrows the
    // machine, and the bytes that `common` refers to.
    void begin(const UnwindMachine& machine, const CommonFrames& common);

    // Visits the rules of a function in order of their addresses, which are from `begin` to below
    // `end`. Returns false where the code is damaged: its rules end there.
    template <class Visit>
    bool run(std::uint64_t begin, std::uint64_t end, std::string_view code, Visit&& visit) {
        state_ = initial_;
        remembered_.clear();
        ByteReader from(code);
        FrameStep step;
        std::uint64_t at = begin;
        bool is_good = true;
        while (!from.at_end()) {
            if (!read_frame_step(from, common_, step) || !take(step)) {
                is_good = false;
                break;
            }
            if (step.kind != FrameStep::Kind::advance || step.number == 0) continue;
            visit(at, rule());
            const std::uint64_t next = at + static_cast<std::uint64_t>(step.number);
            if (next < at) {
                is_good = false;
                break;
            }
            at = next;
            if (at >= end) return is_good;
        }
        visit(at, is_good ? rule() : UnwindRule{UnwindRule::Kind::unknown});
        return is_good;
    }

private:
    // Where a register of the caller is.
    struct Place {
        enum class Kind : std::uint8_t { same, at_cfa, at_base, undefined, other };
        Kind kind = Kind::same;
        std::int64_t offset = 0;
    };
    struct State {
        UnwindRule::Kind kind = UnwindRule::Kind::unknown;  // of the CFA
        std::uint64_t base = 0;
        std::int64_t offset = 0, extra = 0;
        Place frame, other, back;  // `back`: the return address, where calls push it
    };

    // False: no rules are known from here on.
    bool take(const FrameStep& step);
    void define_cfa(std::string_view expression);
    void set(std::uint64_t reg, Place place);
    void restore(std::uint64_t reg);
    Place* find(std::uint64_t reg);
    // Where an expression says that a register was saved.
    Place place_of(std::string_view expression) const;
    UnwindRule rule() const;

    const UnwindMachine* machine_ = nullptr;
    CommonFrames common_;
    State initial_, state_;
    std::vector<State> remembered_;
};

}  // namespace gpufs
