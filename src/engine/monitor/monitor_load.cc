#include <algorithm>
#include <cerrno>

#include "base/bytes.h"
#include "base/text.h"
#include "engine/monitor/load_linked.h"
#include "engine/monitor/monitor.h"
#include "engine/places/providers.h"
#include "kernel/bpf/preemption.h"
#include "kernel/host/syscall_names.h"
#include "lang/insn/insn.h"
#include "lang/ir/followed.h"
#include "lang/program/probe_kinds.h"

// How the programs of a monitor get into the kernel: which kind of program each is, and what stands
// in front of it.
namespace gpufs {
namespace {

using Kind = ProbeTarget::Kind;

constexpr std::string_view kSysEnter = "sys_enter_", kSysExit = "sys_exit_";

std::string_view syscall_prefix(const EventFormat& event) {
    return event.name.starts_with(kSysExit) ? kSysExit : kSysEnter;
}

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

bool refers_to_map(const bpf_insn& insn) {
    return insn.code == (BPF_LD | BPF_IMM | BPF_DW) &&
           (insn.src_reg == BPF_PSEUDO_MAP_FD || insn.src_reg == BPF_PSEUDO_MAP_VALUE);
}

// A program that goes on as the one in the first place of an array of programs.
std::vector<bpf_insn> jump_through(int programs) {
    const auto array = insn::load_pseudo(Reg::r2, Pseudo::map_fd, programs);
    return {array[0],
            array[1],
            insn::mov(Reg::r3, 0),
            insn::call(BPF_FUNC_tail_call),
            insn::mov(Reg::r0, 0),
            insn::leave()};
}

// Puts a program into the first place.
void put(const BpfMap& programs, const Fd& program) {
    const std::uint32_t key = 0;
    const int fd = program.get();
    programs.update(bytes_of(key), bytes_of(fd));
}

}  // namespace

void Monitor::turn() {
    if (second_maps_.empty()) return;
    whose_turn_ ^= 1;
    for (const Loaded& loaded : loaded_)
        if (loaded.turn) put(*loaded.turn, loaded.by_turn[whose_turn_]);
    grace_period_->wait();
}

LinkTarget Monitor::target_for(const ProbeSite& site) const {
    LinkTarget target = prepared_->target_for(site);
    for (const auto& [name, map] : maps_) target.map_fds[name] = map->bpf().fd();
    if (followed_) target.map_fds[kFollowedMap] = followed_->fd();
    target.map_fds.insert(other_maps_.begin(), other_maps_.end());
    target.pid_namespace = pid_namespace_;
    if (pool_map_) target.string_pool_fd = pool_map_->fd();
    return target;
}

// How a program at all system calls knows one of them.
std::optional<SyscallCheck> Monitor::syscall_check(std::string_view call) const {
    if (!kCompatWord) return {};
    const auto number = syscall_number_of_event(call);
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
// copies no arguments then. Of several calls one dispatcher looks at the number: each check takes
// some 100 ns of every call of the machine. (At exit it would save nothing: the number is not among
// the arguments there.)
void Monitor::choose_raw(Loaded& loaded, Linked& linked) {
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
    loaded.how.way = LoadedSite::Way::raw_syscall;
    loaded.raw_name = "sys_enter";
    const EventFormat* all = machine_.events().find_format("raw_syscalls:sys_enter");
    choose_dispatcher(all, *check, loaded, linked);
}

// The records of one system call's events are those of all: the number, then arguments or result.
void Monitor::choose_all_syscalls(Loaded& loaded, Linked& linked) {
    const ProbeSite& site = loaded.how.site;
    if (site.event->system != "syscalls") return;
    const std::string_view prefix = syscall_prefix(*site.event);
    const EventFormat* all = machine_.events().find_format(
        prefix == kSysExit ? "raw_syscalls:sys_exit" : "raw_syscalls:sys_enter");
    const auto check = syscall_check(std::string_view(site.event->name).substr(prefix.size()));
    if (!all || !check) return;
    loaded.how.way = LoadedSite::Way::all_syscalls;
    loaded.instead = all;
    choose_dispatcher(all, *check, loaded, linked);
}

// Has the program run for one of the calls that come to `all`: by a dispatcher, or where it is the
// only one or `all` is null, by a check of its own.
void Monitor::choose_dispatcher(const EventFormat* all, const SyscallCheck& check, Loaded& loaded,
                                Linked& linked) {
    if (!all || !has_other_syscalls(loaded.how.site)) return add_syscall_check(check, linked);
    loaded.call = check.number;
    loaded.dispatcher = &dispatcher_for(*all, loaded, linked, check);
}

// Whether the program looks at the begins, or at the ends, of more than one system call.
bool Monitor::has_other_syscalls(const ProbeSite& site) const {
    return std::ranges::any_of(prepared_->sites(), [&](const PreparedProgram::Site& other) {
        const EventFormat* event = other.site.event;
        return event && event->system == "syscalls" &&
               syscall_prefix(*event) == syscall_prefix(*site.event) &&
               (other.site.program != site.program || event != site.event);
    });
}

// The first that has room: programs for one call run in the order of the text.
SyscallDispatcher& Monitor::dispatcher_for(const EventFormat& all, const Loaded& loaded,
                                           const Linked& linked, const SyscallCheck& check) {
    using Place = SyscallDispatcher::Place;
    const Place place = loaded.raw_name.empty() ? Place::record : Place::raw_tracepoint;
    for (const auto& one : dispatchers_)
        if (one->is_at(all, place) && one->has_room_for(check.number)) return *one;
    const auto load = [&](std::vector<bpf_insn> code) {
        return load_jump(std::move(code), linked, loaded);
    };
    return *dispatchers_.emplace_back(std::make_unique<SyscallDispatcher>(all, place, check, load));
}

// Probes in files also where there is one: closing its link holds up nobody (detach_all()).
bool Monitor::is_for_multi_link(const ProbeSite& site) const {
    if (how_.hook != HookWay::newest || how_.probe != ProbeWay::newest) return false;
    const ProbeKind& kind = probe_kind(site.target->kind);
    if (kind.is_in_file()) return machine_.features().has(BpfFeature::uprobe_multi);
    return is_kernel_probe(kind) && site.functions.size() > 1 &&
           machine_.features().has(BpfFeature::kprobe_multi);
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
    loaded.is_multi = is_for_multi_link(site);
    loaded.how.insns = linked.insns.size();
    // One for each program: the kernel wants all that use an array to be of one attach type.
    std::optional<BpfMap> no_programs;
    if (probe_kind(kind).is_in_file() && shares_stacks_at_uprobes()) {
        no_programs = SyscallDispatcher::make_programs(1);
        run_on_task_stack(no_programs->fd(), linked);
    }
    if (uses_turned_maps(linked))
        load_by_turn(linked, loaded);
    else
        loaded.program = load_in_kernel(linked, loaded);
    if (loaded.dispatcher) loaded.dispatcher->put(loaded.call, loaded.program);
    loaded_.push_back(std::move(loaded));
}

// A program of the same kind as `to`, which it goes on as.
Fd Monitor::load_jump(std::vector<bpf_insn> code, const Linked& to, const Loaded& loaded) {
    Linked jump;
    jump.insns = std::move(code);
    jump.functions = {to.functions.front()};
    return load_in_kernel(jump, loaded);
}

bool Monitor::uses_turned_maps(const Linked& linked) const {
    return std::ranges::any_of(second_maps_, [&](const auto& second) {
        const int first = maps_.find(second.first)->second->bpf().fd();
        return std::ranges::any_of(linked.insns, [first](const bpf_insn& insn) {
            return refers_to_map(insn) && insn.imm == first;
        });
    });
}

// What is attached jumps to the program whose turn it is. A jump that always goes to the same place
// of an array costs next to nothing: the kernel patches it into the code.
void Monitor::load_by_turn(const Linked& linked, Loaded& loaded) {
    Linked second = linked;
    for (const auto& [name, map] : second_maps_)
        for (bpf_insn& insn : second.insns)
            if (refers_to_map(insn) && insn.imm == maps_.find(name)->second->bpf().fd())
                insn.imm = map->bpf().fd();
    loaded.by_turn.push_back(load_in_kernel(linked, loaded));
    loaded.by_turn.push_back(load_in_kernel(second, loaded));
    if (!probe_provider(loaded.how.site.target->kind).attach) return;
    BpfMapSpec spec;
    spec.type = BPF_MAP_TYPE_PROG_ARRAY;
    spec.name = "turn";
    spec.key_bytes = spec.value_bytes = sizeof(std::uint32_t);
    spec.max_entries = 1;
    loaded.turn = BpfMap::create(spec);
    loaded.program = load_jump(jump_through(loaded.turn->fd()), linked, loaded);
    put(*loaded.turn, loaded.by_turn[whose_turn_]);
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
    return load_linked(program(), linked, std::move(spec), machine_.features());
}

Fd Monitor::load_at_function(const Linked& linked, const Loaded& loaded, BpfProgramSpec spec) {
    const std::string& name = loaded.how.site.functions.front();
    const ProbeKind& kind = probe_kind(loaded.how.site.target->kind);
    spec.expected_attach_type = kind.kind == Kind::iter ? BPF_TRACE_ITER
                                : kind.at_return        ? BPF_TRACE_FEXIT
                                                        : BPF_TRACE_FENTRY;
    if (!machine_.btf())
        throw UnsupportedError(
            "fentry and fexit need the kernel's BTF",
            cat("a kernel with CONFIG_DEBUG_INFO_BTF=y; ", instead_of_fentry(machine_)));
    const auto function = machine_.find_btf_function(name);
    const SourceRef& at = loaded.how.site.target->at;
    if (!function)
        throw SourceError(
            program().sources[at.source], at.span,
            cat("neither the kernel's BTF nor a module's has a function '", name, "'"),
            near_kernel_function(name, machine_)
                .value_or(cat("BTF lacks what is inlined or renamed",
                              machine_.has_kprobes() ? ": a kprobe may find it" : "")));
    spec.attach_btf_id = function->id;
    Fd module;
    if (!function->module.empty()) {
        module = open_module_btf(function->module);
        spec.attach_btf_fd = module.get();
    }
    try {
        return load_linked(program(), linked, std::move(spec), machine_.features());
    } catch (const UnsupportedError&) {
        const ProbeAnswer answer = machine_.features().ask(BpfFeature::fentry);
        if (answer.support != Support::no || answer.code != EPERM) throw;
        throw UnsupportedError(
            cat("cannot run a program at function '", name,
                "': this machine forbids fentry, fexit and iterators, though other BPF programs "
                "are allowed"),
            kind.kind == Kind::iter ? "a policy of the kernel or of a security module"
                                    : instead_of_fentry(machine_));
    }
}

}  // namespace gpufs
