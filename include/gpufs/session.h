#pragma once

#include <memory>
#include <string>
#include <vector>

namespace gpufs::api {

// A tracefs instance of one's own: events with filters and triggers, and a buffer. It is the same
// that `gpufs filter`, `trigger`, `show` and `reset` work on. Tracefs is its only state: it lives
// until reset(), also beyond the process.
//
// What sets something is applied whole or not at all, and returns what was done, a line each.
class Session {
public:
    // An empty name is the default session. The instance is made when something is set. Throws
    // UsageError for a name that is no identifier, SysError without access to tracefs.
    explicit Session(const std::string& name = {});
    Session(Session&&) noexcept;
    Session& operator=(Session&&) noexcept;
    ~Session();

    // Records the events for which the expression holds. Without events: the one that has its
    // fields. The expression is checked before anything is written. Throws UsageError; SysError
    // with the kernel's complaint as evidence().
    std::vector<std::string> filter(const std::string& expression,
                                    const std::vector<std::string>& events = {});
    // Records every occurrence of these events, which may be patterns.
    std::vector<std::string> record(const std::vector<std::string>& events);
    // Sets a trigger: "stacktrace", "traceoff", "traceon", "snapshot",
    // "enable_event:sched:sched_waking". An empty condition is the event's own filter.
    std::vector<std::string> trigger(const std::string& action,
                                     const std::vector<std::string>& events,
                                     const std::string& condition = {});

    bool exists() const;
    // The directory of the instance.
    std::string directory() const;
    // Switches the buffer on or off.
    void turn(bool on);
    // The buffer's contents as the kernel prints them; nothing is consumed.
    std::string text() const;
    // Takes everything away that the session set, and the instance.
    std::vector<std::string> reset();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpufs::api
