#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/recording/record_source.h"
#include "engine/trace/live_trace.h"
#include "engine/trace/raw_buffer.h"

namespace gpufs {

// The ring buffer of a tracefs directory as a recording that still grows: next() is null while
// there is no more, and goes on after the next drain. What is read is taken out of the buffer.
class LiveRecording : public RecordSource {
public:
    // Throws SysError.
    LiveRecording(const Tracefs& top, const Tracefs& instance);

    // As of RawBuffer. After a drain tasks that began meanwhile have names.
    bool wait(int stop_fd, std::chrono::milliseconds limit) { return buffer_.wait(stop_fd, limit); }
    bool drain();
    void drain_rest();
    LossLedger losses() const { return buffer_.losses(); }

    TraceContext& context() override { return trace_.context(); }
    const RecordingFacts& facts() const override { return facts_; }
    const std::vector<RecordingBuffer>& buffers() const override { return buffers_; }
    std::size_t buffer_of(const TraceRecord&) const override { return 0; }

    const TraceRecord* next() override { return buffer_.next(); }
    const TraceRecord* peek_behind(std::size_t) override { return nullptr; }
    const TraceRecord* take_behind(std::size_t) override { return nullptr; }
    // It goes on from where it is.
    void rewind(const std::vector<unsigned>&, std::uint64_t) override {}

    RecordingProgress progress() const override { return {}; }
    std::vector<std::string> damage() const override { return buffer_.damage(); }

private:
    LiveTrace trace_;
    RawBuffer buffer_;
    RecordingFacts facts_;
    std::vector<RecordingBuffer> buffers_;
};

}  // namespace gpufs
