#pragma once

#include <cstdint>
#include <string>

namespace gpufs {

// "0x1f"
std::string hex(std::uint64_t number);

}  // namespace gpufs
