#include "base/utf8.h"

namespace gpufs {

std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    const unsigned char second = byte(1);
    if (lead == 0xe0 && second < 0xa0) return 0;
    if (lead == 0xed && second > 0x9f) return 0;
    if (lead == 0xf0 && second < 0x90) return 0;
    if (lead == 0xf4 && second > 0x8f) return 0;
    return length;
}

bool is_wide_control(std::string_view sequence) {
    return sequence.size() == 2 && sequence[0] == '\xc2' &&
           static_cast<unsigned char>(sequence[1]) < 0xa0;
}

}  // namespace gpufs
