#include "lang/symbols/printk_formats.h"

#include <charconv>

#include "base/text.h"

namespace gpufs {
namespace {

std::string unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || ++i == text.size())
            out += text[i < text.size() ? i : i - 1];
        else
            out += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
    }
    return out;
}

}  // namespace

std::map<std::uint64_t, std::string> parse_printk_formats(std::string_view text) {
    std::map<std::uint64_t, std::string> texts;
    for (const std::string_view line : lines_of(text)) {
        const auto first = line.find('"'), last = line.rfind('"');
        if (!line.starts_with("0x") || first == line.npos || last == first) continue;
        std::uint64_t address = 0;
        std::from_chars(line.data() + 2, line.data() + first, address, 16);
        texts.emplace(address, unescaped(line.substr(first + 1, last - first - 1)));
    }
    return texts;
}

std::optional<std::string_view> PrintkFormats::find(std::uint64_t address) {
    if (!is_loaded_) {
        texts_ = parse_printk_formats(text_());
        is_loaded_ = true;
    }
    const auto it = texts_.find(address);
    return it == texts_.end() ? std::nullopt : std::optional<std::string_view>(it->second);
}

}  // namespace gpufs
