#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fd.h"
#include "kernel/bpf/map.h"

namespace gpufs {

// Asks the kernel which of its functions contains an address: a program that formats it with "%pS"
// (bpf_snprintf, Linux 5.13). An answer takes two system calls; /proc/kallsyms has to be read whole
// for the first one, which takes the kernel tens of milliseconds. Names are also given where
// kernel.kptr_restrict hides the addresses in that file.
class KernelNamer {
public:
    // nullopt where this kernel or this user cannot do it.
    static std::optional<KernelNamer> load();

    // "vfs_read+0x12/0x3f0", "drm_ioctl+0x5/0x80 [drm]", or the address itself if no function of
    // the running kernel contains it. Throws SysError.
    std::string text(std::uint64_t address) const;

private:
    KernelNamer(BpfMap format, BpfMap answer, Fd program)
        : format_(std::move(format)), answer_(std::move(answer)), program_(std::move(program)) {}

    BpfMap format_, answer_;
    Fd program_;
};

}  // namespace gpufs
