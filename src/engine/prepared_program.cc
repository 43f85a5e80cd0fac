#include "gpufs/engine/prepared_program.h"

#include <algorithm>
#include <cstdint>

#include "gpufs/base/diagnostics.h"
#include "gpufs/base/text.h"
#include "gpufs/kernel/cpus.h"
#include "gpufs/lang/expr_bpf.h"

namespace gpufs {
namespace {

using Kind = ProbeTarget::Kind;

// Once each and not about the machine's work: no condition applies to it.
bool runs_by_itself(Kind kind) {
    return kind == Kind::begin || kind == Kind::end || kind == Kind::interval;
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

PreparedProgram::PreparedProgram(Program program, Choice choice, BpfMachine& machine)
    : program_(std::move(program)), choice_(std::move(choice)), machine_(machine) {
    check_features();
    add_condition();
    found_ = find_probe_sites(program_, machine_,
                              condition_ ? fields_of(*condition_) : std::vector<std::string>());
    pool_ = make_string_pool(program_, choice_.parameters);
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
    for (const std::string& name : program_.needed_features) {
        if (features_.contains(name)) continue;
        const auto feature = find_bpf_feature(name);
        const auto known =
            std::ranges::find(bpf_feature_names(), *feature, &BpfFeatureName::feature);
        if (machine_.is_recording())
            throw UnsupportedError(cat("this needs the feature '", name, "' (", known->what,
                                       "), which a recording does not have"));
        throw UnsupportedError(cat("this needs the feature '", name, "' (", known->what,
                                   "), which this kernel or this user does not have"),
                               std::string(known->fix));
    }
}

void PreparedProgram::add_condition() {
    if (!choice_.condition) return;
    condition_ = parse_expression(*choice_.condition);
    condition_source_ = program_.sources.size();
    program_.sources.push_back(*choice_.condition);
}

BpfMapSpec PreparedProgram::spec_of(const MapDeclaration& map) const {
    BpfMapSpec spec;
    spec.type = map.type;
    spec.name = map.name;
    spec.max_entries = static_cast<std::uint32_t>(map.max_entries);
    if (!map.max_parameter.empty()) {
        const Parameter* parameter = program_.find_parameter(map.max_parameter);
        const auto& numbers = choice_.parameters.numbers;
        const auto given = numbers.find(map.max_parameter);
        const std::int64_t most = given != numbers.end() ? given->second
                                  : parameter            ? parameter->value
                                                         : 0;
        if (most <= 0 || most > std::int64_t{UINT32_MAX})
            throw UsageError(
                cat(map.max_parameter, "=", most, " is no size for map '", map.name, "'"),
                "a number of entries, 1 or more");
        spec.max_entries = static_cast<std::uint32_t>(most);
    }
    if (map.type == BPF_MAP_TYPE_PERF_EVENT_ARRAY) {
        spec.key_bytes = spec.value_bytes = sizeof(std::uint32_t);
        spec.max_entries = possible_cpus().back() + 1;
    } else if (map.type != BPF_MAP_TYPE_RINGBUF) {
        spec.key_bytes = static_cast<std::uint32_t>(map.key.bytes);
        spec.value_bytes = static_cast<std::uint32_t>(map.value_bytes());
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

LinkTarget PreparedProgram::target_for(const ProbeSite& site) const {
    LinkTarget target;
    if (site.target->kind == Kind::tracepoint)
        target.context = LinkTarget::Context::record;
    else if (site.target->kind == Kind::raw_tracepoint)
        target.context = LinkTarget::Context::raw_arguments;
    target.event = site.event;
    target.attached_to = site.target->name;
    target.features = features_;
    target.has_event = [this](std::string_view name) {
        return machine_.event(std::string(name)) != nullptr;
    };
    target.btf_offset = [this](std::string_view path) { return machine_.btf_offset(path); };
    target.string_pool = &pool_;
    target.parameters = choice_.parameters;
    for (std::size_t i = 0; i < program_.records.size(); ++i)
        target.record_ids[program_.records[i].name] = static_cast<std::uint32_t>(i + 1);
    return target;
}

void PreparedProgram::load_sites(const std::function<std::string(const ProbeSite&)>& load) {
    bool is_used = !condition_;
    std::optional<SourceError> refusal;
    for (const ProbeSite& site : found_.sites) {
        try {
            bool is_conditional = false;
            ProbeSite own = site;
            if (condition_ && !runs_by_itself(site.target->kind)) {
                guarded_.push_back(guarded(site, is_conditional));
                if (is_conditional)
                    own.program = &guarded_.back();
                else
                    guarded_.pop_back();
            }
            is_used = is_used || is_conditional;
            explanation_.push_back(load(own));
            if (condition_ && !is_conditional)
                explanation_.back() += "; --if does not apply: it lacks a field of it";
        } catch (const SourceError& e) {
            if (is_used) throw;
            refusal = e;
        }
    }
    if (!is_used && refusal) throw *refusal;
    if (!is_used) refuse_condition();
    for (const auto* lines : {&found_.choices, &found_.notes})
        explanation_.insert(explanation_.end(), lines->begin(), lines->end());
}

// No event has all of its fields: says so with the first event's names.
void PreparedProgram::refuse_condition() const {
    for (const ProbeSite& site : found_.sites)
        if (site.event) check_expression(*condition_, *site.event);
    throw SourceError(condition_->source, {0, condition_->source.text.size()},
                      "no probe of this program has these fields",
                      "without an event there are pid, tid, comm and cpu");
}

// The program with the condition in front, where the site knows all that the condition names.
ProbeProgram PreparedProgram::guarded(const ProbeSite& site, bool& is_conditional) const {
    EventFormat none;
    none.name = site.described();
    const EventFormat event = !site.event ? none
                              : site.target->kind == Kind::raw_tracepoint
                                  ? arguments_of(*site.event)
                                  : *site.event;
    for (const std::string& field : fields_of(*condition_))
        if (!event.find(field) && field != "pid" && field != "tid") return {};
    is_conditional = true;
    ProbeProgram made = *site.program;
    ConditionCode how;
    how.source = condition_source_;
    made.code = compile_condition(*condition_, event, how);
    made.code.insert(made.code.end(), site.program->code.begin(), site.program->code.end());
    return made;
}

}  // namespace gpufs
