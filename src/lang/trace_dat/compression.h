#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// The compression of blocks in a trace.dat of version 7. Each block is compressed separately, and
// the file has its sizes.
enum class Compression { none, zlib, zstd };

// Looks up a name from the file. Absent for an unknown one.
std::optional<Compression> find_compression(std::string_view name);
// The name of the compression, and the version of its library, to be written to the file.
std::string_view compression_name(Compression kind);
std::string compression_version(Compression kind);

// Whether what has so many bytes can have become `packed` bytes: text and pages of a kernel do not
// shrink a thousandfold, unless they are few. Others are damage, and want memory for nothing.
bool is_plausible(std::uint64_t packed, std::uint64_t plain);

// Throws Error when the library fails.
std::string compress(Compression kind, std::span<const std::byte> bytes);
// By zstd, a frame for each piece, for what must be fast rather than small.
class FastCompressor {
public:
    FastCompressor();
    FastCompressor(const FastCompressor&) = delete;
    FastCompressor& operator=(const FastCompressor&) = delete;
    ~FastCompressor();

    // Good until the next call. Throws Error when the library fails.
    std::string_view compress(std::span<const std::byte> bytes);

private:
    struct State;
    std::unique_ptr<State> state_;
};
// Writes to `into` and returns the number of bytes written. Throws Error when the bytes are damaged
// or do not fit.
std::size_t uncompress(Compression kind, std::span<const std::byte> bytes,
                       std::span<std::byte> into);

// A stream that zstd compressed, which comes in pieces.
class ZstdStream {
public:
    ZstdStream();
    ZstdStream(const ZstdStream&) = delete;
    ZstdStream& operator=(const ZstdStream&) = delete;
    ~ZstdStream();

    // Appends to `out` what the next piece holds. Throws Error when the bytes are damaged, or are
    // more than `most` bytes.
    void uncompress(std::span<const std::byte> piece, std::vector<std::byte>& out,
                    std::size_t most);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpufs
