#include "engine/recording/open_recording.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/read_at.h"
#include "base/unnamed_file.h"

namespace gpufs {
namespace {

// How much of a pipe is copied at once.
constexpr std::size_t kPiece = 1 << 20;

// Up to `piece.size()` bytes; 0 at the end. Waits for a writer that has the pipe open.
std::size_t read_some(const Fd& pipe, std::string& piece, const std::string& path) {
    for (;;) {
        const ssize_t n = ::read(pipe.get(), piece.data(), piece.size());
        if (n >= 0) return static_cast<std::size_t>(n);
        const int code = errno;
        if (code == EAGAIN) {
            pollfd readable{pipe.get(), POLLIN, 0};
            ::poll(&readable, 1, -1);
        } else if (code != EINTR) {
            throw SysError(code, cat("read '", path, "'"));
        }
    }
}

Fd copy_of(const Fd& pipe, const std::string& path) {
    Fd copy = open_unnamed_file();
    std::string piece(kPiece, '\0');
    bool is_empty = true;
    while (const std::size_t n = read_some(pipe, piece, path)) {
        write_all(copy.get(), std::string_view(piece).substr(0, n), "a temporary file");
        is_empty = false;
    }
    if (is_empty)
        throw Error(cat("'", path, "' is a pipe, and nothing was written into it"),
                    "such as: gpufs report -i - < FILE");
    return copy;
}

}  // namespace

Fd open_recording(const std::string& path) {
    // Without O_NONBLOCK, opening a FIFO waits until somebody writes to it.
    Fd file = path == "-" ? Fd{check(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0),
                                     [] { return std::string("read stdin"); })}
                          : open_file(path, O_RDONLY | O_NONBLOCK);
    struct stat status {};
    check(::fstat(file.get(), &status), [&] { return cat("look at '", path, "'"); });
    if (S_ISDIR(status.st_mode)) throw SysError(EISDIR, cat("read '", path, "'"));
    const bool is_pipe = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
    return is_pipe ? copy_of(file, path) : std::move(file);
}

trace_dat::Source bytes_of_file(int file) {
    return [file](std::uint64_t at, std::span<char> into) {
        return read_at(file, at, std::as_writable_bytes(into), "the recording");
    };
}

}  // namespace gpufs
