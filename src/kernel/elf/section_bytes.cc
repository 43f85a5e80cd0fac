#include "kernel/elf/section_bytes.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "base/read_at.h"

namespace gpufs {

std::string_view SectionBytes::read(std::uint64_t at, std::size_t n, std::string& scratch) const {
    if (at >= size_) return {};
    n = static_cast<std::size_t>(std::min<std::uint64_t>(n, size_ - at));
    if (file_ < 0) return std::string_view(unpacked_).substr(at, n);
    scratch.resize(n);
    const auto room = std::as_writable_bytes(std::span(scratch));
    try {
        return {scratch.data(), read_at(file_, offset_ + at, room, "a section")};
    } catch (const SysError&) {
        return {};
    }
}

std::string SectionBytes::text(std::uint64_t at) const {
    constexpr std::size_t kPiece = 256, kLongest = 64 << 10;
    std::string text, scratch;
    while (text.size() < kLongest) {
        const std::string_view piece = read(at + text.size(), kPiece, scratch);
        const auto end = piece.find('\0');
        text += piece.substr(0, end);
        if (end != piece.npos || piece.size() < kPiece) break;
    }
    return text;
}

}  // namespace gpufs
