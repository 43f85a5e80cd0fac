#include "view/bt/json_words.h"

#include <bit>

namespace gpufs::bt {

void append_json_number(std::string& out, std::uint64_t number, bool is_signed) {
    const bool is_negative = is_signed && static_cast<std::int64_t>(number) < 0;
    const std::uint64_t magnitude = is_negative ? 0 - number : number;
    constexpr int kDoubleBits = 53;
    const bool fits =
        magnitude == 0 || std::bit_width(magnitude) - std::countr_zero(magnitude) <= kDoubleBits;
    if (!fits) out += '"';
    if (is_negative) out += '-';
    append(out, magnitude);
    if (!fits) out += '"';
}

}  // namespace gpufs::bt
