#include "base/embedded.h"

#include <zstd.h>

#include <stdexcept>
#include <string>
#include <unordered_map>

namespace gpufs {
namespace {

std::string unpacked(const EmbeddedTexts& texts) {
    std::string out(texts.bytes, '\0');
    if (::ZSTD_decompress(out.data(), out.size(), texts.packed.data(), texts.packed.size()) !=
        out.size())
        throw std::logic_error("a text that was compiled in is damaged");
    return out;
}

}  // namespace

std::string_view EmbeddedFile::text() const {
    static std::unordered_map<const EmbeddedTexts*, std::string> known;
    const auto [it, is_new] = known.try_emplace(texts);
    if (is_new) it->second = unpacked(*texts);
    return std::string_view(it->second).substr(begin, bytes);
}

}  // namespace gpufs
