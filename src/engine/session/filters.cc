#include "engine/session/filters.h"

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "engine/session/scratch_instance.h"
#include "kernel/host/cpus.h"

namespace gpufs {
namespace {

// Refuses a CPU that this machine does not have. The kernel takes it as a number, for a record that
// never comes, and refuses a list without saying why.
void require_cpus(const Expression& expression, const ExprNode& node, const EventFormat& event) {
    for (const ExprNode& term : node.terms) require_cpus(expression, term, event);
    if (node.kind != ExprNode::Kind::predicate) return;
    const Predicate& p = node.predicate;
    std::uint64_t highest = 0;
    if (p.value.kind == Literal::Kind::cpu_list) {
        if (const auto cpus = parse_kernel_cpu_list(p.value.text)) highest = cpus->size() - 1;
    } else if (p.value.kind == Literal::Kind::number && p.op == CompareOp::eq) {
        const auto subject = find_subject(event, p.field);
        if (subject && subject->kind == Subject::Kind::cpu) highest = p.value.bits();
    }
    if (highest == 0) return;
    if (const auto& cpus = possible_cpus(); highest > cpus.back())
        throw SourceError(expression.source, p.value.span, cat("this machine has no CPU ", highest),
                          cat("it has ", cpu_list_to_text(cpus)));
}

}  // namespace

void plan_session(SessionPlan& plan, const Session& session) {
    if (!session.exists()) plan.changes.make_instance(session.tracefs());
}

SessionPlan plan_filter(const Session& session, const std::vector<EventFormat>& events,
                        const Expression& expression, bool enable) {
    SessionPlan plan;
    plan_session(plan, session);
    const Tracefs& at = session.tracefs();
    for (const EventFormat& event : events) {
        require_cpus(expression, expression.root, event);
        const std::string name = event.full_name();
        const std::string directory = event_directory(name);
        const EventState now = session.exists() ? read_event_state(at, name) : EventState{};
        const std::string filter = to_filter(expression, event);
        plan.changes.replace(at, directory + "/filter", filter, now.filter_to_restore());
        if (enable && !now.is_enabled) plan.changes.replace(at, directory + "/enable", "1", "0");
        plan.notes.push_back(cat(
            name, ": filtered by '", filter, "'", enable ? ", enabled" : "", " in ",
            session.described(),
            now.filter.empty() || now.filter == filter ? "" : cat("; it was '", now.filter, "'")));
    }
    return plan;
}

SessionPlan plan_record_all(const Session& session, const std::vector<std::string>& events) {
    SessionPlan plan;
    plan_session(plan, session);
    const Tracefs& at = session.tracefs();
    for (const std::string& name : events) {
        const std::string directory = event_directory(name);
        const EventState now = session.exists() ? read_event_state(at, name) : EventState{};
        if (!now.filter.empty())
            plan.changes.replace(at, directory + "/filter", kNoFilter, now.filter_to_restore());
        if (!now.is_enabled) plan.changes.replace(at, directory + "/enable", "1", "0");
        plan.notes.push_back(cat(name, ": every occurrence, enabled in ", session.described(),
                                 now.filter.empty() ? "" : cat("; it was '", now.filter, "'")));
    }
    return plan;
}

SessionPlan plan_clear_filter(const Session& session, const std::vector<std::string>& events) {
    SessionPlan plan;
    const Tracefs& at = session.tracefs();
    for (const std::string& name : events) {
        const std::string directory = event_directory(name);
        const EventState now = read_event_state(at, name);
        if (now.is_enabled) plan.changes.replace(at, directory + "/enable", "0", "1");
        if (!now.filter.empty())
            plan.changes.replace(at, directory + "/filter", kNoFilter, now.filter_to_restore());
        const std::string gone = removed_text(now, {});
        std::string note =
            cat(name, ": ", gone.empty() ? "not filtered" : gone, " in ", session.described());
        if (!now.triggers.empty())
            note += cat("; its triggers stay ('gpufs trigger --clear -e ", name, session.option(),
                        "' removes them)");
        plan.notes.push_back(note);
    }
    return plan;
}

void try_filters(const Tracefs& top, const std::vector<EventFormat>& events,
                 const Expression& expression) {
    const ScratchInstance scratch(top);
    for (const EventFormat& event : events)
        scratch.tracefs().write(event_directory(event.full_name()) + "/filter",
                                to_filter(expression, event) + '\n', Write::replace);
}

}  // namespace gpufs
