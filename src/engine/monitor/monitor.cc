#include "engine/monitor/monitor.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <iterator>

#include "base/bytes.h"
#include "base/text.h"
#include "engine/places/providers.h"
#include "engine/results/report_rows.h"
#include "engine/session/stale.h"
#include "kernel/bpf/info.h"
#include "kernel/bpf/test_run.h"
#include "kernel/host/cpus.h"
#include "kernel/host/kernel_version.h"
#include "kernel/host/pid_namespace.h"
#include "lang/event/sampling_events.h"
#include "lang/ir/followed.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

using Kind = ProbeTarget::Kind;

// The pid namespace whose ids programs have to ask for, where they can: Linux 5.7.
std::optional<LinkTarget::PidNamespace> pid_namespace_to_ask() {
    const PidNamespace own = own_pid_namespace();
    if (own.is_initial() || running_kernel() < KernelVersion{5, 7, 0}) return std::nullopt;
    return LinkTarget::PidNamespace{own.device, own.inode};
}

// Of several programs at one place the kernel runs the one first that was attached last: at probes
// of functions and files, and at events of software but clocks (consumer_add(),
// register_aggr_kprobe(), swevent_hlist of perf_swevent_add()).
bool runs_last_first(const ProbeTarget& target) {
    if (probe_kind(target.kind).has_registers) return true;
    const SamplingEvent* event =
        target.kind == Kind::profile ? find_sampling_event(target.name) : nullptr;
    return event && event->type == PERF_TYPE_SOFTWARE && event->config != PERF_COUNT_SW_CPU_CLOCK &&
           event->config != PERF_COUNT_SW_TASK_CLOCK;
}

bool has_an_event_for_each_cpu(const ProbeTarget& target) {
    return target.kind == Kind::profile || target.kind == Kind::watchpoint;
}

}  // namespace

Monitor::Monitor(Program program, Choice choice, KernelFacts& machine)
    : machine_(machine), how_(choice.attach), pid_namespace_(pid_namespace_to_ask()) {
    const bool turns = choice.turns;
    followed_ = choice.followed;
    other_maps_ = choice.others;
    prepared_ = std::make_unique<PreparedProgram>(std::move(program), std::move(choice), machine);
    make_maps(turns);
    for (const PreparedProgram::Site& site : prepared_->sites()) load(site);
}

void Monitor::make_maps(bool turns) {
    const std::size_t cpus = possible_cpus().back() + 1;
    const auto make = [&](const MapDeclaration& map) {
        auto made = std::make_unique<KernelMap>(BpfMap::create(prepared_->spec_of(map, cpus)));
        prepared_->fill(map, *made);
        return made;
    };
    for (const MapDeclaration& map : program().maps)
        if (!followed_ || map.name != kFollowedMap) maps_.emplace(map.name, make(map));
    if (turns) {
        grace_period_.emplace();
        for (const MapDeclaration* map : reported_maps(program()))
            second_maps_.emplace(map->name, make(*map));
    }
    const StringPool& pool = prepared_->pool();
    if (pool.empty()) return;
    BpfMapSpec spec = prepared_->pool_spec();
    spec.flags = BPF_F_RDONLY_PROG;
    pool_map_ = BpfMap::create(spec);
    const std::uint32_t zero = 0;
    pool_map_->update(bytes_of(zero), std::as_bytes(std::span(pool.bytes)));
    pool_map_->freeze();
}

KernelMap* Monitor::find_map(std::string_view name) const {
    const auto second = second_maps_.find(name);
    if (whose_turn_ == 1 && second != second_maps_.end()) return second->second.get();
    const auto it = maps_.find(name);
    return it == maps_.end() ? nullptr : it->second.get();
}

ProgramMap* Monitor::settled_map(std::string_view name) const {
    const auto second = second_maps_.find(name);
    if (second == second_maps_.end()) return nullptr;
    return whose_turn_ == 0 ? second->second.get() : maps_.find(name)->second.get();
}

