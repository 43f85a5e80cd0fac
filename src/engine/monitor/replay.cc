#include "engine/monitor/replay.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/saturate.h"
#include "base/text.h"
#include "lang/event/field_value.h"
#include "lang/insn/helpers.h"
#include "lang/symbols/probe_functions.h"

namespace gpufs {
namespace {

// By VmState::Gap.
constexpr std::array<std::string_view, VmState::kGaps> kGapTexts{
    "the memory of processes is not recorded, so texts and values in it are empty",
    "the kernel's memory is not recorded, so values in it are 0",
    "kernel stacks are not recorded here",
    "user stacks are not recorded here",
    "which process a thread is of is not recorded here, so a thread counts as one",
    "users are not recorded",
    "cgroups are not recorded",
};

std::string times(std::uint64_t n) {
    return n == 1 ? std::string("once") : cat(n, " times");
}

bool calls_helper(const bpf_insn& insn) {
    return insn.code == (BPF_JMP | BPF_CALL) && insn.src_reg == 0;
}

bool asks_for_stacks(const Linked& linked) {
    return std::ranges::any_of(linked.insns, [](const bpf_insn& insn) {
        return calls_helper(insn) &&
               (insn.imm == BPF_FUNC_get_stackid || insn.imm == BPF_FUNC_get_stack);
    });
}

// Where programs on raw_syscalls:sys_enter and sys_exit find the call's number or its result: in
// front of it are the registers, of which a recording has none.
std::array<std::uint64_t, 2> raw_syscall_arguments(const EventFormat& event, RecordBytes record) {
    const Field* field = raw_syscall_argument(event);
    return {0, field ? integer_of(*field, record) : 0};
}

}  // namespace

Replay::Replay(Program program, PreparedProgram::Choice choice, TraceFile& file)
    : file_(file),
      machine_(file.context().events),
      prepared_(std::make_unique<PreparedProgram>(std::move(program), std::move(choice), machine_)),
      tasks_(file.context()) {
    const std::vector<int> cpus = file.cpus();
    world_.cpus = cpus.empty() ? 1 : static_cast<std::size_t>(cpus.back()) + 1;
    add_common_helpers(world_);
    world_.on_record = [this](std::span<const std::byte> record) {
        taker_.take(this->program(), record, *visit_);
    };
    context_ = world_.memory.add_read_only(VmMemory::Kind::context, {});
    make_maps();
    for (const PreparedProgram::Site& site : prepared_->sites()) load(site);
}

void Replay::make_maps() {
    for (const MapDeclaration& map : program().maps) {
        const int made = world_.add_map(prepared_->spec_of(map, world_.cpus));
        prepared_->fill(map, world_.map(made));
        maps_[map.name] = made;
    }
    const StringPool& pool = prepared_->pool();
    if (pool.empty()) return;
    pool_map_ = world_.add_map(prepared_->pool_spec());
    const std::uint32_t zero = 0;
    world_.map(pool_map_).update(bytes_of(zero), std::as_bytes(std::span(pool.bytes)));
}

ProgramMap* Replay::map(std::string_view name) const {
    const auto it = maps_.find(name);
    return it == maps_.end() ? nullptr : world_.maps[static_cast<std::size_t>(it->second)].get();
}

void Replay::load(const PreparedProgram::Site& prepared) {
    auto loaded = std::make_unique<Loaded>();
    loaded->how = {prepared.site, prepared.condition, LoadedSite::Way::recording};
    const ProbeSite& site = loaded->how.site;
    LinkTarget target = prepared_->target_for(site);
    target.map_fds = maps_;
    target.string_pool_fd = pool_map_;
    loaded->linked = link(program(), *site.program, target);
    loaded->how.insns = loaded->linked.insns.size();
    check_raw(site, loaded->linked);
    check_helpers(loaded->linked);
    wants_stacks_ = wants_stacks_ || asks_for_stacks(loaded->linked);
    try {
        loaded->code = std::make_unique<Interpreter>(loaded->linked.insns, world_);
    } catch (const BpfFault& fault) {
        refuse(loaded->linked, fault);
    }
    if (site.event) {
        const auto id = static_cast<std::size_t>(site.event->id);
        if (id >= by_event_.size()) by_event_.resize(id + 1);
        by_event_[id].push_back(loaded.get());
    }
    if (site.target->kind == Kind::interval) at_intervals_.push_back(loaded.get());
    loaded_.push_back(std::move(loaded));
}

std::vector<LoadedSite> Replay::sites() const {
    std::vector<LoadedSite> sites;
    for (const auto& loaded : loaded_) sites.push_back(loaded->how);
    return sites;
}

void Replay::check_raw(const ProbeSite& site, const Linked& linked) const {
    if (!linked.reads_context) return;
    const SourceRef& at = site.target->at;
    if (site.target->kind == Kind::profile)
        throw SourceError(program().sources.at(at.source), at.span,
                          "a recording has no registers of the samples",
                          cat("tracepoint ", site.event->full_name(), " has their fields"));
    if (site.target->kind != Kind::raw_tracepoint || raw_syscall_argument(*site.event)) return;
    throw SourceError(program().sources.at(at.source), at.span,
                      cat("a recording has the fields of ", site.event->full_name(),
                          ", not the arguments of its tracepoint"),
                      cat("tracepoint ", site.event->full_name(), " has the fields"));
}

void Replay::check_helpers(const Linked& linked) {
    for (std::size_t i = 0; i < linked.insns.size(); ++i)
        if (calls_helper(linked.insns[i]) && !world_.helpers.contains(linked.insns[i].imm))
            refuse(linked,
                   {i, cat("a recording cannot answer ", helper_name(linked.insns[i].imm))});
}

void Replay::refuse(const Linked& linked, const BpfFault& fault) const {
    if (fault.slot() < linked.lines.size()) {
        const SourceRef& at = linked.lines[fault.slot()];
        if (at.source < program().sources.size())
            throw SourceError(program().sources[at.source], at.span, fault.why());
    }
    throw Error(cat("program '", linked.functions.at(0).name, "', ", fault.what()));
}

std::optional<std::uint64_t> Replay::advance() {
    record_ = file_.next();
    if (!record_) return std::nullopt;
    advance_to(*record_);
    return record_->timestamp;
}

void Replay::advance_to(const TraceRecord& record) {
    record_ = &record;
    if (record.stream >= lost_.size()) lost_.resize(record.stream + 1);
    if (!record.lost_before.is_zero()) lost_[record.stream] += record.lost_before;
}

// A program sees its stack from where the event is; the tracer begins in itself.
void Replay::drop_tracer(std::vector<std::uint64_t>& frames) {
    const AddressNames& names = file_.context().addresses;
    drop_probe_frames(frames, [&](std::uint64_t address) {
        const auto found = names.frame(address, FramePlace::outer);
        return found ? found->name : std::string_view();
    });
}

// What the kernel put behind the record, when it made it.
void Replay::take_stacks() {
    kernel_stack_.clear();
    user_stack_.clear();
    kept_.assign(record_->bytes.begin(), record_->bytes.end());
    kept_record_ = *record_;
    kept_record_.bytes = kept_;
    record_ = &kept_record_;
    const CommonFields common = common_fields(kept_);
    while (const TraceRecord* const stack = file_.take_stack(common)) {
        const EventFormat& format = file_.context().events.find(stack->id())->format;
        const auto [caller, is_user] = stack_field(format);
        (is_user ? user_stack_ : kernel_stack_) = stack_of(*caller, stack->bytes, is_user);
        if (!is_user) drop_tracer(kernel_stack_);
        const Field* process = is_user ? format.find("tgid") : nullptr;
        if (process)
            tasks_.set_process(static_cast<std::uint32_t>(common.pid),
                               static_cast<std::uint32_t>(integer_of(*process, stack->bytes)));
    }
}

void Replay::count_stray_stacks(const TraceRecord& record) {
    if (record.stream >= events_.size()) events_.resize(record.stream + 1);
    OpenEvents<bool>& open = events_[record.stream];
    if (!record.lost_before.is_zero()) open.close_all();
    const CommonFields common = common_fields(record.bytes);
    if (!file_.is_stack(record.id()))
        open.open(common, true);
    else if (!open.find(common))
        ++stray_stacks_;
}

void Replay::set_moment(const TraceRecord& record) {
    // Copies of per-CPU values are indexed by it.
    if (record.cpu < 0 || static_cast<std::size_t>(record.cpu) >= world_.cpus)
        throw Error(cat("a record is of CPU ", record.cpu, ", which the recording does not have"));
    const auto tid = static_cast<std::uint32_t>(common_fields(record.bytes).pid);
    const RecordedTasks::Task& task = tasks_.find(tid, record.cpu);
    VmState::Moment& now = world_.now;
    now.time_ns = record.timestamp;
    now.cpu = static_cast<std::uint32_t>(record.cpu);
    now.tid = tid;
    now.pid = task.process;
    now.is_pid_known = task.is_process_known;
    now.comm = task.comm;
    now.kernel_stack = kernel_stack_;
    now.user_stack = user_stack_;
    now.is_stack_known =
        file_.facts().has_whole_stacks && !(kernel_stack_.empty() && user_stack_.empty());
}

void Replay::begin(const VisitRecord& visit) {
    if (std::exchange(has_begun_, true)) return;
    const std::uint64_t first = record_ ? record_->timestamp : 0;
    world_.now.time_ns = first;
    run_all(Kind::begin, visit);
    for (Loaded* loaded : at_intervals_)
        loaded->next_ns = add_saturating(first, loaded->how.site.target->period);
}

void Replay::run(const VisitRecord& visit) {
    begin(visit);
    if (!at_intervals_.empty()) run_intervals(visit);
    if (wants_stacks_) count_stray_stacks(*record_);
    const auto id = static_cast<std::size_t>(std::max(record_->id(), 0));
    const bool is_wanted = id < by_event_.size() && !by_event_[id].empty();
    if (is_wanted && wants_stacks_) take_stacks();
    tasks_.take_before(*record_);
    if (is_wanted) {
        visit_ = &visit;
        set_moment(*record_);
        for (Loaded* loaded : by_event_[id]) {
            ++loaded->hits;
            if (loaded->how.site.target->kind != Kind::raw_tracepoint) {
                run_one(*loaded, record_->bytes);
                continue;
            }
            const auto raw = raw_syscall_arguments(*loaded->how.site.event, record_->bytes);
            run_one(*loaded, std::as_bytes(std::span(raw)));
        }
    }
    tasks_.take_after(*record_);
}

void Replay::run_all(Kind kind, const VisitRecord& visit) {
    visit_ = &visit;
    for (const auto& loaded : loaded_)
        if (loaded->how.site.target->kind == kind) run_one(*loaded, {});
}

void Replay::run_intervals(const VisitRecord& visit) {
    // A recording may be silent for days, or have a damaged time.
    constexpr std::uint64_t kMostAtOnce = 10'000;
    visit_ = &visit;
    const std::uint64_t now = record_->timestamp;
    for (Loaded* loaded : at_intervals_) {
        if (loaded->next_ns > now) continue;
        const std::uint64_t period = loaded->how.site.target->period;
        std::uint64_t more = (now - loaded->next_ns) / period;  // runs due behind the first
        if (more >= kMostAtOnce) {
            const std::uint64_t skipped = more + 1 - kMostAtOnce;
            left_out_ = add_saturating(left_out_, skipped);
            loaded->next_ns += skipped * period;
            more = kMostAtOnce - 1;
        }
        for (std::uint64_t i = 0; i <= more; ++i) {
            world_.now = {};
            world_.now.time_ns = loaded->next_ns;
            run_one(*loaded, {});
            loaded->next_ns = add_saturating(loaded->next_ns, period);
        }
    }
}

void Replay::run_one(Loaded& loaded, std::span<const std::byte> context) {
    world_.memory.rebind(context_, context);
    try {
        loaded.code->run(context_);
    } catch (const BpfFault& fault) {
        refuse(loaded.linked, fault);
    }
}

void Replay::run_end(const VisitRecord& visit) {
    begin(visit);
    run_all(Kind::end, visit);
    visit_ = &visit;
    run_for_keys(Kind::each);
    run_for_keys(Kind::snapshot);
}

void Replay::run_each() {
    run_for_keys(Kind::each);
    run_snapshots();
}

void Replay::run_snapshots() {
    run_for_keys(Kind::snapshot);
}

void Replay::run_for_keys(Kind kind) {
    static const VisitRecord tells_nobody = [](const RecordLayout&, std::span<const std::byte>) {};
    visit_ = &tells_nobody;
    for (const auto& loaded : loaded_) {
        const ProbeTarget& target = *loaded->how.site.target;
        if (target.kind != kind) continue;
        for (const auto& key : keys_as_contexts(*map(target.name))) run_one(*loaded, key);
    }
}

Loss Replay::lost() const {
    Loss all;
    for (std::size_t stream = 0; stream < lost_.size(); ++stream)
        all += was_read_to_end() ? file_.lost_in(stream, lost_[stream]) : lost_[stream];
    return all;
}

LossLedger Replay::losses() const {
    LossLedger losses{{"records of no declared layout", Loss::exactly(taker_.unknown())},
                      {"events that the recording lost", lost()},
                      {"runs of interval programs in long gaps", Loss::exactly(left_out_)}};
    losses.add(file_.damage_losses());
    return losses;
}

std::vector<std::string> Replay::notes() const {
    std::vector<std::string> notes = prepared_->notes();
    for (const auto& loaded : loaded_)
        if (was_read_to_end() && loaded->how.site.event && loaded->hits == 0 &&
            !loaded->how.site.target->has_glob)
            notes.push_back(cat(loaded->how.site.program->name, ": the recording has no record of ",
                                loaded->how.site.event->full_name()));
    for (std::string& note : recording_notes()) notes.push_back(std::move(note));
    return notes;
}

std::vector<std::string> Replay::recording_notes() const {
    std::vector<std::string> notes = file_.notes();
    for (std::size_t i = 0; i < kGapTexts.size(); ++i)
        if (world_.misses[i] != 0)
            notes.push_back(cat(kGapTexts[i], ": asked ", times(world_.misses[i])));
    if (stray_stacks_ != 0) notes.push_back(stray_stacks_text(stray_stacks_));
    if (!file_.context().options.clock_is_ns)
        notes.push_back("the recording's clock counts no nanoseconds: times are in its units");
    for (std::string& damage : file_.damage()) notes.push_back(std::move(damage));
    return notes;
}

}  // namespace gpufs
