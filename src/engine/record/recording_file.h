#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "kernel/tracefs/page_mover.h"
#include "lang/trace_dat/write.h"

namespace gpufs {

// A trace.dat (version 6) while it is recorded. It can be read at any moment, whatever becomes of
// this process: each CPU's pages have a part of the file of their own, which is mostly a hole, and
// the head says how much of it there is. close_gaps() takes the holes away at the end.
class RecordingFile {
public:
    // Opens the file, or makes it; what is in it stays until begin(), and what was made here is
    // gone without one. Throws SysError, and UnsupportedError where it cannot have holes.
    explicit RecordingFile(std::string path);
    ~RecordingFile();
    RecordingFile(const RecordingFile&) = delete;
    RecordingFile& operator=(const RecordingFile&) = delete;

    // Replaces what was in the file by the head. A CPU has room for `most` bytes; less where the
    // file may not become as large. Throws SysError.
    void begin(const trace_dat::Head& head, std::uint64_t most);
    bool has_begun() const noexcept { return !targets_.empty(); }

    const std::string& path() const noexcept { return path_; }
    std::size_t cpus() const noexcept { return targets_.size(); }
    // Where a CPU's pages go, and how many there are. Part of the recording from commit() on.
    PageMover::Target& target(std::size_t cpu) { return targets_[cpu]; }
    std::uint64_t room_left(std::size_t cpu) const { return room_ - targets_[cpu].bytes; }
    std::size_t page_bytes() const noexcept { return page_bytes_; }
    // Of all pages, without the head.
    std::uint64_t bytes() const;

    void commit();
    // The text of the CPU's file `stats`, or its begin.
    void set_statistics(std::size_t cpu, const std::string& text);
    // Lines of "PID NAME", all of them. What is beyond the room is left out.
    void set_names(std::string lines);

    // Moves the pages together. Where that fails, because the disk is full, the file keeps the
    // gaps, and can be read all the same: false then.
    bool close_gaps();

private:
    void write(std::string_view bytes, std::uint64_t at) const;
    std::uint64_t room_for(std::uint64_t most, std::size_t cpus) const;
    bool copy(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) const;

    std::string path_;
    bool is_new_;
    Fd fd_;
    trace_dat::HeadBytes head_;  // without the bytes
    std::size_t head_bytes_ = 0, names_room_ = 0, stats_room_ = 0, page_bytes_ = 0;
    std::uint64_t room_ = 0;
    std::vector<PageMover::Target> targets_;  // by the number of the CPU
    std::vector<std::uint64_t> committed_;
    std::string names_;
};

}  // namespace gpufs
