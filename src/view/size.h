#pragma once

#include <cstdint>
#include <string>

namespace gpufs {

// A size for a person, with one decimal that is cut off, not rounded: "512 B", "1.5 KiB",
// "23.9 GiB".
std::string size_text(std::uint64_t bytes);

}  // namespace gpufs
