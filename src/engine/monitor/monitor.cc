#include "engine/monitor/monitor.h"

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "engine/monitor/load.h"
#include "engine/monitor/probe_providers.h"
#include "kernel/bpf/info.h"
#include "kernel/bpf/preemption.h"
#include "kernel/bpf/test_run.h"
#include "kernel/host/cpus.h"
#include "kernel/host/kernel_version.h"
#include "kernel/host/pid_namespace.h"
#include "kernel/host/syscall_names.h"
#include "lang/program/probe_kinds.h"

namespace gpufs {
namespace {

using Kind = ProbeTarget::Kind;

constexpr std::string_view kSysEnter = "sys_enter_", kSysExit = "sys_exit_";

// How a task shows that it makes a system call of another architecture: those have other numbers.
// TS_COMPAT of arch/x86/include/asm/thread_info.h, TIF_32BIT of arch/arm64's.
#if defined __x86_64__
constexpr const char* kCompatWord = "task_struct.thread_info.status";
constexpr std::uint32_t kCompatBit = 2;
#elif defined __aarch64__
constexpr const char* kCompatWord = "task_struct.thread_info.flags";
constexpr std::uint32_t kCompatBit = 1 << 22;
#else
constexpr const char* kCompatWord = nullptr;
constexpr std::uint32_t kCompatBit = 0;
#endif

// Of the kernel, by kprobe: not by fentry.
bool is_kernel_probe(const ProbeKind& kind) {
    return kind.place == ProbeKind::Place::function && kind.has_registers;
}

bool is_user_probe(const ProbeKind& kind) {
    return kind.place == ProbeKind::Place::file;
}

// The pid namespace whose ids programs have to ask for, where they can: Linux 5.7.
std::optional<LinkTarget::PidNamespace> pid_namespace_to_ask() {
    const PidNamespace own = own_pid_namespace();
    if (own.is_initial() || running_kernel() < KernelVersion{5, 7, 0}) return std::nullopt;
    return LinkTarget::PidNamespace{own.device, own.inode};
}

}  // namespace

Monitor::Monitor(Program program, Choice choice, KernelFacts& machine)
    : machine_(machine),
      how_(choice.attach),
      prepared_(std::make_unique<PreparedProgram>(std::move(program), std::move(choice), machine)),
      pid_namespace_(pid_namespace_to_ask()) {
    make_maps();
    for (const PreparedProgram::Site& site : prepared_->sites()) load(site);
}

void Monitor::make_maps() {
    const std::size_t cpus = possible_cpus().back() + 1;
    for (const MapDeclaration& map : program().maps)
        maps_.emplace(map.name,
                      std::make_unique<KernelMap>(BpfMap::create(prepared_->spec_of(map, cpus))));
    const StringPool& pool = prepared_->pool();
    if (pool.empty()) return;
    BpfMapSpec spec = prepared_->pool_spec();
    spec.flags = BPF_F_RDONLY_PROG;
    pool_map_ = BpfMap::create(spec);
    const std::uint32_t zero = 0;
    pool_map_->update(std::as_bytes(std::span(&zero, 1)), std::as_bytes(std::span(pool.bytes)));
    pool_map_->freeze();
}

KernelMap* Monitor::find_map(std::string_view name) const {
    const auto it = maps_.find(name);
    return it == maps_.end() ? nullptr : it->second.get();
}

LinkTarget Monitor::target_for(const ProbeSite& site) const {
    LinkTarget target = prepared_->target_for(site);
    for (const auto& [name, map] : maps_) target.map_fds[name] = map->bpf().fd();
    target.pid_namespace = pid_namespace_;
    if (pool_map_) target.string_pool_fd = pool_map_->fd();
    return target;
}

// How a program at all system calls knows one of them.
std::optional<SyscallCheck> Monitor::syscall_check(std::string_view call) const {
    if (!kCompatWord) return {};
    const auto number = syscall_number(call);
    const auto compat = machine_.btf_offset(kCompatWord);
    if (!number || !compat) return {};
    SyscallCheck check;
    check.number = *number;
    check.compat = {static_cast<std::int32_t>(*compat), kCompatBit};
    check.reads_task = machine_.features()
                           .ask_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_get_current_task_btf)
                           .support == Support::yes;
    return check;
}

