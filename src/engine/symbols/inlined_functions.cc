#include "engine/symbols/inlined_functions.h"

#include <algorithm>

#include "base/cat.h"
#include "lang/dwarf/numbers.h"
#include "lang/dwarf/scope.h"
#include "lang/symbols/function_name.h"

namespace gpufs {
namespace {

std::string name_of_function(const DwarfEntry& function) {
    for (const unsigned name : {dw::AT_linkage_name, dw::AT_MIPS_linkage_name})
        if (const auto linked = find_inherited(function, name))
            if (const auto text = text_of(*linked)) return function_name(std::string(*text));
    return std::string(name_of(function));
}

}  // namespace

std::vector<InlinedFunction> InlinedFunctions::find(std::uint64_t address) {
    std::vector<InlinedFunction> found;
    if (!info_) return found;
    const std::vector<DwarfEntry> scopes = scopes_at(info_->unit_at(address), address);
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
        if (scope->tag() != dw::TAG_inlined_subroutine) continue;
        InlinedFunction& one = found.emplace_back();
        one.name = name_of_function(*scope);
        const std::string file =
            info_->source_file(*scope, number_of(*scope, dw::AT_call_file).value_or(0));
        const auto line = number_of(*scope, dw::AT_call_line);
        if (!file.empty() && line) one.called_at = cat(file, ':', *line);
    }
    return found;
}

}  // namespace gpufs
