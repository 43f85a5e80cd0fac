#include "engine/probe/static_events.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/suggest.h"
#include "base/text.h"
#include "engine/probe/found_place.h"
#include "kernel/elf/usdt_notes.h"
#include "lang/probe/argument.h"
#include "lang/probe/field_type.h"
#include "lang/program/registers.h"
#include "lang/program/static_argument.h"

namespace gpufs {
namespace {

std::string type_of(const StaticArgument& argument) {
    return cat(argument.is_signed ? 's' : 'u', argument.bytes * 8);
}

// What tracefs reads for an argument of a note, at this offset of the file; absent where it cannot.
std::optional<std::string> fetch_of(const StaticArgument& argument, const std::string& file,
                                    std::uint64_t offset) {
    using Kind = StaticArgument::Kind;
    const auto base = argument.base ? tracefs_register(*argument.base) : std::nullopt;
    switch (argument.kind) {
        case Kind::constant:
            return cat('\\', argument.number);
        case Kind::in_register:
            return base ? std::optional(cat('%', *base)) : std::nullopt;
        case Kind::in_memory:
            if (!base || argument.index) return std::nullopt;
            return cat(with_sign(argument.number), "(%", *base, ')');
        case Kind::unknown:
            break;
    }
    if (argument.symbol.empty()) return std::nullopt;
    return variable_fetch(file, offset, argument.symbol, argument.number);
}

class StaticEventFinder {
public:
    StaticEventFinder(const SourceText& source, const ProbeDefinition& definition,
                      const ProbePlace& place, std::vector<std::string>& notes)
        : source_(source),
          definition_(definition),
          place_(place),
          notes_(notes),
          file_(require_kernel_path(source, definition.place_at, place.file)) {}

    std::vector<PlannedEvent> find() {
        const std::vector<UsdtProbe> found = sites();
        std::map<std::string, std::vector<const UsdtProbe*>> by_name;
        std::set<std::string> providers;
        for (const UsdtProbe& site : found) {
            by_name[site.name].push_back(&site);
            providers.insert(site.provider);
        }
        if (providers.size() > 1)
            fail(cat("several providers match '", place_.provider, "'"),
                 cat("choose one: ", join({providers.begin(), providers.end()}, ", ")));
        std::vector<PlannedEvent> events;
        for (const auto& [name, its_sites] : by_name)
            std::ranges::move(events_of(name, its_sites), std::back_inserter(events));
        return events;
    }

private:
    std::vector<UsdtProbe> sites() {
        const std::string name = static_probe_name(place_.name);
        try {
            std::vector<UsdtProbe> found = find_usdt_probes(file_, place_.provider, name);
            if (!found.empty()) return found;
            std::set<std::string> known;
            for (const UsdtProbe& one : find_usdt_probes(file_, "*", "*")) known.insert(one.name);
            const std::vector<std::string> names(known.begin(), known.end());
            const std::string near = did_you_mean(name, names);
            fail(names.empty() ? cat("'", file_, "' has no static probes")
                               : cat("'", file_, "' has no static probe '", place_.provider, ':',
                                     place_.name, "'"),
                 !near.empty() || names.empty() ? near
                                                : cat("'gpufs probe usdt ", file_, "' lists them"));
        } catch (const SourceError&) {
            throw;
        } catch (const Error& e) {
            fail(e.what(), e.hint());
        }
    }

    // One, or more where the sites' arguments have different types.
    std::vector<PlannedEvent> events_of(const std::string& name,
                                        const std::vector<const UsdtProbe*>& sites) {
        std::vector<PlannedEvent> events;
        std::vector<std::string> forms;  // of each
        for (const UsdtProbe* site : sites) {
            const std::string counter =
                site->semaphore_offset ? cat('(', hex(site->semaphore_offset), ')') : "";
            PlannedEvent::Place place{kernel_place_text(file_, site->offset) + counter, {}};
            std::vector<Span> spans;
            std::string form;
            for (auto& [text, at] : arguments_of(*site)) {
                const ArgumentParts parts = split_argument(text);
                form += cat(parts.name, ':', parts.type, ' ');
                place.arguments.push_back(std::move(text));
                spans.push_back(at);
            }
            auto known = std::ranges::find(forms, form);
            if (known == forms.end()) {
                const std::string number = forms.empty() ? "" : cat('_', forms.size() + 1);
                forms.push_back(form);
                known = std::prev(forms.end());
                events.push_back({event_name_for(name, false) + number, {}, std::move(spans)});
            }
            events[static_cast<std::size_t>(known - forms.begin())].places.push_back(
                std::move(place));
        }
        return events;
    }

