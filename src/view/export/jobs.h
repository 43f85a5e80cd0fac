#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/monitor/replay.h"
#include "engine/recording/file.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// What a record says about a job of the GPU scheduler.
struct JobStep {
    enum class What { queue, wait, run, done, dropped };
    // How a job is known: the context and the number of its fence, or the fence's address and 0.
    struct Key {
        std::uint64_t context = 0, number = 0;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    What what = What::queue;
    Key key;
    std::uint32_t pid = 0;  // of the process that queued it
    std::string comm;
    std::string device, ring;  // "0000:03:00.0" and "gfx"; "-" where they are not recorded
    std::string on;            // of a wait: the ring of the job that it waits for; may be empty
    Key awaited;               // of a wait: that job; zeros where it is not known
};

// The jobs of a recording, as the monitor `drm` finds them: it is run over the records, with a line
// for each step.
class RecordedJobs {
public:
    // Null where the recording has no events that tell of jobs. Keeps a reference to the file.
    static std::unique_ptr<RecordedJobs> find(TraceFile& file);

    // The steps that this record tells of, good until the next call. Records must come in the order
    // of the file, all of them.
    std::span<const JobStep> steps_of(const TraceRecord& record);

private:
    RecordedJobs(Program program, PreparedProgram::Choice choice, TraceFile& file);
    JobStep::Key awaited_by(const JobStep& step) const;
    void take(const RecordLayout& layout, std::span<const std::byte> record,
              const TraceRecord& from);

    TraceFile& file_;
    Replay replay_;
    std::vector<JobStep> steps_;
};

}  // namespace gpufs
