#include "lang/symbols/loader_cache.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace gpufs {
namespace {

constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::size_t kCountAt = 20, kEntriesAt = 48, kEntryBytes = 24;

// FLAG_ELF_LIBC6, and the machine.
#if defined __x86_64__
constexpr std::uint32_t kFlags = 0x0303;
#elif defined __aarch64__
constexpr std::uint32_t kFlags = 0x0a03;
#else
constexpr std::uint32_t kFlags = 0x0003;
#endif

std::optional<std::uint32_t> number_at(std::string_view bytes, std::size_t at) {
    std::uint32_t number = 0;
    if (at > bytes.size() || bytes.size() - at < sizeof number) return std::nullopt;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

// The text up to its NUL; empty where there is none.
std::string_view text_at(std::string_view bytes, std::size_t at) {
    if (at >= bytes.size()) return {};
    const std::size_t end = bytes.find('\0', at);
    return end == bytes.npos ? std::string_view() : bytes.substr(at, end - at);
}

}  // namespace

bool is_for_processor(std::string_view path, const std::vector<std::string_view>& levels) {
    constexpr std::string_view kFolder = "/glibc-hwcaps/";
    const std::size_t at = path.find(kFolder);
    if (at == path.npos) return true;
    path.remove_prefix(at + kFolder.size());
    const std::string_view level = path.substr(0, path.find('/'));
    return std::ranges::find(levels, level) != levels.end();
}

std::vector<CachedLibrary> parse_loader_cache(std::string_view bytes) {
    const std::size_t start = bytes.find(kMagic);
    if (start == bytes.npos) return {};
    bytes.remove_prefix(start);
    std::vector<CachedLibrary> libraries;
    const std::uint32_t count = number_at(bytes, kCountAt).value_or(0);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::size_t at = kEntriesAt + std::size_t{i} * kEntryBytes;
        const auto flags = number_at(bytes, at), name = number_at(bytes, at + 4),
                   path = number_at(bytes, at + 8);
        if (!path) break;
        CachedLibrary library{std::string(text_at(bytes, *name)),
                              std::string(text_at(bytes, *path))};
        if (flags == kFlags && !library.name.empty() && library.path.starts_with('/'))
            libraries.push_back(std::move(library));
    }
    return libraries;
}

}  // namespace gpufs
