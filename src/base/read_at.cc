#include "base/read_at.h"

#include <unistd.h>

#include "base/error.h"

namespace gpufs {

std::size_t read_at(int file, std::uint64_t at, std::span<std::byte> into, std::string_view name) {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t n =
            ::pread(file, into.data() + done, into.size() - done, static_cast<off_t>(at + done));
        if (n == -1 && errno == EINTR) continue;
        // Beyond what a file can be there is nothing.
        if (n == -1 && errno == EINVAL) break;
        check(n, [&] { return cat("read '", name, "'"); });
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    return done;
}

}  // namespace gpufs
