#include "lang/program/merge_programs.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/path.h"

namespace gpufs {
namespace {

// Calls `visit` with every SourceRef of the list's members.
template <class Visit>
void visit_places(std::vector<CodeItem>& code, const Visit& visit) {
    for (CodeItem& item : code) {
        visit(item.at);
        visit(item.relocation.at);
    }
}
template <class Visit>
void visit_places(Program& program, const Visit& visit) {
    for (Parameter& one : program.parameters) visit(one.at);
    for (MapDeclaration& one : program.maps) visit(one.at);
    for (RecordLayout& one : program.records) visit(one.at);
    for (Report& one : program.reports) visit(one.at);
    for (Guard& one : program.guards) visit(one.at);
    for (Subprogram& one : program.subprograms) {
        visit(one.at);
        visit_places(one.code, visit);
    }
    for (ProbeProgram& one : program.programs) {
        visit(one.at);
        visit_places(one.code, visit);
        for (auto& alternatives : one.targets)
            for (ProbeTarget& target : alternatives) visit(target.at);
    }
}

template <class List>
void append(List& list, List& more) {
    std::ranges::move(more, std::back_inserter(list));
}

// Source 0 is the program's own text; the others are included. What is named after the program is
// part of it.
bool is_own(const Program& program, std::size_t source) {
    if (program.owns_included) return true;
    const std::string_view path = program.sources[source].name;
    return source == 0 || file_name(path).starts_with(cat(program.name, '-'));
}

// New names by old names, for one kind of declaration.
class Names {
public:
    template <class List>
    Names(const List& list, const Program& program) : owner_(program.name) {
        for (const auto& one : list)
            if (is_own(program, one.at.source)) renamed_.insert(one.name);
    }
    void rename(std::string& name) const {
        if (renamed_.contains(name)) name = cat(owner_, '.', name);
    }

private:
    std::set<std::string, std::less<>> renamed_;
    std::string owner_;
};

class Renaming {
public:
    explicit Renaming(Program& program)
        : program_(program),
          parameters_(program.parameters, program),
          maps_(program.maps, program),
          records_(program.records, program),
          functions_(program.subprograms, program) {}

    void apply() {
        for (Parameter& one : program_.parameters) parameters_.rename(one.name);
        for (MapDeclaration& one : program_.maps) {
            maps_.rename(one.name);
            parameters_.rename(one.max_parameter);
            parameters_.rename(one.wanted_calls);
            for (std::string& missed : one.misses_of) missed = cat(program_.name, '.', missed);
            rename_stacks(one.key);
            rename_stacks(one.value);
        }
        for (RecordLayout& one : program_.records) {
            records_.rename(one.name);
            rename_stacks(one.layout);
            for (Action& action : one.actions) maps_.rename(action.map);
        }
        for (Report& one : program_.reports) maps_.rename(one.map);
        for (Caution& one : program_.cautions)
            for (std::string* name : {&one.missing, &one.program})
                if (!name->empty()) *name = cat(program_.name, '.', *name);
        for (Subprogram& one : program_.subprograms) {
            functions_.rename(one.name);
            rename_code(one.code);
        }
        for (ProbeProgram& one : program_.programs) {
            one.name = cat(program_.name, '.', one.name);
            parameters_.rename(one.wanted_by);
            if (!one.unless.empty()) one.unless = cat(program_.name, '.', one.unless);
            rename_code(one.code);
            for (auto& alternatives : one.targets)
                for (ProbeTarget& target : alternatives)
                    if (target.is_for_keys()) maps_.rename(target.name);
        }
    }

private:
    void rename_stacks(Layout& layout) {
        for (Member& member : layout.members) {
            maps_.rename(member.type.stack_map);
            maps_.rename(member.type.text_map);
        }
    }

    void rename_code(std::vector<CodeItem>& code) {
        for (CodeItem& item : code) {
            Relocation& relocation = item.relocation;
            switch (relocation.kind) {
                case Relocation::Kind::subprogram:
                case Relocation::Kind::callback:
                    functions_.rename(relocation.name);
                    break;
                case Relocation::Kind::map:
                case Relocation::Kind::map_value:
                    maps_.rename(relocation.name);
                    break;
                case Relocation::Kind::parameter:
                    parameters_.rename(relocation.name);
                    break;
                case Relocation::Kind::record_id:
                    records_.rename(relocation.name);
                    break;
                case Relocation::Kind::none:
                case Relocation::Kind::label:
                case Relocation::Kind::field_offset:
                case Relocation::Kind::field_size:
                case Relocation::Kind::btf_offset:
                case Relocation::Kind::constant:
                    break;
            }
        }
    }

    Program& program_;
    Names parameters_, maps_, records_, functions_;
};

bool is_ring(const MapDeclaration& map) {
    return map.type == BPF_MAP_TYPE_RINGBUF;
}

// Lets the program send to `ring`, instead of its own.
void use_ring(Program& program, const std::string& ring) {
    const auto own = std::ranges::find_if(program.maps, is_ring);
    if (own == program.maps.end()) return;
    const auto use = [&](std::vector<CodeItem>& code) {
        for (CodeItem& item : code)
            if (item.relocation.kind == Relocation::Kind::map && item.relocation.name == own->name)
                item.relocation.name = ring;
    };
    for (Subprogram& one : program.subprograms) use(one.code);
    for (ProbeProgram& one : program.programs) use(one.code);
    program.maps.erase(own);
}

void shift_guard(std::size_t& guard, std::size_t by) {
    if (guard != 0) guard += by;
}

class Merger {
public:
    explicit Merger(Program first) {
        names_.insert(first.name);
        Renaming(first).apply();
        merged_ = std::move(first);
    }

