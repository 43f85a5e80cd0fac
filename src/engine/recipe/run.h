#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/signals.h"
#include "engine/recipe/check.h"
#include "engine/recipe/pair_watch.h"
#include "engine/session/scratch_instance.h"
#include "kernel/host/held_command.h"

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

// Why a run ended, and when.
struct EndOfRun {
    enum class Why {
        signal,   // one is pending in the StopSignals
        time,     // the duration is over
        stopped,  // a trigger stopped the buffer
        over,     // a pair was over its limit, and we stopped the buffer
        command,  // the command ended
    };
    Why why = Why::time;
    std::chrono::nanoseconds lasted{};
    PairWatch::Over over;  // what was, for Why::over
};

// What a run waits for, besides a signal.
struct Until {
    std::optional<std::chrono::nanoseconds> duration;
    bool stopped = false;
    PairWatch* watch = nullptr;  // borrowed, as the command; both may be null
    HeldCommand* command = nullptr;
};

// Looks at the buffer's switch 20 times a second where that matters, and for pairs 100 times;
// sleeps else. Throws SysError when the command cannot be run.
EndOfRun wait_for_end(const Session& session, const Until& until, StopSignals& stop);

}  // namespace gpufs
