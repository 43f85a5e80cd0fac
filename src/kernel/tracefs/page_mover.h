#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace gpufs {

// Opens a CPU's trace_pipe_raw; `cpu_directory` is per_cpu/cpuN of a tracefs directory. poll(2)
// finds it readable when the buffer is as full as the file buffer_percent says. Throws SysError.
Fd open_raw_pages(const std::string& cpu_directory);

// Moves the sub-buffers of trace buffers into a file as they are, without looking into them: by
// splice(2) through a pipe, so that the bytes never come to this process, or by read(2) and
// write(2) where the file system does not take them that way. What was moved is gone from the
// buffer. A kept pipe serves all CPUs, one after the other.
class PageMover {
public:
    // Where one CPU's pages go: behind the `bytes` that `file` has from `at` on, which grow.
    struct Target {
        int file = -1;
        std::uint64_t at = 0, bytes = 0;
        bool has_part = false;  // the last page was taken while the kernel was writing to it
    };

    // `page_bytes`: the size of a sub-buffer. Throws SysError.
    explicit PageMover(std::size_t page_bytes);

    // Moves complete sub-buffers, at most `most` bytes of them. True when there were that many:
    // there may be more. Throws SysError; whole pages that were written until then are counted,
    // others are lost.
    bool move_complete(int raw, Target& to, std::uint64_t most);
    // The same, and then what there is in the sub-buffer that is being written: what comes into
    // that later is a page of its own.
    bool move_all(int raw, Target& to, std::uint64_t most);

private:
    void make_pipe();
    std::size_t splice_in(int raw, std::uint64_t most);
    void splice_out(Target& to, std::size_t held);
    bool read_part(int raw, Target& to);

    std::size_t page_bytes_;
    Fd pipe_out_, pipe_in_;
    std::size_t pipe_bytes_ = 0;
    bool splices_to_file_ = true;
    std::string copy_;  // of what cannot be spliced
};

}  // namespace gpufs
