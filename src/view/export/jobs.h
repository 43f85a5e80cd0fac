#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/monitor/replay.h"
#include "engine/recording/file.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// As many jobs as are taken to be under way at a time: ends may be lost.
inline constexpr std::size_t kMostOpenJobs = 65536;

// What a record says about a job of a GPU or NPU.
struct JobStep {
    enum class What {
        queue,
        wait,
        run,
        last_run,  // it runs, and nothing will tell of its end
        done,
        dropped
    };
    // How a job is known: the context and the number of its fence, or the fence's address and 0,
    // and who tells of it. Of xe the numbers are those of a GuC, of which a device has several: the
    // fence's address tells its jobs apart.
    struct Key {
        std::uint64_t context = 0, number = 0;
        std::uint32_t teller = 0;
        std::uint64_t fence = 0;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    What what = What::queue;
    Key key;
    std::uint32_t pid = 0;  // of the process that queued it
    std::string comm;
    std::string_view processor;  // "GPU"
    std::string device, ring;    // "0000:03:00.0" and "gfx"; "-" where they are not recorded
    std::string on;              // of a wait: the ring of the job that it waits for; may be empty
    Key awaited;                 // of a wait: that job; zeros where it is not known

    // Nothing will be told of the job after this.
    bool is_last() const { return what >= What::last_run; }
};

// The jobs of a recording, as the monitors of GPUs find them: those that it has events for are run
// over the records, with a line for each step.
class RecordedJobs {
public:
    // Null where the recording has no events that tell of jobs. Keeps a reference to the file.
    // Throws SysError.
    static std::unique_ptr<RecordedJobs> find(TraceFile& file);
    ~RecordedJobs();

    // Whether the recording has events of them.
    static bool are_in(TraceFile& file);

    // The steps that this record tells of, good until the next call. Records must come in the order
    // of the file, all of them.
    std::span<const JobStep> steps_of(const TraceRecord& record);

    // Why jobs are not told that the recording has events of.
    const std::vector<std::string>& notes() const noexcept { return notes_; }

private:
    struct Monitor;
    class Source;

    explicit RecordedJobs(TraceFile& file);

    std::vector<std::unique_ptr<Source>> sources_;
    std::vector<JobStep> steps_;
    std::vector<std::string> notes_;
};

}  // namespace gpufs
