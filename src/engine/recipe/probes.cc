#include "engine/recipe/probes.h"

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/probe/found_place.h"
#include "engine/probe/source_events.h"
#include "engine/session/session_probes.h"

namespace gpufs {
namespace {

bool is_any_file(const std::string&) {
    return true;
}
bool is_no_file(const std::string&) {
    return false;
}

// The probe as `gpufs probe add` takes it: its place, then its fields.
SourceText text_of(const RecipeProbe& probe, const std::string& name) {
    SourceText text{name, probe.place.text};
    for (const RecipeWord& field : probe.fields) text.text += ' ' + field.text;
    return text;
}
ProbeDefinition definition_of(const RecipeProbe& probe) {
    ProbeDefinition made;
    made.is_return = probe.is_return();
    made.name = probe.name.text;
    made.place = probe.place.text;
    made.place_at = {0, made.place.size()};
    std::size_t at = made.place.size();
    for (const RecipeWord& field : probe.fields) {
        made.arguments.push_back({at + 1, at + 1 + field.text.size()});
        at = made.arguments.back().end;
    }
    return made;
}

// The word of the recipe that has a place of that text.
Span word_at(const RecipeProbe& probe, const ProbeDefinition& definition, Span at) {
    for (std::size_t i = 0; i < probe.fields.size(); ++i)
        if (at.begin >= definition.arguments[i].begin && at.begin < definition.arguments[i].end)
            return probe.fields[i].span;
    return probe.place.span;
}

}  // namespace

ProbeFinder::Answer ProbeFinder::find(const RecipeProbe& probe) const {
    const bool is_user = probe.is_user();
    if (!top_.has(is_user ? "uprobe_events" : "kprobe_events"))
        return {
            {}, is_user ? "uprobe events" : "kprobe events", missing_probe_events_hint(is_user)};
    RecipeOnKernel::Probe made{
        probe.name.text, definition_file(top_, is_user), probe.is_return() ? 'r' : 'p', {}};
    const SourceText text = text_of(probe, recipe_.source.name);
    const ProbeDefinition definition = definition_of(probe);
    ProbePlace place;
    try {
        place = parse_probe_place(text, definition.place_at, definition.place,
                                  is_user ? is_any_file : is_no_file);
        made.definitions = is_user && !looks_at_files_ ? std::vector{text.text}
                                                       : definitions(text, definition, place);
    } catch (const MissingFunction& e) {
        const bool lacks_module =
            !place.file.empty() && !file_exists(cat("/sys/module/", place.file));
        return {{},
                cat("function ", place.name),
                lacks_module ? cat("module ", place.file, " is not loaded") : e.hint()};
    } catch (const SourceError& e) {
        throw SourceError(recipe_.source, word_at(probe, definition, e.at()), e.message(),
                          e.hint());
    }
    return {std::move(made), {}, {}};
}

std::vector<std::string> ProbeFinder::definitions(const SourceText& text,
                                                  const ProbeDefinition& definition,
                                                  const ProbePlace& place) const {
    std::vector<std::string> found, notes;
    if (needs_debug_info(text, definition, place)) {
        std::vector<ArgumentWay> ways;
        const auto events = find_source_events(text, definition, place, notes, ways);
        if (events.size() > 1)
            throw SourceError(text, definition.place_at,
                              cat("its fields have other types at other places of the code: ",
                                  counted(events.size(), "event")),
                              "a recipe's probe is one event");
        for (const PlannedEvent::Place& one : events.front().places)
            found.push_back(
                cat(one.text, one.arguments.empty() ? "" : " ", join(one.arguments, " ")));
        return found;
    }
    const auto places = find_places(top_, text, definition, place, notes);
    if (places.size() > 1)
        throw SourceError(text, definition.place_at,
                          cat(places.size(), " functions match: each is an event of its own"),
                          "a recipe's probe is one event");
    // Behind the place as the kernel takes it the fields are as they are written.
    return {places.front().text + text.text.substr(definition.place_at.end)};
}

}  // namespace gpufs
