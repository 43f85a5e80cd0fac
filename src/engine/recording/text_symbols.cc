#include "engine/recording/text_symbols.h"

#include "base/scan.h"
#include "base/text.h"

namespace gpufs {

std::uint64_t TextSymbols::address_of(std::string_view text) {
    text = trim(text);
    const auto [it, is_new] = addresses_.try_emplace(std::string(text), 0);
    if (!is_new) return it->second;
    Known known;
    std::uint64_t address = 0;
    std::string_view name = text;
    if (const auto open = name.rfind(" ("); open != name.npos && name.ends_with(')')) {
        address = Scan(name.substr(open + 2)).take_number<std::uint64_t>(16).value_or(0);
        name = name.substr(0, open);
    }
    if (const auto open = name.rfind(" ["); open != name.npos && name.ends_with(']')) {
        known.module = name.substr(open + 2, name.size() - open - 3);
        name = name.substr(0, open);
    }
    if (const auto plus = name.rfind("+0x"); plus != name.npos) {
        Scan scan(name.substr(plus + 3));
        known.offset = scan.take_number<std::uint64_t>(16).value_or(0);
        if (scan.take("/0x")) known.size = scan.take_number<std::uint64_t>(16).value_or(0);
        name = name.substr(0, plus);
    }
    known.name = name;
    if (address == 0) address = last_ += 16;
    it->second = address;
    known_.try_emplace(address, std::move(known));
    return address;
}

std::optional<Symbol> TextSymbols::find(std::uint64_t address) const {
    const auto it = known_.find(address);
    if (it == known_.end()) return std::nullopt;
    return Symbol{it->second.name, it->second.module, it->second.offset, it->second.size};
}

}  // namespace gpufs
