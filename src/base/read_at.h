#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gpufs {

// Reads bytes of a file from byte `at` on, as pread(2) does, until `into` is full or the file ends.
// Returns how many. Throws SysError, naming `name`.
std::size_t read_at(int file, std::uint64_t at, std::span<std::byte> into, std::string_view name);

}  // namespace gpufs
