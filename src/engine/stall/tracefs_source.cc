#include "engine/stall/tracefs_source.h"

#include <poll.h>

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
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

std::uint64_t buffer_size(const Tracefs& instance) {
    return parse_buffer_kb(instance.read("buffer_total_size_kb")) << 10;
}

}  // namespace

TracefsSource::TracefsSource(const Tracefs& top, Events& events, StallTracker& tracker,
                             const StateSet& states, Stacks stacks)
    : states_(states), stacks_(stacks), instance_(top), reader_(events, tracker) {
    const bool wants_runs = states.has(TaskState::runnable);
    prepare_buffer(instance_.tracefs());
    size_buffer(instance_.tracefs(), wants_runs ? kEventShare : kBufferBytes);
    buffer_bytes_ = buffer_size(instance_.tracefs());
    if (!wants_runs) return;
    runs_instance_.emplace(top, "runs");
    runs_reader_.emplace(events, runs_);
    prepare_buffer(runs_instance_->tracefs());
    size_buffer(runs_instance_->tracefs(), kRunShare);
    buffer_bytes_ += buffer_size(runs_instance_->tracefs());
}

void TracefsSource::follow(const std::vector<int>& tids) {
    follow_tasks(instance_.tracefs(), tids);
}

void TracefsSource::start() {
    if (runs_instance_) {
        enable_run_events(runs_instance_->tracefs());
        runs_buffer_.emplace(runs_instance_->tracefs());
    }
    enable_stall_events(instance_.tracefs(), states_, stacks_);
    buffer_.emplace(instance_.tracefs());
}

bool TracefsSource::wait(int stop_fd, std::chrono::milliseconds limit) {
    if (runs_buffer_) limit = std::min(limit, kReadRuns);
    if (is_busy_) {
        // Each round costs the traced machine something: let the records of more time gather.
        pollfd stop{stop_fd, POLLIN, 0};
        if (::poll(&stop, 1, static_cast<int>(std::min(limit, kGather).count())) > 0) return false;
        limit = std::chrono::milliseconds(0);
    }
    return buffer_->wait(stop_fd, limit);
}

std::size_t TracefsSource::read_buffers() {
    std::size_t records = 0;
    for (; const TraceRecord* record = buffer_->next(); ++records) reader_.read(*record);
    if (runs_buffer_)
        for (; const TraceRecord* record = runs_buffer_->next(); ++records)
            runs_reader_->read(*record);
    return records;
}

// A drain takes a bounded number of pages. After one with many records, more have come meanwhile:
// drains go on until two in a row give few, as one may only release what was held back.
void TracefsSource::read() {
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
    if (is_thinned_ || !buffer_->has_lost()) return;
    disable_syscall_events(instance_.tracefs());
    reader_.ignore_syscalls();
    is_thinned_ = true;
}

void TracefsSource::stop() {
    instance_.tracefs().write("tracing_on", "0\n", Write::replace);
    if (runs_instance_) runs_instance_->tracefs().write("tracing_on", "0\n", Write::replace);
    buffer_->drain_rest();
    if (runs_buffer_) runs_buffer_->drain_rest();
    read_buffers();
}

// The switch that ended the wait may not have come in the other buffer yet.
bool TracefsSource::add_runs(Stall& wait, bool is_last) {
    constexpr std::uint64_t kPatienceNs = 500'000'000;
    if (!is_last && runs_.known_to(wait.cpu_waited) < wait.end_ns &&
        monotonic_ns() < wait.end_ns + kPatienceNs)
        return false;
    wait.ran_meanwhile = runs_.who_ran(wait.cpu_waited, wait.begin_ns, wait.end_ns);
    return true;
}

LossLedger TracefsSource::losses() const {
    LossLedger losses = buffer_->losses();
    if (runs_buffer_) losses.add(runs_buffer_->losses());
    return losses;
}

std::vector<std::string> TracefsSource::damage() const {
    std::vector<std::string> all = buffer_->damage();
    if (runs_buffer_)
        all.insert(all.end(), runs_buffer_->damage().begin(), runs_buffer_->damage().end());
    return all;
}

std::string TracefsSource::described() const {
    return "events of tracefs, each read by gpufs: those that come faster than it reads are lost";
}

}  // namespace gpufs
