#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/dwarf/frame.h"
#include "lang/dwarf/info.h"
#include "lang/variable/value_steps.h"

namespace gpufs {

// A number that only the running program has: what it is computed from, as far as that is a sum of
// a register, an address or a constant with memory read on the way; else as steps.
struct RuntimeNumber {
    enum class Base {
        constant,
        in_register,
        linked,    // an address as linked: constant only if the program is not moved
        computed,  // otherwise
    };
    Base base = Base::constant;
    unsigned reg = 0;  // DWARF's number
    // Memory at what came before plus `at`, innermost first.
    struct Read {
        std::int64_t at = 0;
        std::size_t bytes = 8;
        bool operator==(const Read&) const = default;
    };
    std::vector<Read> reads;
    std::int64_t offset = 0;  // added behind all reads: the constant, the address itself
    // Only its lower bytes count; the others are its sign or zero.
    std::size_t bytes = 8;
    bool is_signed = false;
    ValueSteps steps;  // of computed

    bool is_constant() const { return base == Base::constant && reads.empty(); }
    // Is it computed from what was there when the function began?
    bool is_of_begin() const;
    // All of it.
    ValueSteps to_steps() const;
    // "5", "%bp-24", "[%bp-24]+8", "(%ax << 1)+4"
    std::string to_text() const;
    bool operator==(const RuntimeNumber&) const = default;
};

// Where a variable is, at one place of the code.
struct VariablePlace {
    enum class Kind {
        nowhere,      // optimized out
        memory,       // at the address `number`
        in_register,  // `reg`
        value,        // it is `number`, and has no place
        bytes,        // it is `bytes`, and has no place
        pieces,       // in several places
        pointer,      // a pointer to something that has no place but `target`, plus `offset`
        refused,      // for `reason`
    };
    Kind kind = Kind::nowhere;
    RuntimeNumber number;
    unsigned reg = 0;
    std::string bytes;
    struct Piece;
    std::vector<Piece> pieces;
    DwarfEntry target;
    std::int64_t offset = 0;
    std::string reason;

    // "%di", "[%bp-24]", "= 5", "optimized out"
    std::string to_text() const;
};
struct VariablePlace::Piece {
    std::uint64_t bits = 0;
    VariablePlace place;
    unsigned first_bit = 0;  // of what is at the place
};

// The block in which the running thread has the thread-local variables of a file: `offset` bytes
// behind what the steps come to; or why that is not known.
struct ThreadBlockPlace {
    ValueSteps steps;
    std::int64_t offset = 0;
    std::string trouble;
};

// What a location expression is evaluated in.
struct LocationContext {
    std::uint64_t address = 0;  // of the code
    const DwarfUnit* unit = nullptr;
    DwarfEntry function;  // whose frame fbreg means
    std::function<std::optional<FrameAddress>(std::uint64_t address)> frame_address;
    std::function<ThreadBlockPlace()> thread_block = {};  // without one it is not known
};

VariablePlace evaluate_location(std::string_view expression, const LocationContext& context);

// Where an entry with AT_location or AT_const_value is.
VariablePlace place_of(const DwarfEntry& variable, const LocationContext& context);

}  // namespace gpufs
