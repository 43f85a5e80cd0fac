#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/host/gpu_files.h"
#include "kernel/host/gpus.h"
#include "lang/gpu/fdinfo.h"

namespace gpufs {

// Who uses the GPUs of a machine, at one moment.
struct GpuClients {
    // An open file of a GPU. The same file is here once, whatever number of descriptors and
    // processes has it: with the process of the lowest pid.
    struct Client {
        std::size_t gpu = 0;  // its place in the vector of GPUs
        int pid = 0;
        std::string comm;
        std::uint64_t read_ns = 0;  // when, CLOCK_MONOTONIC
        std::string identity;       // unique among the clients of the GPU, the same at any moment
        DrmClient stats;            // no engines and regions if the driver does not count
    };
    std::vector<Client> clients;       // by pid
    std::vector<std::size_t> holders;  // how many processes have each GPU open
    std::size_t unreadable = 0;        // see GpuProcesses
    std::uint64_t taken_ns = 0;        // see GpuProcesses
};

// Joins the files that processes have open with the GPUs; leaves out files of others.
GpuClients join_gpu_clients(const std::vector<Gpu>& gpus, const GpuProcesses& found);

// The same of this machine, now.
GpuClients read_gpu_clients(const std::vector<Gpu>& gpus);

}  // namespace gpufs
