#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "kernel/perf/pages.h"

namespace gpufs {

// What the kernel tells about one process's life. Ids are those of this process's pid namespace: 0
// for a process that it cannot see.
struct SideBandRecord {
    enum class Kind { map, comm, exec, fork, exit };
    Kind kind = Kind::map;
    std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC, as bpf_ktime_get_ns()
    std::uint32_t pid = 0, tid = 0;
    std::uint32_t parent = 0;  // with fork: the process that forked; its own id for a new thread

    // With map: executable memory, from `offset` of a file on. The kernel tells what is mapped and
    // what mprotect(2) made executable, not what is unmapped. `text` is the file's path as the
    // process sees it, with " (deleted)" behind it where it is; "//anon", "[vdso]", "[heap]".
    std::uint64_t start = 0, end = 0, offset = 0;
    std::uint64_t device = 0, inode = 0;
    // Tells files apart that had one inode number after another; 0 where the file system has none.
    std::uint64_t generation = 0;
    // With map: the path. With comm and exec: the new name.
    std::string_view text;  // good until the visit ends
};

// Perf's side-band of the whole machine: what processes map, run, fork and when they end. One ring
// for each CPU that is online now. A record takes about 100 bytes.
class SideBand {
public:
    // Throws UnsupportedError, which says what is missing (CAP_PERFMON, or perf_event_paranoid 0 or
    // below), and SysError. `data_bytes`: of each ring, a power of 2.
    explicit SideBand(std::size_t data_bytes = 64 << 10);

    // Each readable when its ring is half full: there is no hurry, but then there is.
    std::vector<int> fds() const;

    // Visits the records there are by time, oldest first. What a CPU writes meanwhile may
    // come in this visit or the next.
    void drain(const std::function<void(const SideBandRecord&)>& visit);

    // Records that did not fit.
    std::uint64_t lost() const;

private:
    std::vector<PerfPages> rings_;
};

}  // namespace gpufs