int Monitor::program_to_run(const Loaded& loaded) const {
    return loaded.by_turn.empty() ? loaded.program.get() : loaded.by_turn[whose_turn_].get();
}

std::vector<LoadedSite> Monitor::sites() const {
    std::vector<LoadedSite> sites;
    for (const Loaded& loaded : loaded_) sites.push_back(loaded.how);
    return sites;
}

bool Monitor::makes_probe_events() const {
    return std::ranges::any_of(loaded_, [&](const Loaded& loaded) {
        const ProbeKind& kind = probe_kind(loaded.how.site.target->kind);
        if (loaded.is_multi) return false;
        return (is_kernel_probe(kind) && is_probe_event("kprobe", how_.probe)) ||
               (kind.is_in_file() && is_probe_event("uprobe", how_.probe));
    });
}

std::vector<Attachment> Monitor::attach_one(const Loaded& loaded) const {
    const ProbeProvider& provider = probe_provider(loaded.how.site.target->kind);
    if (!provider.attach) return {};
    if (loaded.dispatcher) {
        loaded.dispatcher->attach(how_);
        return {};
    }
    ProbeSite site = loaded.how.site;
    if (loaded.instead) site.event = loaded.instead;
    try {
        return attach_at(program(), {site, loaded.program.get(), loaded.is_multi, loaded.raw_name},
                         how_, machine_);
    } catch (const Error&) {
        if (!is_gone(site)) throw;
        prepared_->forget(site);
        return {};
    }
}

void Monitor::attach() {
    if (makes_probe_events()) {
        const Tracefs top = find_tracefs();
        remove_stale(top);
        probe_owner_.emplace(top);
        how_.group = probe_owner_->probe_group();
    }
    try {
        run(Kind::begin);
        if (std::ranges::any_of(loaded_, [](const Loaded& loaded) {
                return has_an_event_for_each_cpu(*loaded.how.site.target);
            }))
            cpus_ = online_cpus();
        attach_from(0);
        for (Loaded& loaded : loaded_)
            if (const ProbeTarget& target = *loaded.how.site.target; target.kind == Kind::iter)
                loaded.iterator.emplace(loaded.program.get(), target.process);
    } catch (...) {
        detach();
        throw;
    }
}

void Monitor::attach_from(std::size_t first) {
    for (std::size_t i = first; i < loaded_.size(); ++i)
        if (!runs_last_first(*loaded_[i].how.site.target))
            loaded_[i].attachments = attach_one(loaded_[i]);
    for (std::size_t i = loaded_.size(); i-- > first;)
        if (runs_last_first(*loaded_[i].how.site.target))
            loaded_[i].attachments = attach_one(loaded_[i]);
}

std::size_t Monitor::arrive(LibraryFiles::Mapped file) {
    const std::size_t arrived = prepared_->arrive(std::move(file)), before = loaded_.size();
    try {
        for (const PreparedProgram::Site& site : std::span(prepared_->sites()).last(arrived))
            load(site);
        attach_from(before);
    } catch (...) {
        // Entries without returns would be counted as what never returned, so none is to run on.
        std::vector<Attachment> some = take_attachments(before);
        loaded_.erase(loaded_.begin() + static_cast<std::ptrdiff_t>(before), loaded_.end());
        detach_all(std::move(some));
        throw;
    }
    return static_cast<std::size_t>(
        std::count_if(loaded_.begin() + static_cast<std::ptrdiff_t>(before), loaded_.end(),
                      [](const Loaded& one) { return !one.attachments.empty(); }));
}

void Monitor::run_end() {
    run(Kind::end);
    run_each();
}

void Monitor::run_each() {
    run_for_keys(Kind::each);
    run_for_keys(Kind::snapshot);
}

void Monitor::run_snapshots() {
    run_for_keys(Kind::snapshot);
}

void Monitor::run_for_keys(Kind kind) const {
    for (const Loaded& loaded : loaded_) {
        const ProbeTarget& target = *loaded.how.site.target;
        if (target.kind != kind) continue;
        TestRun with_key;
        for (const auto& key : keys_as_contexts(*find_map(target.name))) {
            with_key.context = key;
            test_run(program_to_run(loaded), with_key);
        }
    }
}

