#include "gpufs/monitor.h"

#include <utility>

#include "api/program_state.h"
#include "api/rows.h"
#include "engine/monitor/monitor.h"
#include "engine/monitor/reader.h"
#include "view/monitor/explanation.h"
#include "view/monitor/live_symbols.h"

namespace gpufs::api {

struct Monitor::State {
    State(const gpufs::Program& program, const PreparedProgram::Choice& choice)
        : monitor(program, {choice, {}}, kernel),
          reader(monitor),
          symbols(monitor, CodeFile::Lines::no),
          values(symbols.names()) {}

    KernelFacts kernel;
    gpufs::Monitor monitor;
    MonitorReader reader;
    LiveSymbols symbols;
    ValueWriter values;
    bool is_running = false;
};

Monitor::Monitor(const Program& program)
    : state_(std::make_unique<State>(program.state_->program, program.state_->choice)) {}
Monitor::Monitor(Monitor&&) noexcept = default;
Monitor& Monitor::operator=(Monitor&&) noexcept = default;
Monitor::~Monitor() = default;

void Monitor::start() {
    state_->monitor.attach();
    state_->is_running = true;
    state_->symbols.watch(0);
    for (const int fd : state_->symbols.fds()) state_->reader.wake_for(fd);
}

void Monitor::poll(std::chrono::milliseconds longest, const OnRecord& on_record) {
    state_->reader.wait(longest);
    state_->values.look_at_clock();
    state_->symbols.drain();
    state_->reader.drain(visit_with(on_record, state_->values));
}

void Monitor::run_for(std::chrono::milliseconds duration, const OnRecord& on_record) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + duration;
    for (auto now = Clock::now(); now < end; now = Clock::now())
        poll(std::chrono::ceil<std::chrono::milliseconds>(end - now), on_record);
}

void Monitor::stop() {
    if (!std::exchange(state_->is_running, false)) return;
    state_->monitor.run_end();
    state_->monitor.detach();
}

std::vector<Row> Monitor::rows(const std::string& map) const {
    return rows_of(state_->monitor, map, state_->values);
}

std::vector<Loss> Monitor::losses() const {
    return losses_of(state_->monitor, state_->reader.losses());
}

std::vector<std::string> Monitor::explanation() const {
    return gpufs::explanation(state_->monitor.sites(), state_->monitor.prepared());
}

}  // namespace gpufs::api
