#include "engine/probe/source_events.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/cat.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/path.h"
#include "base/sorted.h"
#include "base/suggest.h"
#include "base/text.h"
#include "engine/probe/found_place.h"
#include "engine/probe/variable_fetch.h"
#include "lang/dwarf/scope.h"
#include "lang/probe/argument.h"
#include "lang/probe/variable_path.h"

namespace gpufs {
namespace {

std::string text_at(const SourceText& source, Span at) {
    return source.text.substr(at.begin, at.end - at.begin);
}

// "$vars" and "$params": all that can be read.
bool is_all_variables(std::string_view word) {
    return word == "$vars" || word == "$params";
}

bool reads_variables(const SourceText& source, const ProbeDefinition& definition) {
    return std::ranges::any_of(definition.arguments, [&](Span at) {
        const std::string word = text_at(source, at);
        return is_all_variables(word) || is_variable_path(word);
    });
}

class SpotFinder {
public:
    SpotFinder(DebugInfo& info, const SourceText& source, Span at, const ProbePlace& place,
               std::vector<std::string>& notes)
        : info_(info), source_(source), at_(at), place_(place), notes_(notes) {}

    std::vector<CodeSpot> find(bool for_variables) {
        std::vector<CodeSpot> spots = find_spots();
        if (!for_variables) return spots;
        for (CodeSpot& spot : spots) leave_prologue(spot);
        // A line's begin in a block may be where its function's prologue ends.
        sort_stably(spots, {}, &CodeSpot::address);
        const auto is_same = [](const CodeSpot& a, const CodeSpot& b) {
            return a.address == b.address;
        };
        spots.erase(std::unique(spots.begin(), spots.end(), is_same), spots.end());
        return spots;
    }

private:
    std::vector<CodeSpot> find_spots() {
        if (place_.kind == ProbePlace::Kind::source_line) return of_line();
        if (place_.name.empty()) return {spot_at(info_, address_of_offset(place_.offset))};
        return of_function();
    }

    // Moves a spot in a prologue behind it, where the function's parameters are where DWARF says.
    // One that the user chose by its number stays, which is noted.
    void leave_prologue(CodeSpot& spot) {
        const DwarfEntry function = frame_function(spot.scopes);
        const auto begin = function ? entry_address(function) : std::nullopt;
        if (!begin || spot.address < *begin || !keeps_parameters_in_frame(function)) return;
        const std::uint64_t end = behind_prologue(info_, function, *begin);
        if (spot.address >= end) return;
        const std::string where = cat("+", hex(end - *begin));
        if (place_.kind == ProbePlace::Kind::in_file && place_.offset != 0)
            return note(cat("the parameters of '", name_of(function),
                            "' are in memory behind its prologue only, from ", where,
                            " on: this place is in front"));
        const bool is_line = place_.kind == ProbePlace::Kind::source_line;
        note(is_line ? cat("line ", place_.line, " of '", place_.name,
                           "' is probed behind the prologue of '", name_of(function), "', at ",
                           where, ": only there its parameters are in memory")
                     : cat("'", place_.name, "' is probed behind its prologue, at ", where,
                           ": only there its parameters are in memory"));
        // What is inlined there does not see the parameters.
        CodeSpot behind = spot_at(info_, end);
        if (innermost_function(behind.scopes) == innermost_function(spot.scopes))
            spot = std::move(behind);
        else
            spot.address = end;
    }

    [[noreturn]] void fail(std::string_view message, std::string_view hint) const {
        throw SourceError(source_, at_, message, hint);
    }

    std::uint64_t address_of_offset(std::uint64_t offset) const {
        const auto address = info_.program().address_of(offset);
        if (!address) fail(cat(hex(offset), " is not in the file"), "");
        return *address;
    }

    // Different paths of one file, as "./a.c" and "a.c", are one.
    void require_one_source() const {
        std::set<std::string> files;
        for (const std::string& one : source_files(info_, place_.name))
            files.insert(normal_path(one));
        if (files.size() > 1)
            fail(cat(files.size(), " source files end with '", place_.name, "'"),
                 cat("write more of the path: ", join({files.begin(), files.end()}, ", ")));
    }

