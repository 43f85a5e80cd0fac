#include "engine/places/finders.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/glob.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "base/text.h"
#include "engine/places/code_sites.h"
#include "engine/probe/code_spots.h"
#include "engine/symbols/breakpoints.h"
#include "engine/symbols/named_functions.h"
#include "kernel/elf/elf_symbols.h"
#include "kernel/host/kernel_version.h"
#include "lang/program/probe_kinds.h"
#include "lang/symbols/kernel_functions.h"

namespace gpufs {
namespace {

template <class T>
using Found = std::variant<T, Absent>;

// Behind a function's name: in all its versions.
constexpr std::string_view kAllVersions = "@*";

// "name+0x10": the name, and the number behind it; "name" has 0.
struct Function {
    std::string name;
    std::uint64_t offset = 0;
};
Found<Function> split_offset(const std::string& function) {
    const auto plus = function.rfind('+');
    const std::string_view name = std::string_view(function).substr(0, plus);
    const bool is_operator = name.ends_with("operator") || name.ends_with("operator+");
    if (plus == std::string::npos || is_operator) return Function{function, 0};
    std::string_view digits = std::string_view(function).substr(plus + 1);
    const bool is_hex = digits.starts_with("0x");
    if (is_hex) digits.remove_prefix(2);
    const auto offset = whole_number<std::uint64_t>(digits, is_hex ? 16 : 10);
    if (!offset) return Absent{cat("'", function, "' has no number behind its '+'"), ""};
    return Function{function.substr(0, plus), *offset};
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

Found<std::vector<ElfFunction>> functions_in(const std::string& path, const std::string& name) {
    try {
        return find_functions_named(path, name);
    } catch (const Error& e) {  // why the file cannot be read is why the probe is not there
        return Absent{e.what(), e.hint()};
    }
}

// What a compiler made of a function of which there is no whole one.
std::vector<std::string> copies_of(const std::string& function, KernelFacts& machine) {
    std::vector<std::string> copies = machine.functions(function + ".*");
    std::erase_if(copies,
                  [&](const std::string& name) { return without_copy_suffix(name) != function; });
    return copies;
}

std::string near_function(const std::string& path, const std::string& name) {
    std::optional<std::string> hint;
    try {
        hint = hint_for_function(path, name);
    } catch (const Error&) {  // nothing is said of it
    }
    return hint.value_or("it is stripped; install its debug symbols, or give 0xOFFSET");
}

bool takes(std::string_view& text, std::string_view end) {
    if (!text.ends_with(end)) return false;
    text.remove_suffix(end.size());
    return true;
}

// Is it NAME, NAME_v2, NAME_ptsz, NAME_v2_ptds, ...? CUDA and HIP name the versions of a function
// so, and those that mean the calling thread's own stream where none is given.
bool is_version_of(std::string_view function, std::string_view name) {
    std::string_view rest = function.substr(name.size());
    if (!takes(rest, "_ptsz") && !takes(rest, "_ptds")) takes(rest, "_spt");
    if (rest.empty()) return true;
    return rest.size() > 2 && rest.starts_with("_v") &&
           std::ranges::all_of(rest.substr(2), is_digit);
}

Absent no_program_at(const std::string& event) {
    return {cat("'", event, "' is a dynamic probe: programs cannot read its record"),
            cat("kprobe:FUNCTION or uprobe:PATH:FUNCTION is the place itself; 'gpufs record -e ",
                event, "' records it, 'gpufs count ", event, "' counts it")};
}

}  // namespace

FoundSites find_event_sites(const SiteSearch& search, ProbeSite site) {
    KernelFacts& machine = search.machine;
    const std::string& name = site.target->name;
    if (!site.target->has_glob) {
        site.event = machine.events().find_format(name);
        if (!site.event) return Absent{cat(machine.described(), " has no event '", name, "'"), ""};
        // The kernel attaches only kprobe programs to it, which get registers instead of its record
        // (perf_event_set_bpf_prog() in kernel/events/core.c).
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
        return Absent{cat("no event of ", machine.described(), " matches '", name, "'"), ""};
    return sites;
}

FoundSites find_sample_sites(const SiteSearch& search, ProbeSite site) {
    if (!search.machine.is_recording()) return std::vector{std::move(site)};
    std::string wanted = site.target->name;
    std::ranges::replace(wanted, '-', '_');
    constexpr std::string_view kTicks[] = {"cpu_clock", "task_clock", "cycles", "cpu_cycles"};
    bool is_tick = false;
    for (const std::string& one : search.machine.events().names("perf:*")) {
        const EventFormat* const event = search.machine.events().find_format(one);
        if (!event || !event->find("period")) continue;
        if (!wanted.empty() && event->name != wanted) continue;
        const bool is_better = std::ranges::any_of(
            kTicks, [&](std::string_view tick) { return event->name.starts_with(tick); });
        if (site.event && (is_tick || !is_better)) continue;
        site.event = event;
        is_tick = is_better;
    }
    if (site.event && !is_tick && wanted.empty())
        search.found.cautions.push_back(
            cat("the samples are those of '", site.event->full_name(), "', not of a clock"));
    if (site.event) return std::vector{std::move(site)};
    return Absent{wanted.empty()
                      ? "a recording has no profile"
                      : cat("this recording has no samples of '", site.target->name, "'"),
                  ""};
}

namespace {

// The kernel knows functions of one name by the first of them: not one of a module, if there are
// others.
void choose_namesakes(const SiteSearch& search, ProbeSite& site) {
    KernelFacts& machine = search.machine;
    const auto has_namesake = [&](const std::string& function) {
        return machine.has_namesake(function);
    };
    const auto several = std::ranges::count_if(site.functions, has_namesake);
    if (several == 0) return;
    const bool is_of_module = split_module(site.target->name).is_of_module();
    if (is_of_module) std::erase_if(site.functions, has_namesake);
    search.found.notes.push_back(
        cat(site.program->name, ": ", several,
            " of the functions have namesakes, which the kernel does not tell apart: ",
            is_of_module ? "they are left out" : "one of each is probed"));
}

}  // namespace

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
        choose_namesakes(search, site);
        if (site.functions.empty())
            return Absent{cat("the functions that match '", target.name, "' have namesakes"),
                          "MODULE:FUNCTION names one"};
        return std::vector{std::move(site)};
    }
    const ModuleFunction named = split_module(target.name);
    Found<Function> split =
        split_offset(named.is_of_kernel() ? std::string(named.function) : target.name);
    if (const Absent* why = std::get_if<Absent>(&split)) return *why;
    const Function& function = std::get<0>(split);
    if (function.offset != 0 && kind.at_return)
        return Absent{"a probe at a return takes no offset", ""};
    site.function_offset = function.offset;
    site.functions = {function.name};
    if (!search.has_other_way)
        return std::vector{std::move(site)};  // the kernel says what is wrong
    if (kind.has_registers && !machine.has_kprobes())
        return Absent{"this kernel has no kprobes", ""};
    const auto [module, bare] = split_module(function.name);
    if (!module.empty() && !machine.has_module(module))
        return Absent{cat("the module '", module, "' is not loaded"), ""};
    if (!machine.functions(bare).empty()) return std::vector{std::move(site)};
    std::vector<ProbeSite> sites;
    if (kind.has_registers)
        for (const std::string& copy : copies_of(std::string(bare), machine)) {
            site.functions = {module.empty() ? copy : cat(module, ':', copy)};
            sites.push_back(site);
        }
    if (sites.empty()) return Absent{cat("this kernel has no function '", bare, "'"), ""};
    return sites;
}

namespace {

// What a probe asks for of a file: a name, a pattern, `NAME@*`.
Found<std::vector<ElfFunction>> functions_named(const std::string& path, const std::string& name) {
    if (!name.ends_with(kAllVersions)) return functions_in(path, name);
    const std::string base = name.substr(0, name.size() - kAllVersions.size());
    Found<std::vector<ElfFunction>> found = functions_in(path, base + '*');
    if (auto* functions = std::get_if<0>(&found))
        std::erase_if(*functions,
                      [&](const ElfFunction& one) { return !is_version_of(one.name, base); });
    return found;
}

// The same, of alternatives in braces all that are there.
Found<std::vector<ElfFunction>> functions_asked_for(const std::string& path,
                                                    const std::string& names) {
    std::vector<ElfFunction> all;
    for (const std::string& name : expand_braces(names)) {
        Found<std::vector<ElfFunction>> some = functions_named(path, name);
        if (some.index() != 0) return some;
        std::ranges::move(std::get<0>(some), std::back_inserter(all));
    }
    return all;
}

// The places of a function, or of several, in a file.
std::optional<Absent> find_places(const Function& function, const std::string& path,
                                  bool has_other_way, ProbeSite& site) {
    UprobePlace place;
    place.path = path;
    place.at_return = probe_kind(site.target->kind).at_return;
    const Found<std::vector<ElfFunction>> functions = functions_asked_for(path, function.name);
    if (const Absent* why = std::get_if<Absent>(&functions)) return *why;
    for (const ElfFunction& one : std::get<0>(functions)) {
        if (one.is_indirect && site.target->has_glob) continue;
        if (auto why = why_no_breakpoint(path, one, function.offset)) return why;
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
    if (!site.places.empty()) return {};
    Absent absent{cat("'", path, "' has no function '", function.name, "'"), ""};
    if (has_other_way) return absent;
    absent.hint = inlined_hint(path, function.name);
    if (absent.hint.empty()) absent.hint = near_function(path, function.name);
    return absent;
}

// glibc 2.34 took these libraries into libc and left empty ones in their places.
constexpr std::string_view kTakenIntoLibc[] = {"libpthread", "libdl", "libutil", "librt", "libanl"};

}  // namespace

std::size_t name_begin(const ProbeTarget& target) {
    std::string_view text = target.name;
    if (const std::size_t line = line_begin(text); line != 0 && text.find(':') != line - 1)
        text = text.substr(0, line - 1);
    const std::size_t last = text.rfind(':');
    if (last == text.npos) return 0;
    if (target.kind == ProbeTarget::Kind::usdt) return text.rfind(':', last - 1) + 1;
    // Names of C++ have two colons.
    for (std::size_t at = last; at != text.npos && at > 0;) {
        if (text[at - 1] != ':') return at + 1;
        at = at < 2 ? text.npos : text.rfind(':', at - 2);
    }
    return last + 1;
}

std::string file_of(const ProbeTarget& target) {
    const std::size_t begin = name_begin(target);
    return target.name.substr(0, begin == 0 ? begin : begin - 1);
}

bool is_library_pattern(std::string_view file) {
    return is_glob(file) && file.find('/') == file.npos;
}

std::variant<std::vector<std::string>, Absent> find_files(const SiteSearch& search,
                                                          const std::string& file) {
    if (!is_library_pattern(file)) {
        if (!search.libraries.processes().empty())
            return find_code_files(file, search.libraries.processes());
        Found<std::string> one = find_code_file(file);
        if (Absent* why = std::get_if<Absent>(&one)) return std::move(*why);
        return std::vector{std::get<0>(std::move(one))};
    }
    std::vector<std::string> paths = search.libraries.find(file);
    std::ranges::move(search.libraries.take_unreadable(),
                      std::back_inserter(search.found.cautions));
    if (!paths.empty()) return paths;
    return Absent{file.starts_with('@')
                      ? cat("no process has a library '", file.substr(1), "' mapped")
                      : cat("no library '", file,
                            "' is where the dynamic loader looks, and no process has one mapped"),
                  ""};
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the type of ProbeProvider::find
FoundSites find_file_sites(const SiteSearch& search, ProbeSite site) {
    const ProbeTarget& target = *site.target;
    if (needs_debug_info(site)) return find_code_sites(search, site);
    const std::string file = file_of(target);
    const Found<std::vector<std::string>> files = find_files(search, file);
    if (const Absent* why = std::get_if<Absent>(&files)) return *why;
    std::optional<std::string> in_libc;
    if (std::ranges::count(kTakenIntoLibc, file) > 0)
        if (Found<std::string> libc = find_code_file("libc"); libc.index() == 0)
            in_libc = std::get<0>(std::move(libc));
    std::string name = target.name.substr(file.size() + 1);
    const bool is_number = name.starts_with("0x");
    std::uint64_t counter = 0;
    if (const auto open = name.find('('); is_number && open != name.npos) {
        // "0x1139(0x4010)", as tracefs has it: the semaphore of a static probe.
        Found<Function> after =
            split_offset(cat("+", name.substr(open + 1, name.rfind(')') - open - 1)));
        if (const Absent* why = std::get_if<Absent>(&after)) return *why;
        counter = std::get<0>(after).offset;
        name.resize(open);
    }
    Found<Function> split = split_offset(is_number ? cat("+", name) : name);
    if (const Absent* why = std::get_if<Absent>(&split)) return *why;
    const Function& function = std::get<0>(split);
    std::vector<ProbeSite> sites;
    std::optional<Absent> absent;
    for (const std::string& path : std::get<0>(files)) {
        ProbeSite in_file = site;
        if (is_number) {
            if (auto why = why_no_breakpoint_at(path, function.offset)) return *why;
            in_file.places = {{path, function.offset, counter, probe_kind(target.kind).at_return}};
        } else if (auto why = find_places(function, path, search.has_other_way, in_file))
            if (!in_libc || find_places(function, *in_libc, search.has_other_way, in_file))
                absent = std::move(why);
        if (!in_file.places.empty()) sites.push_back(std::move(in_file));
    }
    if (sites.empty()) return *absent;
    return sites;
}

FoundSites find_iterator_sites(const SiteSearch& search, ProbeSite site) {
    const std::string& name = site.target->name;
    if (search.machine.is_recording()) return Absent{"a recording has no kernel to go through", ""};
    if (!search.machine.btf())
        return Absent{"iterators need the kernel's BTF", "a kernel with CONFIG_DEBUG_INFO_BTF=y"};
    site.functions = {cat("bpf_iter_", name)};
    if (!search.machine.find_btf_function(site.functions.front()))
        return Absent{cat("this kernel has no iterator '", name, "'"),
                      "task, task_file and task_vma are there since Linux 5.8 and 5.12"};
    return std::vector{std::move(site)};
}

std::variant<std::vector<std::string>, Absent> find_functions_of(const ProbeTarget& target,
                                                                 KernelFacts& machine) {
    const Program none;
    ProbeSites notes;
    LibraryFiles libraries;
    const SiteSearch search{none, machine, false, notes, libraries};
    ProbeProgram program;
    ProbeSite site;
    site.program = &program;
    site.target = &target;
    FoundSites found = probe_kind(target.kind).is_in_file()
                           ? find_file_sites(search, std::move(site))
                           : find_function_sites(search, std::move(site));
    if (Absent* why = std::get_if<Absent>(&found)) return std::move(*why);
    std::vector<std::string> functions;
    for (ProbeSite& one : std::get<0>(found))
        for (std::string& name : one.functions)
            if (std::ranges::count(functions, name) == 0) functions.push_back(std::move(name));
    return functions;
}

}  // namespace gpufs
