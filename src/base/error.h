#pragma once

#include <cerrno>
#include <concepts>
#include <utility>

#include "base/cat.h"
#include "gpufs/error.h"

namespace gpufs {

// Returns `result`, or throws SysError if it is -1. The description is built only on failure, and
// only after errno is saved: building a string may set errno.
template <std::signed_integral T, std::invocable Describe>
T check(T result, Describe&& describe) {
    if (result == -1) {
        const int code = errno;
        throw SysError(code, std::forward<Describe>(describe)());
    }
    return result;
}

// This process, or the machine, has as many files open as it may.
inline bool is_out_of_files(int code) {
    return code == EMFILE || code == ENFILE;
}

// No more can be written: the disk, a quota, or how large a file may become.
inline bool is_full_disk(int code) {
    return code == ENOSPC || code == EDQUOT || code == EFBIG;
}

}  // namespace gpufs
