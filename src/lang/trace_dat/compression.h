#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gpufs {

// Blocks as a trace.dat of version 7 has them: each compressed for itself, its sizes known.
enum class Compression { none, zlib, zstd };

// By the name that the file gives it. Absent for one that is not known.
std::optional<Compression> find_compression(std::string_view name);
// The name, and the version of the library that writes it, as the file gives them.
std::string_view compression_name(Compression kind);
std::string compression_version(Compression kind);

// Throws Error.
std::string compress(Compression kind, std::span<const std::byte> bytes);
// Fills `into`, and returns how much of it. Throws Error when the bytes are damaged, or need more
// room.
std::size_t uncompress(Compression kind, std::span<const std::byte> bytes,
                       std::span<std::byte> into);

}  // namespace gpufs
