#include "engine/recipe/run.h"

#include <poll.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/text.h"
#include "engine/session/reset.h"
#include "kernel/host/pid_namespace.h"
#include "kernel/host/proc_task.h"

namespace gpufs {

std::string threads_of(const std::string& pids) {
    require_initial_pids();
    std::vector<std::string> threads;
    for (const std::string& word : split(pids, ',')) {
        int pid = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), pid);
        if (error != std::errc() || end != word.data() + word.size() || pid <= 0)
            throw UsageError(cat("'", word, "' is not the number of a process"));
        const int tgid = proc::tgid(pid);
        if (tgid == 0)
            throw Error(cat("there is no process ", pid),
                        "it may have ended; 'pgrep -a NAME' looks");
        if (tgid != pid) threads.push_back(word);  // one thread is meant
        if (tgid == pid)
            for (const int tid : proc::threads(pid)) threads.push_back(cat(tid));
    }
    return join(threads, ",");
}

RecipeRun::RecipeRun(const Tracefs& top, const RecipeOnKernel& recipe)
    : scratch_(std::in_place, top), session_(Session::of(*scratch_)) {
    plan_recipe(recipe, session_).changes.apply();
}

RecipeRun::RecipeRun(const Session& session, const RecipeOnKernel& recipe) : session_(session) {
    if (session.exists())
        throw Error(
            cat(session.described(), " exists already"),
            cat("'gpufs reset", session.option(), "' removes it, --session NAME takes another"));
    plan_recipe(recipe, session_).changes.apply();
}

void RecipeRun::undo() {
    if (!scratch_ && session_.exists()) plan_reset(session_).changes.apply();
}

EndOfRun wait_for_end(const Session& session, const Until& until, StopSignals& stop) {
    using Clock = std::chrono::steady_clock;
    using std::chrono::milliseconds;
    constexpr milliseconds kLook{50}, kLookForPairs{10};
    constexpr milliseconds kLong = std::chrono::hours(24);  // poll(2) takes an int
    const auto start = Clock::now();
    for (;;) {
        const auto lasted = Clock::now() - start;
        if (until.watch)
            if (auto over = until.watch->look()) {
                session.tracefs().write("tracing_on", "0\n", Write::replace);
                return {EndOfRun::Why::over, Clock::now() - start, std::move(*over)};
            }
        if (until.stopped && session.tracefs().read("tracing_on") == "0\n")
            return {EndOfRun::Why::stopped, lasted, {}};
        if (until.command && until.command->ended()) return {EndOfRun::Why::command, lasted, {}};
        if (until.duration && lasted >= *until.duration) return {EndOfRun::Why::time, lasted, {}};
        milliseconds wait = until.watch ? kLookForPairs : until.stopped ? kLook : kLong;
        if (until.duration)
            wait = std::min(wait, std::chrono::ceil<milliseconds>(*until.duration - lasted));
        // A negative descriptor is passed over.
        pollfd fds[] = {{stop.fd(), POLLIN, 0},
                        {until.command ? until.command->fd() : -1, POLLIN, 0}};
        ::poll(fds, 2, static_cast<int>(wait.count()));
        if (fds[0].revents != 0) return {EndOfRun::Why::signal, Clock::now() - start, {}};
    }
}

}  // namespace gpufs
