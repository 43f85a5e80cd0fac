#include "engine/places/static_sites.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/cat.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/suggest.h"
#include "base/text.h"
#include "kernel/elf/elf_symbols.h"
#include "lang/program/registers.h"

namespace gpufs {
namespace {

// The code and the variables of a file move together, so from the place to the variable it is as
// far in each process as in the file.
void find_variable(const std::string& path, const UsdtProbe& probe, StaticArgument& argument) {
    const auto distance = distance_to_symbol(path, probe.address, argument.symbol);
    const auto here = register_offset("ip");
    if (!distance || !here) return;
    argument.kind = StaticArgument::Kind::in_memory;
    argument.base = here;
    argument.number += *distance;
    argument.symbol.clear();
}

StaticPlace place_of(const std::string& path, UsdtProbe probe) {
    StaticPlace made{std::move(probe), {}};
    made.arguments = parse_static_arguments(made.probe.arguments);
    for (StaticArgument& argument : made.arguments)
        if (!argument.symbol.empty()) find_variable(path, made.probe, argument);
    return made;
}

// Does its code depend on where they are, or on how many there are?
bool depends_on_arguments(const ProbeProgram& program) {
    return std::ranges::any_of(program.code, [](const CodeItem& item) {
        return item.kind == CodeItem::Kind::load_field || item.guard != 0;
    });
}

bool are_alike(const std::vector<StaticArgument>& a, const std::vector<StaticArgument>& b) {
    return std::ranges::equal(a, b, [](StaticArgument one, const StaticArgument& other) {
        one.text = other.text;
        return one == other;
    });
}

// "PATH:PROVIDER:NAME"
struct StaticName {
    std::string file, provider, name;

    explicit StaticName(const ProbeTarget& target) : file(file_of(target)) {
        const std::string_view rest = std::string_view(target.name).substr(file.size() + 1);
        const auto colon = rest.find(':');
        provider = rest.substr(0, colon);
        name = rest.substr(colon + 1);
    }
};

using FoundPlaces = std::variant<std::vector<StaticPlace>, Absent>;
FoundPlaces places_in(const std::string& path, const StaticName& named) {
    try {
        return find_static_places(path, named.provider, named.name);
    } catch (const Error& e) {  // why the file cannot be read is why the probe is not there
        return Absent{e.what(), e.hint()};
    }
}

std::string near_static_probe(const std::string& path, const StaticName& named) {
    std::vector<std::string> known;
    for (const UsdtProbe& one : find_usdt_probes(path, "*", "*"))
        known.push_back(named.provider == "*" ? one.name : cat(one.provider, ':', one.name));
    return did_you_mean(named.provider == "*" ? named.name : cat(named.provider, ':', named.name),
                        known);
}

// The sites in one file.
FoundSites sites_in(const std::string& path, const StaticName& named, const ProbeSite& site) {
    FoundPlaces places = places_in(path, named);
    if (Absent* why = std::get_if<Absent>(&places)) return std::move(*why);
    const std::vector<StaticPlace>& found = std::get<0>(places);
    std::vector<ProbeSite> sites;
    const bool are_read = depends_on_arguments(*site.program);
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (site.target->place && *site.target->place != i) continue;
        auto known = std::ranges::find_if(sites, [&](const ProbeSite& other) {
            return !are_read || are_alike(other.static_arguments, found[i].arguments);
        });
        if (known == sites.end()) {
            known = sites.insert(known, site);
            known->static_arguments = found[i].arguments;
        }
        known->places.push_back(
            {path, found[i].probe.offset, found[i].probe.semaphore_offset, false});
    }
    if (!sites.empty()) return sites;
    const std::string near = near_static_probe(path, named);
    return Absent{
        cat("'", path, "' has no static probe '", named.provider, ':', named.name, "'"),
        near.empty() ? cat("'gpufs probe usdt ", path, "' lists those that it has") : near};
}

// In all of its files.
std::vector<StaticPlace> all_places(const StaticName& named, KernelFacts& machine) {
    std::vector<StaticPlace> all;
    if (machine.is_recording()) return all;
    const Program none;
    ProbeSites notes;
    LibraryFiles libraries;
    const auto files = find_files({none, machine, false, notes, libraries}, named.file);
    if (files.index() != 0) return all;
    for (const std::string& path : std::get<0>(files)) {
        FoundPlaces found = places_in(path, named);
        if (auto* places = std::get_if<0>(&found))
            std::ranges::move(*places, std::back_inserter(all));
    }
    return all;
}

}  // namespace

std::vector<StaticPlace> find_static_places(const std::string& path, std::string_view provider,
                                            std::string_view name) {
    const std::vector<std::string> providers = expand_braces(provider);
    const std::vector<std::string> names = expand_braces(static_probe_name(name));
    const auto matches = [](const std::vector<std::string>& patterns, std::string_view text) {
        return std::ranges::any_of(
            patterns, [&](const std::string& pattern) { return glob_match(pattern, text); });
    };
    std::vector<StaticPlace> places;
    for (UsdtProbe& one : find_usdt_probes(path, "*", "*"))
        if (matches(providers, one.provider) && matches(names, one.name))
            places.push_back(place_of(path, std::move(one)));
    return places;
}

std::vector<std::vector<StaticArgument>> find_static_arguments(const ProbeTarget& target,
                                                               KernelFacts& machine) {
    std::vector<std::vector<StaticArgument>> all;
    for (StaticPlace& place : all_places(StaticName(target), machine))
        all.push_back(std::move(place.arguments));
    return all;
}

std::vector<std::string> find_static_probes(const ProbeTarget& target, KernelFacts& machine) {
    const StaticName named(target);
    std::vector<std::string> names;
    for (const StaticPlace& place : all_places(named, machine))
        names.push_back(cat(named.file, ':', place.probe.provider, ':', place.probe.name));
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the type of ProbeProvider::find
FoundSites find_static_sites(const SiteSearch& search, ProbeSite site) {
    const StaticName named(*site.target);
    std::variant<std::vector<std::string>, Absent> files = find_files(search, named.file);
    if (Absent* why = std::get_if<Absent>(&files)) return std::move(*why);
    std::vector<ProbeSite> sites;
    std::optional<Absent> absent;
    for (const std::string& path : std::get<0>(files)) {
        FoundSites some = sites_in(path, named, site);
        if (Absent* why = std::get_if<Absent>(&some))
            absent = std::move(*why);
        else
            std::ranges::move(std::get<0>(some), std::back_inserter(sites));
    }
    if (sites.empty()) return *absent;
    return sites;
}

}  // namespace gpufs
