#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/recording/record_source.h"
#include "engine/trace/by_event_id.h"
#include "engine/trace/context.h"
#include "lang/event/field_value.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// A recording: a trace.dat of trace-cmd or gpufs, version 6 or 7; a perf.data of perf record; or
// text, as the kernel's file `trace` and trace-cmd report have it. Which one its content tells.
// Memory use is a few pages per CPU, of perf.data what its rounds hold, whatever the size. Uses
// nothing of this machine, so the file may come from any machine of the same endianness. Damage in
// the file costs no more than the damaged part.
//
//   TraceFile file("trace.dat");
//   while (const TraceRecord* record = file.next()) ...
//   for (const std::string& what : file.damage()) ...
class TraceFile {
public:
    using Progress = RecordingProgress;
    using Buffer = RecordingBuffer;
    using Facts = RecordingFacts;

    // "-" is stdin; the content of a pipe is copied first. Throws SysError; UnsupportedError for
    // unsupported formats; Error if it is no recording, or is truncated before its first record.
    explicit TraceFile(const std::string& path);
    // Reads from this source.
    explicit TraceFile(std::unique_ptr<RecordSource> recording);
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;
    ~TraceFile();

    // The events, task names, symbols and options of the recording kernel. A task missing in the
    // saved names has the one that the records read so far told last: switches, wakeups, forks...
    TraceContext& context();

    // The next record in order of time, over all CPUs and buffers; null at the end. Its time is
    // corrected as the file requires: in ns if context().options.clock_is_ns. Valid until the next
    // call. Throws SysError.
    const TraceRecord* next();
    // The time of the first record; 0 if there is none. Starts again from there.
    std::uint64_t first_time();
    // The next stack of the last record, of which `event` are the first fields, even if others are
    // earlier: next() does not return it then. Null if the record has no more. Invalidates the last
    // record; valid until the next call.
    const TraceRecord* take_stack(const CommonFields& event);
    // Whether an event's records are stacks of other records.
    bool is_stack(int id);
    // Starts again from the first record, with only these CPUs (empty: all). May skip records
    // before `from`, with their names and losses. Throws SysError.
    void rewind(const std::vector<unsigned>& cpus = {}, std::uint64_t from = 0);

    // context() stays as it is while records are read, but for names of tasks. Those that comm()
    // returned stay where they are.
    bool has_fixed_context() const;
    // How much of the file next() has read, of its records; and how much it will read: bytes.
    Progress progress() const;

    const std::vector<Buffer>& buffers() const;
    // The buffer that contains the record.
    const Buffer& buffer_of(const TraceRecord& record) const;
    // All CPUs with records, ascending.
    std::vector<int> cpus() const;

    const Facts& facts() const;

    // What a stream (TraceRecord::stream) that was read from its begin to its end lost: `told` by
    // its records, or what the kernel counted, where the recording has that.
    Loss lost_in(std::size_t stream, const Loss& told) const;

    // Missing or damaged parts found so far, one line each.
    std::vector<std::string> damage() const;
    // How many of them there are, as what is missing.
    LossLedger damage_losses() const;
    // What a recording of this format cannot tell, a sentence each.
    std::vector<std::string> notes() const;

private:
    // Names of tasks that records tell.
    class NamesInRecords;

    std::unique_ptr<RecordSource> recording_;
    std::unique_ptr<NamesInRecords> names_;
    ByEventId<bool> are_stacks_;
};

}  // namespace gpufs
