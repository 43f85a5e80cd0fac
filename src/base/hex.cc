#include "base/hex.h"

#include <charconv>

namespace gpufs {

std::string hex(std::uint64_t number, std::size_t digits) {
    char text[16];
    const auto length =
        static_cast<std::size_t>(std::to_chars(text, text + sizeof text, number, 16).ptr - text);
    return "0x" + std::string(length < digits ? digits - length : 0, '0') +
           std::string(text, length);
}

}  // namespace gpufs
