#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "engine/recipe/check.h"
#include "engine/recipe/pair_watch.h"
#include "engine/session/scratch_instance.h"

namespace gpufs {

// The current threads of processes, in the syntax of a pid argument: "812" -> "812,815". The id of
// a thread stands for itself. Throws Error if there is no such task.
std::string threads_of(const std::string& pids);

// A running recipe: the constructor sets all of it, the destructor removes it.
class RecipeRun {
public:
    // Uses a temporary instance. Throws the errors of Changes::apply(); nothing is set then.
    RecipeRun(const Tracefs& top, const RecipeOnKernel& recipe);
    // Uses a named session, which must not exist yet. It remains unless undo() is called.
    RecipeRun(const Session& session, const RecipeOnKernel& recipe);

    const Session& session() const { return session_; }
    // Removes a named session.
    void undo();

private:
    std::optional<ScratchInstance> scratch_;
    Session session_;
};

// Detects that a running recipe has ended itself: a trigger has stopped its buffer, or a pair of
// events exceeds its limit.
class RecipeEnd {
public:
    // Keeps references to all arguments; the recipe must be running in `session`.
    RecipeEnd(const Recipe& recipe, const RecipeOnKernel& on_kernel, const Session& session);

    enum class Why { stopped, over };
    // Checks both; stops the buffer if a pair exceeds its limit.
    std::optional<Why> look();
    // The interval at which to call look(); a day if there is nothing to check.
    std::chrono::milliseconds period() const;

    // The pair, after look() has returned `over`.
    const PairWatch::Over& over() const { return over_; }
    // Null if the recipe has no limits for pairs.
    const PairWatch* pairs() const { return pairs_ ? &*pairs_ : nullptr; }

private:
    const Session& session_;
    bool ends_when_stopped_;
    std::optional<PairWatch> pairs_;
    PairWatch::Over over_;
};

}  // namespace gpufs
