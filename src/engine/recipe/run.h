#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "engine/recipe/check.h"
#include "engine/recipe/pair_watch.h"
#include "engine/session/scratch_instance.h"

namespace gpufs {

// The threads that processes have now, as the text of a pid argument: "812" -> "812,815". The
// number of a thread stands for itself. Throws Error when there is no such task.
std::string threads_of(const std::string& pids);

// A recipe at work: set whole when this is made, and gone with it.
class RecipeRun {
public:
    // In an instance of its own. Throws what Changes::apply() throws; nothing is set then.
    RecipeRun(const Tracefs& top, const RecipeOnKernel& recipe);
    // In a named session, which must not exist yet. It stays, unless undo() is called.
    RecipeRun(const Session& session, const RecipeOnKernel& recipe);

    const Session& session() const { return session_; }
    // Takes a named session away again.
    void undo();

private:
    std::optional<ScratchInstance> scratch_;
    Session session_;
};

// Looks whether a recipe at work has ended itself: a trigger has stopped its buffer, or a pair of
// events is over its limit.
class RecipeEnd {
public:
    // All are borrowed; the recipe is at work in `session`.
    RecipeEnd(const Recipe& recipe, const RecipeOnKernel& on_kernel, const Session& session);

    enum class Why { stopped, over };
    // Stops the buffer for a pair over its limit.
    std::optional<Why> look();
    // How often to look; a day where there is nothing to look for.
    std::chrono::milliseconds period() const;

    // The pair, once look() has answered `over`.
    const PairWatch::Over& over() const { return over_; }
    // Where the recipe has limits for pairs; else null.
    const PairWatch* pairs() const { return pairs_ ? &*pairs_ : nullptr; }

private:
    const Session& session_;
    bool ends_when_stopped_;
    std::optional<PairWatch> pairs_;
    PairWatch::Over over_;
};

}  // namespace gpufs
