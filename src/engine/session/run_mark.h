#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "kernel/tracefs/tracefs.h"

namespace gpufs {

class Session;

// Marks a session's instance for as long as a run records into it: `gpufs reset --stale` finds by
// the mark what a killed run left there. The mark is two mode bits of the instance's directory, on
// which the run holds a lock that ends with its process: marked without a lock is stale.
class RunMark {
public:
    enum class Of {
        instance,  // the run made the instance
        events,    // the run enabled the events of an instance that existed before
    };
    RunMark(const Tracefs& instance, Of what);
    // Removes the mark: what is recorded remains.
    void remove();

private:
    Fd directory_;
};

// Empties the instance if its mark is that of a killed run: without events, filters and triggers,
// it can be removed. False if it is not, or without permission.
bool empty_if_stale(const Session& session);

// Removes what killed runs left in sessions: the instances that they made, and the enabled events,
// filters and triggers of those that existed before. Returns what was removed, one line each. Does
// nothing without permission. Stale::told: only returns what there is.
enum class Stale { removed, told };
std::vector<std::string> remove_stale_marked(const Tracefs& top, Stale what);

}  // namespace gpufs
