#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "kernel/perf/pages.h"

namespace gpufs {

// An event in the life of a process. Ids are those of this process's pid namespace, 0 for a process
// outside of it.
struct SideBandRecord {
    enum class Kind { map, comm, exec, fork, exit };
    Kind kind = Kind::map;
    std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC, as bpf_ktime_get_ns()
    std::uint32_t pid = 0, tid = 0;
    std::uint32_t parent = 0;  // Kind::fork: the process that forked; its own id for a new thread

    // Kind::map: executable memory, mapped from `offset` of a file. The kernel reports mmap(2) and
    // mprotect(2) that makes memory executable, but not munmap(2). `text` is the file's path as the
    // process sees it, with " (deleted)" appended if it is deleted; or "//anon", "[vdso]",
    // "[heap]".
    std::uint64_t start = 0, end = 0, offset = 0;
    std::uint64_t device = 0, inode = 0;
    // Distinguishes files that successively had the same inode number; 0 if the file system has
    // none.
    std::uint64_t generation = 0;
    // Kind::map: the path. Kind::comm and exec: the new name.
    std::string_view text;  // valid until the visitor returns
};

// The side-band of perf for the whole machine: executable mappings, exec, comm, fork and exit. One
// ring for each CPU that is online now. A record takes about 100 bytes.
class SideBand {
public:
    // `data_bytes`: size of each ring, a power of 2. Throws SysError, and UnsupportedError, which
    // names what is missing (CAP_PERFMON, or perf_event_paranoid <= 0).
    // `wakes`: when fds() are readable.
    enum class Wakes { half_full, at_once };
    explicit SideBand(Wakes wakes = Wakes::half_full, std::size_t data_bytes = 64 << 10);

    // Each is readable when its ring is half full, or has a record.
    std::vector<int> fds() const;

    // Visits all records available now, in order of time. Records written during the call may be
    // visited now or by the next call.
    void drain(const std::function<void(const SideBandRecord&)>& visit);

    // Records that did not fit.
    std::uint64_t lost() const;

private:
    std::vector<PerfPages> rings_;
};

}  // namespace gpufs
