#include "engine/monitor/result_type.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/cat.h"
#include "engine/places/finders.h"
#include "engine/probe/code_spots.h"
#include "engine/symbols/debug_info.h"
#include "lang/dwarf/type.h"
#include "lang/program/function_fields.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

struct ResultType {
    std::size_t bytes = 0;  // 0: not known, or no number
    bool is_signed = false;
};

ResultType result_in_kernel(const std::string& function, KernelFacts& machine) {
    const Btf* const btf = machine.btf();
    const auto found = btf ? btf->function(function) : std::nullopt;
    if (!found || !found->returned || found->returned->is_pointer) return {};
    return {found->returned->size, found->returned->is_signed};
}

ResultType result_in_file(const std::string& named_file, const std::string& function) {
    const auto file = find_code_file(named_file);
    const auto info = file.index() == 0 ? DebugInfo::open(std::get<0>(file)) : nullptr;
    if (!info) return {};
    const auto functions = find_named_functions(*info, function);
    const auto own = std::ranges::find(functions, false, &NamedFunction::is_inlined);
    if (own == functions.end()) return {};
    const DwarfType type = type_of(own->entry).stripped();
    using TypeKind = DwarfType::Kind;
    for (const TypeKind kind :
         {TypeKind::integer, TypeKind::boolean, TypeKind::character, TypeKind::enumeration})
        if (type.kind() == kind)
            return {static_cast<std::size_t>(type.bytes().value_or(0)), type.is_signed()};
    return {};
}

}  // namespace

void type_result(AdhocEvent& event, KernelFacts& machine) {
    const ProbeTarget& target = event.target;
    const std::string function = target.name.substr(name_begin(target));
    const ResultType found = probe_kind(target.kind).is_in_file()
                                 ? result_in_file(file_of(target), function)
                                 : result_in_kernel(function, machine);
    if (!std::has_single_bit(found.bytes) || found.bytes > 8) return;
    for (Field& field : event.format.fields) {
        if (field.name != kResultField) continue;
        field.size = field.element_size = found.bytes;
        field.is_signed = found.is_signed;
        field.type = cat(found.is_signed ? 's' : 'u', 8 * found.bytes);
    }
}

}  // namespace gpufs
