#include "kernel/elf/mini_debug_info.h"

#include <lzma.h>
#include <sys/mman.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/file.h"

namespace gpufs {
namespace {

// More than any symbol table needs: a file can say that a few bytes become a terabyte.
constexpr std::uint64_t kMostMemory = 128 << 20;
constexpr std::size_t kMostBytes = 256 << 20;

class XzStream {
public:
    XzStream() { is_ready_ = lzma_stream_decoder(&stream_, kMostMemory, 0) == LZMA_OK; }
    ~XzStream() { lzma_end(&stream_); }
    XzStream(const XzStream&) = delete;
    XzStream& operator=(const XzStream&) = delete;

    // Empty where it is no stream, or too large a one.
    std::string read(std::string_view packed) {
        std::string all;
        std::vector<std::uint8_t> chunk(64 << 10);
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
        stream_.avail_in = packed.size();
        for (lzma_ret state = is_ready_ ? LZMA_OK : LZMA_PROG_ERROR; state != LZMA_STREAM_END;) {
            stream_.next_out = chunk.data();
            stream_.avail_out = chunk.size();
            if (state == LZMA_OK) state = lzma_code(&stream_, LZMA_FINISH);
            if ((state != LZMA_OK && state != LZMA_STREAM_END) || all.size() > kMostBytes)
                return {};
            all.append(reinterpret_cast<const char*>(chunk.data()),
                       chunk.size() - stream_.avail_out);
        }
        return all;
    }

private:
    lzma_stream stream_ = LZMA_STREAM_INIT;
    bool is_ready_ = false;
};

}  // namespace

std::unique_ptr<ElfFile> open_mini_debug_info(const ElfFile& of) {
    std::string bytes;
    of.for_each_section([&](const ElfFile::Section& section) {
        if (section.name != ".gnu_debugdata") return true;
        bytes = XzStream().read(section_bytes(section));
        return false;
    });
    if (bytes.empty()) return nullptr;
    try {
        Fd file{check(::memfd_create("symbols", MFD_CLOEXEC),
                      [] { return std::string("make a memfd"); })};
        write_all(file.get(), bytes, "symbols");
        return std::make_unique<ElfFile>(std::move(file), of.path());
    } catch (const Error&) {
        return nullptr;
    }
}

}  // namespace gpufs