    using PlacedArgument = std::pair<std::string, Span>;

    std::vector<PlacedArgument> arguments_of(const UsdtProbe& site) {
        const std::vector<StaticArgument> known = parse_static_arguments(site.arguments);
        std::vector<PlacedArgument> made;
        for (const Span at : definition_.arguments) made.emplace_back(written(site, known, at), at);
        if (!made.empty()) return made;
        for (std::size_t i = 0; i < known.size(); ++i) {
            if (const auto fetch = fetch_of(known[i], file_, site.offset))
                made.emplace_back(cat("arg", i, '=', *fetch, ':', type_of(known[i])),
                                  definition_.place_at);
            else
                note(cat(site.provider, ':', site.name, ": arg", i,
                         " is left out: tracefs cannot read '", known[i].text, "'"));
        }
        return made;
    }

    // What the user wrote, with the fetch of the note in the place of argN.
    std::string written(const UsdtProbe& site, const std::vector<StaticArgument>& known, Span at) {
        const std::string_view text =
            std::string_view(source_.text).substr(at.begin, at.end - at.begin);
        const ArgumentParts parts = split_argument(text);
        const auto open = parts.fetch.rfind('(');
        const std::size_t begin = open == parts.fetch.npos ? 0 : open + 1;
        const auto end = std::min(parts.fetch.find(')', begin), parts.fetch.size());
        const auto number = static_argument_number(parts.fetch.substr(begin, end - begin));
        if (!number) return std::string(text);
        if (*number >= known.size())
            throw SourceError(source_, at,
                              cat("'", site.provider, ':', site.name, "' has ",
                                  counted(known.size(), "argument"), ": there is no arg", *number),
                              known.empty() ? "" : cat("they are arg0 to arg", known.size() - 1));
        const StaticArgument& argument = known[*number];
        const auto fetch = fetch_of(argument, file_, site.offset);
        if (!fetch)
            throw SourceError(
                source_, at,
                cat("tracefs cannot read arg", *number, ", which is '", argument.text, "'"),
                cat("'gpufs bt' can: usdt:", file_, ':', site.provider, ':', site.name));
        std::string whole = cat(parts.fetch.substr(0, begin), *fetch, parts.fetch.substr(end));
        if (begin == 0 && is_text_type(parts.type)) whole = cat("+0(", whole, ')');
        const std::string type = parts.type.empty() ? type_of(argument) : std::string(parts.type);
        const std::string name = parts.name.empty() ? cat("arg", *number) : std::string(parts.name);
        return cat(name, '=', whole, ':', type);
    }

    void note(std::string text) {
        if (std::ranges::count(notes_, text) == 0) notes_.push_back(std::move(text));
    }
    [[noreturn]] void fail(std::string_view message, std::string_view hint) const {
        throw SourceError(source_, definition_.place_at, message, hint);
    }

    const SourceText& source_;
    const ProbeDefinition& definition_;
    const ProbePlace& place_;
    std::vector<std::string>& notes_;
    std::string file_;
};

}  // namespace

std::vector<PlannedEvent> find_static_events(const SourceText& source,
                                             const ProbeDefinition& definition,
                                             const ProbePlace& place,
                                             std::vector<std::string>& notes) {
    return StaticEventFinder(source, definition, place, notes).find();
}

std::vector<ListedStaticProbe> list_static_probes(const std::string& file) {
    std::vector<ListedStaticProbe> probes;
    for (const UsdtProbe& site : find_usdt_probes(file, "*", "*")) {
        auto known = std::ranges::find_if(probes, [&](const ListedStaticProbe& one) {
            return one.provider == site.provider && one.name == site.name;
        });
        if (known != probes.end()) {
            ++known->places;
            continue;
        }
        ListedStaticProbe made{file, site.provider, site.name, 1, site.semaphore_offset != 0, {}};
        for (const StaticArgument& argument : parse_static_arguments(site.arguments))
            made.arguments.push_back({type_of(argument), argument.text,
                                      fetch_of(argument, file, site.offset).has_value()});
        probes.push_back(std::move(made));
    }
    return probes;
}

}  // namespace gpufs
