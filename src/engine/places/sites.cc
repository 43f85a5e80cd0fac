#include "engine/places/sites.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>

#include "base/diagnostics.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/places/monitor_files.h"
#include "engine/places/providers.h"
#include "kernel/bpf/preemption.h"
#include "lang/event/gpu_systems.h"
#include "lang/expr/bpf.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

using Kind = ProbeTarget::Kind;

// Of which files may appear while the program runs.
bool is_in_libraries(const ProbeTarget& target) {
    return probe_kind(target.kind).is_in_file() && is_library_pattern(file_of(target));
}

void add_once(std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::count(names, name) == 0) names.push_back(name);
}

class SiteFinder {
public:
    SiteFinder(const Program& program, KernelFacts& machine, LibraryFiles& libraries,
               const SiteWishes& wishes)
        : program_(program), machine_(machine), libraries_(libraries), wishes_(wishes) {}

    ProbeSites find() {
        for (const ProbeProgram& probe : program_.programs) {
            const std::size_t before = found_.sites.size();
            if (has_places_.contains(probe.unless)) {
                found_.notes.push_back(
                    cat(probe.name, ": left out, because '", probe.unless, "' has a place"));
                continue;
            }
            for (const auto& alternatives : probe.targets) add(probe, alternatives);
            if (found_.sites.size() != before) has_places_.insert(probe.name);
        }
        tell_missing();
        for (const LeftOut& one : left_out_) leave_out(one);
        mistakes_.throw_if_any();
        if (found_.sites.empty() && !left_out_.empty()) throw UsageError("No probes to attach");
        if (machine_.is_recording()) require_some_event();
        return std::move(found_);
    }

private:
    void add(const ProbeProgram& probe, const std::vector<ProbeTarget>& alternatives) {
        // Nothing is missing where it is not meant to run.
        const auto is_recorded = [](const auto& target) { return target.kind == Kind::recorded; };
        if (!machine_.is_recording() && std::ranges::all_of(alternatives, is_recorded)) return;
        std::vector<Absent> absent;
        for (const ProbeTarget& target : alternatives) {
            const bool has_other_way =
                probe.is_optional || alternatives.size() > 1 || looks_by_itself(probe, target);
            FoundSites found = sites_of(probe, target, has_other_way);
            const Absent* why = std::get_if<Absent>(&found);
            std::optional<Absent> refusal;
            if (!why && alternatives.size() > 1) {
                refusal = why_not_raw(probe, std::get<0>(found).front());
                if (refusal) why = &*refusal;
            }
            if (why) {
                absent.push_back(*why);
                continue;
            }
            for (ProbeSite& site : std::get<0>(found)) found_.sites.push_back(std::move(site));
            if (!absent.empty()) note_choice(probe, target, alternatives, absent);
            return;
        }
        const Absent& why = absent.front();
        if (probe.is_optional || machine_.is_recording()) {
            found_.notes.push_back(cat(probe.name, ": left out, because ", why.why));
            return;
        }
        if (wishes_.awaits_libraries && std::ranges::any_of(alternatives, is_in_libraries)) {
            await(probe, alternatives, why);
            return;
        }
        if (probe.if_absent != ProbeProgram::IfAbsent::mistake)
            left_out_.push_back({probe, alternatives, why});
        else
            refuse(alternatives, why);
    }

    void await(const ProbeProgram& probe, const std::vector<ProbeTarget>& alternatives,
               const Absent& why) {
        found_.notes.push_back(cat(probe.name, ": waits, because ", why.why));
        for (const ProbeTarget& target : alternatives)
            if (is_in_libraries(target)) add_once(found_.awaited, file_of(target));
    }

    struct LeftOut {
        const ProbeProgram& probe;
        const std::vector<ProbeTarget>& alternatives;
        Absent why;
    };

    // Without kprobes none of the functions is there: the kernel's refusal says that.
    bool looks_by_itself(const ProbeProgram& probe, const ProbeTarget& target) const {
        const ProbeKind& kind = probe_kind(target.kind);
        const bool is_kernel_probe = kind.place == ProbeKind::Place::function && kind.has_registers;
        return probe.if_absent != ProbeProgram::IfAbsent::mistake &&
               (!is_kernel_probe || machine_.has_kprobes() || probe.may_be_without_any);
    }

