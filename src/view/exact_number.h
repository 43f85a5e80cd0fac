#pragma once

#include <cstdint>
#include <string>

#include "base/cat.h"

namespace gpufs {

// Appends the number as JSON; as a text where it is one that a double does not hold, for JavaScript
// has no other numbers. Of one that is signed, `bits` are its 64 bits.
inline void append_exact_json(std::string& out, std::uint64_t bits, bool is_signed) {
    constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
    const bool is_negative = is_signed && static_cast<std::int64_t>(bits) < 0;
    const std::uint64_t magnitude = is_negative ? 0 - bits : bits;
    const bool is_exact = magnitude <= kExact;
    if (!is_exact) out += '"';
    if (is_negative) out += '-';
    append(out, magnitude);
    if (!is_exact) out += '"';
}

}  // namespace gpufs
