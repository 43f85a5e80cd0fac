#include "engine/monitor/probe_finders.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/suggest.h"
#include "base/text.h"
#include "kernel/elf/probe_offsets.h"
#include "kernel/host/kernel_version.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

template <class T>
using Found = std::variant<T, Absent>;

// "name+0x10": the name, and the number behind it; "name" has 0.
struct Function {
    std::string name;
    std::uint64_t offset = 0;
};
Found<Function> split_offset(const std::string& function) {
    const auto plus = function.rfind('+');
    if (plus == std::string::npos) return Function{function, 0};
    std::string_view digits = std::string_view(function).substr(plus + 1);
    const bool is_hex = digits.starts_with("0x");
    if (is_hex) digits.remove_prefix(2);
    std::uint64_t offset = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), offset, is_hex ? 16 : 10);
    if (error != std::errc() || end != digits.data() + digits.size())
        return Absent{cat("'", function, "' has no number behind its '+'"), ""};
    return Function{function.substr(0, plus), offset};
}

// Notes what the program says of using this event. Is it to be left alone here? What was recorded
// harms nobody any more.
bool is_to_avoid(const SiteSearch& search, const ProbeSite& site, const std::string& event) {
    bool avoids = false;
    for (const Caution& caution : search.program.cautions) {
        if (caution.event != event) continue;
        if (!caution.program.empty() && caution.program != site.program->name) continue;
        const bool has_release = !caution.release.empty();
        if (has_release && search.machine.is_recording()) continue;
        if (has_release && !glob_match(caution.release, running_release())) continue;
        if (std::ranges::count(search.found.cautions, caution.text) == 0)
            search.found.cautions.push_back(caution.text);
        avoids = avoids || has_release;
    }
    return avoids;
}

Found<std::vector<ElfFunction>> functions_in(const std::string& path, std::string_view pattern) {
    try {
        return find_functions(path, pattern);
    } catch (const Error& e) {  // why the file cannot be read is why the probe is not there
        return Absent{e.what(), e.hint()};
    }
}

std::string near_function(const std::string& path, std::string_view name) {
    std::vector<std::string> names;
    Found<std::vector<ElfFunction>> all = functions_in(path, "*");
    if (auto* functions = std::get_if<0>(&all))
        for (ElfFunction& one : *functions) names.push_back(std::move(one.name));
    if (names.empty()) return "it is stripped; install its debug symbols, or give 0xOFFSET";
    return did_you_mean(name, names);
}

// An event of kprobe_events or uprobe_events. The kernel attaches only kprobe programs to it, which
// get registers instead of its record (perf_event_set_bpf_prog() in kernel/events/core.c).
bool is_dynamic_probe(const EventFormat& event) {
    return event.find("__probe_ip") || event.find("__probe_ret_ip");
}

Absent no_program_at(const std::string& event) {
    return {cat("'", event, "' is a dynamic probe: programs cannot read its record"),
            cat("kprobe:FUNCTION or uprobe:PATH:FUNCTION is the place itself; 'gpufs record -e ",
                event, "' records it")};
}

}  // namespace

FoundSites find_event_sites(const SiteSearch& search, ProbeSite site) {
    KernelFacts& machine = search.machine;
    const std::string& name = site.target->name;
    if (!site.target->has_glob) {
        site.event = machine.events().find_format(name);
        if (!site.event)
            return Absent{cat(machine.described(), " has no event '", name, "'"),
                          machine.events().hint(name)};
        if (!machine.is_recording() && is_dynamic_probe(*site.event)) return no_program_at(name);
        if (is_to_avoid(search, site, name))
            return Absent{cat("'", name, "' is to be left alone on ", running_release()), ""};
        return std::vector{std::move(site)};
    }
    std::vector<ProbeSite> sites;
    for (const std::string& one : machine.events().names(name)) {
        site.event = machine.events().find_format(one);
        const bool is_unfit =
            site.event && !machine.is_recording() && is_dynamic_probe(*site.event);
        if (site.event && !is_unfit && !is_to_avoid(search, site, one)) sites.push_back(site);
    }
    if (sites.empty())
        return Absent{cat("no event of ", machine.described(), " matches '", name, "'"),
                      machine.events().hint(name)};
    return sites;
}

