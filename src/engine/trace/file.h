#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/trace/context.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// A recording: a trace.dat of trace-cmd or gpufs, version 6 or 7. Memory use is a few pages per
// CPU, whatever the size. Uses nothing of this machine, so the file may come from any machine of
// the same endianness. Damage in the file costs no more than the damaged part.
//
//   TraceFile file("trace.dat");
//   while (const TraceRecord* record = file.next()) ...
//   for (const std::string& what : file.damage()) ...
class TraceFile {
public:
    // "-" is stdin; the content of a pipe is copied first. Throws SysError; UnsupportedError for
    // unsupported formats; Error if it is not a trace.dat, or is truncated before its first record.
    explicit TraceFile(const std::string& path);
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;
    ~TraceFile();

    // The events, task names, symbols and options of the recording kernel. Tasks missing in the
    // saved names get their names from the switches and wakeups read so far.
    TraceContext& context();

    // The next record in order of time, over all CPUs and buffers; null at the end. Its time is
    // corrected as the file requires: in ns if context().options.clock_is_ns. Valid until the next
    // call. Throws SysError.
    const TraceRecord* next();
    // The record after the last one on the same CPU and in the same buffer, even if others are
    // earlier: a stack is there. Invalidates the last record. Null at the end.
    const TraceRecord* peek_behind();
    // Skips that record: next() does not return it.
    void skip_behind();
    // Starts again from the first record, with only these CPUs (empty: all). May skip records
    // before `from`, with their names and losses. Throws SysError.
    void rewind(const std::vector<unsigned>& cpus = {}, std::uint64_t from = 0);

    // How much of the file next() has read, of its pages; and how much it will read: bytes.
    struct Progress {
        std::uint64_t read = 0, all = 0;
    };
    Progress progress() const;

    // The top-level buffer or an instance.
    struct Buffer {
        std::string name;  // empty: the top-level buffer
        std::string clock;
        std::vector<int> cpus;
        std::uint64_t bytes = 0;  // size of its pages in the file
    };
    const std::vector<Buffer>& buffers() const;
    // The buffer that contains the record.
    const Buffer& buffer_of(const TraceRecord& record) const;
    // All CPUs with records, ascending.
    std::vector<int> cpus() const;

    // Other information in the file; empty if missing.
    struct Facts {
        unsigned version = 0;     // 6 or 7
        std::size_t cpus = 0;     // number of CPUs of the machine
        std::string compression;  // "zstd 1.5.4"
        std::string uname;        // "Linux host 6.12.41 x86_64"
        std::string recorder;     // version of the recording program
        std::string clock;        // "local"
        // The kernel's counters at the end of the recording, as in per_cpu/cpuN/stats; for an
        // instance after a line "Buffer: NAME".
        std::string statistics;
    };
    const Facts& facts() const;

    // Missing or damaged parts found so far, one line each.
    std::vector<std::string> damage() const;
    // How many of them there are, as what is missing.
    LossLedger damage_losses() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpufs
