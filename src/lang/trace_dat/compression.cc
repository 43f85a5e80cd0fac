#include "lang/trace_dat/compression.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/error.h"

namespace gpufs {
namespace {

constexpr std::string_view kNames[] = {"none", "zlib", "zstd"};

const Bytef* as_zlib(std::span<const std::byte> bytes) {
    return reinterpret_cast<const Bytef*>(bytes.data());
}

// Returns `size`; throws zlib's message on failure.
std::size_t check_zlib(int result, uLongf size) {
    if (result != Z_OK) throw Error(cat("zlib: ", ::zError(result)));
    return size;
}

std::size_t check_zstd(std::size_t result) {
    if (::ZSTD_isError(result)) throw Error(cat("zstd: ", ::ZSTD_getErrorName(result)));
    return result;
}

// The library also reads frames of zstd's early versions, whose code is as large as all that
// today's format needs. No recording has them.
void require_frame(std::span<const std::byte> bytes) {
    constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";
    if (!chars_of(bytes).starts_with(kMagic))
        throw Error("zstd: a block does not begin as a frame");
}

// It reads several frames in one block, too: no recording has that.
void require_one_frame(std::span<const std::byte> bytes) {
    require_frame(bytes);
    if (check_zstd(::ZSTD_findFrameCompressedSize(bytes.data(), bytes.size())) != bytes.size())
        throw Error("zstd: a block is not one frame");
}

// The level of zstd that keeps up with a recording. `make static` leaves the code of others out.
constexpr int kFast = 1;

std::string by_zstd(std::span<const std::byte> bytes) {
    std::string out(::ZSTD_compressBound(bytes.size()), '\0');
    out.resize(
        check_zstd(::ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kFast)));
    return out;
}

}  // namespace

std::optional<Compression> find_compression(std::string_view name) {
    const auto it = std::ranges::find(kNames, name);
    if (it == std::end(kNames)) return std::nullopt;
    return static_cast<Compression>(it - std::begin(kNames));
}

std::string_view compression_name(Compression kind) {
    return kNames[static_cast<std::size_t>(kind)];
}

std::string compression_version(Compression kind) {
    switch (kind) {
        case Compression::zlib:
            return ::zlibVersion();
        case Compression::zstd:
            return ::ZSTD_versionString();
        case Compression::none:
            break;
    }
    return {};
}

std::string compress(Compression kind, std::span<const std::byte> bytes) {
    const std::string_view plain = chars_of(bytes);
    std::string out;
    switch (kind) {
        case Compression::zlib: {
            uLongf size = ::compressBound(bytes.size());
            out.resize(size);
            out.resize(check_zlib(::compress(reinterpret_cast<Bytef*>(out.data()), &size,
                                             as_zlib(bytes), bytes.size()),
                                  size));
            break;
        }
        case Compression::zstd:
            return by_zstd(bytes);
        case Compression::none:
            out = plain;
            break;
    }
    return out;
}

struct FastCompressor::State {
    ZSTD_CCtx* context = ::ZSTD_createCCtx();
    std::unique_ptr<char[]> out;
    std::size_t room = 0;
};

FastCompressor::FastCompressor() : state_(std::make_unique<State>()) {
    if (!state_->context) throw std::bad_alloc();
}

FastCompressor::~FastCompressor() {
    ::ZSTD_freeCCtx(state_->context);
}

std::string_view FastCompressor::compress(std::span<const std::byte> bytes) {
    const std::size_t needed = ::ZSTD_compressBound(bytes.size());
    if (needed > state_->room) {
        state_->out = std::make_unique_for_overwrite<char[]>(needed);
        state_->room = needed;
    }
    const std::size_t size = check_zstd(::ZSTD_compressCCtx(
        state_->context, state_->out.get(), state_->room, bytes.data(), bytes.size(), kFast));
    return {state_->out.get(), size};
}

bool is_plausible(std::uint64_t packed, std::uint64_t plain) {
    constexpr std::uint64_t kFew = 256 << 10, kMostFold = 1000;
    return plain <= kFew || plain / kMostFold <= packed;
}

std::size_t uncompress(Compression kind, std::span<const std::byte> bytes,
                       std::span<std::byte> into) {
    switch (kind) {
        case Compression::zlib: {
            uLongf size = into.size();
            const int result = ::uncompress(reinterpret_cast<Bytef*>(into.data()), &size,
                                            as_zlib(bytes), bytes.size());
            return check_zlib(result, size);
        }
        case Compression::zstd:
            require_one_frame(bytes);
            return check_zstd(
                ::ZSTD_decompress(into.data(), into.size(), bytes.data(), bytes.size()));
        case Compression::none:
            break;
    }
    if (bytes.size() > into.size()) throw Error("a block is larger than it says");
    std::ranges::copy(bytes, into.begin());
    return bytes.size();
}

struct ZstdStream::State {
    ZSTD_DStream* stream = ::ZSTD_createDStream();
    bool is_between_frames = true;
};

ZstdStream::ZstdStream() : state_(std::make_unique<State>()) {
    if (!state_->stream) throw std::bad_alloc();
}

ZstdStream::~ZstdStream() {
    ::ZSTD_freeDStream(state_->stream);
}

void ZstdStream::uncompress(std::span<const std::byte> piece, std::vector<std::byte>& out,
                            std::size_t most) {
    ZSTD_inBuffer from{piece.data(), piece.size(), 0};
    const std::size_t begin = out.size();
    for (bool is_full = true; from.pos < from.size || is_full;) {
        const std::span rest = piece.subspan(from.pos);
        if (state_->is_between_frames && !rest.empty()) {
            require_frame(rest);
            // Where the head is not whole, the library would look for an early version in what
            // follows.
            if (::ZSTD_getFrameContentSize(rest.data(), rest.size()) == ZSTD_CONTENTSIZE_ERROR)
                throw Error("zstd: the head of a frame is not whole");
        }
        const std::size_t filled = out.size();
        out.resize(filled + ::ZSTD_DStreamOutSize());
        ZSTD_outBuffer to{out.data() + filled, out.size() - filled, 0};
        if (from.pos < from.size || !state_->is_between_frames)
            state_->is_between_frames =
                check_zstd(::ZSTD_decompressStream(state_->stream, &to, &from)) == 0;
        out.resize(filled + to.pos);
        is_full = to.pos == to.size;
        if (out.size() - begin > most) throw Error(cat("zstd: more than ", most, " bytes"));
    }
}

}  // namespace gpufs
