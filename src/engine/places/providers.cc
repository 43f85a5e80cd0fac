#include "engine/places/providers.h"

#include <cerrno>
#include <utility>

#include "base/cat.h"
#include "base/placed_failure.h"
#include "base/suggest.h"
#include "engine/places/static_sites.h"
#include "lang/event/sampling_events.h"
#include "lang/program/function_cookie.h"

namespace gpufs {
namespace {

std::vector<Attachment> one(Attachment attachment) {
    std::vector<Attachment> made;
    made.push_back(std::move(attachment));
    return made;
}

// By which the program knows each of the functions; empty where it does not ask.
std::vector<std::uint64_t> cookies_of(const ProbeSite& site) {
    std::vector<std::uint64_t> cookies;
    if (site.target->has_cookies)
        for (const std::string& name : site.functions) cookies.push_back(function_cookie(name));
    return cookies;
}

AttachOptions with_cookie(AttachOptions how, const ProbeSite& site, std::size_t which) {
    if (site.target->has_cookies) how.cookie = function_cookie(site.functions[which]);
    return how;
}

std::vector<Attachment> attach_at_event(const LoadedProgram& loaded, const AttachOptions& how) {
    if (!loaded.raw_name.empty())
        return one(attach_raw_tracepoint(loaded.program, loaded.raw_name));
    return one(
        attach_tracepoint(loaded.program, static_cast<std::uint64_t>(loaded.site.event->id), how));
}

std::vector<Attachment> attach_at_kprobes(const LoadedProgram& loaded, const AttachOptions& how) {
    const ProbeSite& site = loaded.site;
    const bool at_return = probe_kind(site.target->kind).at_return;
    if (loaded.is_multi)
        return one(
            attach_kprobe_multi(loaded.program, {site.functions, cookies_of(site), at_return}));
    std::vector<Attachment> made;
    for (std::size_t i = 0; i < site.functions.size(); ++i)
        made.push_back(attach_kprobe(loaded.program,
                                     {site.functions[i], site.function_offset, at_return},
                                     with_cookie(how, site, i)));
    return made;
}

std::vector<Attachment> attach_in_file(const LoadedProgram& loaded, const AttachOptions& how) {
    const std::vector<UprobePlace>& places = loaded.site.places;
    if (loaded.is_multi) {
        UprobeSet set{
            places.front().path, {}, {}, cookies_of(loaded.site), places.front().at_return};
        for (const UprobePlace& place : places) {
            set.offsets.push_back(place.offset);
            set.semaphore_offsets.push_back(place.semaphore_offset);
        }
        return one(attach_uprobe_multi(loaded.program, set));
    }
    std::vector<Attachment> made;
    for (std::size_t i = 0; i < places.size(); ++i)
        made.push_back(attach_uprobe(loaded.program, places[i], with_cookie(how, loaded.site, i)));
    return made;
}

std::vector<Attachment> attach_at_function(const LoadedProgram& loaded, const AttachOptions&) {
    return one(attach_tracing(loaded.program));
}

std::vector<Attachment> attach_to_samples(const LoadedProgram& loaded, const AttachOptions& how) {
    const ProbeTarget& target = *loaded.site.target;
    Sampling sampling;
    if (!target.name.empty()) {
        const SamplingEvent* const event = find_sampling_event(target.name);
        if (!event) throw Error(cat("there is no event '", target.name, "' to sample by"));
        sampling.type = event->type;
        sampling.config = event->config;
    }
    (target.is_frequency ? sampling.hz : sampling.period) = target.period;
    return one(attach_sampling(loaded.program, sampling, how));
}

std::vector<Attachment> attach_to_interval(const LoadedProgram& loaded, const AttachOptions&) {
    return one(attach_interval(loaded.program, loaded.site.target->period));
}

std::vector<Attachment> attach_to_memory(const LoadedProgram& loaded, const AttachOptions& how) {
    return one(attach_watchpoint(loaded.program, parse_watchpoint(loaded.site.target->name), how));
}

using Kind = ProbeTarget::Kind;
using Context = LinkTarget::Context;

constexpr ProbeProvider kProviders[] = {
    {Kind::tracepoint, BPF_PROG_TYPE_TRACEPOINT, Context::record, true, find_event_sites,
     attach_at_event},
    {Kind::raw_tracepoint, BPF_PROG_TYPE_RAW_TRACEPOINT, Context::raw_arguments, true,
     find_event_sites, attach_at_event},
    {Kind::recorded, BPF_PROG_TYPE_TRACEPOINT, Context::record, true, find_event_sites, nullptr},
    {Kind::kprobe, BPF_PROG_TYPE_KPROBE, Context::registers, false, find_function_sites,
     attach_at_kprobes},
    {Kind::kretprobe, BPF_PROG_TYPE_KPROBE, Context::registers, false, find_function_sites,
     attach_at_kprobes},
    {Kind::uprobe, BPF_PROG_TYPE_KPROBE, Context::registers, false, find_file_sites,
     attach_in_file},
    {Kind::uretprobe, BPF_PROG_TYPE_KPROBE, Context::registers, false, find_file_sites,
     attach_in_file},
    {Kind::usdt, BPF_PROG_TYPE_KPROBE, Context::registers, false, find_static_sites,
     attach_in_file},
    {Kind::fentry, BPF_PROG_TYPE_TRACING, Context::other, false, find_function_sites,
     attach_at_function},
    {Kind::fexit, BPF_PROG_TYPE_TRACING, Context::other, false, find_function_sites,
     attach_at_function},
    {Kind::profile, BPF_PROG_TYPE_PERF_EVENT, Context::other, true, find_sample_sites,
     attach_to_samples},
    {Kind::interval, BPF_PROG_TYPE_PERF_EVENT, Context::other, true, nullptr, attach_to_interval},
    {Kind::watchpoint, BPF_PROG_TYPE_PERF_EVENT, Context::other, false, nullptr, attach_to_memory},
    {Kind::begin, BPF_PROG_TYPE_RAW_TRACEPOINT, Context::other, true, nullptr, nullptr},
    {Kind::end, BPF_PROG_TYPE_RAW_TRACEPOINT, Context::other, true, nullptr, nullptr},
    {Kind::signal, BPF_PROG_TYPE_RAW_TRACEPOINT, Context::other, false, nullptr, nullptr},
    {Kind::each, BPF_PROG_TYPE_RAW_TRACEPOINT, Context::other, true, nullptr, nullptr},
    {Kind::snapshot, BPF_PROG_TYPE_RAW_TRACEPOINT, Context::other, true, nullptr, nullptr},
    {Kind::iter, BPF_PROG_TYPE_TRACING, Context::other, false, find_iterator_sites, nullptr},
};
static_assert(has_all_probe_kinds(kProviders));

}  // namespace

const ProbeProvider& probe_provider(Kind kind) {
    return kProviders[static_cast<std::size_t>(kind)];
}

namespace {

// The kernel's function at which a probe is to be, that it does not have; null: it has them all.
const std::string* missing_function(const ProbeSite& site, KernelFacts& machine) {
    if (!is_kernel_probe(probe_kind(site.target->kind)) || !machine.has_kprobes()) return nullptr;
    for (const std::string& name : site.functions)
        if (machine.functions(split_module(name).function).empty()) return &name;
    return nullptr;
}

// No place would do.
bool is_of_this_process(const Error& error) {
    const auto* const call = dynamic_cast<const SysError*>(&error);
    return call && is_out_of_files(call->code());
}

}  // namespace

bool is_kernel_probe(const ProbeKind& kind) {
    return kind.place == ProbeKind::Place::function && kind.has_registers;
}

std::string instead_of_fentry(KernelFacts& machine) {
    return machine.has_kprobes() ? "kprobe and kretprobe are at the same functions"
                                 : "there are no kprobes, either: 'gpufs list' has the tracepoints";
}

std::optional<std::string> near_kernel_function(std::string_view name, KernelFacts& machine) {
    std::string near = did_you_mean(name, machine.functions("*"));
    if (near.empty()) return std::nullopt;
    return near;
}

std::vector<Attachment> attach_at(const Program& program, const LoadedProgram& loaded,
                                  const AttachOptions& how, KernelFacts& machine) {
    const ProbeTarget& target = *loaded.site.target;
    const bool has_place =
        target.at.source < program.sources.size() && target.at.span.begin != target.at.span.end;
    if (!has_place) return probe_provider(target.kind).attach(loaded, how);
    const SourceText& source = program.sources[target.at.source];
    const Span at = target.at.span;
    try {
        return probe_provider(target.kind).attach(loaded, how);
    } catch (const UnsupportedError& e) {
        throw PlacedFailure<UnsupportedError>(source, at, e);
    } catch (const Error& e) {
        if (is_of_this_process(e)) throw;
        const std::string* const missing = missing_function(loaded.site, machine);
        if (!missing) throw PlacedFailure<Error>(source, at, e);
        throw PlacedFailure<Error>(
            source, at,
            Error(cat("this kernel has no function '", *missing, "'"),
                  near_kernel_function(*missing, machine)
                      .value_or("functions are in /proc/kallsyms; some are inlined or renamed "
                                "(.isra.0)")));
    }
}

}  // namespace gpufs
