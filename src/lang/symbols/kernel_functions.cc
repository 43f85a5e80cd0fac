#include "lang/symbols/kernel_functions.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace gpufs {
namespace {

// As include/linux/module_symbol.h has them.
bool is_mark(std::string_view name) {
    if (name.starts_with(".L") || name.starts_with("L0")) return true;
    return name.size() >= 2 && name[0] == '$' &&
           std::string_view("adtx").find(name[1]) != std::string_view::npos &&
           (name.size() == 2 || name[2] == '.');
}

}  // namespace

std::string_view without_copy_suffix(std::string_view symbol) {
    const auto dot = symbol.find('.');
    if (dot == symbol.npos || dot == 0) return symbol;
    const std::string_view suffix = symbol.substr(dot);
    const bool is_copy = suffix.starts_with(".isra.") || suffix.starts_with(".constprop.");
    const bool is_part = suffix.find(".cold") != suffix.npos || suffix.find(".part") != suffix.npos;
    return is_copy && !is_part ? symbol.substr(0, dot) : symbol;
}
std::optional<KallsymsLine> parse_kallsyms_line(std::string_view line) {
    KallsymsLine parsed;
    const char* const end = line.data() + line.size();
    const auto [stop, error] = std::from_chars(line.data(), end, parsed.address, 16);
    if (error != std::errc() || end - stop < 4) return std::nullopt;
    parsed.type = stop[1];
    parsed.name = {stop + 3, end};
    if (const auto tab = parsed.name.find('\t'); tab != std::string_view::npos) {
        parsed.module = parsed.name.substr(tab + 1);
        parsed.name = parsed.name.substr(0, tab);
        if (parsed.module.starts_with('[')) parsed.module.remove_prefix(1);
        if (parsed.module.ends_with(']')) parsed.module.remove_suffix(1);
        if (is_mark(parsed.name)) return std::nullopt;
    }
    return parsed;
}

std::vector<KernelFunction> find_kernel_functions(const std::set<std::string>& names,
                                                  const TextPieces& kallsyms) {
    std::vector<KernelFunction> exact, copies;
    for_each_line(kallsyms, [&](std::string_view line) {
        const auto symbol = parse_kallsyms_line(line);
        if (!symbol || !symbol->is_code()) return;
        const std::string base(without_copy_suffix(symbol->name));
        if (!names.contains(base)) return;
        auto& found = base == symbol->name ? exact : copies;
        found.push_back({base, std::string(symbol->name), std::string(symbol->module)});
    });
    for (KernelFunction& copy : copies)
        if (std::ranges::find(exact, copy.wanted, &KernelFunction::wanted) == exact.end())
            exact.push_back(std::move(copy));
    return exact;
}

std::vector<std::string> kernel_function_names(const TextPieces& kallsyms) {
    std::vector<std::string> names;
    for_each_line(kallsyms, [&](std::string_view line) {
        if (const auto symbol = parse_kallsyms_line(line); symbol && symbol->is_code())
            names.emplace_back(symbol->name);
    });
    return names;
}

std::optional<TraceableFunction> parse_traceable_line(std::string_view line) {
    TraceableFunction function;
    function.name = line.substr(0, line.find_first_of(" \t"));
    if (function.name.empty() || function.name.starts_with("__ftrace_invalid_address__"))
        return std::nullopt;
    const std::string_view rest = trim(line.substr(function.name.size()));
    if (rest.starts_with('[') && rest.ends_with(']'))
        function.module = rest.substr(1, rest.size() - 2);
    return function;
}

}  // namespace gpufs
