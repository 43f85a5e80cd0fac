#include "engine/session/run_mark.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "engine/session/reset.h"
#include "engine/session/session.h"

namespace gpufs {
namespace {

// Neither has a meaning for directories of tracefs.
constexpr mode_t kOfInstance = S_ISVTX, kOfEvents = S_ISGID;

mode_t mode_of(const Fd& directory) {
    struct stat facts {};
    return ::fstat(directory.get(), &facts) == 0 ? facts.st_mode & 07777 : 0;
}

Fd open_directory(const Tracefs& instance) {
    return Fd{::open(instance.root().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
}

// An instance that a run marked which is gone, locked; else nothing.
Fd open_stale(const Tracefs& instance) {
    Fd directory = open_directory(instance);
    const bool is_marked = directory && (mode_of(directory) & (kOfInstance | kOfEvents)) != 0;
    if (!is_marked || ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) return Fd();
    return directory;
}

// Removes events, filters and triggers, and the mark that there are some. False without such a
// mark, without permission, and where somebody else resets it.
bool empty_marked(const Session& session, const Fd& directory) {
    const mode_t mode = mode_of(directory);
    if ((mode & kOfEvents) == 0) return false;
    try {
        plan_reset_states(session).changes.apply_to_the_end();
        ::fchmod(directory.get(), mode & ~kOfEvents);
        return true;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

RunMark::RunMark(const Tracefs& instance, Of what) : directory_(open_directory(instance)) {
    const auto doing = [&] { return cat("mark the instance ", instance.root()); };
    check(directory_.get(), doing);
    // The lock first: a mark without it is that of a killed run.
    check(::flock(directory_.get(), LOCK_EX), doing);
    const mode_t bit = what == Of::instance ? kOfInstance : kOfEvents;
    check(::fchmod(directory_.get(), mode_of(directory_) | bit), doing);
}

void RunMark::remove() {
    ::fchmod(directory_.get(), mode_of(directory_) & ~(kOfInstance | kOfEvents));
    directory_ = Fd();
}

bool empty_if_stale(const Session& session) {
    const Fd directory = open_stale(session.tracefs());
    return directory && empty_marked(session, directory);
}

std::vector<std::string> remove_stale_marked(const Tracefs& top, Stale what) {
    const bool is_told = what == Stale::told;
    std::vector<std::string> removed;
    for (const Session& session : Session::all(top)) {
        const Fd directory = open_stale(session.tracefs());
        if (!directory) continue;
        if ((mode_of(directory) & kOfInstance) != 0) {
            if (is_told || ::rmdir(session.tracefs().root().c_str()) == 0)
                removed.push_back(session.described());
        } else if (is_told || empty_marked(session, directory)) {
            removed.push_back(cat("events of ", session.described()));
        }
    }
    return removed;
}

}  // namespace gpufs
