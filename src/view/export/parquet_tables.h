#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/recording/file.h"
#include "engine/trace/by_event_id.h"
#include "view/export/event_plan.h"
#include "view/export/jobs.h"
#include "view/export/open_jobs.h"
#include "view/export/parquet.h"

namespace gpufs {

// What a recording tells about itself, for the file's own facts.
std::vector<std::pair<std::string, std::string>> parquet_facts(TraceFile& file);

// A row for each record: time_ns, cpu, tid, pid, comm and event, lost and lost_most (how many were
// lost in front of it, at least and at most; the latter is absent where it is not known), and a
// column for each field of the events, as arg_NAME. Where a name has numbers in one event and texts
// in another, the texts are in arg_NAME_text.
class EventTable {
public:
    // Keeps a reference to the file.
    EventTable(TraceFile& file, ParquetWriter::Write write);

    void add(const TraceRecord& record);
    void finish() { out_.finish(parquet_facts(file_)); }

private:
    // Of an argument that the event had in its last record.
    struct KnownColumn {
        Argument::Kind kind;
        std::size_t column;
    };
    // None of those that the other arguments of the `row` have.
    std::size_t column_of(const Argument& argument, std::span<const KnownColumn> row);

    TraceFile& file_;
    ParquetWriter out_;
    EventArguments arguments_;
    ByEventId<EventPlan> plans_;
    std::size_t time_, cpu_, tid_, pid_, comm_, event_, lost_, lost_most_;
    // By event id: the columns of its arguments, in their order.
    std::unordered_map<int, std::vector<KnownColumn>> known_;
    std::map<std::string, std::pair<ParquetWriter::Type, std::size_t>> columns_;  // by name
};

// A row for each job of a GPU: device, ring, context and job (its number there), pid, comm, on
// which ring's job it waited, and queued_ns, run_ns and done_ns, of the steps that were recorded;
// dropped: 1 where the driver gave it up. Jobs are in order of their ends; those without one come
// last.
class JobTable {
public:
    JobTable(TraceFile& file, ParquetWriter::Write write);

    void add(const JobStep& step, std::uint64_t time);
    void finish();

private:
    JobFacts& job_of(const JobStep& step);
    void write(const JobStep::Key& key, const JobFacts& job);

    TraceFile& file_;
    ParquetWriter out_;
    std::size_t device_, ring_, context_, job_, pid_, comm_, on_, queued_, run_, done_, dropped_;
    OpenJobs<JobFacts> open_;
};

}  // namespace gpufs
