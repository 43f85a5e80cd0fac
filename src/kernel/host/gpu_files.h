#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

// A process that has device files of GPUs open.
struct GpuProcess {
    struct File {
        std::string node;           // the device file: "renderD128", "nvidia0"
        int fd = -1;                // the process's own number for it
        std::string fdinfo;         // the text of /proc/PID/fdinfo/FD; empty of NVIDIA's files
        std::uint64_t read_ns = 0;  // when it was read, CLOCK_MONOTONIC
    };
    int pid = 0;
    std::string comm;
    std::vector<File> files;
};

struct GpuProcesses {
    std::vector<GpuProcess> processes;  // by pid
    std::size_t unreadable = 0;  // processes of other users, whose open files this user may not see
    std::uint64_t taken_ns = 0;  // when all were read, CLOCK_MONOTONIC
};

// Looks through the open files of all processes. Processes and files that go meanwhile are left
// out. Opens nothing but files of /proc: a device is never touched, nor a file of a dead server.
// The parameter is for tests.
GpuProcesses find_gpu_processes(const std::string& root = "/proc");

// The node behind a link of /proc/PID/fd: "/dev/dri/card0" is "card0", "/dev/nvidia0" is "nvidia0".
// Paths may be those of a container. Empty if it is none; NVIDIA's files without a number are of no
// single GPU.
std::string_view gpu_node_of(std::string_view link);

}  // namespace gpufs
