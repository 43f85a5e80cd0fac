#include "lang/adhoc/probe.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "lang/adhoc/fetched.h"
#include "lang/expr/bpf.h"
#include "lang/ir/aggregate.h"
#include "lang/ir/followed.h"
#include "lang/variable/begin_values.h"

namespace gpufs {
namespace {

// The first field of the filter that the event lacks.
std::optional<std::string> missing_field(const AdhocFilter& filter, const AdhocEvent& event) {
    if (!filter.condition) return std::nullopt;
    for (const std::string& field : fields_of(*filter.condition))
        if (!event.format.find(field) && !is_task_field(field)) return field;
    return std::nullopt;
}

// Of a place "PATH:0xOFFSET".
std::string path_of(const ProbeTarget& target) {
    return target.name.substr(0, target.name.rfind(':'));
}

bool reads_begins(const AdhocEvent& event) {
    return std::ranges::any_of(event.fetched, [](const FetchedField& fetched) {
        return fetched.variable && !fetched.variable->begin_registers().empty();
    });
}

}  // namespace

AdhocProbe::AdhocProbe(const AdhocEvent& event, Program& program, const AdhocFilter* filter)
    : event_(event),
      program_(program),
      context_(code_.argument(1)),
      out_(code_.new_label()),
      unknown_(code_.new_label()),
      record_(begin(filter)),
      values_(code_, context_, record_, event, program) {}

ir::Temp AdhocProbe::begin(const AdhocFilter* filter) {
    if (filter) filter_tasks(*filter);
    if (event_.fetched.empty()) return context_;
    FetchedRecord fetched = append_fetched_record(code_, context_, event_, unknown_);
    losses_ = std::move(fetched.losses);
    return fetched.address;
}

// Of hits that are wanted.
void AdhocProbe::count_losses() {
    for (const FetchedRecord::Loss& loss : std::exchange(losses_, {})) {
        const ir::Label none = code_.new_label();
        code_.branch(ir::Cmp::eq, ir::kU32, loss.has_happened, 0, none);
        if (!program_.find_map(loss.map)) declare_loss(program_, loss.map, loss.words);
        append_loss(code_, loss.map);
        code_.bind(none);
    }
}

void AdhocProbe::filter_tasks(const AdhocFilter& filter) {
    if (std::exchange(has_filtered_tasks_, true)) return;
    append_pid_test(code_, filter.pids, out_);
    if (filter.followed) {
        declare_followed(program_);
        append_followed_test(code_, out_);
    }
}

void AdhocProbe::filter(const AdhocFilter& filter) {
    filter_tasks(filter);
    if (filter.comm) append_condition(code_, record_, out_, *filter.comm, event_.format);
    if (!filter.condition) return;
    ConditionCode how;
    how.source = filter.condition_source;
    append_condition(code_, record_, out_, *filter.condition, event_.format, how);
    code_.set_source({});
    count_losses();
}

ir::Slot AdhocProbe::new_key(const Layout& layout) {
    // Behind the key is room for a histogram's bucket.
    const ir::Slot slot = code_.new_slot(layout.bytes + 2 * sizeof(std::uint32_t));
    if (layout.members.empty()) code_.store(slot, 0, ir::kU32);
    append_padding(code_, layout, slot);
    return slot;
}

ir::Slot AdhocProbe::key(std::span<const AdhocWord> names, const Layout& layout) {
    count_losses();
    const ir::Slot slot = new_key(layout);
    append_values(values_, event_, names, layout, slot);
    return slot;
}

void AdhocProbe::add_to(std::string_view map, ir::Slot key, const ir::Operand& value) {
    append_aggregation(code_, *program_.find_map(map), key, value);
}

void AdhocProbe::finish(std::string name) {
    for (const FetchedField& fetched : event_.fetched)
        if (fetched.variable)
            add_begin_programs(program_, *fetched.variable, path_of(event_.target),
                               event_.target.at);
    count_losses();
    code_.bind(out_);
    code_.leave(0);
    if (reads_begins(event_)) {
        code_.bind(unknown_);
        append_unseen_begin(code_);
        code_.leave(0);
    }
    ProbeProgram made;
    made.name = std::move(name);
    made.targets = {{event_.target}};
    made.code = code_.assemble();
    made.at = event_.target.at;
    program_.programs.push_back(std::move(made));
}

Program begin_program(const AdhocQuestion& question, std::string name) {
    Program program;
    program.name = std::move(name);
    program.summary = question.title;
    program.sources = question.sources;
    return program;
}

void add_report(Program& program, std::string map, std::string title, const Layout& key,
                std::size_t entries, const Aggregation& how, const ValueType& value) {
    const bool is_keyless = key.members.empty();
    MapDeclaration made;
    made.name = map;
    made.type = is_keyless ? BPF_MAP_TYPE_PERCPU_ARRAY : BPF_MAP_TYPE_PERCPU_HASH;
    made.key = key;
    made.value.add("value", value);
    made.aggregation = how;
    made.max_entries = is_keyless ? 1 : entries;
    declare_aggregation(program, std::move(made));
    Report report;
    report.title = std::move(title);
    report.map = std::move(map);
    report.says_none = true;
    for (const Member& member : key.members) report.by.push_back(member.name);
    program.reports.push_back(std::move(report));
}

void check_filter(const AdhocFilter& filter, std::span<const AdhocEvent> events,
                  Diagnostics& mistakes) {
    for (const AdhocEvent& event : events) {
        for (const auto& condition : {filter.comm, filter.condition}) {
            if (!condition) continue;
            try {
                ir::Code code;
                const ir::Temp context = code.argument(1);
                append_condition(code, context, code.new_label(), *condition, event.format);
            } catch (const SourceError& e) {
                mistakes.error(condition->source, e);
                return;
            }
        }
    }
}

bool suits(const AdhocFilter& filter, const AdhocEvent& event) {
    return !missing_field(filter, event);
}

std::string drop_events_without_fields(AdhocQuestion& question,
                                       const std::vector<AdhocWord>& also) {
    std::vector<AdhocWord> names = question.keys;
    names.insert(names.end(), also.begin(), also.end());
    std::set<std::string> lacking;
    const auto is_lacking = [&](const AdhocEvent& event) {
        if (!event.from_pattern) return false;
        std::optional<std::string> missing = missing_field(question.filter, event);
        for (const AdhocWord& name : names)
            if (!missing && !find_value(event, name.text)) missing = name.text;
        if (missing) lacking.insert(*missing);
        return missing.has_value();
    };
    std::vector<AdhocEvent> kept;
    for (const AdhocEvent& event : question.events)
        if (!is_lacking(event)) kept.push_back(event);
    const std::size_t dropped = question.events.size() - kept.size();
    if (dropped == 0 || kept.empty()) return {};
    question.events = std::move(kept);
    std::string fields;
    for (const std::string& field : lacking)
        fields += cat(fields.empty() ? "'" : ", '", field, "'");
    return cat(counted(dropped, "event"), " of the pattern left out: without a field ", fields);
}

}  // namespace gpufs
