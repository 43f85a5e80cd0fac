#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/byte_reader.h"
#include "lang/unwind/machine.h"
#include "lang/unwind/rule.h"

namespace gpufs {

// Runs the call frame instructions of DWARF (section 6.4.2), as far as they concern the CFA, the
// return address and the registers that are followed.
class CfiMachine {
public:
    struct Common {
        const UnwindMachine* machine = nullptr;  // borrowed
        std::uint64_t code_step = 1;
        std::int64_t data_step = 1;
        std::uint64_t return_register = 0;
        bool is_signal = false;
    };
    // What follows has this in common, and begins with what `code` leaves behind.
    void begin(const Common& common, std::string_view code);

    // Visits the rules of a function in order of their addresses, which are from `begin` to below
    // `end`. Returns false where the code is damaged: its rules end there.
    template <class Visit>
    bool run(std::uint64_t begin, std::uint64_t end, std::string_view code, Visit&& visit) {
        state_ = initial_;
        remembered_.clear();
        ByteReader from(code);
        std::uint64_t at = begin;
        bool is_good = true;
        while (!from.at_end()) {
            const auto step = take(from);
            if (!step || !from.is_good()) {
                is_good = false;
                break;
            }
            if (*step == 0) continue;
            visit(at, rule());
            const std::uint64_t next = at + *step;
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

    // Runs one instruction. How far the address goes on: 0 for most; absent for a damaged one.
    std::optional<std::uint64_t> take(ByteReader& from);
    std::optional<std::uint64_t> take_extended(ByteReader& from, std::uint8_t opcode);
    void define_cfa(std::string_view expression);
    void set(std::uint64_t reg, Place place);
    void restore(std::uint64_t reg);
    Place* find(std::uint64_t reg);
    UnwindRule rule() const;

    Common common_;
    State initial_, state_;
    std::vector<State> remembered_;
};

}  // namespace gpufs
