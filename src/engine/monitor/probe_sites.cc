#include "engine/monitor/probe_sites.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/diagnostics.h"
#include "base/file.h"
#include "base/suggest.h"
#include "base/text.h"
#include "kernel/elf/symbols.h"
#include "kernel/host/kernel_version.h"

namespace gpufs {
namespace {

using Kind = ProbeTarget::Kind;

std::string_view name_of(Kind kind) {
    switch (kind) {
        case Kind::tracepoint:
            return "tracepoint";
        case Kind::raw_tracepoint:
            return "raw_tracepoint";
        case Kind::kprobe:
            return "kprobe";
        case Kind::kretprobe:
            return "kretprobe";
        case Kind::uprobe:
            return "uprobe";
        case Kind::uretprobe:
            return "uretprobe";
        case Kind::usdt:
            return "usdt";
        case Kind::fentry:
            return "fentry";
        case Kind::fexit:
            return "fexit";
        case Kind::profile:
            return "profile";
        case Kind::interval:
            return "interval";
        case Kind::begin:
            return "begin";
        case Kind::end:
            return "end";
    }
    return "";
}

// Why a target is not there, for a person.
struct Absent {
    std::string why, hint;
};

// "name+0x10": the name, and the number behind it.
std::uint64_t split_offset(std::string& function) {
    const auto plus = function.rfind('+');
    if (plus == std::string::npos) return 0;
    std::string_view digits = std::string_view(function).substr(plus + 1);
    const bool is_hex = digits.starts_with("0x");
    if (is_hex) digits.remove_prefix(2);
    std::uint64_t offset = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), offset, is_hex ? 16 : 10);
    if (error != std::errc() || end != digits.data() + digits.size())
        throw Absent{cat("'", function, "' has no number behind its '+'"), ""};
    function.resize(plus);
    return offset;
}

// A program by its path, or by its name where the shell would find it.
std::string find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        if (!file_exists(name)) throw Absent{cat("there is no file '", name, "'"), ""};
        return name;
    }
    const char* path = std::getenv("PATH");
    for (const std::string& directory : split(path ? path : "/usr/sbin:/usr/bin", ':')) {
        std::string whole = cat(directory, '/', name);
        if (::access(whole.c_str(), X_OK) == 0) return whole;
    }
    throw Absent{cat("no program '", name, "' is in $PATH"), "write the whole path of a library"};
}

class SiteFinder {
public:
    SiteFinder(const Program& program, KernelFacts& machine, const std::vector<std::string>& fields)
        : program_(program), machine_(machine), fields_(fields) {}

    ProbeSites find() {
        for (const ProbeProgram& probe : program_.programs)
            for (const auto& alternatives : probe.targets) add(probe, alternatives);
        mistakes_.throw_if_any();
        if (machine_.is_recording()) require_some_event();
        return std::move(found_);
    }

private:
    void add(const ProbeProgram& probe, const std::vector<ProbeTarget>& alternatives) {
        std::vector<Absent> absent;
        for (const ProbeTarget& target : alternatives) {
            try {
                const bool has_other_way = probe.is_optional || alternatives.size() > 1;
                std::vector<ProbeSite> sites = sites_of(probe, target, has_other_way);
                if (alternatives.size() > 1) require_raw(probe, sites.front());
                for (ProbeSite& site : sites) found_.sites.push_back(std::move(site));
                if (!absent.empty()) note_choice(probe, target, alternatives, absent);
                return;
            } catch (const Absent& why) {
                absent.push_back(why);
            }
        }
        const Absent& why = absent.front();
        if (probe.is_optional || machine_.is_recording()) {
            found_.notes.push_back(cat(probe.name, ": left out, because ", why.why));
            return;
        }
        const SourceRef& at = alternatives.front().at;
        std::string message = why.why;
        if (alternatives.size() > 1) message += ", nor any of its alternatives";
        mistakes_.error(program_.sources[at.source], at.span, message, why.hint);
    }

    // Of two ways to one event the reason is why not the other.
    void note_choice(const ProbeProgram& probe, const ProbeTarget& taken,
                     const std::vector<ProbeTarget>& alternatives,
                     const std::vector<Absent>& absent) {
        std::size_t reason = absent.size() - 1;
        std::string kind;
        for (std::size_t i = 0; i < absent.size(); ++i) {
            if (alternatives[i].name != taken.name) continue;
            reason = i;
            kind = cat(name_of(taken.kind), ' ');
        }
        found_.choices.push_back(
            cat(probe.name, ": took ", kind, '\'', taken.name, "', because ", absent[reason].why));
    }

