#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/monitor/kernel_facts.h"
#include "engine/monitor/prepared_program.h"
#include "engine/monitor/recorded_tasks.h"
#include "engine/results/losses.h"
#include "engine/results/running_program.h"
#include "engine/trace/file.h"
#include "vm/interpreter.h"
#include "vm/world.h"

namespace gpufs {

// A Program at work over a recording: our interpreter runs it for each record of its events, at the
// record's time, on its CPU, as its task. Nothing of this machine is asked.
//
//   Replay replay(program, choice, file);
//   while (replay.advance()) replay.run(visit);
//   replay.run_end(visit);
//
// System calls: raw_syscalls:sys_enter and sys_exit give a raw tracepoint program the arguments
// that its kernel had, but the registers. Of other raw tracepoints the arguments are not recorded.
class Replay : public RunningProgram {
public:
    // Throws UsageError and UnsupportedError, as Monitor does, also where the recording has none of
    // the program's events. Borrows the file, and reads it from where it is.
    Replay(Program program, PreparedProgram::Choice choice, TraceFile& file);

    const Program& program() const noexcept override { return prepared_->program(); }
    ProgramMap* map(std::string_view name) const override;
    // One line a probe, as Monitor has them.
    const std::vector<std::string>& explanation() const noexcept {
        return prepared_->explanation();
    }

    const std::vector<std::string>& cautions() const noexcept { return prepared_->cautions(); }

    // Goes to the next record, and says its time in ns; absent at the end. Throws SysError.
    std::optional<std::uint64_t> advance();
    // Runs what there is for it; in front of it what is due at intervals, in front of the first
    // record the begin programs. Throws
    // SourceError, under the line of a program that does what the verifier would have refused.
    void run(const VisitRecord& visit);
    // Runs the end programs, at the last record's time.
    void run_end(const VisitRecord& visit);

    // What is missing so far: of the records that programs sent, and in the recording.
    std::vector<Loss> losses() const;
    // Sentences on what the recording could not answer; for the end.
    std::vector<std::string> notes() const;

private:
    using Kind = ProbeTarget::Kind;
    // A linked program for one event.
    struct Loaded {
        ProbeSite site;
        Linked linked;
        std::unique_ptr<Interpreter> code;
        std::uint64_t hits = 0;
        std::uint64_t next_ns = 0;  // of an interval's program: when it runs again
    };

    void make_maps();
    std::string load(const ProbeSite& site);
    void check_raw(const ProbeSite& site, const LinkTarget& target) const;
    void check_helpers(const Linked& linked);
    void set_moment(const TraceRecord& record);
    void take_stacks();
    void drop_tracer(std::vector<std::uint64_t>& frames);
    void run_one(Loaded& loaded, std::span<const std::byte> context);
    void run_all(Kind kind, const VisitRecord& visit);
    void run_intervals(const VisitRecord& visit);
    [[noreturn]] void refuse(const Linked& linked, const BpfFault& fault) const;

    TraceFile& file_;
    KernelFacts machine_;
    std::unique_ptr<PreparedProgram> prepared_;
    RecordedTasks tasks_;
    VmState world_;
    std::map<std::string, int, std::less<>> maps_;  // the world's numbers
    int pool_map_ = -1;
    std::vector<std::unique_ptr<Loaded>> loaded_;
    std::vector<Loaded*> at_intervals_;
    std::vector<std::vector<Loaded*>> by_event_;  // by the id in records
    std::uint64_t context_ = 0;                   // where programs see what they are given
    const TraceRecord* record_ = nullptr;
    const VisitRecord* visit_ = nullptr;  // for what is sent now
    bool has_begun_ = false;
    bool wants_stacks_ = false;
    std::vector<std::byte> kept_;  // the record, where its stacks are read behind it
    TraceRecord kept_record_;
    std::vector<std::uint64_t> kernel_stack_, user_stack_;
    std::unordered_map<std::uint64_t, bool> tracer_frames_;  // what is known of an address
    std::uint64_t lost_ = 0;                                 // events that the recording lacks
    std::uint64_t left_out_ = 0;                             // runs of intervals, in long gaps
    std::uint64_t unknown_ = 0;                              // records of no layout
};

}  // namespace gpufs
