#include "engine/places/code_sites.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/source.h"
#include "engine/probe/found_place.h"
#include "engine/probe/program_variable.h"
#include "engine/probe/source_events.h"
#include "lang/probe/definition.h"
#include "lang/program/function_fields.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

std::string place_in_file(const ProbeTarget& target) {
    return target.name.substr(name_begin(target));
}

using AskedVariables = std::set<std::pair<std::string, VariableUse>>;

// What the code reads that is no register.
AskedVariables variables_in(const ProbeProgram& program, ProbeTarget::Kind kind) {
    const EventFormat& registers = function_registers(kind);
    AskedVariables asked;
    for (const CodeItem& item : program.code) {
        const Relocation& field = item.relocation;
        const bool is_field = field.kind == Relocation::Kind::field_offset ||
                              field.kind == Relocation::Kind::field_size;
        if (is_field && !registers.find(field.name)) asked.emplace(field.name, variable_use(item));
    }
    return asked;
}

NamedVariable variable_at(DebugInfo& info, const std::string& name, VariableUse use,
                          const CodeSpot& spot) {
    const SourceText source{"", name};
    try {
        const VariablePath path = parse_variable_path(source, {0, name.size()});
        return {name, use, read_variable(info, source, path, spot, use).value, "", ""};
    } catch (const SourceError& e) {
        return {name, use, {}, e.message(), e.hint()};
    }
}

std::vector<ProbeSite> sites_in(DebugInfo& info, const std::vector<CodeSpot>& spots,
                                const ProbeSite& site) {
    const AskedVariables asked = variables_in(*site.program, site.target->kind);
    std::vector<ProbeSite> sites;
    for (const CodeSpot& spot : spots) {
        const auto offset = info.program().file_offset(spot.address);
        if (!offset) continue;
        ProbeSite made = site;
        made.places = {{info.path(), *offset, 0, false}};
        made.functions = {spot.function};
        for (const auto& [name, use] : asked)
            made.variables.push_back(variable_at(info, name, use, spot));
        sites.push_back(std::move(made));
    }
    return sites;
}

}  // namespace

bool needs_debug_info(const ProbeSite& site) {
    const ProbeTarget& target = *site.target;
    if (target.kind != ProbeTarget::Kind::uprobe || target.has_glob) return false;
    return line_begin(place_in_file(target)) != 0 ||
           !variables_in(*site.program, target.kind).empty();
}

FoundSites find_code_sites(const SiteSearch& search, const ProbeSite& site) {
    const ProbeTarget& target = *site.target;
    const std::string file = file_of(target);
    const auto files = find_files(search, file);
    if (const Absent* why = std::get_if<Absent>(&files)) return *why;
    const SourceText source{"", place_in_file(target)};
    const Span whole{0, source.text.size()};
    const bool for_variables = !variables_in(*site.program, target.kind).empty();
    std::vector<ProbeSite> sites;
    for (const std::string& path : std::get<0>(files)) {
        try {
            const auto info = require_debug_info(source, whole, path);
            const ProbePlace place =
                parse_probe_place(source, whole, source.text, names_code_file, path);
            const auto spots =
                find_spots(*info, source, whole, place, for_variables, search.found.notes);
            std::ranges::move(sites_in(*info, spots, site), std::back_inserter(sites));
        } catch (const SourceError& e) {
            return Absent{e.message(), e.hint()};
        }
    }
    return sites;
}

void note_inlined(const ProbeSite& site, std::vector<std::string>& notes) {
    const ProbeTarget& target = *site.target;
    const bool is_of_functions =
        target.kind == ProbeTarget::Kind::uprobe || target.kind == ProbeTarget::Kind::uretprobe;
    if (!is_of_functions || target.has_glob || needs_debug_info(site)) return;
    for (std::size_t i = 0; i < std::min(site.functions.size(), site.places.size()); ++i) {
        std::string note;
        try {
            note = inlined_hint(site.places[i].path, site.functions[i]);
        } catch (const Error&) {  // the file is gone or broken: nothing is known
        }
        if (!note.empty() && std::ranges::count(notes, note) == 0) notes.push_back(std::move(note));
    }
}

}  // namespace gpufs
