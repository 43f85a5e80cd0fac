#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "engine/recorder/recording_file.h"
#include "engine/trace/buffer_counts.h"
#include "kernel/tracefs/page_mover.h"
#include "kernel/tracefs/tracefs.h"
#include "lang/symbols/task_names.h"
#include "lang/trace_dat/ring_page.h"
#include "lang/trace_dat/write.h"

namespace gpufs {

// Moves a tracefs directory's trace buffer into a file. What was moved is gone from the buffer.
//
//   Recorder recorder(instance, top);
//   RecordingFile file(path);
//   recorder.begin(file, read_trace_head(…), most);
//   while (recorder.wait(stop_fd, limit) && recorder.move(file, most)) ...
//   recorder.move_all(file, most);     // these two each second, and at the end
//   recorder.update(file);
class Recorder {
public:
    // Throws SysError.
    Recorder(const Tracefs& at, const Tracefs& top);

    // Before the recording begins: takes the room for what the file begins with on the disk. Throws
    // SysError if there is none.
    void take_room(RecordingFile& file, trace_dat::Head head);
    // Begins the file, with room for `most` bytes of each CPU.
    void begin(RecordingFile& file, trace_dat::Head head, std::uint64_t most);

    // Sleeps until a CPU's buffer is half full (its buffer_percent), or the limit. False as soon as
    // `stop_fd` is readable.
    bool wait(int stop_fd, std::chrono::milliseconds limit);
    // Moves complete pages of all CPUs, until the file has `most` bytes of them, or a writer at
    // work has had its share. False when the file has as many, or no room for a CPU's any more.
    // Throws SysError.
    bool move(RecordingFile& file, std::uint64_t most);
    // The same with what is in the pages that are being written.
    bool move_all(RecordingFile& file, std::uint64_t most);
    // All that is in a buffer that is off.
    bool move_rest(RecordingFile& file, std::uint64_t most);
    // For a ring: the file begins with its oldest records, and those that it overwrote are no loss
    // in front of them.
    void forget_overwritten(RecordingFile& file) const;
    // Makes what was moved until now part of the file, whatever happens to this process, and brings
    // the names and numbers in it up to date.
    void update(RecordingFile& file);

    // One CPU's.
    struct Counts : BufferCounts {
        std::size_t cpu = 0;
        std::uint64_t written = 0;  // to a file
    };
    std::vector<Counts> counts() const;

private:
    struct Cpu {
        std::size_t number = 0;
        Fd raw;
        bool can_wait = true;  // poll(2) does not for a CPU that was never online
        std::uint64_t unwritten = 0;  // of the records taken from the buffer: no file had room
    };
    using Move = bool (PageMover::*)(int, PageMover::Target&, std::uint64_t);
    bool move_with(Move how, RecordingFile& file, std::uint64_t most);
    // The kernel's text, and a line "unwritten: N" where records found no room.
    std::string statistics(const Cpu& cpu) const;
    void complete(trace_dat::Head& head, std::size_t names_bytes) const;

    Tracefs at_;
    PageLayout layout_;
    std::vector<Cpu> cpus_;
    PageMover mover_;
    bool is_full_ = false;  // the disk: what is in the buffers finds no room, either
    TaskNames tasks_;
};

}  // namespace gpufs