    void leave_out(const LeftOut& one) {
        const auto is_of_block = [&](const ProbeSite& site) {
            return site.program->at == one.probe.at;
        };
        if (!one.probe.may_be_without_any && std::ranges::none_of(found_.sites, is_of_block))
            return refuse(one.alternatives, one.why);
        if (one.probe.if_absent == ProbeProgram::IfAbsent::nothing) return;
        const SourceRef& at = one.alternatives.front().at;
        const SourceText& source = program_.sources[at.source];
        const SourcePos position = position_of(source, at.span.begin);
        found_.cautions.push_back(cat(source.name, ':', position.line, ':', position.column,
                                      ": left out, because ", one.why.why));
    }

    void refuse(const std::vector<ProbeTarget>& alternatives, const Absent& why) {
        const SourceRef& at = alternatives.front().at;
        std::string message = why.why;
        if (alternatives.size() > 1) message += ", nor any of its alternatives";
        // The text is right: it is the kernel that lacks something.
        if (const auto name = shipped_name(program_.sources[at.source]))
            throw UnsupportedError(cat(message, ": '", *name, "' cannot run here"),
                                   is_gpu_event(alternatives.front().name) ? kLoadDriver
                                   : is_in_libraries(alternatives.front())
                                       ? "'-- COMMAND' waits until COMMAND loads one"
                                       : "");
        mistakes_.error(program_.sources[at.source], at.span, message,
                        why.hint.empty() ? near_event(alternatives.front()) : why.hint);
    }

    // Of a target that is an event which is not there.
    std::string near_event(const ProbeTarget& target) {
        if (probe_kind(target.kind).place != ProbeKind::Place::event) return {};
        Events& events = machine_.events();
        const bool is_there = target.has_glob ? !events.names(target.name).empty()
                                              : events.find_format(target.name) != nullptr;
        return is_there ? std::string() : events.hint(target.name);
    }

    // What the text says of programs that are left out because their targets are not there.
    void tell_missing() {
        const auto is_missing = [&](const std::string& name) {
            const auto probe = std::ranges::find(program_.programs, name, &ProbeProgram::name);
            return probe != program_.programs.end() && !has_places_.contains(name) &&
                   !has_places_.contains(probe->unless);
        };
        for (const Caution& caution : program_.cautions)
            if (is_missing(caution.missing) &&
                (caution.program.empty() || has_places_.contains(caution.program)))
                found_.cautions.push_back(caution.text);
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
            kind = cat(probe_kind(taken.kind).name, ' ');
        }
        found_.choices.push_back(
            cat(probe.name, ": took ", kind, '\'', taken.name, "', because ", absent[reason].why));
    }

    // Without one there is nothing to run, and nothing to tell.
    void require_some_event() const {
        for (const ProbeSite& site : found_.sites)
            if (site.event) return;
        std::vector<std::string> events, wanted;
        bool has_samples = false;
        for (const ProbeProgram& probe : program_.programs)
            for (const auto& alternatives : probe.targets) {
                // Events can be recorded, even where other ways are better live.
                const auto recordable =
                    std::ranges::find_if(alternatives, [](const ProbeTarget& one) {
                        return probe_kind(one.kind).place == ProbeKind::Place::event;
                    });
                const ProbeTarget& target =
                    recordable == alternatives.end() ? alternatives.front() : *recordable;
                const ProbeKind& kind = probe_kind(target.kind);
                if (kind.place == ProbeKind::Place::event) {
                    add_once(events, target.name);
                } else if (kind.place != ProbeKind::Place::own) {
                    add_once(wanted, target.name.empty() ? std::string(kind.name)
                                                         : cat(kind.name, ' ', target.name));
                    has_samples = has_samples || kind.place == ProbeKind::Place::sample;
                }
            }
        std::string options;
        std::vector<std::string> names;
        for (const std::string& name : whole_systems(events)) {
            options += cat(" -e ", name);
            names.push_back(cat(name.find(':') == name.npos ? "events of " : "", name));
        }
        names.insert(names.end(), wanted.begin(), wanted.end());
        if (names.empty()) return;  // it asks for the begin, the end or the time only
        const std::string named =
            program_.name.empty() ? "the program" : cat('\'', program_.name, '\'');
        throw UnsupportedError(
            cat("this recording has nothing of what ", named, " looks at: ", listed_names(names)),
            !options.empty() ? cat("'gpufs record", options, "' records it")
            : has_samples    ? "'perf record' makes a recording that has samples"
                             : "run it live");
    }
    // A system of which many events are wanted is named in their place.
    static std::vector<std::string> whole_systems(const std::vector<std::string>& events) {
        constexpr int kMany = 6;
        const auto system = [](const std::string& event) {
            return event.substr(0, event.find(':'));
        };
        std::vector<std::string> names;
        for (const std::string& event : events)
            add_once(names, std::ranges::count(events, system(event), system) > kMany
                                ? system(event)
                                : event);
        return names;
    }

    // A raw tracepoint is worth nothing where its arguments are not there, where the kernel does
    // not tell what they point at, and where fields are asked for. Only syscalls have their
    // arguments in recordings, and as fields.
    std::optional<Absent> why_not_raw(const ProbeProgram& probe, const ProbeSite& site) {
        if (site.target->kind != Kind::raw_tracepoint) return {};
        if (machine_.is_recording()) {
            if (raw_syscall_argument(*site.event)) return {};
            return Absent{"a recording has fields, no arguments of tracepoints", ""};
        }
        if (preempts_raw_tracepoints() && comes_preemptible(site.event->full_name()))
            return Absent{"a program there misses what preempts it", ""};
        if (raw_syscall_argument(*site.event)) return {};
        const auto is_own = [&](const std::string& name) {
            return site.event->find(name) != nullptr;
        };
        const auto is_there = [&](const std::string& name) {
            return is_own(name) || is_task_field(name);
        };
        if (!probe.is_end && std::ranges::any_of(wishes_.fields, is_own) &&
            std::ranges::all_of(wishes_.fields, is_there))
            return Absent{"--if asks for its fields", ""};
        for (const CodeItem& item : probe.code) {
            const Relocation& offset = item.relocation;
            if (offset.kind == Relocation::Kind::btf_offset && !offset.fallback &&
                !machine_.btf_offset(offset.name))
                return Absent{
                    cat(machine_.described(), " does not tell where '", offset.name, "' is"), ""};
        }
        return {};
    }

    FoundSites sites_of(const ProbeProgram& probe, const ProbeTarget& target, bool has_other_way) {
        ProbeSite site;
        site.program = &probe;
        site.target = &target;
        const ProbeProvider& provider = probe_provider(target.kind);
        if (machine_.is_recording() && !provider.is_recorded)
            return Absent{cat("a recording has no ", probe_kind(target.kind).name), ""};
        if (!machine_.is_recording() && target.kind == Kind::recorded)
            return Absent{"it is for recordings", ""};
        if (!provider.find) return std::vector{std::move(site)};
        return provider.find({program_, machine_, has_other_way, found_, libraries_},
                             std::move(site));
    }

    const Program& program_;
    KernelFacts& machine_;
    LibraryFiles& libraries_;
    const SiteWishes& wishes_;
    ProbeSites found_;
    std::set<std::string, std::less<>> has_places_;  // programs
    std::vector<LeftOut> left_out_;
    Diagnostics mistakes_;
};

}  // namespace

