#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/stall/look.h"
#include "engine/stall/stall_source.h"
#include "engine/stall/syscall_text.h"
#include "engine/stall/tracefs_events.h"
#include "engine/stall/tracker.h"
#include "engine/trace/live_trace.h"
#include "kernel/host/real_time.h"

namespace gpufs {

// Watches tasks of this machine for stalls, with a BPF program or events of tracefs, and /proc.
//
//   StallHunt hunt(top, choice);
//   hunt.attach({{4711}});
//   while (hunt.wait(stop.fd(), limit)) {
//       hunt.round();
//       for (const Stall& stall : hunt.take_ended()) ...
//   }
//   hunt.finish();
class StallHunt {
public:
    // A process with its threads, or one thread only.
    struct Target {
        int pid = 0;
        bool is_thread = false;
    };

    // How it learns what the tasks do: by a BPF program where one can run, or always by events.
    enum class Way { best, events };

    StallHunt(const Tracefs& top, const StallTracker::Choice& choice, Way way = Way::best);
    StallHunt(const StallHunt&) = delete;
    StallHunt& operator=(const StallHunt&) = delete;

    // The same events are recorded in this directory, too, and stay there. Before attach().
    void record_in(const Tracefs& directory) { recorders_.push_back(directory); }
    // Called once, as soon as a stall is over the threshold, ended or not. Not for those that began
    // before: what led to them was not recorded.
    void when_over(std::function<void()> action) { when_over_ = std::move(action); }
    // From here on nothing of these tasks is missed, and this thread has real-time priority. Those
    // that are blocked already are in take_noted(). `is_held`: a command that waits for its start;
    // what it waits in is ours.
    void attach(const std::vector<Target>& targets, bool is_held = false);

    // Sleeps until there is something to do for round(). False once `stop_fd` is readable.
    bool wait(int stop_fd, std::chrono::milliseconds limit);
    void round();
    // Stops recording and reads what there is. Then take_ended() and ongoing() are complete.
    void finish();

    // Before attach(): the program of a COMMAND that is held.
    void expect(const std::string& program) { source_->expect(program); }

    // Stalls that ended, in the order of their ends.
    std::vector<Stall> take_ended() { return std::exchange(ended_, {}); }
    // Stalls worth a word before they end: those found at the start, and those of a second.
    std::vector<Stall> take_noted() { return std::exchange(noted_, {}); }
    std::vector<Stall> ongoing();

    const StallTracker& tracker() const { return tracker_; }
    // Stretches over the threshold in states that were not asked for, also those under way.
    StallTracker::Others others() const;
    // How it learns what the tasks do, and why: a line or two.
    std::vector<std::string> explanation() const;
    TraceContext& context() { return trace_.context(); }
    SyscallText& syscalls() { return syscalls_; }
    // As the source says: StallSource.
    LossLedger losses() const { return source_->losses(); }
    std::vector<std::string> damage() const { return source_->damage(); }
    std::uint64_t buffer_bytes() const { return source_->buffer_bytes(); }
    // No: events are used, the kernel lets a stacktrace trigger of an instance write elsewhere, and
    // stacks are those of /proc only.
    Stacks stacks() const { return stacks_; }
    // The tasks that were there at the start, and what each did.
    const std::vector<Stall>& at_start() const { return at_start_; }

private:
    void follow(const std::vector<int>& tids);
    std::vector<int> list_new(const std::vector<Target>& targets);
    // Watches all that there are of the targets, also those that come meanwhile.
    void watch_all(const std::vector<Target>& targets, std::vector<int>& tids);
    void look_at_due();
    void say_over();
    void collect(bool is_last);

    StallTracker::Choice choice_;
    Tracefs top_;
    std::vector<Tracefs> recorders_;
    LiveTrace trace_;
    SyscallText syscalls_;
    StallLook look_;
    StallTracker tracker_;
    std::unique_ptr<StallSource> source_;
    std::vector<std::string> why_events_;  // why no program runs
    // A reader that waits behind a busy machine, or a real-time task on its CPU, loses events.
    std::optional<RealTime> real_time_;
    Stacks stacks_ = Stacks::yes;
    std::function<void()> when_over_;

    std::vector<Stall> ended_, noted_, at_start_;
    struct Watched {
        int tid;
        std::uint64_t begin_ns;
    };
    std::vector<Watched> long_ones_;  // looked at, not noted yet
    std::vector<Stall> waits_;        // R, until it is known who ran meanwhile
};

}  // namespace gpufs
