#include "engine/session/freeze.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace gpufs {

FreezeSession::FreezeSession(const Session& session, Disable disable)
    : session_(session), disable_(std::move(disable)) {
    const std::string& directory = session_.tracefs().root();
    if (!session_.exists()) {
        check(::mkdir(directory.c_str(), 0750),
              [&] { return cat("make the instance ", directory); });
        is_ours_ = true;
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
    }
    if (!is_ours_) before_ = all_settings(session_);
    session_.tracefs().write("tracing_on", "1\n", Write::replace);
}

void FreezeSession::freeze() {
    session_.tracefs().write("tracing_on", "0\n", Write::replace);
    is_frozen_ = true;
    disable_(session_.tracefs());
}

// Only what differs is written: each has an effect of its own.
void FreezeSession::restore_settings() {
    std::vector<Setting> differing;
    const std::vector<Setting> now = all_settings(session_);
    for (const Setting& setting : before_)
        if (std::ranges::find(now, setting) == now.end()) differing.push_back(setting);
    plan_settings(session_, differing).changes.apply();
}

FreezeSession::~FreezeSession() {
    if (is_frozen_) return;
    if (is_ours_) {
        ::rmdir(session_.tracefs().root().c_str());
        return;
    }
    try {
        disable_(session_.tracefs());
        restore_settings();
    } catch (const Error&) {
        // Never enabled, or reset by somebody meanwhile: nothing of ours is left.
    }
}

}  // namespace gpufs
