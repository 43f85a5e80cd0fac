#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "kernel/tracefs/page_mover.h"
#include "lang/trace_dat/write.h"

namespace gpufs {

// A trace.dat (version 6) during recording. It is readable at any moment, even if this process
// dies: each CPU's pages have their own region of the file, which is mostly a hole, and the header
// tells how much of it is used. close_gaps() removes the holes at the end.
class RecordingFile {
public:
    // Opens or creates the file. Existing content remains until begin(); without begin(), a created
    // file is deleted. Throws SysError, Error if another recording is being written into it, and
    // UnsupportedError if the file system has no holes.
    explicit RecordingFile(std::string path);
    // The same for an open file; `name` is for messages.
    RecordingFile(Fd file, std::string name);
    ~RecordingFile();
    RecordingFile(const RecordingFile&) = delete;
    RecordingFile& operator=(const RecordingFile&) = delete;

    // Takes the room for the header on the disk, before what is recorded begins; the content stays.
    // Throws SysError if there is none.
    void take_room(const trace_dat::Head& head);
    // Replaces the file's content by the header. Each CPU has room for `most` bytes, or less if the
    // file cannot become that large. Throws SysError; the content remains if there is no room for
    // the header.
    void begin(const trace_dat::Head& head, std::uint64_t most);
    bool has_begun() const noexcept { return !targets_.empty(); }

    const std::string& path() const noexcept { return path_; }
    std::size_t cpus() const noexcept { return targets_.size(); }
    // The region for a CPU's pages. Pages appended to it become part of the recording at commit().
    PageMover::Target& target(std::size_t cpu) { return targets_[cpu]; }
    std::uint64_t room_left(std::size_t cpu) const { return room_ - targets_[cpu].bytes; }
    std::size_t page_bytes() const noexcept { return page_bytes_; }
    // The size of all pages, without the header.
    std::uint64_t bytes() const;

    void commit();
    // Stores the text of the CPU's `stats` file, truncated to the space reserved for it.
    void set_statistics(std::size_t cpu, const std::string& text);
    // Stores all task names, as lines "PID NAME". Lines that do not fit into the reserved space are
    // dropped.
    void set_names(std::string lines);

    // Moves the pages together. Returns false if there is no room for that, on the disk or between
    // the regions: the file keeps the gaps but is readable all the same.
    bool close_gaps();

    // Writes the whole file to a descriptor, which may be a pipe. Throws SysError, naming `name`.
    void write_to(int out, std::string_view name) const;

private:
    void check_file() const;
    void lock() const;
    void require_room(std::uint64_t bytes) const;
    void give_room_back() const;
    void write(std::string_view bytes, std::uint64_t at) const;
    std::uint64_t room_for(std::uint64_t most, std::size_t cpus) const;
    bool copy(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) const;

    std::string path_;
    bool is_new_;
    Fd fd_;
    trace_dat::HeadBytes head_;  // without its `bytes`
    std::size_t head_bytes_ = 0, names_room_ = 0, stats_room_ = 0, page_bytes_ = 0;
    std::uint64_t room_ = 0;
    std::vector<PageMover::Target> targets_;  // indexed by CPU
    std::vector<std::uint64_t> committed_;
    std::string names_;
};

}  // namespace gpufs
