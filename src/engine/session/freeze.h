#pragma once

#include <functional>

#include "engine/session/session.h"
#include "engine/session/settings.h"

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

}  // namespace gpufs
