#include "view/columns.h"

#include <algorithm>
#include <cstdlib>

namespace gpufs {
namespace {

// Whether this is not the first byte of a multi-byte character.
bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
    return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_continuation));
}

std::string_view without_columns(std::string_view text, std::size_t columns) {
    std::size_t begin = 0;
    for (; begin < text.size(); ++begin)
        if (!is_continuation(text[begin]) && columns-- == 0) break;
    return text.substr(begin);
}

void pad_from(std::string& out, std::size_t start, int width) {
    if (width == 0) return;
    const std::size_t has = columns_of(std::string_view(out).substr(start));
    const auto wants = static_cast<std::size_t>(std::abs(width));
    if (has >= wants) return;
    if (width < 0)
        out.append(wants - has, ' ');
    else
        out.insert(start, wants - has, ' ');
}

void append_padded(std::string& out, std::string_view text, int width) {
    const std::size_t start = out.size();
    out += text;
    pad_from(out, start, width);
}

void cut_from(std::string& out, std::size_t start, const Screen& screen) {
    if (screen.columns == 0 || out.size() - start <= screen.columns) return;
    std::size_t end = start;
    for (std::size_t columns = 0; end < out.size(); ++end)
        if (!is_continuation(out[end]) && columns++ == screen.columns) break;
    out.resize(end);
}

}  // namespace gpufs
