#include "kernel/host/pidfd.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "base/error.h"

namespace gpufs {

// glibc has pidfd_open(2) only since 2.36.
Fd open_pidfd(int process, std::string_view purpose) {
    return Fd(check(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)),
                    [&] { return std::string(purpose); }));
}

}  // namespace gpufs
