#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/loss.h"
#include "lang/program/program.h"

namespace gpufs {

// Prints what a running program sends and counts: monitors in gpufs's way (MonitorPrinter), scripts
// in bpftrace's (ScriptPrinter). Output is buffered until flush() or until the buffer is large.
class RunPrinter {
public:
    virtual ~RunPrinter() = default;

    // Call it for each batch of records.
    virtual void begin_batch() = 0;
    // Carries out the record's actions.
    virtual void print(const RecordLayout& layout, std::span<const std::byte> record) = 0;
    // What a record asks of the reader happens, but nothing is printed.
    virtual void pass(const RecordLayout& layout, std::span<const std::byte> record) = 0;
    // Moves what is buffered to the context's outputs.
    virtual void hand_over() = 0;
    // The same, and writes these.
    virtual void flush() = 0;

    // The status of the first exit action carried out. Later records are not printed.
    virtual std::optional<int> exit_status() const noexcept = 0;
    // Resumes printing for the records of the end programs.
    virtual void print_on() = 0;

    // The first interval begins.
    virtual void begin_run(std::uint64_t now_ns) = 0;
    // Prints the contents of the maps at the end of an interval.
    virtual void print_interval(std::uint64_t now_ns) = 0;
    // Without intervals, as often as a picture of the run may want to look at the maps: as they
    // were at `moment_ns`, since when nothing happened until now.
    virtual void sample(std::uint64_t /*moment_ns*/, std::uint64_t /*now_ns*/) {}
    // Prints the final map contents and the losses, and returns these. `known`: see read_losses().
    // `now_ns`: the time for the last, incomplete interval.
    virtual LossLedger print_end(std::uint64_t now_ns, LossLedger known) = 0;
};

}  // namespace gpufs