// A tracepoint's program that reads no field goes to the raw tracepoint, where there is one: of a
// system call's begin to that of all system calls, behind a check of the number, because perf
// copies no arguments then. (At exit it would save nothing: the number is not among the arguments
// there.)
void Monitor::choose_raw(Loaded& loaded, Linked& linked) const {
    const EventFormat& event = *loaded.how.site.event;
    if (machine_.is_dynamic_event(event.full_name())) return;
    if (preempts_raw_tracepoints()) return choose_all_syscalls(loaded, linked);
    if (linked.reads_context) return;
    if (event.system != "syscalls") {
        loaded.how.way = LoadedSite::Way::raw_tracepoint;
        loaded.raw_name = event.name;
        return;
    }
    if (!event.name.starts_with(kSysEnter)) return;
    const auto check = syscall_check(std::string_view(event.name).substr(kSysEnter.size()));
    if (!check) return;
    add_syscall_check(*check, linked);
    loaded.how.way = LoadedSite::Way::raw_syscall;
    loaded.raw_name = "sys_enter";
}

// The records of one system call's events are those of all: the number, then arguments or result. A
// pattern's stay where they are: each of them would run for every call.
void Monitor::choose_all_syscalls(Loaded& loaded, Linked& linked) const {
    const EventFormat& event = *loaded.how.site.event;
    if (event.system != "syscalls" || loaded.how.site.target->has_glob) return;
    const bool at_exit = event.name.starts_with(kSysExit);
    const std::string_view prefix = at_exit ? kSysExit : kSysEnter;
    const EventFormat* all =
        machine_.events().find_format(at_exit ? "raw_syscalls:sys_exit" : "raw_syscalls:sys_enter");
    const auto check = syscall_check(std::string_view(event.name).substr(prefix.size()));
    if (!all || !check) return;
    add_syscall_check(*check, linked);
    loaded.how.way = LoadedSite::Way::all_syscalls;
    loaded.instead = all;
}

void Monitor::load(const PreparedProgram::Site& prepared) {
    Loaded loaded;
    loaded.how.site = prepared.site;
    loaded.how.condition = prepared.condition;
    const ProbeSite& site = loaded.how.site;
    const Kind kind = site.target->kind;
    Linked linked = link(program(), *site.program, target_for(site));
    if (kind == Kind::raw_tracepoint) loaded.raw_name = site.event->name;
    if (kind == Kind::tracepoint) choose_raw(loaded, linked);
    loaded.is_multi = (is_kernel_probe(probe_kind(kind)) && site.functions.size() > 1 &&
                       machine_.features().has(BpfFeature::kprobe_multi)) ||
                      (is_user_probe(probe_kind(kind)) && site.places.size() > 1 &&
                       machine_.features().has(BpfFeature::uprobe_multi));
    loaded.how.insns = linked.insns.size();
    loaded.program = load_in_kernel(linked, loaded);
    loaded_.push_back(std::move(loaded));
}

std::vector<LoadedSite> Monitor::sites() const {
    std::vector<LoadedSite> sites;
    for (const Loaded& loaded : loaded_) sites.push_back(loaded.how);
    return sites;
}

Fd Monitor::load_in_kernel(const Linked& linked, const Loaded& loaded) {
    const Kind kind = loaded.how.site.target->kind;
    BpfProgramSpec spec;
    spec.type = probe_provider(loaded.raw_name.empty() ? kind : Kind::raw_tracepoint).program_type;
    spec.name = loaded.how.site.program->name;
    if (loaded.is_multi)
        spec.expected_attach_type =
            loaded.how.site.places.empty() ? kAttachKprobeMulti : kAttachUprobeMulti;
    if (spec.type == BPF_PROG_TYPE_TRACING) {
        return load_at_function(linked, loaded, std::move(spec));
    }
    return load_linked(program(), linked, std::move(spec));
}

