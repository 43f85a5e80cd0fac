#include "base/hex.h"

#include <charconv>

namespace gpufs {

std::string hex(std::uint64_t number) {
    char digits[16];
    return "0x" +
           std::string(digits, std::to_chars(digits, digits + sizeof digits, number, 16).ptr);
}

}  // namespace gpufs
