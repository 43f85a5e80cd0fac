#include "gpufs/kernel/bpf_probe.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "gpufs/base/fd.h"

namespace gpufs {
namespace {

int try_bpf(bpf_cmd command, bpf_attr& attr) {
    const Fd fd{static_cast<int>(::syscall(SYS_bpf, command, &attr, sizeof attr))};
    return fd ? 0 : errno;
}

std::uint64_t address_of(const void* p) {
    return std::bit_cast<std::uintptr_t>(p);
}

}  // namespace

int try_bpf_program() {
    bpf_insn insns[2];
    std::memset(insns, 0, sizeof insns);
    insns[0].code = BPF_ALU64 | BPF_MOV | BPF_K;  // r0 = 0
    insns[1].code = BPF_JMP | BPF_EXIT;
    // bpf(2) rejects any stray byte, and bracing a union only promises its first member.
    bpf_attr attr;
    std::memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
    attr.insns = address_of(insns);
    attr.insn_cnt = 2;
    attr.license = address_of("GPL");
    return try_bpf(BPF_PROG_LOAD, attr);
}

int try_bpf_ring_buffer() {
    bpf_attr attr;
    std::memset(&attr, 0, sizeof attr);
    attr.map_type = BPF_MAP_TYPE_RINGBUF;
    attr.max_entries = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
    return try_bpf(BPF_MAP_CREATE, attr);
}

}  // namespace gpufs
