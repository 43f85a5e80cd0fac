#include "lang/trace_text/known_events.h"

#include <algorithm>

#include "base/cat.h"
#include "base/embedded.h"
#include "base/scan.h"
#include "base/text.h"
#include "lang/event/gpu_systems.h"
#include "lang/event/made_format.h"

namespace gpufs {
namespace {

struct Row {
    std::string_view event, fields, print;
};

constexpr std::string_view kTask = "char comm[16];pid_t pid;int prio;int target_cpu";
constexpr std::string_view kTaskPrint =
    "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu";
constexpr std::string_view kFence =
    "__data_loc char[] driver;__data_loc char[] timeline;unsigned int context;unsigned int seqno";
constexpr std::string_view kFencePrint =
    "\"driver=%s timeline=%s context=%u seqno=%u\", __get_str(driver), __get_str(timeline), "
    "REC->context, REC->seqno";
constexpr std::string_view kJob =
    "void * entity;void * fence;__data_loc char[] name;uint64_t id;u32 job_count;int hw_job_count";
constexpr std::string_view kJobPrint =
    "\"entity=%p, id=%llu, fence=%p, ring=%s, job count:%u, hw job count:%d\", REC->entity, "
    "REC->id, REC->fence, __get_str(name), REC->job_count, REC->hw_job_count";
constexpr std::string_view kJobSince615 =
    "void * entity;void * fence;__data_loc char[] name;u32 job_count;int hw_job_count";
constexpr std::string_view kJobSince615Print =
    "\"entity=%p, fence=%p, ring=%s, job count:%u, hw job count:%d\", REC->entity, REC->fence, "
    "__get_str(name), REC->job_count, REC->hw_job_count";
constexpr std::string_view kJobSince617 =
    "__data_loc char[] name;u32 job_count;int hw_job_count;__data_loc char[] dev;u64 "
    "fence_context;u64 fence_seqno;u64 client_id";
constexpr std::string_view kJobSince617Print =
    "\"dev=%s, fence=%llu:%llu, ring=%s, job count:%u, hw job count:%d, client_id:%llu\", "
    "__get_str(dev), REC->fence_context, REC->fence_seqno, __get_str(name), REC->job_count, "
    "REC->hw_job_count, REC->client_id";
constexpr std::string_view kTwoFences = "u64 fence_context;u64 fence_seqno;u64 ctx;u64 seqno";
constexpr std::string_view kVblank = "void * file;int crtc;unsigned int seq";
constexpr std::string_view kVblankPrint =
    "\"file=%p, crtc=%d, seq=%u\", REC->file, REC->crtc, REC->seq";
constexpr std::string_view kSoftirq = "unsigned int vec";
constexpr std::string_view kSoftirqPrint =
    "\"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 0, \"HI\" }, { 1, \"TIMER\" }, "
    "{ 2, \"NET_TX\" }, { 3, \"NET_RX\" }, { 4, \"BLOCK\" }, { 5, \"IRQ_POLL\" }, { 6, "
    "\"TASKLET\" }, { 7, \"SCHED\" }, { 8, \"HRTIMER\" }, { 9, \"RCU\" })";

// Their formats in the kernel's events/, with the fields that the text shows: those whose print fmt
// cannot be read back as it is, or is of no kernel that known_events.txt was made from.
constexpr Row kRows[] = {
    {"sched:sched_switch",
     "char prev_comm[16];pid_t prev_pid;int prev_prio;long prev_state;char next_comm[16];pid_t "
     "next_pid;int next_prio",
     "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d "
     "next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? "
     "__print_flags(REC->prev_state & 0xff, \"|\", { 0x1, \"S\" }, { 0x2, \"D\" }, { 0x4, \"T\" }, "
     "{ 0x8, \"t\" }, { 0x10, \"X\" }, { 0x20, \"Z\" }, { 0x40, \"P\" }, { 0x80, \"I\" }) : \"R\", "
     "REC->prev_state & 0x100 ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio"},
    {"sched:sched_wakeup", kTask, kTaskPrint},
    {"sched:sched_wakeup_new", kTask, kTaskPrint},
    {"sched:sched_waking", kTask, kTaskPrint},
    {"sched:sched_process_exec", "__data_loc char[] filename;pid_t pid;pid_t old_pid",
     "\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid"},
    {"sched:sched_process_fork",
     "char parent_comm[16];pid_t parent_pid;char child_comm[16];pid_t child_pid",
     "\"comm=%s pid=%d child_comm=%s child_pid=%d\", REC->parent_comm, REC->parent_pid, "
     "REC->child_comm, REC->child_pid"},
    {"sched:sched_process_exit", "char comm[16];pid_t pid;int prio",
     "\"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio"},
    {"sched:sched_process_exit", "char comm[16];pid_t pid;int prio;bool group_dead",
     "\"comm=%s pid=%d prio=%d group_dead=%s\", REC->comm, REC->pid, REC->prio, REC->group_dead ? "
     "\"true\" : \"false\""},
    {"irq:irq_handler_entry", "int irq;__data_loc char[] name",
     "\"irq=%d name=%s\", REC->irq, __get_str(name)"},
    {"irq:irq_handler_exit", "int irq;int ret",
     "\"irq=%d ret=%s\", REC->irq, REC->ret ? \"handled\" : \"unhandled\""},
    {"irq:softirq_entry", kSoftirq, kSoftirqPrint},
    {"irq:softirq_exit", kSoftirq, kSoftirqPrint},
    {"irq:softirq_raise", kSoftirq, kSoftirqPrint},
    {"gpu_scheduler:drm_sched_job", kJob, kJobPrint},
    {"gpu_scheduler:drm_run_job", kJob, kJobPrint},
    {"gpu_scheduler:drm_sched_job", kJobSince615, kJobSince615Print},
    {"gpu_scheduler:drm_run_job", kJobSince615, kJobSince615Print},
    {"gpu_scheduler:drm_sched_process_job", "void * fence", "\"fence=%p signaled\", REC->fence"},
    {"gpu_scheduler:drm_sched_job_wait_dep",
     "__data_loc char[] name;uint64_t id;void * fence;uint64_t ctx;unsigned seqno",
     "\"job ring=%s, id=%llu, depends fence=%p, context=%llu, seq=%u\", __get_str(name), REC->id, "
     "REC->fence, REC->ctx, REC->seqno"},
    {"gpu_scheduler:drm_sched_job_queue", kJobSince617, kJobSince617Print},
    {"gpu_scheduler:drm_sched_job_run", kJobSince617, kJobSince617Print},
    {"gpu_scheduler:drm_sched_job_done", "u64 fence_context;u64 fence_seqno",
     "\"fence=%llu:%llu signaled\", REC->fence_context, REC->fence_seqno"},
    {"gpu_scheduler:drm_sched_job_add_dep", kTwoFences,
     "\"fence=%llu:%llu depends on fence=%llu:%llu\", REC->fence_context, REC->fence_seqno, "
     "REC->ctx, REC->seqno"},
    {"gpu_scheduler:drm_sched_job_unschedulable", kTwoFences,
     "\"fence=%llu:%llu depends on unsignalled fence=%llu:%llu\", REC->fence_context, "
     "REC->fence_seqno, REC->ctx, REC->seqno"},
    {"dma_fence:dma_fence_init", kFence, kFencePrint},
    {"dma_fence:dma_fence_emit", kFence, kFencePrint},
    {"dma_fence:dma_fence_destroy", kFence, kFencePrint},
    {"dma_fence:dma_fence_enable_signal", kFence, kFencePrint},
    {"dma_fence:dma_fence_signaled", kFence, kFencePrint},
    {"dma_fence:dma_fence_wait_start", kFence, kFencePrint},
    {"dma_fence:dma_fence_wait_end", kFence, kFencePrint},
    {"drm:drm_vblank_event", "int crtc;unsigned int seq;ktime_t time;bool high_prec",
     "\"crtc=%d, seq=%u, time=%lld, high-prec=%s\", REC->crtc, REC->seq, REC->time, "
     "REC->high_prec ? \"true\" : \"false\""},
    {"drm:drm_vblank_event_queued", kVblank, kVblankPrint},
    {"drm:drm_vblank_event_delivered", kVblank, kVblankPrint},
    {"raw_syscalls:sys_exit", "long id;long ret", "\"NR %ld = %ld\", REC->id, REC->ret"},
    {"gpu_mem:gpu_mem_total", "u32 gpu_id;u32 pid;u64 size",
     "\"gpu_id=%u pid=%u size=%llu\", REC->gpu_id, REC->pid, REC->size"},
    {"power:cpu_frequency", "u32 state;u32 cpu_id",
     "\"state=%lu cpu_id=%lu\", (unsigned long)REC->state, (unsigned long)REC->cpu_id"},
    {"power:gpu_frequency", "u32 gpu_id;u32 state",
     "\"gpu_id=%u state=%u\", REC->gpu_id, REC->state"},
    // Their flags are shown as words.
    {"i915:i915_gem_evict", "u32 dev;void * vm;u64 size;u64 align;unsigned int flags",
     "\"dev=%d, vm=%p, size=0x%llx, align=0x%llx %s\", REC->dev, REC->vm, REC->size, REC->align, "
     "__print_symbolic(REC->flags, { 0x8, \", mappable\" }, { 0, \"\" })"},
    {"i915:i915_vma_bind", "void * obj;void * vm;u64 offset;u64 size;unsigned flags",
     "\"obj=%p, offset=0x%016llx size=0x%llx%s vm=%p\", REC->obj, REC->offset, REC->size, "
     "__print_symbolic(REC->flags, { 0x8, \", mappable\" }, { 0, \"\" }), REC->vm"},
    // Until Linux 4.14; since then amdgpu_bo_move.
    {"amdgpu:amdgpu_ttm_bo_move", "void * bo;u64 bo_size;u32 new_placement;u32 old_placement",
     "\"bo=%p, from=%d, to=%d, size=%Ld\", REC->bo, REC->old_placement, REC->new_placement, "
     "REC->bo_size"},
    {"nvidia:nvidia_dev_xid", "__data_loc char[] dev;u32 error_code;__data_loc char[] msg",
     "\"Xid (PCI:%s): %u, %s\", __get_str(dev), REC->error_code, __get_str(msg)"},
};

// Where a field of a type of this beginning has its size.
struct Type {
    std::string_view begin;
    std::size_t size;
    bool is_signed;
};
constexpr Type kTypes[] = {
    {"char ", 16, false},  {"__data_loc ", 4, false},   {"pid_t ", 4, true},
    {"int ", 4, true},     {"unsigned int ", 4, false}, {"unsigned ", 4, false},
    {"u32 ", 4, false},    {"bool ", 1, false},         {"long ", 8, true},
    {"void * ", 8, false}, {"u64 ", 8, false},          {"uint64_t ", 8, false},
    {"ktime_t ", 8, true},
};

KnownEvent event_of(const Row& row) {
    const std::string_view name = row.event.substr(row.event.find(':') + 1);
    MadeFields fields;
    for (const std::string& declaration : split(row.fields, ';')) {
        const auto type = std::ranges::find_if(
            kTypes, [&](const Type& t) { return declaration.starts_with(t.begin); });
        fields.add(declaration, type->size, type->is_signed);
    }
    return {parse_event_format(row.event.substr(0, row.event.find(':')),
                               made_format(name, 1, fields, row.print)),
            text_templates(row.event)};
}

// A form of an event in known_events.txt, from the system's name on: "amdgpu:amdgpu_cs", its
// fields' lines, its print fmt.
KnownEvent event_of(std::string_view form) {
    constexpr std::string_view kPrint = "print fmt: ";
    Scan scan(form);
    const std::string_view system = scan.take_until(':').value();
    const std::string_view name = scan.take_until('\n').value();
    const auto print = scan.rest().find(kPrint);
    const std::string_view shown = trim(scan.rest().substr(print + kPrint.size()));
    return {parse_event_format(system, made_format(name, 1, scan.rest().substr(0, print), shown)),
            {}};
}

void add_captured(std::string_view name, std::vector<KnownEvent>& known) {
    constexpr std::string_view kBegin = "\nname: ";
    const std::string_view all = embedded_text_events().front().text();
    for (auto at = all.find(kBegin); at != all.npos;) {
        const auto end = all.find(kBegin, at + kBegin.size());
        const std::string_view form = all.substr(at, end - at).substr(kBegin.size());
        if (form.substr(0, form.find('\n')).ends_with(cat(':', name)))
            known.push_back(event_of(form));
        at = end;
    }
}

}  // namespace

std::vector<KnownEvent> known_events(std::string_view name) {
    std::vector<KnownEvent> known;
    for (const Row& row : kRows)
        if (row.event.substr(row.event.find(':') + 1) == name) known.push_back(event_of(row));
    add_captured(name, known);
    // A text with a letter of libtraceevent's is read by all of these.
    if (name == "sched_switch") {
        known.push_back(known.front());
        known.back().templates = {
            "{prev_comm}:{prev_pid} [{prev_prio}] {prev_state|old state} ==> "
            "{next_comm}:{next_pid} [{next_prio}]"};
    }
    return known;
}

std::vector<std::string> text_templates(std::string_view full_name) {
    if (full_name == "sched:sched_switch")
        return {
            "prev_comm={prev_comm} prev_pid={prev_pid} prev_prio={prev_prio} "
            "prev_state={prev_state|state} ==> next_comm={next_comm} next_pid={next_pid} "
            "next_prio={next_prio}",
            "{prev_comm}:{prev_pid} [{prev_prio}] {prev_state|state} ==> "
            "{next_comm}:{next_pid} [{next_prio}]"};
    if (full_name == "sched:sched_wakeup" || full_name == "sched:sched_wakeup_new")
        return {"{comm}:{pid} [{prio}] CPU:{target_cpu}"};
    return {};
}

std::string_view guessed_system(std::string_view name) {
    std::string_view best = "text";
    std::size_t length = 0;
    for (const std::string_view system : kGpuSystems) {
        const bool begins =
            name.starts_with(system) && name.size() > system.size() && name[system.size()] == '_';
        if (!begins || system.size() <= length) continue;
        best = system;
        length = system.size();
    }
    return best;
}

}  // namespace gpufs
