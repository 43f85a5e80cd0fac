#include "gpufs/replay.h"

#include "api/program_state.h"
#include "api/rows.h"
#include "engine/monitor/replay.h"
#include "engine/recording/file.h"
#include "view/monitor/recorded_symbols.h"

namespace gpufs::api {

struct Replay::State {
    State(const gpufs::Program& program, const PreparedProgram::Choice& choice,
          const std::string& path)
        : file(path), replay(program, choice, file), values(recorded_names(file.context())) {}

    TraceFile file;
    gpufs::Replay replay;
    ValueWriter values;
};

Replay::Replay(const Program& program, const std::string& path)
    : state_(std::make_unique<State>(program.state_->program, program.state_->choice, path)) {}
Replay::Replay(Replay&&) noexcept = default;
Replay& Replay::operator=(Replay&&) noexcept = default;
Replay::~Replay() = default;

void Replay::run(const OnRecord& on_record) {
    const VisitRecord visit = visit_with(on_record, state_->values);
    while (state_->replay.advance()) state_->replay.run(visit);
    state_->replay.run_end(visit);
}

std::vector<Row> Replay::rows(const std::string& map) const {
    return rows_of(state_->replay, map, state_->values);
}

std::vector<Loss> Replay::losses() const {
    return losses_of(state_->replay, state_->replay.losses());
}

}  // namespace gpufs::api
