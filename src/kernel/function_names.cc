#include "gpufs/kernel/function_names.h"

#include <algorithm>

#include "gpufs/base/file.h"
#include "gpufs/base/text.h"

namespace gpufs {
namespace {

// "f.isra.0.cold" -> "f". What is behind ".cold" or ".part" is not the function's beginning.
std::string_view without_suffix(std::string_view symbol) {
    const auto dot = symbol.find('.');
    if (dot == symbol.npos || dot == 0) return symbol;
    const std::string_view suffix = symbol.substr(dot);
    const bool is_copy = suffix.starts_with(".isra.") || suffix.starts_with(".constprop.");
    const bool is_part = suffix.find(".cold") != suffix.npos || suffix.find(".part") != suffix.npos;
    return is_copy && !is_part ? symbol.substr(0, dot) : symbol;
}

}  // namespace

std::vector<KernelFunction> find_kernel_functions(const std::set<std::string>& names,
                                                  const std::string& path) {
    std::vector<KernelFunction> exact, copies;
    const std::string text = read_file(path);
    for (std::string_view line : lines_of(text)) {
        // "ffffffffc0a1b2c0 t drm_sched_job_timedout	[gpu_sched]"
        const auto type = line.find(' ');
        if (type == line.npos || type + 3 > line.size()) continue;
        if (std::string_view("tTwW").find(line[type + 1]) == std::string_view::npos) continue;
        line.remove_prefix(type + 3);
        const auto tab = line.find('\t');
        const std::string_view symbol = line.substr(0, tab);
        const std::string base(without_suffix(symbol));
        if (!names.contains(base)) continue;
        std::string_view module = tab == line.npos ? std::string_view() : line.substr(tab + 1);
        if (module.starts_with('[')) module = module.substr(1, module.find(']') - 1);
        auto& found = base == symbol ? exact : copies;
        found.push_back({base, std::string(symbol), std::string(module)});
    }
    for (KernelFunction& copy : copies)
        if (std::ranges::find(exact, copy.wanted, &KernelFunction::wanted) == exact.end())
            exact.push_back(std::move(copy));
    return exact;
}

}  // namespace gpufs
