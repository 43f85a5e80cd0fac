#pragma once

#include <functional>

#include "gpufs/engine/session.h"

namespace gpufs {

// A session that records what somebody else enables in it, to be stopped at the right moment. Gone
// with this object unless it was frozen; one that was there before stays, without the events.
class FreezeSession {
public:
    // Makes its instance, unless there is one on which nothing is enabled. Throws Error when the
    // session is in use, or stopped. `disable` ends what was enabled in the instance; it may throw
    // Error.
    using Disable = std::function<void(const Tracefs& instance)>;
    FreezeSession(const Session& session, Disable disable);
    ~FreezeSession();
    FreezeSession(const FreezeSession&) = delete;
    FreezeSession& operator=(const FreezeSession&) = delete;

    // Stops the buffer, and then the events: what is recorded stays and costs nothing.
    void freeze();

private:
    Session session_;
    Disable disable_;
    bool is_ours_ = false, is_frozen_ = false;
};

}  // namespace gpufs
