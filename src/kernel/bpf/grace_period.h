#pragma once

#include "kernel/bpf/map.h"

namespace gpufs {

// Waits for BPF programs at work: when wait() returns, no program runs any more that ran when it
// was called. (That holds for all but sleepable programs.) Takes some 10 to 30 ms.
//
// The kernel promises it to those who change a map of maps (Linux 4.20, maybe_wait_bpf_programs()).
class GracePeriod {
public:
    // Throws SysError, UnsupportedError.
    GracePeriod();

    void wait() const;

private:
    BpfMap inner_, outer_;
};

}  // namespace gpufs