    std::vector<CodeSpot> of_line() const {
        if (has_source_file(info_, place_.name)) {
            require_one_source();
            auto spots = find_line_spots(info_, place_.name, place_.line);
            if (spots.empty()) fail_line(place_.name, lines_with_code(info_, place_.name));
            return spots;
        }
        const auto functions = find_named_functions(info_, place_.name);
        if (functions.empty())
            fail(cat("'", place_.file, "' is made of no source file and has no function '",
                     place_.name, "'"),
                 near_name());
        std::vector<CodeSpot> spots;
        std::set<std::uint64_t> lines;
        std::optional<FunctionSource> range;
        for (const NamedFunction& function : functions) {
            const auto written = source_of(info_, function.entry);
            if (!written) continue;
            if (!range) range = written;
            const std::string whole = written->file.starts_with('/')
                                          ? written->file
                                          : cat(written->directory, '/', written->file);
            for (CodeSpot& spot : find_line_spots(info_, whole, place_.line))
                if (innermost_function(spot.scopes) == function.entry)
                    spots.push_back(std::move(spot));
            for (const auto& [address, line] : statements_of(info_, function.entry))
                if (line >= written->first && line <= written->last) lines.insert(line);
        }
        if (!spots.empty()) return spots;
        if (range && (place_.line < range->first || place_.line > range->last))
            fail(cat("'", place_.name, "' is in lines ", range->first, " to ", range->last,
                     " of its file, without line ", place_.line),
                 place_.line <= range->last - range->first
                     ? cat("its line ", place_.line, " is ", place_.name, ':',
                           range->first + place_.line)
                     : "");
        fail_line(place_.name, {lines.begin(), lines.end()});
    }

    std::string near_name() const {
        std::set<std::string> names;
        for (const DebugInfo::LineUnit& unit : info_.line_units())
            for (const std::string& file : unit.files)
                if (!file.empty()) names.emplace(file_name(file));
        info_.for_each_unit([&](const DwarfEntry& root) {
            for_each_function(
                root, [&](const DwarfEntry& function) { names.emplace(name_of(function)); });
            return true;
        });
        return did_you_mean(place_.name, std::vector<std::string>(names.begin(), names.end()));
    }

    [[noreturn]] void fail_line(const std::string& in,
                                const std::vector<std::uint64_t>& lines) const {
        const auto after = std::ranges::upper_bound(lines, place_.line);
        std::vector<std::string> near;
        if (after != lines.begin()) near.push_back(cat(*std::prev(after)));
        if (after != lines.end()) near.push_back(cat(*after));
        fail(cat("line ", place_.line, " of '", in, "' has no code"),
             near.empty() ? ""
                          : cat(near.size() > 1 ? "the nearest lines that have are "
                                                : "the nearest line that has is ",
                                join(near, " and ")));
    }

    std::vector<CodeSpot> of_function() {
        std::vector<CodeSpot> spots;
        const auto named = find_named_functions(info_, place_.name);
        if (place_.offset != 0 || named.empty()) {
            const std::uint64_t begin = address_of_offset(offset_of_symbol());
            return {spot_at(info_, begin + place_.offset)};
        }
        require_one_function(named);
        for (const NamedFunction& function : named)
            spots.push_back(spot_at(info_, function.address));
        if (const std::string inlined = inlined_text(place_.name, named); !inlined.empty())
            note(cat(inlined, ", probed, too"));
        return spots;
    }

    std::uint64_t offset_of_symbol() const {
        try {
            return find_function_offset(info_.path(), place_.name);
        } catch (const UsageError& e) {
            fail(e.what(), e.hint());
        }
    }

