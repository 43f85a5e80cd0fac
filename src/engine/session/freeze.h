#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/session/session.h"
#include "engine/session/settings.h"
#include "lang/program/program.h"

namespace gpufs {

// A session that records what somebody else enables in it, to be stopped at the right moment. Gone
// with this object unless it was frozen; one that was there before stays, without the events and
// with the settings that it had.
class FreezeSession {
public:
    // Makes its instance, unless there is one on which nothing is enabled. Throws Error when the
    // session is in use, stopped, or holds records. `disable` ends what was enabled in the
    // instance; it may throw Error.
    using Disable = std::function<void(const Tracefs& instance)>;
    FreezeSession(const Session& session, Disable disable);
    ~FreezeSession();
    FreezeSession(const FreezeSession&) = delete;
    FreezeSession& operator=(const FreezeSession&) = delete;

    // Stops the buffer, and then the events: what is recorded stays and costs nothing.
    void freeze();

private:
    void restore_settings();

    Session session_;
    Disable disable_;
    std::vector<Setting> before_;  // of one that was there
    bool is_ours_ = false, is_frozen_ = false;
};

// The session whose buffer is stopped when a monitor finds what it was asked for. One that records
// already is taken as it is. Else it is a FreezeSession with the events that the monitor's own
// tracepoints are, and the kernel's stack of each.
class MonitorFreeze {
public:
    // Throws Error where the session is stopped already.
    MonitorFreeze(const Program& program, const Session& session);
    MonitorFreeze(const MonitorFreeze&) = delete;
    MonitorFreeze& operator=(const MonitorFreeze&) = delete;

    // Stops the buffer, once.
    void freeze();
    bool is_frozen() const noexcept { return is_frozen_; }
    // The events were enabled for this: they are disabled once it is frozen.
    bool is_own() const noexcept { return own_ != nullptr; }
    const Session& session() const noexcept { return session_; }

private:
    Session session_;
    std::vector<std::string> events_;
    std::unique_ptr<FreezeSession> own_;  // null: somebody else enabled what it records
    bool sets_stacks_ = false, is_frozen_ = false;
};

}  // namespace gpufs
