#include "engine/stall/hunt.h"

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "engine/monitor/load_linked.h"
#include "engine/session/triggers.h"
#include "engine/stall/program_source.h"
#include "engine/stall/tracefs_source.h"
#include "kernel/host/pid_namespace.h"

namespace gpufs {
namespace {

// A stall of this age is worth a word before it ends.
constexpr std::uint64_t kNoteNs = 1'000'000'000;
constexpr int kMostListings = 50;

Stacks stacks_in_instances(const Tracefs& top) {
    return triggers_stay_in_instance(top).value_or(false) ? Stacks::yes : Stacks::no;
}

}  // namespace

StallHunt::StallHunt(const Tracefs& top, const StallTracker::Choice& choice, Way way)
    : choice_(choice),
      top_(top),
      trace_(top, top),
      syscalls_(trace_.context().events),
      look_(syscalls_, trace_.context().tasks, trace_.context().addresses),
      tracker_(choice) {
    if (way == Way::best) {
        const auto cannot = [&](const Error& e) {
            why_events_.emplace_back(e.what());
            if (!e.hint().empty()) why_events_.push_back(cat("hint: ", e.hint()));
        };
        try {
            source_ = std::make_unique<ProgramSource>(top, tracker_, choice);
        } catch (const UnsupportedError& e) {
            cannot(e);
        } catch (const RefusedProgram& e) {
            cannot(e);
        }
    }
    if (source_) return;
    stacks_ = stacks_in_instances(top);
    source_ = std::make_unique<TracefsSource>(top, trace_.context().events, tracker_, choice.states,
                                              stacks_);
}

std::vector<std::string> StallHunt::explanation() const {
    std::vector<std::string> lines = {cat("tasks are watched by ", source_->described())};
    if (!why_events_.empty()) lines.emplace_back("a BPF program cannot do it here:");
    for (const std::string& why : why_events_) lines.push_back(cat("  ", why));
    return lines;
}

StallTracker::Others StallHunt::others() const {
    StallTracker::Others all = tracker_.others_until(monotonic_ns());
    source_->add_others(all);
    return all;
}

void StallHunt::follow(const std::vector<int>& tids) {
    source_->follow(tids);
    for (const Tracefs& recorder : recorders_) follow_tasks(recorder, tids);
}

// The tasks to watch that are not watched yet, watched from now on.
std::vector<int> StallHunt::list_new(const std::vector<Target>& targets) {
    std::vector<int> fresh;
    const auto add = [&](int tid, int tgid, bool is_alone) {
        if (tracker_.watches(tid)) return;
        tracker_.watch(tid, tgid, proc::comm(tid), is_alone);
        fresh.push_back(tid);
    };
    std::vector<int> processes;
    for (const Target& target : targets) {
        if (target.is_thread)
            add(target.pid, proc::tgid(target.pid), true);
        else
            processes.push_back(target.pid);
    }
    for (std::size_t i = 0; i < processes.size(); ++i) {
        for (const int tid : proc::threads(processes[i])) add(tid, processes[i], false);
        if (!choice_.children) continue;
        for (const int child : proc::children(processes[i]))
            if (std::ranges::count(processes, child) == 0) processes.push_back(child);
    }
    return fresh;
}

// Tasks that are listed are followed by the kernel with all that they start. A task that was
// started before its starter was listed is in the next listing.
void StallHunt::watch_all(const std::vector<Target>& targets, std::vector<int>& tids) {
    for (int i = 0; i < kMostListings; ++i) {
        const std::vector<int> fresh = list_new(targets);
        if (fresh.empty()) break;
        follow(fresh);
        tids.insert(tids.end(), fresh.begin(), fresh.end());
    }
}

void StallHunt::attach(const std::vector<Target>& targets, bool is_held) {
    require_initial_pids();
    for (const Tracefs& recorder : recorders_) prepare_buffer(recorder);
    std::vector<int> tids = list_new(targets);
    if (tids.empty()) throw SysError(ESRCH, "watch the process");
    real_time_.emplace();
    // The recorders first, so that they record the beginning of each stall that the source sees.
    for (const Tracefs& recorder : recorders_) {
        follow_tasks(recorder, tids);
        enable_stall_events(recorder, choice_.states, stacks_in_instances(top_));
    }
    source_->follow(tids);
    source_->start();
    // What was started since the listing.
    watch_all(targets, tids);
    if (is_held) return;
    for (const int tid : tids) {
        auto now = look_.find(tid, monotonic_ns());
        if (!now) {
            tracker_.on_exit(tid);  // which may have come before it was followed
            continue;
        }
        tracker_.found(tid, *now);
        at_start_.push_back(*now);
        Stall* blocked = tracker_.open_stall(tid);
        if (!blocked) continue;
        look_.add_while_blocked(*blocked);
        noted_.push_back(*blocked);
        noted_.back().is_ongoing = true;
    }
}

bool StallHunt::wait(int stop_fd, std::chrono::milliseconds limit) {
    const auto sooner = [&](std::uint64_t at) {
        const std::uint64_t now = monotonic_ns();
        const auto ms = std::chrono::milliseconds(at > now ? (at - now) / 1'000'000 + 1 : 1);
        limit = std::min(limit, ms);
    };
    if (const auto due = tracker_.next_due()) sooner(*due);
    for (const Watched& watched : long_ones_) sooner(watched.begin_ns + kNoteNs);
    return source_->wait(stop_fd, limit);
}

void StallHunt::round() {
    source_->read();
    if (const std::vector<int> execed = source_->take_execed(); !execed.empty()) follow(execed);
    look_at_due();
    collect(false);
}

void StallHunt::say_over() {
    if (when_over_) std::exchange(when_over_, nullptr)();
}

void StallHunt::look_at_due() {
    const std::uint64_t now = monotonic_ns();
    for (Stall* stall : tracker_.due(now)) {
        if (stall->is_cut) continue;  // looked at when it was found
        say_over();
        if (stall->state != TaskState::runnable)
            look_.add_while_blocked(*stall);
        else
            look_.add_call_by_stack(*stall);
        long_ones_.push_back({stall->tid, stall->begin_ns});
    }
    std::erase_if(long_ones_, [&](const Watched& watched) {
        const Stall* stall = tracker_.open_stall(watched.tid);
        if (!stall || stall->begin_ns != watched.begin_ns) return true;
        if (stall->begin_ns + kNoteNs > now) return false;
        noted_.push_back(*stall);
        noted_.back().end_ns = now;
        noted_.back().is_ongoing = true;
        return true;
    });
}

// Moves what ended to where the caller takes it from; a wait for a CPU when it is known who ran.
void StallHunt::collect(bool is_last) {
    for (Stall& stall : tracker_.take_ended()) {
        if (!stall.is_cut) say_over();
        look_.add_afterwards(stall);
        (stall.state == TaskState::runnable ? waits_ : ended_).push_back(std::move(stall));
    }
    std::erase_if(waits_, [&](Stall& stall) {
        if (!source_->add_runs(stall, is_last)) return false;
        ended_.push_back(std::move(stall));
        return true;
    });
    if (!choice_.states.has(TaskState::runnable)) return;
    std::uint64_t oldest = monotonic_ns();
    constexpr std::uint64_t kMarginNs = 200'000'000;
    oldest -= std::min(oldest, kMarginNs);
    for (const Stall& stall : waits_) oldest = std::min(oldest, stall.begin_ns);
    if (const auto open = tracker_.oldest_open(TaskState::runnable))
        oldest = std::min(oldest, *open);
    source_->forget_runs_before(oldest);
}

void StallHunt::finish() {
    source_->stop();
    collect(true);
}

std::vector<Stall> StallHunt::ongoing() {
    std::vector<Stall> stalls = tracker_.ongoing(monotonic_ns());
    for (Stall& stall : stalls) {
        if (stall.is_ongoing && stall.state != TaskState::runnable) look_.add_while_blocked(stall);
        look_.add_afterwards(stall);
        if (stall.state == TaskState::runnable) source_->add_runs(stall, true);
    }
    return stalls;
}

}  // namespace gpufs
