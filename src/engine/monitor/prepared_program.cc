#include "engine/monitor/prepared_program.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>

#include "base/diagnostics.h"
#include "base/text.h"
#include "engine/monitor/syscall_signatures.h"
#include "engine/places/providers.h"
#include "lang/expr/bpf.h"
#include "lang/insn/insn.h"
#include "lang/program/function_fields.h"
#include "lang/program/probe_kinds.h"
#include "lang/variable/begin_values.h"

namespace gpufs {
namespace {

using Kind = ProbeTarget::Kind;

// Not about the machine's work: no condition applies to it.
bool runs_by_itself(Kind kind) {
    return probe_kind(kind).place == ProbeKind::Place::own;
}

// Events of the running task's own system calls.
bool is_system_call(const ProbeSite& site) {
    return site.event && (site.event->system == "syscalls" || site.event->system == "raw_syscalls");
}

bool is_insn(const CodeItem& item, const bpf_insn& insn) {
    return item.kind == CodeItem::Kind::insn && item.guard == 0 &&
           item.relocation.kind == Relocation::Kind::none &&
           std::memcmp(&item.insn, &insn, sizeof insn) == 0;
}

// Puts code in front of a program that ends it where the process runs: at its own end, if it has
// one that is not too far for a jump.
void leave_out(std::uint32_t process, ProbeProgram& program) {
    constexpr std::size_t kFar = 10'000;
    constexpr int kProcess = 32;
    std::vector<CodeItem>& code = program.code;
    const auto item = [&](const bpf_insn& insn) {
        CodeItem made;
        made.insn = insn;
        made.at = program.at;
        return made;
    };
    const bool has_end = code.size() >= 2 && code.size() < kFar &&
                         is_insn(code.back(), insn::leave()) &&
                         is_insn(code.end()[-2], insn::mov(Reg::r0, 0));
    CodeItem place = item({});
    place.kind = CodeItem::Kind::label;
    place.name = ".own";
    CodeItem jump = item(
        insn::jump64(has_end ? JumpOp::eq : JumpOp::ne, Reg::r0, static_cast<__s32>(process), 0));
    jump.relocation = Relocation::to(Relocation::Kind::label, place.name);
    jump.relocation.at = program.at;
    std::vector<CodeItem> front{item(insn::mov(Reg::r6, Reg::r1)),
                                item(insn::call(BPF_FUNC_get_current_pid_tgid)),
                                item(insn::alu64(AluOp::rsh, Reg::r0, kProcess)), jump};
    if (has_end)
        code.insert(code.end() - 2, place);
    else
        front.insert(front.end(), {item(insn::mov(Reg::r0, 0)), item(insn::leave()), place});
    front.push_back(item(insn::mov(Reg::r1, Reg::r6)));
    code.insert(code.begin(), front.begin(), front.end());
}

// The fields of an event whose program sees the tracepoint's arguments: what every task has, and of
// a system call, behind its registers, the number at its begin and the result at its end.
EventFormat arguments_of(EventFormat event) {
    std::optional<Field> argument;
    if (const Field* field = raw_syscall_argument(event)) argument = *field;
    std::erase_if(event.fields, [](const Field& field) { return !field.is_common; });
    if (argument) {
        argument->offset = sizeof(std::uint64_t);
        event.fields.push_back(std::move(*argument));
    }
    return event;
}

}  // namespace

PreparedProgram::PreparedProgram(Program program, Choice choice, KernelFacts& machine)
    : program_(std::move(program)),
      choice_(std::move(choice)),
      machine_(machine),
      libraries_(choice_.processes) {
    check_features();
    check_modules();
    leave_out_unwanted();
    add_condition();
    found_ = find_probe_sites(
        program_, machine_, libraries_,
        {choice_.condition ? fields_of(*choice_.condition) : std::vector<std::string>(),
         choice_.awaits_libraries});
    add_begins();
    prepare_sites(0);
    if (choice_.left_out != 0) leave_out_process();
    pool_ = make_string_pool(program_, choice_.parameters);
}

void PreparedProgram::leave_out_unwanted() {
    std::erase_if(program_.programs, [&](const ProbeProgram& one) {
        return !one.wanted_by.empty() &&
               choice_.parameters.number_of(*program_.find_parameter(one.wanted_by)) == 0;
    });
}

// Asks only what the text asks for, and what the linker does.
void PreparedProgram::check_features() {
    Diagnostics mistakes;
    std::set<std::string> asked{"isa_v4"};
    for (const Guard& guard : program_.guards) {
        if (guard.kind != Guard::Kind::has_feature) continue;
        if (find_bpf_feature(guard.name))
            asked.insert(guard.name);
        else
            mistakes.error(program_.sources[guard.at.source], guard.at.span,
                           cat("no kernel feature is named '", guard.name, "'"),
                           "gpufs-asm(5) lists them");
    }
    mistakes.throw_if_any();
    asked.insert(program_.needed_features.begin(), program_.needed_features.end());
    if (std::ranges::count(program_.maps, true, &MapDeclaration::or_perf_ring) > 0)
        asked.insert("ringbuf");
    features_ = machine_.features_among(asked);
    for (MapDeclaration& map : program_.maps)
        if (map.or_perf_ring && !features_.contains("ringbuf"))
            map.type = BPF_MAP_TYPE_PERF_EVENT_ARRAY;
    for (MapDeclaration& map : program_.maps)
        map.keeps_stacks = map.keeps_stacks && features_.contains("bounded_loops");
    for (const std::string& name : program_.needed_features) {
        if (features_.contains(name)) continue;
        const BpfFeatureName& known = name_of(*find_bpf_feature(name));
        if (machine_.is_recording())
            throw UnsupportedError(cat("this needs the feature '", name, "' (", known.what,
                                       "), which a recording does not have"));
        throw UnsupportedError(cat("this needs the feature '", name, "' (", known.what,
                                   "), which this kernel or this user does not have"),
                               std::string(known.fix));
    }
}

void PreparedProgram::check_modules() const {
    if (machine_.is_recording()) return;
    for (const std::string& name : program_.needed_modules)
        if (!machine_.has_module(name))
            throw UnsupportedError(cat("this needs the module '", name, "', which is not loaded"),
                                   cat("'modprobe ", name, "' loads it"));
}

void PreparedProgram::add_condition() {
    if (!choice_.condition) return;
    condition_source_ = program_.sources.size();
    program_.sources.push_back(choice_.condition->source);
}

BpfMapSpec PreparedProgram::spec_of(const MapDeclaration& map, std::size_t cpus) const {
    BpfMapSpec spec;
    spec.type = map.type;
    spec.name = map.name;
    const bool is_ring = map.type == BPF_MAP_TYPE_RINGBUF;
    const std::uint32_t room = is_ring ? UINT32_MAX : kMostMapEntries;
    std::uint64_t entries = map.max_entries;
    if (!map.max_parameter.empty()) {
        const Parameter* parameter = program_.find_parameter(map.max_parameter);
        const std::int64_t most = parameter ? choice_.parameters.number_of(*parameter) : 0;
        if (most <= 0 || most > std::int64_t{room})
            throw UsageError(
                cat(map.max_parameter, "=", most, " is no size for map '", map.name, "'"),
                is_ring ? "a number of bytes" : cat("a number of entries, 1 to ", room));
        entries = static_cast<std::uint64_t>(most);
    }
    spec.max_entries = static_cast<std::uint32_t>(entries);
    if (map.type == BPF_MAP_TYPE_PERF_EVENT_ARRAY) {
        spec.key_bytes = spec.value_bytes = sizeof(std::uint32_t);
        spec.max_entries = static_cast<std::uint32_t>(cpus);
    } else if (!is_ring) {
        const MapShape shape = map.shape(std::min<std::uint64_t>(entries, UINT32_MAX), cpus);
        if (shape.max_entries > room)
            throw UsageError(
                cat("map '", map.name, "' has no room for ", shape.max_entries, " entries"),
                cat(room, " at most, of all CPUs and buckets together"));
        spec.type = shape.type;
        spec.key_bytes = static_cast<std::uint32_t>(shape.key_bytes);
        spec.value_bytes = static_cast<std::uint32_t>(shape.value_bytes);
        spec.max_entries = static_cast<std::uint32_t>(shape.max_entries);
    }
    return spec;
}

BpfMapSpec PreparedProgram::pool_spec() const {
    BpfMapSpec spec;
    spec.type = BPF_MAP_TYPE_ARRAY;
    spec.name = "texts";
    spec.key_bytes = sizeof(std::uint32_t);
    spec.value_bytes = static_cast<std::uint32_t>(pool_.bytes.size());
    spec.max_entries = 1;
    return spec;
}

void PreparedProgram::fill(const MapDeclaration& map, ProgramMap& made) const {
    if (!map.has_signatures) return;
    const Parameter* const wanted = program_.find_parameter(map.wanted_calls);
    fill_signatures(made, wanted ? choice_.parameters.text_of(*wanted) : "", machine_.events());
}

LinkTarget PreparedProgram::target_for(const ProbeSite& site) const {
    LinkTarget target;
    target.context = probe_provider(site.target->kind).context;
    target.event = target.context == LinkTarget::Context::registers
                       ? &function_registers(site.target->kind)
                       : site.event;
    if (site.target->kind == Kind::usdt) target.static_arguments = &site.static_arguments;
    if (!site.variables.empty()) target.variables = &site.variables;
    target.attached_to = site.target->name;
    target.is_recorded = machine_.is_recording();
    target.features = features_;
    target.has_event = [this](std::string_view name) {
        return machine_.events().find(name) != nullptr;
    };
    target.has_module = [this](std::string_view name, std::string_view version) {
        return machine_.has_module(name, version);
    };
    target.btf_offset = [this](std::string_view path) { return machine_.btf_offset(path); };
    target.string_pool = &pool_;
    target.parameters = choice_.parameters;
    for (std::size_t i = 0; i < program_.records.size(); ++i)
        target.record_ids[program_.records[i].name] = static_cast<std::uint32_t>(i + 1);
    return target;
}

std::size_t PreparedProgram::arrive(LibraryFiles::Mapped file) {
    libraries_.arrive(std::move(file));
    const std::size_t before = found_.sites.size(), prepared = sites_.size();
    std::ranges::move(find_arrived_sites(program_, machine_, libraries_),
                      std::back_inserter(found_.sites));
    if (found_.sites.size() != before) prepare_sites(before);
    return sites_.size() - prepared;
}

// Programs at the begins of functions, for variables that are computed from what registers had
// there.
void PreparedProgram::add_begins() {
    std::vector<ProbeSite> begins;
    for (const ProbeSite& site : found_.sites)
        for (const NamedVariable& variable : site.variables) {
            if (!variable.value) continue;
            const std::string& path = site.places.front().path;
            for (ProbeProgram& made : begin_programs(*variable.value, path, site.program->at)) {
                declare_begin_values(program_);
                const std::uint64_t offset = variable.value->function->offset;
                const bool is_known = std::ranges::any_of(begins, [&](const ProbeSite& other) {
                    return other.program->name == made.name &&
                           other.places.front().offset == offset;
                });
                if (is_known) continue;
                ProbeSite begin;
                begin.program = &guarded_.emplace_back(std::move(made));
                begin.target = &begin.program->targets.front().front();
                begin.places = {{path, offset, 0, false}};
                begins.push_back(std::move(begin));
            }
        }
    // First, so that none of their hits is missed once the others run.
    found_.sites.insert(found_.sites.begin(), begins.begin(), begins.end());
}

// From the first of those that were found.
void PreparedProgram::prepare_sites(std::size_t first) {
    if (!choice_.condition) {
        for (std::size_t i = first; i < found_.sites.size(); ++i)
            sites_.push_back({found_.sites[i]});
        return;
    }
    const std::vector<bool> takes = sites_of_condition();
    bool is_used = first != 0;
    std::optional<SourceError> refusal;
    for (std::size_t i = first; i < found_.sites.size(); ++i) {
        Site made{found_.sites[i]};
        if (takes[i]) {
            try {
                made.site.program = &guarded_.emplace_back(guarded(made.site));
            } catch (const SourceError& e) {  // it may suit another event
                if (is_used) throw;
                refusal = e;
                continue;
            }
            is_used = true;
        }
        made.condition = takes[i] ? ConditionUse::asked : unused_at(made.site);
        sites_.push_back(std::move(made));
    }
    if (!is_used && refusal) throw *refusal;
    if (!is_used) refuse_condition();
}

void PreparedProgram::leave_out_process() {
    for (Site& made : sites_) {
        if (!is_system_call(made.site)) continue;
        ProbeProgram& program = guarded_.emplace_back(*made.site.program);
        leave_out(choice_.left_out, program);
        made.site.program = &program;
    }
}

ConditionUse PreparedProgram::unused_at(const ProbeSite& site) const {
    return !knows_condition(site) ? ConditionUse::lacks_field
           : site.program->is_end ? ConditionUse::at_begin
                                  : ConditionUse::at_end;
}

// No event has all of its fields: says so with the first event's names.
void PreparedProgram::refuse_condition() const {
    for (const ProbeSite& site : found_.sites)
        if (site.event) check_expression(*choice_.condition, *site.event);
    throw SourceError(choice_.condition->source, {0, choice_.condition->source.text.size()},
                      "no probe of this program has these fields",
                      "without an event there are pid, tid, comm and cpu");
}

// What a condition can ask about there, besides the task that runs.
EventFormat PreparedProgram::event_at(const ProbeSite& site) {
    EventFormat none;
    none.name = site.described();
    return !site.event                                 ? none
           : site.target->kind == Kind::raw_tracepoint ? arguments_of(*site.event)
                                                       : *site.event;
}

bool PreparedProgram::knows_condition(const ProbeSite& site) const {
    if (runs_by_itself(site.target->kind)) return false;
    const EventFormat event = event_at(site);
    return std::ranges::all_of(fields_of(*choice_.condition), [&](const std::string& field) {
        return event.find(field) || is_task_field(field);
    });
}

// Which sites get the condition, of each monitor: all that begin something, where all know what it
// names; else those that end something, where they do; else whoever does. One for both would
// ask an interrupt, or the next task, for the name of the one that is meant.
std::vector<bool> PreparedProgram::sites_of_condition() const {
    struct Sides {
        bool begins_know = true, ends_know = true, has_ends = false;
    };
    std::map<std::size_t, Sides> monitors;  // by their texts
    for (const ProbeSite& site : found_.sites) {
        if (runs_by_itself(site.target->kind)) continue;
        Sides& sides = monitors[site.program->at.source];
        const bool is_end = site.program->is_end;
        sides.has_ends = sides.has_ends || is_end;
        if (!knows_condition(site)) (is_end ? sides.ends_know : sides.begins_know) = false;
    }
    std::vector<bool> takes;
    for (const ProbeSite& site : found_.sites) {
        const Sides& sides = monitors[site.program->at.source];
        const bool on_one_side = sides.has_ends && (sides.begins_know || sides.ends_know);
        const bool is_on_it = site.program->is_end != sides.begins_know;
        takes.push_back(knows_condition(site) && (!on_one_side || is_on_it));
    }
    return takes;
}

// The program with the condition in front.
ProbeProgram PreparedProgram::guarded(const ProbeSite& site) const {
    ProbeProgram made = *site.program;
    ConditionCode how;
    how.source = condition_source_;
    made.code = compile_condition(*choice_.condition, event_at(site), how);
    made.code.insert(made.code.end(), site.program->code.begin(), site.program->code.end());
    return made;
}

}  // namespace gpufs
