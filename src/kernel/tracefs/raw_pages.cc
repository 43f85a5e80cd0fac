#include "kernel/tracefs/raw_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"
#include "base/file.h"

namespace gpufs {
namespace {

template <class Call>
std::size_t take(const Call& call, const char* what) {
    ssize_t n = -1;
    int code = 0;
    do {
        n = call();
        code = errno;
    } while (n == -1 && code == EINTR);
    // ENODEV: a CPU that was never online has no buffer.
    if (n == -1 && code != EAGAIN && code != ENODEV) throw SysError(code, what);
    return n == -1 ? 0 : static_cast<std::size_t>(n);
}

}  // namespace

Fd open_raw_pages(const std::string& cpu_directory) {
    return open_file(cpu_directory + "/trace_pipe_raw", O_RDONLY | O_NONBLOCK);
}

std::size_t read_raw_page(int raw, std::span<std::byte> page) {
    return take([&] { return ::read(raw, page.data(), page.size()); }, "read the trace buffer");
}

std::size_t splice_raw_pages(int raw, int pipe, std::size_t most) {
    const auto call = [&] {
        return ::splice(raw, nullptr, pipe, nullptr, most, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    };
    return take(call, "take pages out of the trace buffer");
}

}  // namespace gpufs
