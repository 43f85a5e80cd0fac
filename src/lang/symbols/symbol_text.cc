#include "lang/symbols/symbol_text.h"

#include "base/scan.h"

namespace gpufs {

std::optional<Symbol> parse_symbol_text(std::string_view text) {
    const std::size_t plus = text.rfind("+0x");
    if (plus == std::string_view::npos || plus == 0) return std::nullopt;
    Symbol symbol;
    symbol.name = text.substr(0, plus);
    Scan scan(text.substr(plus));
    scan.take("+0x");
    const auto offset = scan.take_number<std::uint64_t>(16);
    if (!offset || !scan.take("/0x")) return std::nullopt;
    const auto size = scan.take_number<std::uint64_t>(16);
    if (!size) return std::nullopt;
    symbol.offset = *offset;
    symbol.size = *size;
    if (scan.at_end()) return symbol;
    if (!scan.take(" [") || !scan.rest().ends_with(']')) return std::nullopt;
    symbol.module = scan.rest().substr(0, scan.rest().size() - 1);
    return symbol;
}

}  // namespace gpufs