    void require_one_function(const std::vector<NamedFunction>& named) const {
        std::vector<std::string> choices;
        for (const NamedFunction& one : named)
            if (!one.is_inlined) {
                const auto offset = info_.program().file_offset(one.address);
                choices.push_back(cat(hex(offset.value_or(0)), " (", telling_name(one.entry), ')'));
            }
        if (choices.size() > 1)
            fail(cat("'", place_.file, "' has ", choices.size(), " functions '", place_.name, "'"),
                 cat("choose one by its namespaces, its parameters or its place in the file: ",
                     join(choices, ", ")));
    }

    void note(std::string text) {
        if (std::ranges::count(notes_, text) == 0) notes_.push_back(std::move(text));
    }

    DebugInfo& info_;
    const SourceText& source_;
    Span at_;
    const ProbePlace& place_;
    std::vector<std::string>& notes_;
};

class SourceEventFinder {
public:
    SourceEventFinder(const SourceText& source, const ProbeDefinition& definition,
                      const ProbePlace& place, std::vector<std::string>& notes,
                      std::vector<ArgumentWay>& ways)
        : source_(source), definition_(definition), place_(place), notes_(notes), ways_(ways) {}

    std::vector<PlannedEvent> find() {
        if (definition_.is_return) fail_return();
        const auto info =
            require_debug_info(source_, definition_.place_at,
                               require_kernel_path(source_, definition_.place_at, place_.file));
        const auto spots = find_spots(*info, source_, definition_.place_at, place_,
                                      reads_variables(source_, definition_), notes_);
        std::vector<PlannedEvent> events;
        std::vector<std::string> forms;  // of each
        std::optional<SourceError> trouble;
        std::size_t left_out = 0;
        for (const CodeSpot& spot : spots) {
            try {
                add(*info, spot, events, forms);
            } catch (const SourceError& e) {
                if (!trouble) trouble = e;
                ++left_out;
            }
        }
        if (events.empty() && trouble) throw *trouble;
        if (trouble)
            notes_.push_back(cat(left_out, " of ", counted(spots.size(), "place"),
                                 " of it left out: there ", trouble->message()));
        return events;
    }

private:
    [[noreturn]] void fail_return() const {
        if (place_.kind == ProbePlace::Kind::source_line)
            throw SourceError(source_, definition_.place_at, "a line has no return",
                              "leave out the 'r', or '%return'; or name the function alone");
        const auto word = std::ranges::find_if(
            definition_.arguments, [&](Span at) { return is_variable_path(text_at(source_, at)); });
        throw SourceError(source_, *word, "when a function returns, its variables are gone",
                          "$retval is what it returns; for the variables, probe a line before");
    }

    // The place without its file.
    std::string place_text() const {
        if (place_.kind == ProbePlace::Kind::source_line) return cat(place_.name, ':', place_.line);
        if (place_.name.empty()) return hex(place_.offset);
        return place_.offset == 0 ? place_.name : cat(place_.name, '+', hex(place_.offset));
    }

    std::string event_name(const CodeSpot& spot) const {
        if (place_.kind != ProbePlace::Kind::source_line)
            return event_name_for(place_.name.empty() ? hex(place_.offset) : place_.name, false);
        return event_name_for(
            cat(spot.function == "?" ? place_.name : spot.function, '_', place_.line), false);
    }

