#include "engine/recording/live_recording.h"

#include "base/text.h"
#include "kernel/host/kernel_version.h"

namespace gpufs {

LiveRecording::LiveRecording(const Tracefs& top, const Tracefs& instance)
    : trace_(top, instance), buffer_(instance) {
    facts_.format = "live";
    facts_.clock = chosen_word(instance.read_if_readable("trace_clock").value_or(""));
    facts_.uname = running_uname();
    RecordingBuffer& buffer = buffers_.emplace_back();
    buffer.clock = facts_.clock;
    buffer.cpus = buffer_cpus(instance);
    facts_.cpus = buffer.cpus.empty() ? 0 : static_cast<std::size_t>(buffer.cpus.back()) + 1;
}

bool LiveRecording::drain() {
    const bool found = buffer_.drain();
    if (found) trace_.context().tasks.refresh();
    return found;
}

void LiveRecording::drain_rest() {
    buffer_.drain_rest();
    trace_.context().tasks.refresh();
}

}  // namespace gpufs
