#include "engine/session/freeze.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

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

std::string enable_file(const std::string& event) {
    return event_directory(event) + "/enable";
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

// What a session that a run wants to record into is used for. Only of an absent and of an empty one
// nobody would lose anything.
enum class Use { absent, empty, recording, paused, stopped, filled, filtered };

Use use_of(const Session& session) {
    if (!session.exists()) return Use::absent;
    const Tracefs& at = session.tracefs();
    const bool is_on = trim(at.read("tracing_on")) != "0";
    if (!trim(at.read("set_event")).empty()) return is_on ? Use::recording : Use::paused;
    if (!is_on) return Use::stopped;
    if (read_buffer_state(at).entries > 0) return Use::filled;
    // Who clears up behind a killed run could not tell them from ours.
    return plan_reset_states(session).changes.empty() ? Use::empty : Use::filtered;
}

// That the session cannot be used, because of its use.
Error refusal(const Session& session, Use use) {
    const std::string other = "; or --session NAME", option = session.option();
    const auto command = [&](const char* verb, const char* does) {
        return cat("'gpufs ", verb, option, "' ", does);
    };
    const auto refuse = [&](const char* why, const std::string& hint) {
        return Error(cat(session.described(), ' ', why), hint + other);
    };
    switch (use) {
        case Use::paused:
            return refuse("is stopped already", command("start", "lets it record"));
        case Use::stopped:
            return refuse(
                "is stopped, and may hold what was frozen before",
                cat(command("show", "looks at that"), ", ", command("reset", "removes it")));
        case Use::filled:
            return refuse(
                "holds records, which another clock would clear",
                cat(command("show", "looks at them"), ", ", command("reset", "removes it")));
        case Use::filtered:
            return refuse("has filters or triggers", command("reset", "removes them"));
        case Use::absent:
        case Use::empty:
        case Use::recording:
            break;
    }
    return refuse("records events already", command("reset", "ends that"));
}

}  // namespace

FreezeSession::FreezeSession(const Session& session, Disable disable)
    : session_(session), disable_(std::move(disable)) {
    switch (const Use use = use_of(session_)) {
        case Use::absent:
            is_ours_ = session_.tracefs().make();
            break;
        case Use::empty:
            break;
        default:
            throw refusal(session_, use == Use::paused ? Use::recording : use);
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

std::vector<std::string> FreezeSession::freeze() {
    session_.tracefs().write("tracing_on", "0\n", Write::replace);
    is_frozen_ = true;
    std::vector<std::string> refused = disable_(session_.tracefs());
    mark_->remove();
    return refused;
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
    const Use use = use_of(session_);
    if (use == Use::recording) return;
    if (use == Use::paused) throw refusal(session_, use);
    events_ = events_of(program, session_.top());
    own_ = std::make_unique<FreezeSession>(session_, [this](const Tracefs& instance) {
        std::vector<std::string> refused;
        const auto clear = [&](const std::string& file) {
            try {
                instance.write(file, "0\n", Write::replace);
            } catch (const Error& e) {  // as of a module that was unloaded
                refused.emplace_back(e.what());
            }
        };
        for (const std::string& event : events_) clear(enable_file(event));
        for (const std::string& filter : filters_) clear(filter);
        if (sets_stacks_) clear(kStacks);
        return refused;
    });
    const Tracefs& instance = session_.tracefs();
    sets_stacks_ = instance.has(kStacks) && trim(instance.read(kStacks)) == "0";
    if (sets_stacks_) instance.write(kStacks, "1\n", Write::replace);
    leave_out_own_calls(instance, events_, filters_);
    for (const std::string& event : events_)
        instance.write(enable_file(event), "1\n", Write::replace);
}

std::vector<std::string> MonitorFreeze::freeze() {
    if (std::exchange(is_frozen_, true)) return {};
    if (own_) return own_->freeze();
    session_.tracefs().write("tracing_on", "0\n", Write::replace);
    return {};
}

}  // namespace gpufs