    void add(DebugInfo& info, const CodeSpot& spot, std::vector<PlannedEvent>& events,
             std::vector<std::string>& forms) {
        const auto offset = info.program().file_offset(spot.address);
        if (!offset)
            throw SourceError(source_, definition_.place_at,
                              cat(hex(spot.address), " is in no code of '", info.path(), "'"));
        PlannedEvent::Place place{kernel_place_text(info.path(), *offset), {}};
        std::vector<Span> spans;
        std::set<std::string, std::less<>> taken;
        std::string form;
        std::vector<ArgumentWay> ways;
        const auto line = line_of(info, spot.address);
        const std::string where = line ? cat(line->file, ':', line->line) : hex(spot.address);
        const auto take = [&](Span at, const std::string& name, const std::string& text,
                              const VariableFetch* fetch) {
            if (!taken.insert(name).second)
                throw SourceError(source_, at, cat("there is an argument '", name, "' already"),
                                  cat("give this one another name: OTHER=", text_at(source_, at)));
            place.arguments.push_back(text);
            spans.push_back(at);
            const ArgumentParts parts = split_argument(text);
            form += cat(parts.name, ':', parts.type, ' ');
            if (!fetch) return;
            for (const std::string& note : fetch->notes) once(cat(name, ": ", note));
            ways.push_back({where,
                            name,
                            fetch->c_type,
                            fetch->place,
                            cat(fetch->fetch, ':', fetch->type),
                            {}});
        };
        for (const Span at : definition_.arguments) {
            const std::string word = text_at(source_, at);
            if (is_all_variables(word)) {
                add_all(info, spot, word == "$params", at, take);
            } else if (is_variable_path(word)) {
                const VariablePath path = parse_variable_path(source_, at);
                const VariableFetch fetch = fetch_variable(info, source_, path, spot, place_text());
                take(at, path.field, fetch.to_text(path.field), &fetch);
            } else {
                const ArgumentParts parts = split_argument(word);
                take(at,
                     parts.name.empty() ? cat("arg", place.arguments.size() + 1)
                                        : std::string(parts.name),
                     word, nullptr);
            }
        }
        std::ranges::move(ways, std::back_inserter(ways_));
        auto known = std::ranges::find(forms, form);
        if (known == forms.end()) {
            const std::string number = forms.empty() ? "" : cat('_', forms.size() + 1);
            forms.push_back(form);
            known = std::prev(forms.end());
            events.push_back({event_name(spot) + number, {}, std::move(spans)});
        }
        events[static_cast<std::size_t>(known - forms.begin())].places.push_back(std::move(place));
    }

    template <class Take>
    void add_all(DebugInfo& info, const CodeSpot& spot, bool only_parameters, Span at,
                 const Take& take) {
        for (const ListedVariable& one : list_variables(info, spot, false)) {
            if (only_parameters && one.scope != "parameter") continue;
            if (one.fetch.empty()) {
                once(cat(one.name, " is left out: ", one.trouble));
                continue;
            }
            const auto colon = one.fetch.rfind(':');
            const VariableFetch fetch{
                one.fetch.substr(0, colon), one.fetch.substr(colon + 1), one.c_type, one.place, {}};
            take(at, one.name, fetch.to_text(one.name), &fetch);
        }
    }

    void once(std::string note) {
        if (std::ranges::count(notes_, note) == 0) notes_.push_back(std::move(note));
    }

    const SourceText& source_;
    const ProbeDefinition& definition_;
    const ProbePlace& place_;
    std::vector<std::string>& notes_;
    std::vector<ArgumentWay>& ways_;
};

}  // namespace

bool needs_debug_info(const SourceText& source, const ProbeDefinition& definition,
                      const ProbePlace& place) {
    if (place.kind == ProbePlace::Kind::source_line) return true;
    return place.kind == ProbePlace::Kind::in_file && reads_variables(source, definition);
}

std::unique_ptr<DebugInfo> require_debug_info(const SourceText& source, Span at,
                                              const std::string& file) {
    try {
        if (auto info = DebugInfo::open(file)) return info;
    } catch (const Error& e) {
        throw SourceError(source, at, e.what(), e.hint());
    }
    throw SourceError(source, at, cat("'", file, "' has no debug information"),
                      "build it with -g, or install its debug file; without, a probe takes "
                      "FUNCTION+OFFSET and registers");
}

std::vector<CodeSpot> find_spots(DebugInfo& info, const SourceText& source, Span at,
                                 const ProbePlace& place, bool for_variables,
                                 std::vector<std::string>& notes) {
    return SpotFinder(info, source, at, place, notes).find(for_variables);
}

std::vector<PlannedEvent> find_source_events(const SourceText& source,
                                             const ProbeDefinition& definition,
                                             const ProbePlace& place,
                                             std::vector<std::string>& notes,
                                             std::vector<ArgumentWay>& ways) {
    return SourceEventFinder(source, definition, place, notes, ways).find();
}

}  // namespace gpufs
