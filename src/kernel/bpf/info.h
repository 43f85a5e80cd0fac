#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "kernel/bpf/map.h"

namespace gpufs {

// Queries about BPF objects in the kernel. Opening other processes' objects by id needs
// CAP_SYS_ADMIN. All functions throw SysError or UnsupportedError.

struct ProgramInfo {
    std::uint32_t id = 0;
    std::uint32_t type = BPF_PROG_TYPE_UNSPEC;  // enum bpf_prog_type
    std::string name;
    std::uint64_t tag = 0;           // the kernel's hash of the instructions, as bpftool prints it
    std::uint32_t uid = 0;           // the user who loaded it
    std::uint64_t load_time_ns = 0;  // since boot
    std::uint32_t jited_bytes = 0;
    std::vector<std::uint32_t> map_ids;
    // The instructions as rewritten by the kernel, if requested; empty when this user may not see
    // them (kernel.kptr_restrict, bpf_jit_harden).
    std::vector<bpf_insn> insns;
    // 0 unless counting is enabled: see RunTimeStats.
    std::uint64_t run_time_ns = 0, run_count = 0;
    // Hits that were dropped because the program was running on this CPU already (Linux 5.12).
    std::uint64_t recursion_misses = 0;
};
enum class WithInsns { no, yes };
ProgramInfo program_info(int fd, WithInsns insns = WithInsns::no);
Fd open_program(std::uint32_t id);

struct MapInfo {
    std::uint32_t id = 0;
    BpfMapSpec spec;
};
MapInfo map_info(int fd);
std::vector<std::uint32_t> map_ids();

struct LinkInfo {
    std::uint32_t id = 0;
    std::uint32_t type = 0;  // enum bpf_link_type
    std::uint32_t program_id = 0;
    // Hits of a kernel probe that were not delivered (Linux 6.7); absent before.
    std::optional<std::uint64_t> missed;
};
LinkInfo link_info(int fd);

// Makes the kernel count run_time_ns and run_count of all programs during its lifetime, which costs
// each run about 20 ns. Uses bpf(2) (Linux 5.8), before that the sysctl kernel.bpf_stats_enabled,
// which is restored.
class RunTimeStats {
public:
    RunTimeStats();
    ~RunTimeStats();
    RunTimeStats(const RunTimeStats&) = delete;
    RunTimeStats& operator=(const RunTimeStats&) = delete;

private:
    Fd fd_;
    bool set_sysctl_ = false;
};

}  // namespace gpufs