FoundSites find_function_sites(const SiteSearch& search, ProbeSite site) {
    KernelFacts& machine = search.machine;
    const ProbeTarget& target = *site.target;
    const ProbeKind& kind = probe_kind(target.kind);
    if (target.has_glob) {
        if (!kind.has_registers)
            return Absent{cat(kind.name, " takes one function, no pattern"),
                          "kprobe takes patterns"};
        site.functions = machine.functions(target.name);
        if (site.functions.empty())
            return Absent{cat("no function of this kernel matches '", target.name, "'"), ""};
        if (const std::size_t several = machine.count_namesakes(site.functions); several > 0)
            search.found.notes.push_back(cat(site.program->name, ": ", several,
                                             " of the functions have namesakes, which the kernel "
                                             "does not tell apart: one of each is probed"));
        return std::vector{std::move(site)};
    }
    Found<Function> split = split_offset(target.name);
    if (const Absent* why = std::get_if<Absent>(&split)) return *why;
    const Function& function = std::get<0>(split);
    if (function.offset != 0 && kind.at_return)
        return Absent{"a probe at a return takes no offset", ""};
    const std::string bare = function.name.substr(function.name.find(':') + 1);
    if (search.has_other_way && machine.functions(bare).empty())
        return Absent{cat("this kernel has no function '", bare, "'"), ""};
    site.function_offset = function.offset;
    site.functions = {function.name};
    return std::vector{std::move(site)};
}

FoundSites find_file_sites(const SiteSearch&, ProbeSite site) {
    const ProbeTarget& target = *site.target;
    const auto colon = target.name.rfind(':');
    const Found<std::string> program = find_code_file(target.name.substr(0, colon));
    if (const Absent* why = std::get_if<Absent>(&program)) return *why;
    UprobePlace place;
    place.path = std::get<0>(program);
    place.at_return = probe_kind(target.kind).at_return;
    std::string name = target.name.substr(colon + 1);
    const bool is_number = name.starts_with("0x");
    Found<Function> split = split_offset(is_number ? cat("+", name) : name);
    if (const Absent* why = std::get_if<Absent>(&split)) return *why;
    const Function& function = std::get<0>(split);
    if (is_number) {
        place.offset = function.offset;
        site.places = {place};
        return std::vector{std::move(site)};
    }
    const Found<std::vector<ElfFunction>> functions = functions_in(place.path, function.name);
    if (const Absent* why = std::get_if<Absent>(&functions)) return *why;
    for (const ElfFunction& one : std::get<0>(functions)) {
        if (one.is_indirect && target.has_glob) continue;
        place.offset = one.offset + function.offset;
        const auto same = std::ranges::find(site.places, place.offset, &UprobePlace::offset);
        if (same == site.places.end()) {
            site.places.push_back(place);
            site.functions.push_back(one.name);
            continue;
        }
        // Of the names of one place the public one.
        std::string& name_there =
            site.functions[static_cast<std::size_t>(same - site.places.begin())];
        if (name_there.starts_with('_') && !one.name.starts_with('_')) name_there = one.name;
    }
    if (site.places.empty())
        return Absent{cat("'", place.path, "' has no function '", function.name, "'"),
                      near_function(place.path, function.name)};
    return std::vector{std::move(site)};
}

FoundSites find_static_sites(const SiteSearch&, ProbeSite site) {
    const std::string& name = site.target->name;
    const auto last = name.rfind(':');
    const auto middle = name.rfind(':', last - 1);
    const Found<std::string> program = find_code_file(name.substr(0, middle));
    if (const Absent* why = std::get_if<Absent>(&program)) return *why;
    const std::string& path = std::get<0>(program);
    const std::string provider = name.substr(middle + 1, last - middle - 1);
    std::vector<UsdtProbe> probes;
    try {
        probes = find_usdt_probes(path, provider, name.substr(last + 1));
    } catch (const Error& e) {  // why the file cannot be read is why the probe is not there
        return Absent{e.what(), e.hint()};
    }
    for (const UsdtProbe& one : probes)
        site.places.push_back({path, one.offset, one.semaphore_offset, -1, false});
    if (probes.empty())
        return Absent{cat("'", path, "' has no static probe '", name.substr(middle + 1), "'"),
                      "'readelf -n' lists its notes of type stapsdt"};
    return std::vector{std::move(site)};
}

std::variant<std::vector<std::string>, Absent> find_functions_of(const ProbeTarget& target,
                                                                 KernelFacts& machine) {
    const Program none;
    ProbeSites notes;
    const SiteSearch search{none, machine, false, notes};
    ProbeProgram program;
    ProbeSite site;
    site.program = &program;
    site.target = &target;
    FoundSites found = probe_kind(target.kind).place == ProbeKind::Place::file
                           ? find_file_sites(search, std::move(site))
                           : find_function_sites(search, std::move(site));
    if (Absent* why = std::get_if<Absent>(&found)) return std::move(*why);
    return std::get<0>(found).front().functions;
}

}  // namespace gpufs
