#include "lang/symbols/symbol_text.h"

#include <charconv>

namespace gpufs {
namespace {

// Takes "0x1f" from the front.
std::optional<std::uint64_t> take_hex(std::string_view& text) {
    if (!text.starts_with("0x")) return std::nullopt;
    std::uint64_t number = 0;
    const auto [end, error] =
        std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

}  // namespace

std::optional<Symbol> parse_symbol_text(std::string_view text) {
    const std::size_t plus = text.rfind("+0x");
    if (plus == std::string_view::npos || plus == 0) return std::nullopt;
    Symbol symbol;
    symbol.name = text.substr(0, plus);
    text.remove_prefix(plus + 1);
    const auto offset = take_hex(text);
    if (!offset || !text.starts_with('/')) return std::nullopt;
    text.remove_prefix(1);
    const auto size = take_hex(text);
    if (!size) return std::nullopt;
    symbol.offset = *offset;
    symbol.size = *size;
    if (text.empty()) return symbol;
    if (!text.starts_with(" [") || !text.ends_with(']')) return std::nullopt;
    symbol.module = text.substr(2, text.size() - 3);
    return symbol;
}

}  // namespace gpufs
