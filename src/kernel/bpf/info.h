#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "kernel/bpf/map.h"

namespace gpufs {

// What the kernel tells about its BPF objects. Objects of others are found by number, which needs
// CAP_SYS_ADMIN. Failures are thrown: SysError, UnsupportedError.

struct ProgramInfo {
    std::uint32_t id = 0;
    std::uint32_t type = BPF_PROG_TYPE_UNSPEC;  // enum bpf_prog_type
    std::string name;
    std::uint64_t tag = 0;           // the kernel's hash of the instructions, as bpftool prints it
    std::uint32_t uid = 0;           // who loaded it
    std::uint64_t load_time_ns = 0;  // since boot
    std::uint32_t jited_bytes = 0;
    std::vector<std::uint32_t> map_ids;
    // The instructions as the kernel rewrote them, when asked for; empty where this user may not
    // see them (kernel.kptr_restrict, bpf_jit_harden).
    std::vector<bpf_insn> insns;
    // 0 as long as nobody asks for them: see RunTimeStats.
    std::uint64_t run_time_ns = 0, run_count = 0;
    // Hits that were dropped because the program was running on this CPU already (Linux 5.12).
    std::uint64_t recursion_misses = 0;
};
enum class WithInsns { no, yes };
ProgramInfo program_info(int fd, WithInsns insns = WithInsns::no);
Fd open_program(std::uint32_t id);
// All of the machine, ascending.
std::vector<std::uint32_t> program_ids();

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
    // Hits of a kernel probe that could not be delivered (Linux 6.7); absent elsewhere.
    std::optional<std::uint64_t> missed;
};
LinkInfo link_info(int fd);
std::vector<std::uint32_t> link_ids();

// Makes the kernel count run_time_ns and run_count of all programs while it lives; it costs each
// run some 20 ns. Through bpf(2) (Linux 5.8), before that through the sysctl
// kernel.bpf_stats_enabled, which is put back as it was.
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
