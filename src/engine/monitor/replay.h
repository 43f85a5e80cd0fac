#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/monitor/prepared_program.h"
#include "engine/monitor/recorded_tasks.h"
#include "engine/places/kernel_facts.h"
#include "engine/recording/file.h"
#include "engine/results/lost_counters.h"
#include "engine/results/running_program.h"
#include "lang/event/open_events.h"
#include "vm/interpreter.h"
#include "vm/vm_state.h"

namespace gpufs {

// Runs a Program over a recording: the interpreter runs it for each record of its events, with the
// record's time, CPU and task. Uses nothing of this machine.
//
//   Replay replay(program, choice, file);
//   while (replay.advance()) replay.run(visit);
//   replay.run_end(visit);
//
// raw_syscalls:sys_enter and sys_exit give a raw tracepoint program the recorded arguments, but no
// registers. The arguments of other raw tracepoints are not recorded.
class Replay : public RunningProgram {
public:
    // Keeps a reference to the file and reads on from its current position. Throws UsageError and
    // UnsupportedError like Monitor, also if the recording has none of the program's events.
    Replay(Program program, PreparedProgram::Choice choice, TraceFile& file);

    const Program& program() const noexcept override { return prepared_->program(); }
    ProgramMap* map(std::string_view name) const override;
    std::uint64_t now_ns() const override { return world_.now.time_ns; }
    // Programs run in run() only.
    ProgramMap* settled_map(std::string_view name) const override { return map(name); }
    const PreparedProgram& prepared() const noexcept { return *prepared_; }
    // What each program runs for.
    std::vector<LoadedSite> sites() const;

    const std::vector<std::string>& cautions() const noexcept { return prepared_->cautions(); }

    // Advances to the next record and returns its time in ns; absent at the end. Throws SysError.
    std::optional<std::uint64_t> advance();
    // The same to a record that the caller read from the file, and that stays valid over run().
    void advance_to(const TraceRecord& record);
    // Runs the programs for the current record: first the begin programs (at the first record) and
    // the intervals that are due. Throws SourceError, with the source line, for a program that does
    // something that the verifier would reject.
    void run(const VisitRecord& visit);
    // Runs the end programs, then those for each key of a map, at the last record's time.
    void run_end(const VisitRecord& visit);
    // At the last record's time, too. What they send is not visited.
    void run_each() override;
    void run_snapshots() override;

    // Losses so far: of the records that programs sent, and in the recording.
    LossLedger losses() const;
    // Sentences about what the recording does not contain; to be printed at the end.
    std::vector<std::string> notes() const;
    // Of these, what is not about programs: for a text whose cautions say what it cannot tell.
    std::vector<std::string> recording_notes() const;

private:
    using Kind = ProbeTarget::Kind;
    // A program linked for one event.
    struct Loaded {
        LoadedSite how;
        Linked linked;
        std::unique_ptr<Interpreter> code;
        std::uint64_t hits = 0;
        std::uint64_t next_ns = 0;  // for an interval: time of its next run
    };

    void make_maps();
    void load(const PreparedProgram::Site& prepared);
    void check_raw(const ProbeSite& site, const Linked& linked) const;
    void check_helpers(const Linked& linked);
    void set_moment(const TraceRecord& record);
    void take_stacks();
    void count_stray_stacks(const TraceRecord& record);
    void drop_tracer(std::vector<std::uint64_t>& frames);
    bool was_read_to_end() const { return !record_; }
    Loss lost() const;
    void begin(const VisitRecord& visit);
    void run_one(Loaded& loaded, std::span<const std::byte> context);
    void run_all(Kind kind, const VisitRecord& visit);
    void run_for_keys(ProbeTarget::Kind kind);
    void run_intervals(const VisitRecord& visit);
    [[noreturn]] void refuse(const Linked& linked, const BpfFault& fault) const;

    TraceFile& file_;
    KernelFacts machine_;
    std::unique_ptr<PreparedProgram> prepared_;
    RecordedTasks tasks_;
    VmState world_;
    std::map<std::string, int, std::less<>> maps_;  // by name: handle in the state
    int pool_map_ = -1;
    std::vector<std::unique_ptr<Loaded>> loaded_;
    std::vector<Loaded*> at_intervals_;
    std::vector<std::vector<Loaded*>> by_event_;  // by event id
    std::uint64_t context_ = 0;                   // address of the program's context
    const TraceRecord* record_ = nullptr;
    const VisitRecord* visit_ = nullptr;  // receives the records sent now
    bool has_begun_ = false;
    bool wants_stacks_ = false;
    std::vector<OpenEvents<bool>> events_;  // by stream: those whose stacks may come
    std::uint64_t stray_stacks_ = 0;        // those of none of them
    std::vector<std::byte> kept_;           // copy of the record while its stacks are read
    TraceRecord kept_record_;
    std::vector<std::uint64_t> kernel_stack_, user_stack_;
    std::vector<Loss> lost_;      // events lost in the recording, by stream
    std::uint64_t left_out_ = 0;  // interval runs skipped in long gaps
    RecordTaker taker_;
};

}  // namespace gpufs