Fd Monitor::load_at_function(const Linked& linked, const Loaded& loaded, BpfProgramSpec spec) {
    const std::string& name = loaded.how.site.functions.front();
    spec.expected_attach_type =
        probe_kind(loaded.how.site.target->kind).at_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
    if (!machine_.btf())
        throw UnsupportedError("fentry and fexit need the kernel's BTF",
                               "a kernel with CONFIG_DEBUG_INFO_BTF=y; or use kprobe");
    const auto function = machine_.find_btf_function(name);
    const SourceRef& at = loaded.how.site.target->at;
    if (!function)
        throw SourceError(
            program().sources[at.source], at.span,
            cat("neither the kernel's BTF nor a module's has a function '", name, "'"),
            "a kprobe may find it: BTF lacks what is inlined or renamed");
    spec.attach_btf_id = function->id;
    Fd module;
    if (!function->module.empty()) {
        module = open_module_btf(function->module);
        spec.attach_btf_fd = module.get();
    }
    try {
        return load_linked(program(), linked, std::move(spec));
    } catch (const UnsupportedError&) {
        const ProbeAnswer answer = machine_.features().ask(BpfFeature::fentry);
        if (answer.support != Support::no || answer.code != EPERM) throw;
        throw UnsupportedError(
            cat("cannot run a program at function '", name,
                "': this machine forbids fentry and fexit, though other BPF programs are allowed"),
            "a policy of the kernel or of a security module; use kprobe, or a tracepoint");
    }
}

bool Monitor::makes_probe_events() const {
    return std::ranges::any_of(loaded_, [&](const Loaded& loaded) {
        const ProbeKind& kind = probe_kind(loaded.how.site.target->kind);
        if (loaded.is_multi) return false;
        return (is_kernel_probe(kind) && is_probe_event("kprobe", how_.probe)) ||
               (is_user_probe(kind) && is_probe_event("uprobe", how_.probe));
    });
}

std::vector<Attachment> Monitor::attach_one(const Loaded& loaded) const {
    const ProbeProvider& provider = probe_provider(loaded.how.site.target->kind);
    if (!provider.attach) return {};
    ProbeSite site = loaded.how.site;
    if (loaded.instead) site.event = loaded.instead;
    return provider.attach({site, loaded.program.get(), loaded.is_multi, loaded.raw_name}, how_);
}

void Monitor::attach() {
    if (makes_probe_events()) {
        const Tracefs top = find_tracefs();
        remove_stale(top);
        probe_owner_.emplace(top);
        how_.group = probe_owner_->probe_group();
    }
    try {
        for (const Loaded& loaded : loaded_)
            for (Attachment& one : attach_one(loaded)) attachments_.push_back(std::move(one));
        run(Kind::begin);
    } catch (...) {
        detach();
        throw;
    }
}

void Monitor::run_end() {
    run(Kind::end);
}

void Monitor::run(Kind kind) const {
    for (const Loaded& loaded : loaded_)
        if (loaded.how.site.target->kind == kind) test_run(loaded.program.get(), {});
}

void Monitor::detach() {
    detach_in_background(std::move(attachments_));
    attachments_.clear();
    probe_owner_.reset();
}

Loss Monitor::missed() const {
    Loss all;
    for (const Attachment& one : attachments_) all += Loss::exactly(one.missed().value_or(0));
    for (const Loaded& loaded : loaded_) {
        const std::uint64_t misses = program_info(loaded.program.get()).recursion_misses;
        all += loaded.how.way == LoadedSite::Way::raw_syscall ? Loss::at_most(misses)
                                                              : Loss::exactly(misses);
    }
    return all;
}

}  // namespace gpufs
