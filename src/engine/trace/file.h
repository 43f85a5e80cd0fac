#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/trace/context.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// A recording: a trace.dat of trace-cmd or gpufs, version 6 or 7, as large as it may be: a few
// pages a CPU are in memory. Nothing of this machine is asked, so it may come from any other of the
// same endianness. What is wrong in the file takes away no more than what is wrong.
//
//   TraceFile file("trace.dat");
//   while (const TraceRecord* record = file.next()) ...
//   for (const std::string& what : file.damage()) ...
class TraceFile {
public:
    // Throws SysError; UnsupportedError for what is not read here; Error when it is no trace.dat,
    // or is cut in front of its first record.
    explicit TraceFile(const std::string& path);
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;
    ~TraceFile();

    // The events, task names, symbols, and the options that the recording kernel had. Tasks that
    // the saved names lack are named by the switches and wakeups read so far.
    TraceContext& context();

    // The next record, by time, over all CPUs and buffers; null at the end. Its time is corrected
    // as the file says: nanoseconds where context().options.clock_is_ns. Good until the next call.
    // Throws SysError.
    const TraceRecord* next();
    // The record that its kernel put behind the last one, on the same CPU and in the same buffer,
    // whatever else comes before it by time: a stack is there. The last one is good no more. Null
    // at the end.
    const TraceRecord* peek_behind();
    // Goes on behind it: next() does not give it out.
    void skip_behind();
    // From the first record on again; of these CPUs only, empty: of all. Records before `from` may
    // be left out, and what they tell of names and losses. Throws SysError.
    void rewind(const std::vector<unsigned>& cpus = {}, std::uint64_t from = 0);

    // The top buffer, or an instance.
    struct Buffer {
        std::string name;  // empty: the top buffer
        std::string clock;
        std::vector<int> cpus;
        std::uint64_t bytes = 0;  // of pages, as they lie in the file
    };
    const std::vector<Buffer>& buffers() const;
    // The one that a record is of.
    const Buffer& buffer_of(const TraceRecord& record) const;
    // All CPUs with records, ascending.
    std::vector<int> cpus() const;

    // What else the file tells. What it does not is empty.
    struct Facts {
        unsigned version = 0;     // 6 or 7
        std::size_t cpus = 0;     // of the machine
        std::string compression;  // "zstd 1.5.4"
        std::string uname;        // "Linux host 6.12.41 x86_64"
        std::string recorder;     // the version of the program that recorded
        std::string clock;        // "local"
        // The kernel's counters when the recording ended, as per_cpu/cpuN/stats has them, below a
        // line "Buffer: NAME" for an instance.
        std::string statistics;
    };
    const Facts& facts() const;

    // What is missing or wrong in what was read so far, one line each.
    std::vector<std::string> damage() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace gpufs