    void add(Program program) {
        if (!names_.insert(program.name).second)
            throw UsageError(cat("'", program.name, "' is asked for twice"));
        check_texts(program);
        take_licence(program);
        Renaming(program).apply();
        share_ring(program);
        drop_shared(program, program.parameters, "parameter");
        drop_shared(program, program.maps, "map");
        drop_shared(program, program.records, "record");
        drop_shared(program, program.subprograms, "function");
        std::erase_if(program.reports, [&](const Report& report) {
            return !is_own(program, report.at.source) && merged_.find_map(report.map);
        });
        shift(program);

        merged_.name += cat(", ", program.name);
        merged_.summary += cat("; ", program.summary);
        append(merged_.sources, program.sources);
        append(merged_.parameters, program.parameters);
        append(merged_.maps, program.maps);
        append(merged_.records, program.records);
        append(merged_.reports, program.reports);
        append(merged_.programs, program.programs);
        append(merged_.subprograms, program.subprograms);
        append(merged_.guards, program.guards);
        append(merged_.needed_features, program.needed_features);
        append(merged_.needed_modules, program.needed_modules);
        append(merged_.cautions, program.cautions);
        merged_.scratch_bytes = std::max(merged_.scratch_bytes, program.scratch_bytes);
    }

    Program finish() { return std::move(merged_); }

private:
    void check_texts(const Program& program) const {
        for (std::size_t i = 1; i < program.sources.size(); ++i) {
            const auto same =
                std::ranges::find(merged_.sources, program.sources[i].name, &SourceText::name);
            if (same != merged_.sources.end() && same->text != program.sources[i].text)
                throw UsageError(cat("'", program.name, "' includes another text as ", same->name,
                                     " than those before"));
        }
    }

    // The ring is as large as the largest of them.
    void share_ring(Program& program) {
        const auto ring = std::ranges::find_if(merged_.maps, is_ring);
        const auto other = std::ranges::find_if(program.maps, is_ring);
        if (ring == merged_.maps.end() || other == program.maps.end()) return;
        ring->max_entries = std::max(ring->max_entries, other->max_entries);
        ring->or_perf_ring = ring->or_perf_ring && other->or_perf_ring;
        if (ring->name != other->name) use_ring(program, ring->name);
    }

    // The kernel lets only GPL-compatible programs call all helpers.
    void take_licence(const Program& program) {
        const auto is_free = [](const std::string& licence) {
            return licence.find("GPL") != std::string::npos;
        };
        if (is_free(merged_.licence) != is_free(program.licence))
            throw UsageError(cat("'", program.name, "' has the licence \"", program.licence,
                                 "\", those before \"", merged_.licence, "\""));
        if (merged_.licence != program.licence) merged_.licence = "GPL";
    }

    // Removes declarations from an included text that are already merged. Two texts that declare
    // one name are about two things.
    template <class List>
    void drop_shared(const Program& program, List& list, std::string_view what) const {
        std::erase_if(list, [&](const auto& one) {
            if (is_own(program, one.at.source)) return false;
            const auto* known = find(list, one.name);
            if (!known) return false;
            const std::string& text = program.sources[one.at.source].name;
            const std::string& other = merged_.sources[known->at.source].name;
            if (text != other)
                throw UsageError(cat("both ", other, " and ", text, ", which '", program.name,
                                     "' includes, declare the ", what, " '", one.name, "'"));
            return true;
        });
    }
    const Parameter* find(const std::vector<Parameter>&, const std::string& name) const {
        return merged_.find_parameter(name);
    }
    const MapDeclaration* find(const std::vector<MapDeclaration>&, const std::string& name) const {
        return merged_.find_map(name);
    }
    const RecordLayout* find(const std::vector<RecordLayout>&, const std::string& name) const {
        return merged_.find_record(name);
    }
    const Subprogram* find(const std::vector<Subprogram>&, const std::string& name) const {
        return merged_.find_subprogram(name);
    }

    // Renumbers sources and guards to follow those already merged.
    void shift(Program& program) const {
        const std::size_t sources = merged_.sources.size(), guards = merged_.guards.size();
        visit_places(program, [&](SourceRef& at) { at.source += sources; });
        for (Guard& guard : program.guards) shift_guard(guard.outer, guards);
        for (Subprogram& one : program.subprograms)
            for (CodeItem& item : one.code) shift_guard(item.guard, guards);
        for (ProbeProgram& one : program.programs)
            for (CodeItem& item : one.code) shift_guard(item.guard, guards);
    }

    Program merged_;
    std::set<std::string, std::less<>> names_;
};

}  // namespace

Program merge_programs(std::vector<Program> programs, MergedNames names) {
    if (programs.size() == 1 && names == MergedNames::own_if_single)
        return std::move(programs.front());
    Merger merger(std::move(programs.at(0)));
    for (std::size_t i = 1; i < programs.size(); ++i) merger.add(std::move(programs[i]));
    return merger.finish();
}

}  // namespace gpufs
