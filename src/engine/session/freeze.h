#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/session/run_mark.h"
#include "engine/session/session.h"
#include "engine/session/settings.h"
#include "lang/program/program.h"

namespace gpufs {

// A session that records the events that its user enables, until freeze(). Unless frozen, the
// destructor removes it, or restores a session that existed before: removes the events and restores
// the settings.
class FreezeSession {
public:
    // Makes the instance, or uses an existing one without enabled events. Throws Error if the
    // session is in use, stopped, or contains records. `disable` disables the events enabled in the
    // instance, goes on where that fails, and returns why, a line each.
    using Disable = std::function<std::vector<std::string>(const Tracefs& instance)>;
    FreezeSession(const Session& session, Disable disable);
    ~FreezeSession();
    FreezeSession(const FreezeSession&) = delete;
    FreezeSession& operator=(const FreezeSession&) = delete;

    // Stops the buffer, then disables the events: the records remain and cost nothing, and the
    // session outlives the run. Returns what could not be disabled, a line each.
    std::vector<std::string> freeze();

private:
    void undo() noexcept;
    void restore_settings();

    Session session_;
    Disable disable_;
    std::vector<Setting> before_;  // settings of a session that existed before
    bool is_ours_ = false, is_frozen_ = false;
    std::optional<RunMark> mark_;
};

// The session whose buffer a monitor stops when a record satisfies a condition. A session that
// already records is used unchanged. Otherwise it is a FreezeSession with the events of the
// monitor's own tracepoints and a kernel stack for each; of system calls, without those of gpufs.
class MonitorFreeze {
public:
    // Throws Error if the session is already stopped.
    MonitorFreeze(const Program& program, const Session& session);
    MonitorFreeze(const MonitorFreeze&) = delete;
    MonitorFreeze& operator=(const MonitorFreeze&) = delete;

    // Stops the buffer; further calls do nothing. Returns what could not be disabled, a line each.
    std::vector<std::string> freeze();
    bool is_frozen() const noexcept { return is_frozen_; }
    // Whether this object enabled the events; they are disabled after freezing.
    bool is_own() const noexcept { return own_ != nullptr; }
    const Session& session() const noexcept { return session_; }

private:
    Session session_;
    std::vector<std::string> events_, filters_;
    std::unique_ptr<FreezeSession> own_;  // null: someone else enabled the events
    bool sets_stacks_ = false, is_frozen_ = false;
};

}  // namespace gpufs