    // Without one there is nothing to run, and nothing to tell.
    void require_some_event() const {
        for (const ProbeSite& site : found_.sites)
            if (site.event) return;
        std::vector<std::string> wanted;
        std::string options;
        for (const ProbeProgram& probe : program_.programs)
            for (const auto& alternatives : probe.targets) {
                const ProbeTarget& target = alternatives.front();
                if (target.kind == Kind::begin || target.kind == Kind::end ||
                    target.kind == Kind::interval)
                    continue;
                const bool is_event =
                    target.kind == Kind::tracepoint || target.kind == Kind::raw_tracepoint;
                const std::string name = is_event ? target.name
                                         : target.name.empty()
                                             ? std::string(name_of(target.kind))
                                             : cat(name_of(target.kind), ' ', target.name);
                if (std::ranges::count(wanted, name) > 0) continue;
                wanted.push_back(name);
                if (is_event) options += cat(" -e ", target.name);
            }
        const std::string named =
            program_.name.empty() ? "the program" : cat('\'', program_.name, '\'');
        throw UnsupportedError(
            cat("this recording has nothing of what ", named, " looks at: ", join(wanted, ", ")),
            options.empty() ? "run it live" : cat("'gpufs record", options, "' records it"));
    }

    // A raw tracepoint is worth nothing where its arguments are not there, where the kernel does
    // not tell what they point at, and where fields are asked for. Only syscalls have their
    // arguments in recordings, and as fields.
    void require_raw(const ProbeProgram& probe, const ProbeSite& site) {
        if (site.target->kind != Kind::raw_tracepoint || raw_syscall_argument(*site.event)) return;
        if (machine_.is_recording())
            throw Absent{"a recording has fields, no arguments of tracepoints", ""};
        const auto is_own = [&](const std::string& name) {
            return site.event->find(name) != nullptr;
        };
        const auto is_there = [&](const std::string& name) {
            return is_own(name) || name == "pid" || name == "tid";
        };
        if (!probe.is_end && std::ranges::any_of(fields_, is_own) &&
            std::ranges::all_of(fields_, is_there))
            throw Absent{"--if asks for its fields", ""};
        for (const CodeItem& item : probe.code) {
            const Relocation& offset = item.relocation;
            if (offset.kind == Relocation::Kind::btf_offset && !offset.fallback &&
                !machine_.btf_offset(offset.name))
                throw Absent{
                    cat(machine_.described(), " does not tell where '", offset.name, "' is"), ""};
        }
    }

    std::vector<ProbeSite> sites_of(const ProbeProgram& probe, const ProbeTarget& target,
                                    bool has_other_way) {
        ProbeSite site;
        site.program = &probe;
        site.target = &target;
        const bool is_recorded =
            target.kind == Kind::tracepoint || target.kind == Kind::raw_tracepoint ||
            target.kind == Kind::interval || target.kind == Kind::begin || target.kind == Kind::end;
        if (machine_.is_recording() && !is_recorded)
            throw Absent{cat("a recording has no ", name_of(target.kind)), ""};
        switch (target.kind) {
            case Kind::tracepoint:
            case Kind::raw_tracepoint:
                return event_sites(site);
            case Kind::kprobe:
            case Kind::kretprobe:
            case Kind::fentry:
            case Kind::fexit:
                find_functions_of(site, has_other_way);
                break;
            case Kind::uprobe:
            case Kind::uretprobe:
                find_places(site);
                break;
            case Kind::usdt:
                find_static_probes(site);
                break;
            case Kind::profile:
            case Kind::interval:
            case Kind::begin:
            case Kind::end:
                break;
        }
        return {site};
    }

    // Notes what the program says of using this event. Is it to be left alone here? What was
    // recorded harms nobody any more.
    bool is_to_avoid(const std::string& event) {
        bool avoids = false;
        for (const Caution& caution : program_.cautions) {
            if (caution.event != event) continue;
            const bool has_release = !caution.release.empty();
            if (has_release && machine_.is_recording()) continue;
            if (has_release && !glob_match(caution.release, running_release())) continue;
            if (std::ranges::count(found_.cautions, caution.text) == 0)
                found_.cautions.push_back(caution.text);
            avoids = avoids || has_release;
        }
        return avoids;
    }

    std::vector<ProbeSite> event_sites(ProbeSite site) {
        const std::string& name = site.target->name;
        std::vector<ProbeSite> sites;
        if (!site.target->has_glob) {
            site.event = machine_.events().find_format(name);
            if (site.event && is_to_avoid(name))
                throw Absent{cat("'", name, "' is to be left alone on ", running_release()), ""};
            if (!site.event)
                throw Absent{cat(machine_.described(), " has no event '", name, "'"),
                             machine_.events().hint(name)};
            return {site};
        }
        for (const std::string& one : machine_.events().names(name)) {
            site.event = machine_.events().find_format(one);
            if (site.event && !is_to_avoid(one)) sites.push_back(site);
        }
        if (sites.empty())
            throw Absent{cat("no event of ", machine_.described(), " matches '", name, "'"),
                         machine_.events().hint(name)};
        return sites;
    }

