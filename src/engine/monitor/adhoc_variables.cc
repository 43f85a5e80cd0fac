#include "engine/monitor/adhoc_variables.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/places/finders.h"
#include "engine/probe/found_place.h"
#include "engine/probe/program_variable.h"
#include "engine/probe/unreadable.h"
#include "engine/probe/variable_fetch.h"
#include "lang/adhoc/fetched.h"
#include "lang/adhoc/value.h"
#include "lang/dwarf/scope.h"
#include "lang/probe/definition.h"
#include "lang/program/function_cookie.h"
#include "lang/program/function_fields.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

class VariableFinder {
public:
    VariableFinder(AdhocEvent event, const SourceText& source, AdhocLookup& lookup)
        : event_(std::move(event)),
          source_(source),
          at_(event_.target.at.span),
          name_(std::string_view(event_.target.name).substr(name_begin(event_.target))),
          is_line_(line_begin(name_) != 0),
          lookup_(lookup) {}

    std::vector<AdhocEvent> find() {
        // At a line, registers are no arguments.
        if (!is_line_) registers_ = function_fields(event_.target.kind);
        const bool has_names = std::ranges::any_of(lookup_.names, [&](const AskedName& name) {
            return !is_register(name) && !is_key(name);
        });
        const std::string named_file = file_of(event_.target);
        if (event_.target.kind != ProbeTarget::Kind::uprobe) {
            if (is_line_) throw SourceError(source_, at_, "a line has no return");
            return {event_};
        }
        if (!is_line_ && (!has_names || is_library_pattern(named_file))) return {event_};
        const ProbePlace place =
            parse_probe_place(source_, at_, name_, names_code_file, named_file);
        const std::string file = require_code_file(source_, at_, place.file);
        const auto info = is_line_ ? require_debug_info(source_, at_, file) : DebugInfo::open(file);
        if (!info) return {event_};
        std::vector<AdhocEvent> events;
        std::optional<SourceError> trouble;
        std::size_t left_out = 0;
        auto spots = find_spots(*info, source_, at_, place, has_names, lookup_.notes);
        if (!has_names &&
            std::ranges::any_of(spots, [&](const CodeSpot& spot) { return hides_key(spot); }))
            spots = find_spots(*info, source_, at_, place, true, lookup_.notes);
        for (const CodeSpot& spot : spots) {
            try {
                events.push_back(event_at(*info, spot));
            } catch (const SourceError& e) {
                if (!trouble) trouble = e;
                ++left_out;
            }
        }
        if (events.empty() && trouble) throw *trouble;
        if (trouble)
            lookup_.notes.push_back(cat(left_out, " of ", counted(spots.size(), "place"), " of '",
                                        event_.format.name, "' left out: there ",
                                        trouble->message()));
        return events;
    }

private:
    const Field* find_register(const AskedName& name) const {
        const auto known = std::ranges::find(registers_, name.text(), &Field::name);
        return known == registers_.end() ? nullptr : &*known;
    }
    bool is_register(const AskedName& name) const { return find_register(name) != nullptr; }
    // One that all events have: only a variable of the function goes before it.
    bool is_key(const AskedName& name) const {
        AdhocEvent plain = event_;
        plain.format.fields.clear();
        return find_value(plain, name.text()).has_value();
    }

    AdhocEvent event_at(DebugInfo& info, const CodeSpot& spot) {
        const auto offset = info.program().file_offset(spot.address);
        if (!offset) throw SourceError(source_, at_, "it is in no code of the file");
        AdhocEvent made = event_;
        made.target.name = kernel_place_text(info.path(), *offset);
        made.format.fields.clear();
        if (is_line_)
            made.functions = {
                {static_cast<std::int64_t>(function_cookie(spot.function)), spot.function}};
        std::vector<ArgumentWay> ways;
        for (const AskedName& name : lookup_.names) {
            if (made.format.find(name.text())) continue;
            if (const Field* known = find_register(name))
                require_room(name, add_register_field(made, *known));
            else
                add_variable(info, spot, name, made, ways);
        }
        std::ranges::move(ways, std::back_inserter(lookup_.ways));
        return made;
    }

    static bool is_local(const CodeSpot& spot, const std::string& name) {
        return std::ranges::any_of(local_variables(spot.scopes), [&](const VisibleVariable& one) {
            return name_of(one.entry) == name;
        });
    }

    // Whether a key that is asked for is a variable there: "pid".
    bool hides_key(const CodeSpot& spot) const {
        return std::ranges::any_of(lookup_.names, [&](const AskedName& name) {
            return is_key(name) && is_local(spot, name.text());
        });
    }

    void add_variable(DebugInfo& info, const CodeSpot& spot, const AskedName& name,
                      AdhocEvent& event, std::vector<ArgumentWay>& ways) {
        const std::string text = name.text();
        if (!is_variable_path(text) || (is_key(name) && !is_local(spot, text))) return;
        const VariablePath path = parse_variable_path(name.source, name.at);
        if (!name.is_required && !find_in_program(info, path, spot)) return;
        const ProgramVariable found = read_variable(info, name.source, path, spot);
        require_room(name, add_variable_field(event, text, found.value, found.words));
        const auto fetch = find_fetch(info, path, spot);
        ways.push_back({spot_text(info, spot), text, found.c_type, found.place,
                        fetch ? cat(fetch->fetch, ':', fetch->type) : "-", found.to_text()});
    }

    static void require_room(const AskedName& name, bool has_room) {
        if (!has_room)
            throw SourceError(name.source, name.at,
                              "a program has no room for so many variables at once");
    }

    AdhocEvent event_;
    const SourceText& source_;
    Span at_;
    std::string name_;  // of the place in the file
    bool is_line_;
    AdhocLookup& lookup_;
    std::vector<Field> registers_;
};

}  // namespace

std::vector<AdhocEvent> find_variables(AdhocEvent event, const SourceText& source,
                                       AdhocLookup& lookup) {
    return VariableFinder(std::move(event), source, lookup).find();
}

}  // namespace gpufs
