#include "kernel/bpf/preemption.h"

#include "kernel/host/kernel_version.h"

namespace gpufs {

bool preempts_raw_tracepoints() {
    return running_kernel() >= KernelVersion{7, 0, 0};
}

}  // namespace gpufs