    // The kernel lists what it has; asking costs tens of milliseconds, so only where there is
    // another way to go when it has not. Otherwise attaching tells.
    void find_functions_of(ProbeSite& site, bool has_other_way) {
        const ProbeTarget& target = *site.target;
        const bool is_return = target.kind == Kind::kretprobe || target.kind == Kind::fexit;
        if (target.has_glob) {
            if (target.kind == Kind::fentry || target.kind == Kind::fexit)
                throw Absent{cat(name_of(target.kind), " takes one function, no pattern"),
                             "kprobe takes patterns"};
            site.functions = machine_.functions(target.name);
            if (site.functions.empty())
                throw Absent{cat("no function of this kernel matches '", target.name, "'"), ""};
            if (const std::size_t several = machine_.count_namesakes(site.functions); several > 0)
                found_.notes.push_back(cat(site.program->name, ": ", several,
                                           " of the functions have namesakes, which the kernel "
                                           "does not tell apart: one of each is probed"));
            return;
        }
        std::string function = target.name;
        site.function_offset = split_offset(function);
        if (site.function_offset != 0 && is_return)
            throw Absent{"a probe at a return takes no offset", ""};
        const std::string bare = function.substr(function.find(':') + 1);
        if (has_other_way && machine_.functions(bare).empty())
            throw Absent{cat("this kernel has no function '", bare, "'"), ""};
        site.functions = {function};
    }

    void find_places(ProbeSite& site) {
        const ProbeTarget& target = *site.target;
        const auto colon = target.name.rfind(':');
        const std::string path = find_program(target.name.substr(0, colon));
        std::string function = target.name.substr(colon + 1);
        UprobePlace place;
        place.path = path;
        place.at_return = target.kind == Kind::uretprobe;
        std::string number = cat("+", function);
        if (function.starts_with("0x")) {
            place.offset = split_offset(number);
            site.places = {place};
            return;
        }
        const std::uint64_t offset = split_offset(function);
        for (const ElfFunction& one : functions_in(path, function)) {
            if (one.is_indirect && target.has_glob) continue;
            place.offset = one.offset + offset;
            if (std::ranges::count(site.places, place.offset, &UprobePlace::offset) == 0)
                site.places.push_back(place);
        }
        if (site.places.empty())
            throw Absent{cat("'", path, "' has no function '", function, "'"),
                         near_function(path, function)};
    }

    static std::vector<ElfFunction> functions_in(const std::string& path,
                                                 std::string_view pattern) {
        try {
            return find_functions(path, pattern);
        } catch (const Error& e) {
            throw Absent{e.what(), e.hint()};
        }
    }

    static std::string near_function(const std::string& path, std::string_view name) {
        std::vector<std::string> names;
        for (ElfFunction& one : functions_in(path, "*")) names.push_back(std::move(one.name));
        if (names.empty()) return "it is stripped; install its debug symbols, or give 0xOFFSET";
        return did_you_mean(name, names);
    }

    static void find_static_probes(ProbeSite& site) {
        const std::string& name = site.target->name;
        const auto last = name.rfind(':');
        const auto middle = name.rfind(':', last - 1);
        const std::string path = find_program(name.substr(0, middle));
        const std::string provider = name.substr(middle + 1, last - middle - 1);
        std::vector<UsdtProbe> probes;
        try {
            probes = find_usdt_probes(path, provider, name.substr(last + 1));
        } catch (const Error& e) {
            throw Absent{e.what(), e.hint()};
        }
        for (const UsdtProbe& one : probes)
            site.places.push_back({path, one.offset, one.semaphore_offset, -1, false});
        if (probes.empty())
            throw Absent{cat("'", path, "' has no static probe '", name.substr(middle + 1), "'"),
                         "'readelf -n' lists its notes of type stapsdt"};
    }

    const Program& program_;
    KernelFacts& machine_;
    const std::vector<std::string>& fields_;  // that a condition asks for
    ProbeSites found_;
    Diagnostics mistakes_;
};

}  // namespace

std::string ProbeSite::described() const {
    std::string text(name_of(target->kind));
    if (event)
        text += cat(' ', event->full_name());
    else if (!target->name.empty())
        text += cat(' ', target->name);
    if (functions.size() > 1) text += cat(": ", counted(functions.size(), "function"));
    if (places.size() > 1) text += cat(": ", counted(places.size(), "place"));
    return text;
}

const Field* raw_syscall_argument(const EventFormat& event) {
    if (event.system != "raw_syscalls") return nullptr;
    return event.find(event.name == "sys_enter" ? "id" : "ret");
}

ProbeSites find_probe_sites(const Program& program, KernelFacts& machine,
                            const std::vector<std::string>& fields) {
    return SiteFinder(program, machine, fields).find();
}

}  // namespace gpufs
