#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpufs/event.h"
#include "gpufs/results.h"
#include "gpufs/value.h"

namespace gpufs::api {

struct RecordingState;

// One event of a recording. It is good until the next one is read.
class Event {
public:
    std::string_view name() const;  // "sched:sched_switch"
    std::uint64_t time_ns() const;  // of the recording's clock; counts where that is no time
    int cpu() const;
    int pid() const;                // of the task that ran
    std::string_view comm() const;  // its name, as far as the recording tells

    // Every field with its value.
    Members fields() const;
    // One field; absent when the event has none of this name.
    std::optional<Value> field(std::string_view name) const;
    // The event as `trace-cmd report` prints it, without the leading spaces and the newline.
    std::string to_text() const;

private:
    friend struct RecordingState;
    explicit Event(RecordingState& state) : state_(state) {}
    RecordingState& state_;
};

// A trace.dat of trace-cmd, gpuvis or `gpufs record`, version 6 or 7, of any machine. Reads it page
// by page, so it may be larger than the memory.
class Recording {
public:
    // Throws SysError; UnsupportedError for a version that is not read; Error when it is none.
    explicit Recording(const std::string& path);
    Recording(Recording&&) noexcept;
    Recording& operator=(Recording&&) noexcept;
    ~Recording();

    // The next event, by time, over all CPUs; null at the end. Throws SysError.
    const Event* next();
    // From the first event on again.
    void rewind();
    // Only events for which the expression holds, from the next rewind() or the beginning on. An
    // event that lacks a field of it is left out. Throws UsageError.
    void only_if(const std::string& expression);

    // The events that the recording describes, whether they occur or not.
    std::vector<EventInfo> events() const;
    // What was lost when it was recorded, and what is damaged in it, as far as it was read.
    std::vector<Loss> losses() const;

private:
    std::unique_ptr<RecordingState> state_;
};

}  // namespace gpufs::api
