#include "engine/session/freeze.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "engine/session/reset.h"

namespace gpufs {
namespace {

// Records a kernel stack after each event.
constexpr const char* kStacks = "options/stacktrace";

// The events of the program's tracepoints that exist on this machine.
std::vector<std::string> events_of(const Program& program, const Tracefs& tracefs) {
    std::vector<std::string> events;
    const auto add = [&](const std::vector<ProbeTarget>& alternatives) {
        for (const ProbeTarget& target : alternatives) {
            if (target.kind != ProbeTarget::Kind::tracepoint || target.has_glob) continue;
            if (!tracefs.has(event_directory(target.name))) continue;
            events.push_back(target.name);
            return;
        }
    };
    for (const ProbeProgram& probe : program.programs)
        for (const auto& alternatives : probe.targets) add(alternatives);
    return events;
}

void set_events(const Tracefs& instance, const std::vector<std::string>& events, bool enable) {
    for (const std::string& event : events)
        instance.write(event_directory(event) + "/enable", enable ? "1\n" : "0\n", Write::replace);
}

// System calls are everybody's, gpufs' own too: those are left out, where nothing else filters.
// Adds the files that it wrote.
void leave_out_own_calls(const Tracefs& instance, const std::vector<std::string>& events,
                         std::vector<std::string>& filtered) {
    for (const std::string& event : events) {
        if (event.find("syscalls:") == event.npos) continue;
        const std::string file = event_directory(event) + "/filter";
        if (trim(instance.read(file)) != "none") continue;
        instance.write(file, cat("common_pid != ", ::getpid(), '\n'), Write::replace);
        filtered.push_back(file);
    }
}

bool records_already(const Session& session) {
    return session.exists() && !trim(session.tracefs().read("set_event")).empty();
}

}  // namespace

FreezeSession::FreezeSession(const Session& session, Disable disable)
    : session_(session), disable_(std::move(disable)) {
    if (!session_.exists()) {
        is_ours_ = session_.tracefs().make();
    } else if (!trim(session_.tracefs().read("set_event")).empty()) {
        throw Error(cat(session_.described(), " records events already"),
                    cat("'gpufs reset", session_.option(), "' ends that; or --session NAME"));
    } else if (trim(session_.tracefs().read("tracing_on")) == "0") {
        throw Error(cat(session_.described(), " is stopped, and may hold what was frozen before"),
                    cat("'gpufs show", session_.option(), "' looks at that, 'gpufs reset",
                        session_.option(), "' removes it; or --session NAME"));
    } else if (read_buffer_state(session_.tracefs()).entries > 0) {
        throw Error(cat(session_.described(), " holds records, which another clock would clear"),
                    cat("'gpufs show", session_.option(), "' looks at them, 'gpufs reset",
                        session_.option(), "' removes it; or --session NAME"));
    } else if (!plan_reset_states(session_).changes.empty()) {
        // Who clears up behind a killed run could not tell them from ours.
        throw Error(cat(session_.described(), " has filters or triggers"),
                    cat("'gpufs reset", session_.option(), "' removes them; or --session NAME"));
    }
    if (!is_ours_) before_ = all_settings(session_);
    try {
        mark_.emplace(session_.tracefs(), is_ours_ ? RunMark::Of::instance : RunMark::Of::events);
        session_.tracefs().write("tracing_on", "1\n", Write::replace);
    } catch (...) {
        undo();
        throw;
    }
}

void FreezeSession::freeze() {
    session_.tracefs().write("tracing_on", "0\n", Write::replace);
    is_frozen_ = true;
    mark_->remove();
    disable_(session_.tracefs());
}

// Writes only settings that differ, because each write has an effect.
void FreezeSession::restore_settings() {
    std::vector<Setting> differing;
    const std::vector<Setting> now = all_settings(session_);
    for (const Setting& setting : before_)
        if (std::ranges::find(now, setting) == now.end()) differing.push_back(setting);
    plan_settings(session_, differing).changes.apply_to_the_end();
}

FreezeSession::~FreezeSession() {
    if (!is_frozen_) undo();
}

void FreezeSession::undo() noexcept {
    try {
        if (is_ours_) return session_.tracefs().remove();
        disable_(session_.tracefs());
        restore_settings();
        if (mark_) mark_->remove();
    } catch (const Error&) {
        // Never enabled, or reset by someone meanwhile: nothing is left to undo.
    }
}

MonitorFreeze::MonitorFreeze(const Program& program, const Session& session) : session_(session) {
    if (records_already(session_)) {
        if (trim(session_.tracefs().read("tracing_on")) == "0")
            throw Error(
                cat(session_.described(), " is stopped already"),
                cat("'gpufs start", session_.option(), "' lets it record; or --session NAME"));
        return;
    }
    events_ = events_of(program, session_.top());
    own_ = std::make_unique<FreezeSession>(session_, [this](const Tracefs& instance) {
        set_events(instance, events_, false);
        for (const std::string& filter : filters_) instance.write(filter, "0\n", Write::replace);
        if (sets_stacks_) instance.write(kStacks, "0\n", Write::replace);
    });
    const Tracefs& instance = session_.tracefs();
    sets_stacks_ = instance.has(kStacks) && trim(instance.read(kStacks)) == "0";
    if (sets_stacks_) instance.write(kStacks, "1\n", Write::replace);
    leave_out_own_calls(instance, events_, filters_);
    set_events(instance, events_, true);
}

void MonitorFreeze::freeze() {
    if (is_frozen_) return;
    if (own_)
        own_->freeze();
    else
        session_.tracefs().write("tracing_on", "0\n", Write::replace);
    is_frozen_ = true;
}

}  // namespace gpufs
