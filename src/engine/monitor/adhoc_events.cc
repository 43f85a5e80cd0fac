#include "engine/monitor/adhoc_events.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/text.h"
#include "engine/monitor/result_type.h"
#include "engine/places/finders.h"
#include "engine/places/static_sites.h"
#include "engine/trace/events.h"
#include "lang/adhoc/fetched.h"
#include "lang/adhoc/words.h"
#include "lang/asm/probe_word.h"
#include "lang/program/function_cookie.h"
#include "lang/program/function_fields.h"
#include "lang/program/probe_kinds.h"
#include "lang/symbols/function_name.h"

namespace gpufs {
namespace {

// A probe without a format: "kprobe", "vfs_read".
AdhocEvent event_of(ProbeTarget target, const AdhocWord& word) {
    AdhocEvent event;
    const std::size_t colon = word.text.find(':');
    event.format.system = word.text.substr(0, colon);
    event.format.name = word.text.substr(colon + 1);
    event.format.fields = function_fields(target.kind);
    event.target = std::move(target);
    return event;
}

AdhocEvent other_event(ProbeTarget target, const AdhocWord& word, KernelFacts& machine) {
    AdhocEvent event = event_of(std::move(target), word);
    if (event.target.kind == ProbeTarget::Kind::usdt)
        add_static_fields(event, find_static_arguments(event.target, machine));
    return event;
}

// One event; or, of a pattern whose probes are to be told apart, one each.
void add_static_probes(ProbeTarget target, AdhocWord word, KernelFacts& machine,
                       const AdhocLookup& lookup, std::vector<AdhocEvent>& into) {
    std::vector<std::string> names;
    if (lookup.tells_probes) names = find_static_probes(target, machine);
    if (names.size() < 2) return into.push_back(other_event(std::move(target), word, machine));
    for (std::string& name : names) {
        word.text = cat(probe_kind(target.kind).name, ':', name);
        target.name = std::move(name);
        into.push_back(other_event(target, word, machine));
        into.back().from_pattern = true;
    }
}

ProbeTarget::Kind kind_of(const ProbeLine& place) {
    using Kind = ProbeTarget::Kind;
    const bool is_return = place.letter == 'r';
    if (place.place.starts_with('/')) return is_return ? Kind::uretprobe : Kind::uprobe;
    return is_return ? Kind::kretprobe : Kind::kprobe;
}

// The arguments of a probe as its line has them; none where gpufs does not understand them.
std::vector<ProbeArgument> arguments_of(const ProbeLine& place) {
    const SourceText source{"probe", place.arguments};
    std::vector<Span> words;
    for (std::size_t at = 0; at < source.text.size();) {
        const std::size_t end = std::min(source.text.find(' ', at), source.text.size());
        words.push_back({at, end});
        at = end + 1;
    }
    try {
        return parse_probe_arguments(source, words,
                                     {place.place.starts_with('/'), place.letter == 'r', false});
    } catch (const SourceError&) {
        return {};
    }
}

// An event, or of a dynamic probe, whose record no program can read, its places in code.
void add_event(AdhocEvent event, KernelFacts& machine, std::vector<AdhocEvent>& into) {
    const auto places = machine.places_of_dynamic_event(event.target.name);
    const bool is_in_code = std::ranges::all_of(
        places, [](const ProbeLine& place) { return place.letter == 'p' || place.letter == 'r'; });
    if (places.empty() || !is_in_code) return into.push_back(std::move(event));
    for (const ProbeLine& place : places) {
        AdhocEvent at = event;
        at.target.kind = kind_of(place);
        at.target.name = place.place;
        at.is_record = false;
        at.format.fields.clear();
        add_fetched_fields(at, arguments_of(place));
        into.push_back(std::move(at));
    }
}

void add_tracepoints(const ProbeTarget& target, const SourceText& source, KernelFacts& machine,
                     Diagnostics& mistakes, std::vector<AdhocEvent>& into) {
    const std::vector<std::string> names =
        target.has_glob ? machine.events().names(target.name) : std::vector{target.name};
    const std::size_t before = into.size();
    for (const std::string& name : names) {
        const EventFormat* format = machine.events().find_format(name);
        if (!format) continue;
        AdhocEvent event{target, *format, true, target.has_glob, {}, {}};
        event.target.name = name;
        event.target.has_glob = false;
        add_event(std::move(event), machine, into);
    }
    if (into.size() == before)
        mistakes.error(
            source, target.at.span,
            target.has_glob
                ? cat("no event of ", machine.described(), " matches '", target.name, "'")
                : cat(machine.described(), " has no event '", target.name, "'"),
            machine.events().hint(target.name));
}

std::pair<std::int64_t, std::string> word_for(const std::string& function) {
    return {static_cast<std::int64_t>(function_cookie(function)), function};
}

// Gives the functions of the events their readable names; those that share one, with parameters.
void name_functions(std::vector<AdhocEvent>& events) {
    std::map<std::string, std::set<std::int64_t>> with_name;
    for (const AdhocEvent& event : events)
        for (const auto& [cookie, symbol] : event.functions)
            with_name[function_name(symbol)].insert(cookie);
    for (AdhocEvent& event : events)
        for (auto& [cookie, word] : event.functions) {
            std::string name = function_name(word);
            word = with_name[name].size() > 1 ? function_signature(word) : std::move(name);
        }
}

// One event; or, of the functions of a pattern where the kernel has no cookies, one each.
void add_function(AdhocEvent event, const SourceText& source, KernelFacts& machine,
                  Diagnostics& mistakes, AdhocLookup& lookup, std::vector<AdhocEvent>& into) {
    const std::string name = event.target.name;
    const std::size_t file_end = name_begin(event.target);
    if (!event.target.has_glob) {
        event.functions = {word_for(name.substr(file_end))};
        const bool asks_for_result =
            probe_kind(event.target.kind).at_return &&
            std::ranges::count(lookup.names, kResultField, &AskedName::text) > 0;
        if (asks_for_result && !machine.is_recording()) type_result(event, machine);
        if (!probe_kind(event.target.kind).is_in_file() || machine.is_recording())
            into.push_back(std::move(event));
        else
            std::ranges::move(find_variables(std::move(event), source, lookup),
                              std::back_inserter(into));
        return;
    }
    if (!lookup.tells_functions) {
        into.push_back(std::move(event));
        return;
    }
    const auto found = find_functions_of(event.target, machine);
    if (const Absent* why = std::get_if<Absent>(&found)) {
        mistakes.error(source, event.target.at.span, why->why, why->hint);
        return;
    }
    const auto& functions = std::get<0>(found);
    if (machine.features().has(BpfFeature::perf_link)) {
        event.target.has_cookies = true;
        for (const std::string& function : functions) event.functions.push_back(word_for(function));
        into.push_back(std::move(event));
        return;
    }
    event.target.has_glob = false;
    for (const std::string& function : functions) {
        event.target.name = cat(std::string_view(name).substr(0, file_end), function);
        event.functions = {word_for(function)};
        into.push_back(event);
    }
}

// The parts of a word between its commas; a word that names a file, in which commas may be, stays
// whole.
std::vector<AdhocWord> split_at_commas(const SourceText& source, const AdhocWord& word) {
    const bool is_file = std::ranges::any_of(kProbeKinds, [&](const ProbeKind& kind) {
        return kind.is_in_file() && word.text.starts_with(cat(kind.name, ':'));
    });
    if (is_file) return {word};
    std::vector<AdhocWord> pieces = pieces_of(source, word.at.source, word.at.span, ",");
    return pieces.empty() ? std::vector{word} : pieces;
}

// Without a system, as -e takes it: an event's name, a whole system, or a pattern of either.
bool is_short(const AdhocWord& word) {
    return word.text.find(':') == std::string::npos &&
           std::ranges::find(kProbeKinds, word.text, &ProbeKind::name) == std::end(kProbeKinds);
}

void add_short(const AdhocWord& word, const SourceText& source, KernelFacts& machine,
               Diagnostics& mistakes, std::vector<AdhocEvent>& into) {
    std::vector<std::string> names;
    try {
        names = machine.events().match({word.text});
    } catch (const UsageError& e) {
        return mistakes.error(source, word.at.span, e.what(), e.hint());
    }
    const bool is_name = names.front().ends_with(cat(':', word.text));
    if (is_name && names.size() > 1)
        return mistakes.error(source, word.at.span,
                              cat("several systems have an event '", word.text, "'"),
                              cat("write ", join(names, " or ")));
    for (const std::string& name : names) {
        ProbeTarget target;
        target.name = name;
        target.at = word.at;
        if (const EventFormat* format = machine.events().find_format(name))
            add_event({std::move(target), *format, true, !is_name, {}, {}}, machine, into);
    }
}

// Several words may name one event or function, or a pattern have it: each hit counts once.
void drop_repeated(std::vector<AdhocEvent>& events) {
    using What =
        std::tuple<ProbeTarget::Kind, std::string, std::uint64_t, bool, std::optional<std::size_t>>;
    std::map<What, std::size_t> places;
    std::vector<AdhocEvent> kept;
    for (AdhocEvent& event : events) {
        const ProbeTarget& target = event.target;
        const auto [it, is_new] = places.try_emplace(
            {target.kind, target.name, target.period, target.is_frequency, target.place},
            kept.size());
        if (is_new)
            kept.push_back(std::move(event));
        else if (!event.from_pattern)
            kept[it->second] = std::move(event);
    }
    const auto is_in_pattern = [&](const AdhocEvent& event) {
        const ProbeTarget& one = event.target;
        return !one.has_glob && std::ranges::any_of(kept, [&](const AdhocEvent& other) {
            const ProbeTarget& pattern = other.target;
            return pattern.has_glob && pattern.kind == one.kind &&
                   glob_match(pattern.name, one.name);
        });
    };
    events.clear();
    std::ranges::copy_if(kept, std::back_inserter(events), std::not_fn(is_in_pattern));
}

}  // namespace

std::vector<AdhocEvent> find_adhoc_events(const SourceText& source,
                                          std::span<const AdhocWord> words, KernelFacts& machine,
                                          Diagnostics& mistakes, AdhocLookup& lookup) {
    std::vector<AdhocEvent> events;
    std::vector<AdhocWord> pieces;
    for (const AdhocWord& word : words)
        std::ranges::copy(split_at_commas(source, word), std::back_inserter(pieces));
    for (AdhocWord& word : pieces) {
        const std::size_t kind_end = word.text.size() - without_tracepoint(word.text).size();
        word.text.erase(0, kind_end);
        word.at.span.begin += kind_end;
        if (is_short(word)) {
            add_short(word, source, machine, mistakes, events);
            continue;
        }
        try {
            ProbeTarget target = parse_probe_word(source, word.at.source, word.at.span);
            if (target.kind == ProbeTarget::Kind::tracepoint)
                add_tracepoints(target, source, machine, mistakes, events);
            else if (probe_kind(target.kind).is_at_function())
                add_function(event_of(std::move(target), word), source, machine, mistakes, lookup,
                             events);
            else if (target.kind == ProbeTarget::Kind::usdt)
                add_static_probes(std::move(target), word, machine, lookup, events);
            else
                events.push_back(other_event(std::move(target), word, machine));
        } catch (const SourceError& e) {
            mistakes.error(source, e);
        }
    }
    drop_repeated(events);
    name_functions(events);
    return events;
}

}  // namespace gpufs