std::string ProbeSite::described() const {
    std::string text(probe_kind(target->kind).name);
    if (event)
        text += cat(' ', event->full_name());
    else if (!target->name.empty())
        text += cat(' ', target->name);
    if (places.size() > 1)
        text += cat(": ", counted(places.size(), "place"));
    else if (functions.size() > 1)
        text += cat(": ", counted(functions.size(), "function"));
    return text;
}

const Field* raw_syscall_argument(const EventFormat& event) {
    if (event.system != "raw_syscalls") return nullptr;
    return event.find(event.name == "sys_enter" ? "id" : "ret");
}

ProbeSites find_probe_sites(const Program& program, KernelFacts& machine, LibraryFiles& libraries,
                            const SiteWishes& wishes) {
    return SiteFinder(program, machine, libraries, wishes).find();
}

std::vector<ProbeSite> find_arrived_sites(const Program& program, KernelFacts& machine,
                                          LibraryFiles& libraries) {
    ProbeSites notes;
    std::vector<ProbeSite> sites;
    for (const ProbeProgram& probe : program.programs)
        for (const auto& alternatives : probe.targets)
            for (const ProbeTarget& target : alternatives) {
                if (!is_in_libraries(target)) continue;
                ProbeSite site;
                site.program = &probe;
                site.target = &target;
                FoundSites found =
                    probe_provider(target.kind)
                        .find({program, machine, true, notes, libraries}, std::move(site));
                auto* const places = std::get_if<0>(&found);
                if (!places) continue;
                std::ranges::move(*places, std::back_inserter(sites));
                break;
            }
    return sites;
}

bool is_gone(const ProbeSite& site) {
    return is_in_libraries(*site.target) && !site.places.empty() &&
           !file_exists(site.places.front().path);
}

std::vector<std::string> library_patterns(const Program& program) {
    std::vector<std::string> patterns;
    for (const ProbeProgram& probe : program.programs)
        for (const auto& alternatives : probe.targets)
            for (const ProbeTarget& target : alternatives)
                if (is_in_libraries(target)) add_once(patterns, file_of(target));
    return patterns;
}

}  // namespace gpufs