std::set<std::string> Monitor::signals() const {
    std::set<std::string> names;
    for (const Loaded& loaded : loaded_)
        if (loaded.how.site.target->kind == Kind::signal)
            names.insert(loaded.how.site.target->name);
    return names;
}

void Monitor::run_signal(std::string_view name) const {
    for (const Loaded& loaded : loaded_) {
        const ProbeTarget& target = *loaded.how.site.target;
        if (target.kind == Kind::signal && target.name == name)
            test_run(program_to_run(loaded), {});
    }
}

bool Monitor::step_iterators() {
    for (Loaded& loaded : loaded_) {
        if (!loaded.iterator) continue;
        if (loaded.iterator->step()) return true;
        loaded.iterator.reset();
    }
    return false;
}

void Monitor::run(Kind kind) const {
    for (const Loaded& loaded : loaded_)
        if (loaded.how.site.target->kind == kind) test_run(program_to_run(loaded), {});
}

Monitor::~Monitor() {
    detach_all(take_all_attachments());
}

std::vector<Attachment> Monitor::take_attachments(std::size_t first) {
    std::vector<Attachment> taken;
    for (Loaded& loaded : std::span(loaded_).subspan(first)) {
        std::ranges::move(loaded.attachments, std::back_inserter(taken));
        loaded.attachments.clear();
    }
    return taken;
}

std::vector<Attachment> Monitor::take_all_attachments() {
    std::vector<Attachment> all = take_attachments(0);
    for (const auto& dispatcher : dispatchers_)
        std::ranges::move(dispatcher->take_attachments(), std::back_inserter(all));
    return all;
}

void Monitor::stop() {
    for (const Loaded& loaded : loaded_)
        for (const Attachment& one : loaded.attachments) one.stop();
    for (const auto& dispatcher : dispatchers_) dispatcher->stop();
}

void Monitor::detach() {
    for (Loaded& loaded : loaded_) loaded.missed = missed_at(loaded);
    for (const auto& dispatcher : dispatchers_) dispatcher->keep_missed();
    detach_in_background(take_all_attachments());
    probe_owner_.reset();
}

std::uint64_t Monitor::missed_at(const Loaded& loaded) {
    std::uint64_t misses = loaded.missed;
    for (const Attachment& one : loaded.attachments) misses += one.missed().value_or(0);
    return misses;
}

LossLedger Monitor::missed() const {
    const auto& maps = program().maps;
    const auto kind_of = [&](const Loaded& loaded) {
        const auto own = std::ranges::find_if(maps, [&](const MapDeclaration& map) {
            return std::ranges::count(map.misses_of, loaded.how.site.program->name) != 0;
        });
        return own == maps.end() ? nullptr : &*own;
    };
    LossLedger losses{{"hits missed by the kernel", {}}};
    for (const Loaded& loaded : loaded_) {
        std::uint64_t misses = missed_at(loaded);
        if (loaded.program) misses += program_info(loaded.program.get()).recursion_misses;
        const bool may_be_others = loaded.how.way == LoadedSite::Way::raw_syscall ||
                                   loaded.how.way == LoadedSite::Way::all_syscalls;
        if (const MapDeclaration* own = kind_of(loaded))
            losses.add(own->loss, Loss::at_most(misses));
        else
            losses.add("hits missed by the kernel",
                       may_be_others ? Loss::at_most(misses) : Loss::exactly(misses));
    }
    for (const auto& dispatcher : dispatchers_)
        losses.add("hits missed by the kernel", Loss::at_most(dispatcher->missed()));
    const auto is_new = [&](unsigned cpu) { return std::ranges::count(cpus_, cpu) == 0; };
    if (!cpus_.empty() && std::ranges::any_of(online_cpus(), is_new))
        losses.add("hits on CPUs that came online", Loss::at_least(0));
    return losses;
}

}  // namespace gpufs
