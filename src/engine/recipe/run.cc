#include "engine/recipe/run.h"

#include "base/error.h"
#include "base/scan.h"
#include "base/text.h"
#include "engine/session/reset.h"
#include "kernel/host/pid_namespace.h"
#include "kernel/host/proc_task.h"

namespace gpufs {

std::string threads_of(const std::string& pids) {
    require_initial_pids();
    std::vector<std::string> threads;
    for (const std::string& word : split(pids, ',')) {
        const int pid = whole_number<int>(word).value_or(0);
        if (pid <= 0) throw UsageError(cat("'", word, "' is not the number of a process"));
        const int tgid = proc::require_tgid(pid);
        if (tgid != pid) threads.push_back(word);  // the user means one thread
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
    if (!scratch_ && session_.exists()) plan_reset(session_).changes.apply_to_the_end();
}

RecipeEnd::RecipeEnd(const Recipe& recipe, const RecipeOnKernel& on_kernel, const Session& session)
    : session_(session), ends_when_stopped_(recipe.ends_when_stopped) {
    if (!recipe.limits.empty()) pairs_.emplace(recipe, on_kernel, session);
}

std::optional<RecipeEnd::Why> RecipeEnd::look() {
    if (pairs_)
        if (auto over = pairs_->look()) {
            session_.tracefs().write("tracing_on", "0\n", Write::replace);
            over_ = std::move(*over);
            return Why::over;
        }
    if (ends_when_stopped_ && session_.tracefs().read("tracing_on") == "0\n") return Why::stopped;
    return std::nullopt;
}

std::chrono::milliseconds RecipeEnd::period() const {
    using std::chrono::milliseconds;
    if (pairs_) return milliseconds(10);
    return ends_when_stopped_ ? milliseconds(50) : milliseconds(std::chrono::hours(24));
}

}  // namespace gpufs
