#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace gpufs {

// Moves the sub-buffers of trace buffers unchanged into a file: by splice(2) through a pipe,
// without copying the bytes into this process, or by read(2) and write(2) if the file system does
// not support splice. Moved data is consumed from the buffer. One pipe serves all CPUs in turn.
class PageMover {
public:
    // The region of the file that receives one CPU's pages: `bytes` bytes at offset `at`. Each move
    // appends to it and increases `bytes`.
    struct Target {
        int file = -1;
        std::uint64_t at = 0, bytes = 0;
        bool has_part = false;  // the last page was read while the kernel was writing to it
    };

    // `page_bytes`: the size of a sub-buffer. Throws SysError.
    explicit PageMover(std::size_t page_bytes);

    // Moves up to `most` bytes of complete sub-buffers. Returns true when that many were moved:
    // there may be more. Throws SysError; pages written completely by then are counted, others are
    // in unwritten().
    bool move_complete(int raw, Target& to, std::uint64_t most);
    // The same, and then the part of the current sub-buffer written so far. Data that the kernel
    // adds to it later becomes a page of its own.
    bool move_all(int raw, Target& to, std::uint64_t most);
    // The pages that the move which threw took out of the buffer and could not write.
    const std::string& unwritten() const noexcept { return unwritten_; }

private:
    void make_pipe();
    void splice_out(Target& to, std::size_t held);
    void write(Target& to, std::string_view text, std::size_t held = 0);
    void keep_unwritten(const Target& to, std::string_view text, std::size_t held);
    bool read_part(int raw, Target& to);

    std::size_t page_bytes_;
    Fd pipe_out_, pipe_in_;
    std::size_t pipe_bytes_ = 0;
    bool splices_to_file_ = true;
    std::string copy_;  // buffer for pages that cannot be spliced
    std::string unwritten_;
};

}  // namespace gpufs
