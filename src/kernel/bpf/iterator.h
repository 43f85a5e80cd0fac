#pragma once

#include <cstddef>
#include <cstdint>

#include "base/fd.h"

namespace gpufs {

// A loaded iterator's program (BPF_TRACE_ITER, Linux 5.8), to be run once for each object of its
// kind: tasks, their files, BPF maps.
class BpfIterator {
public:
    // `process`: of iterators over tasks only those of this process, by its id in our namespace
    // (Linux 6.1); 0: all. Throws UnsupportedError where this kernel or this user cannot, SysError.
    explicit BpfIterator(int program, std::uint32_t process = 0);

    // Runs the program for some objects more: at most kStep, where it writes a byte to its seq_file
    // for each, else for all. False: there are no more. Throws SysError.
    bool step();

    static constexpr std::size_t kStep = 64;

private:
    Fd link_, walk_;
};

}  // namespace gpufs
