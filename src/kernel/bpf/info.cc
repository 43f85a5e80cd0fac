#include "kernel/bpf/info.h"

#include <fcntl.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/bpf/syscall.h"
#include "kernel/host/kernel_version.h"

namespace gpufs {
namespace {

constexpr const char* kStatsSysctl = "/proc/sys/kernel/bpf_stats_enabled";

// A kernel with more members than Info truncates its answer; one with fewer leaves zeros.
template <class Info>
void get_info(int fd, Info& info, const char* what) {
    bpf_attr attr = zeroed_attr();
    attr.info.bpf_fd = static_cast<__u32>(fd);
    attr.info.info = address_of(&info);
    attr.info.info_len = sizeof info;
    if (sys_bpf(BPF_OBJ_GET_INFO_BY_FD, attr) == 0) return;
    const int code = errno;
    throw_bpf_error(code, cat("ask about a ", what), code == EINVAL ? "Linux 4.13 or later" : "");
}

template <class Info>
Info zeroed() {
    Info info;
    std::memset(&info, 0, sizeof info);
    return info;
}

// The kernel's struct bpf_link_info of Linux 6.7 and later, as far as perf links and kprobe_multi
// links use it; declared here because older headers lack these members. `name` and `name_len` are
// inputs (0: no name wanted); the function's address and the number of misses are outputs.
struct PerfLinkInfo {
    __u32 type, id, prog_id, pad0;
    union {
        struct {
            __u32 event_type, pad1;
            __u64 name;
            __u32 name_len, offset;
            __u64 address, missed;
        } kprobe;
        struct {
            __u64 addresses;
            __u32 count, flags;
            __u64 missed, cookies;
        } kprobe_multi;
    };
};
constexpr __u32 kLinkPerf = 7, kLinkKprobeMulti = 8;            // enum bpf_link_type
constexpr __u32 kPerfEventKprobe = 3, kPerfEventKretprobe = 4;  // enum bpf_perf_event_type

}  // namespace

ProgramInfo program_info(int fd, WithInsns insns) {
    auto raw = zeroed<bpf_prog_info>();
    get_info(fd, raw, "program");
    ProgramInfo info;
    info.id = raw.id;
    info.type = raw.type;
    info.name = std::string(up_to_nul(bytes_of(raw.name)));
    for (const __u8 byte : raw.tag) info.tag = info.tag << 8 | byte;
    info.uid = raw.created_by_uid;
    info.load_time_ns = raw.load_time;
    info.jited_bytes = raw.jited_prog_len;
    info.run_time_ns = raw.run_time_ns;
    info.run_count = raw.run_cnt;
    info.recursion_misses = raw.recursion_misses;

    info.map_ids.resize(raw.nr_map_ids);
    if (insns == WithInsns::yes) info.insns.resize(raw.xlated_prog_len / sizeof(bpf_insn));
    if (info.map_ids.empty() && info.insns.empty()) return info;
    auto wanted = zeroed<bpf_prog_info>();
    wanted.nr_map_ids = raw.nr_map_ids;
    wanted.map_ids = address_of(info.map_ids.data());
    wanted.xlated_prog_len = static_cast<__u32>(info.insns.size() * sizeof(bpf_insn));
    wanted.xlated_prog_insns = wanted.xlated_prog_len ? address_of(info.insns.data()) : 0;
    get_info(fd, wanted, "program");
    // The kernel clears the address if it does not show the instructions.
    if (!wanted.xlated_prog_insns) info.insns.clear();
    return info;
}

Fd open_program(std::uint32_t id) {
    bpf_attr attr = zeroed_attr();
    attr.prog_id = id;
    Fd fd{sys_bpf(BPF_PROG_GET_FD_BY_ID, attr)};
    if (fd) return fd;
    const int code = errno;
    throw_bpf_error(code, cat("open program ", id), code == ENOENT ? "see 'bpftool prog'" : "");
}

MapInfo map_info(int fd) {
    auto raw = zeroed<bpf_map_info>();
    get_info(fd, raw, "map");
    MapInfo info;
    info.id = raw.id;
    info.spec = {raw.type,        std::string(up_to_nul(bytes_of(raw.name))),
                 raw.key_size,    raw.value_size,
                 raw.max_entries, raw.map_flags};
    return info;
}

std::vector<std::uint32_t> map_ids() {
    std::vector<std::uint32_t> ids;
    for (bpf_attr attr = zeroed_attr();;) {
        if (sys_bpf(BPF_MAP_GET_NEXT_ID, attr) != 0) {
            const int code = errno;
            if (code == ENOENT) return ids;
            throw_bpf_error(code, "list the maps of this machine");
        }
        ids.push_back(attr.next_id);
        attr.start_id = attr.next_id;
    }
}

LinkInfo link_info(int fd) {
    auto raw = zeroed<PerfLinkInfo>();
    get_info(fd, raw, "link");
    LinkInfo info{raw.id, raw.type, raw.prog_id, std::nullopt};
    if (running_kernel() < KernelVersion{6, 7, 0}) return info;
    if (raw.type == kLinkPerf &&
        (raw.kprobe.event_type == kPerfEventKprobe || raw.kprobe.event_type == kPerfEventKretprobe))
        info.missed = raw.kprobe.missed;
    if (raw.type == kLinkKprobeMulti) info.missed = raw.kprobe_multi.missed;
    return info;
}

RunTimeStats::RunTimeStats() {
    bpf_attr attr = zeroed_attr();
    attr.enable_stats.type = BPF_STATS_RUN_TIME;
    fd_ = Fd{sys_bpf(BPF_ENABLE_STATS, attr)};
    if (fd_) return;
    const int code = errno;
    if (code != EINVAL) throw_bpf_error(code, "count the run time of BPF programs");
    if (!file_exists(kStatsSysctl))
        throw UnsupportedError("this kernel does not count the run time of BPF programs",
                               "Linux 5.1 or later");
    if (trim(read_file(kStatsSysctl)) == "1") return;
    write_all(open_file(kStatsSysctl, O_WRONLY).get(), "1", kStatsSysctl);
    set_sysctl_ = true;
}

RunTimeStats::~RunTimeStats() {
    if (!set_sysctl_) return;
    try {
        write_all(open_file(kStatsSysctl, O_WRONLY).get(), "0", kStatsSysctl);
    } catch (const SysError&) {
        // A destructor cannot report the error.
    }
}

}  // namespace gpufs
