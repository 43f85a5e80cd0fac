#include "base/embedded.h"

#include <zlib.h>

#include <cstdint>
#include <new>
#include <stdexcept>
#include <unordered_map>

namespace gpufs {
namespace {

std::string unpacked(std::string_view packed) {
    // gzip's header, without a name; behind the packed bytes are a checksum, which nobody needs
    // here, and the size of the text.
    constexpr std::size_t kHeader = 10, kTrailer = 8;
    std::uint32_t bytes = 0;
    for (std::size_t i = 0; i < sizeof bytes; ++i)
        bytes = bytes << 8 | static_cast<unsigned char>(packed[packed.size() - 1 - i]);
    std::string text(bytes, '\0');
    z_stream stream{};
    // zlib reads from there, and its type says otherwise.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + kHeader));
    stream.avail_in = static_cast<uInt>(packed.size() - kHeader - kTrailer);
    stream.next_out = reinterpret_cast<Bytef*>(text.data());
    stream.avail_out = static_cast<uInt>(text.size());
    if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    const int result = ::inflate(&stream, Z_FINISH);
    ::inflateEnd(&stream);
    if (result != Z_STREAM_END || stream.avail_out != 0)
        throw std::logic_error("a text that was compiled in is damaged");
    return text;
}

}  // namespace

const std::string& EmbeddedFile::text() const {
    static std::unordered_map<const char*, std::string> texts;
    const auto [it, is_new] = texts.try_emplace(packed.data());
    if (is_new) it->second = unpacked(packed);
    return it->second;
}

}  // namespace gpufs
