#pragma once

#include "gpufs/engine/session.h"
#include "gpufs/engine/stall.h"

namespace gpufs {

// A session that records the events of a stall hunt, to be stopped at the right moment. Gone with
// this object unless it was frozen; one that was there before stays, without the events.
class FreezeSession {
public:
    // Makes its instance, unless there is one on which nothing is enabled. Throws Error when the
    // session is in use.
    FreezeSession(const Session& session, const StateSet& states);
    ~FreezeSession();
    FreezeSession(const FreezeSession&) = delete;
    FreezeSession& operator=(const FreezeSession&) = delete;

    // Stops the buffer, and then the events: what is recorded stays and costs nothing.
    void freeze();

private:
    Session session_;
    StateSet states_;
    bool is_ours_ = false, is_frozen_ = false;
};

}  // namespace gpufs
