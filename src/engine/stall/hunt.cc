#include "engine/stall/hunt.h"

#include <poll.h>

#include <algorithm>
#include <charconv>

#include "base/clock.h"
#include "base/error.h"
#include "engine/session/triggers.h"
#include "kernel/host/pid_namespace.h"
#include "lang/trace_dat/ring_page.h"

namespace gpufs {
namespace {

// Over all CPUs: both instances together stay below 8 MB on machines with up to 64.
constexpr std::uint64_t kBufferBytes = 7 << 20;
// With everybody's switches beside.
constexpr std::uint64_t kEventShare = 4 << 20, kRunShare = 3 << 20;
// How often everybody's switches are read: they fill their buffer while our tasks do nothing.
constexpr std::chrono::milliseconds kReadRuns{20};
// How long they gather while there are many.
constexpr std::chrono::milliseconds kGather{8};
// A stall of this age is worth a word before it ends.
constexpr std::uint64_t kNoteNs = 1'000'000'000;
constexpr int kMostListings = 50;

std::uint64_t buffer_size(const Tracefs& instance) {
    return parse_buffer_kb(instance.read("buffer_total_size_kb")) << 10;
}

}  // namespace

StallHunt::StallHunt(const Tracefs& top, const StallTracker::Choice& choice)
    : choice_(choice),
      instance_(top),
      trace_(top, instance_.tracefs()),
      syscalls_(trace_.context().events),
      look_(syscalls_, trace_.context().tasks),
      tracker_(choice),
      reader_(trace_.context().events, tracker_) {
    if (choice.states.has(TaskState::runnable)) {
        runs_instance_.emplace(top, "runs");
        runs_reader_.emplace(trace_.context().events, runs_);
    }
    recorders_.push_back(instance_.tracefs());
}

void StallHunt::follow(const std::vector<int>& tids) {
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

void StallHunt::attach(const std::vector<Target>& targets, bool is_held) {
    require_initial_pids();
    for (const Tracefs& recorder : recorders_) prepare_buffer(recorder);
    size_buffer(instance_.tracefs(), runs_instance_ ? kEventShare : kBufferBytes);
    if (runs_instance_) {
        prepare_buffer(runs_instance_->tracefs());
        size_buffer(runs_instance_->tracefs(), kRunShare);
    }
    buffer_bytes_ = buffer_size(instance_.tracefs());
    if (runs_instance_) buffer_bytes_ += buffer_size(runs_instance_->tracefs());
    // Tasks that are listed are followed by the kernel with all that they start. A task that was
    // started before its starter was listed is in the next listing.
    std::vector<int> tids;
    for (int i = 0; i < kMostListings; ++i) {
        const std::vector<int> fresh = list_new(targets);
        if (fresh.empty()) break;
        follow(fresh);
        tids.insert(tids.end(), fresh.begin(), fresh.end());
    }
    if (tids.empty()) throw SysError(ESRCH, "watch the process");
    if (runs_instance_) {
        enable_run_events(runs_instance_->tracefs());
        runs_buffer_.emplace(runs_instance_->tracefs());
    }
    real_time_.emplace();
    stacks_ = triggers_stay_in_instance(instance_.top()).value_or(false) ? Stacks::yes : Stacks::no;
    for (const Tracefs& recorder : recorders_)
        enable_stall_events(recorder, choice_.states, stacks_);
    buffer_.emplace(instance_.tracefs());
    // What was started between the last listing and the events.
    const std::vector<int> fresh = list_new(targets);
    follow(fresh);
    tids.insert(tids.end(), fresh.begin(), fresh.end());
    if (is_held) return;
    for (const int tid : tids) {
        auto now = look_.find(tid, monotonic_ns());
        if (!now) continue;
        if (now->state != TaskState::dead) tracker_.found(tid, *now);
        at_start_.push_back(*now);
        Stall* blocked = tracker_.open_stall(tid);
        if (!blocked) continue;
        look_.add_while_blocked(*blocked);
        noted_.push_back(*blocked);
        noted_.back().is_ongoing = true;
    }
}

bool StallHunt::wait(int stop_fd, std::chrono::milliseconds limit) {
    if (runs_buffer_) limit = std::min(limit, kReadRuns);
    const auto sooner = [&](std::uint64_t at) {
        const std::uint64_t now = monotonic_ns();
        const auto ms = std::chrono::milliseconds(at > now ? (at - now) / 1'000'000 + 1 : 1);
        limit = std::min(limit, ms);
    };
    if (const auto due = tracker_.next_due()) sooner(*due);
    for (const Watched& watched : long_ones_) sooner(watched.begin_ns + kNoteNs);
    if (is_busy_) {
        // Each round costs the traced machine something: let the records of more time gather.
        pollfd stop{stop_fd, POLLIN, 0};
        if (::poll(&stop, 1, static_cast<int>(std::min(limit, kGather).count())) > 0) return false;
        limit = std::chrono::milliseconds(0);
    }
    return buffer_->wait(stop_fd, limit);
}

std::size_t StallHunt::read_buffers() {
    std::size_t records = 0;
    for (; const TraceRecord* record = buffer_->next(); ++records) reader_.read(*record);
    if (runs_buffer_)
        for (; const TraceRecord* record = runs_buffer_->next(); ++records)
            runs_reader_->read(*record);
    const std::vector<int> lost = reader_.take_lost_tids();
    if (!lost.empty()) follow(lost);
    return records;
}

// A drain takes a bounded number of pages. Where it gave many records, more have come meanwhile,
// even if the next one gives none because it only lets go what was held back.
void StallHunt::round() {
    constexpr int kMostDrains = 64;
    constexpr std::size_t kMany = 1000, kBusy = 50;
    int few = 1;
    for (int i = 0; i < kMostDrains && few < 2; ++i) {
        bool any = buffer_->drain();
        if (runs_buffer_) any = runs_buffer_->drain() || any;
        const std::size_t records = read_buffers();
        few = records < kMany ? few + 1 : 0;
        is_busy_ = i == 0 ? records >= kBusy : is_busy_ || records >= kBusy;
        if (!any) break;
    }
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
        if (stall->state != TaskState::runnable) look_.add_while_blocked(*stall);
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

// Moves what ended to where the caller takes it from. A wait for a CPU first waits until the switch
// that ended it has come in the other buffer, too.
void StallHunt::collect(bool is_last) {
    for (Stall& stall : tracker_.take_ended()) {
        say_over();
        look_.add_afterwards(stall);
        (stall.state == TaskState::runnable && runs_buffer_ ? waits_ : ended_)
            .push_back(std::move(stall));
    }
    std::erase_if(waits_, [&](Stall& stall) {
        constexpr std::uint64_t kPatienceNs = 500'000'000;
        if (!is_last && runs_.known_to(stall.cpu_waited) < stall.end_ns &&
            monotonic_ns() < stall.end_ns + kPatienceNs)
            return false;
        stall.ran_meanwhile = runs_.who_ran(stall.cpu_waited, stall.begin_ns, stall.end_ns);
        ended_.push_back(std::move(stall));
        return true;
    });
    if (!runs_buffer_) return;
    std::uint64_t oldest = monotonic_ns();
    constexpr std::uint64_t kMarginNs = 200'000'000;
    oldest -= std::min(oldest, kMarginNs);
    for (const Stall& stall : waits_) oldest = std::min(oldest, stall.begin_ns);
    if (const auto open = tracker_.oldest_open(TaskState::runnable))
        oldest = std::min(oldest, *open);
    runs_.forget_before(oldest);
}

void StallHunt::finish() {
    instance_.tracefs().write("tracing_on", "0\n", Write::replace);
    if (runs_instance_) runs_instance_->tracefs().write("tracing_on", "0\n", Write::replace);
    buffer_->drain_rest();
    if (runs_buffer_) runs_buffer_->drain_rest();
    read_buffers();
    collect(true);
}

std::vector<Stall> StallHunt::ongoing() {
    std::vector<Stall> stalls = tracker_.ongoing(monotonic_ns());
    for (Stall& stall : stalls) {
        if (stall.is_ongoing && stall.state != TaskState::runnable) look_.add_while_blocked(stall);
        look_.add_afterwards(stall);
        if (stall.state == TaskState::runnable)
            stall.ran_meanwhile = runs_.who_ran(stall.cpu_waited, stall.begin_ns, stall.end_ns);
    }
    return stalls;
}

std::uint64_t StallHunt::lost() const {
    return buffer_->lost() + (runs_buffer_ ? runs_buffer_->lost() : 0);
}

bool StallHunt::lost_is_partial() const {
    return buffer_->lost_is_partial() || (runs_buffer_ && runs_buffer_->lost_is_partial());
}

std::vector<std::string> StallHunt::damage() const {
    std::vector<std::string> all = buffer_->damage();
    if (runs_buffer_)
        all.insert(all.end(), runs_buffer_->damage().begin(), runs_buffer_->damage().end());
    return all;
}

}  // namespace gpufs
