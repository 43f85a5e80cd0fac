#include <linux/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/kernel_abi.h"
#include "vm/helper_support.h"
#include "vm/interpreter.h"
#include "vm/vm_state.h"

// Helpers that read memory, and that give the time, the CPU and the task.
namespace gpufs {
namespace {

using Gap = VmState::Gap;

// INVALID_UID of the kernel.
constexpr std::uint64_t kNobody = 0xffffffff;

// The memory that probe_read and its variants read, and the gap to count when it is absent.
struct From {
    std::span<const std::byte> (VmMemory::*find)(std::uint64_t) const;
    Gap gap;
};
constexpr From kKernel{&VmMemory::find_kernel, Gap::kernel_memory};
constexpr From kUser{&VmMemory::find_user, Gap::user_memory};

std::span<std::byte> destination(Interpreter& program, const BpfArguments& a) {
    if (static_cast<std::uint32_t>(a[1]) != a[1]) program.fail("the size to read is out of range");
    return program.writable(a[0], a[1]);
}

std::uint64_t read_nothing(Interpreter& program, Gap gap, std::span<std::byte> to) {
    program.world().miss(gap);
    std::ranges::fill(to, std::byte{});
    return from_status(-EFAULT);
}

// bpf_probe_read_kernel(to, bytes, from). Reads all bytes, or writes zeros and returns -EFAULT.
BpfHelper probe_read(const From& where) {
    return [where](Interpreter& program, const BpfArguments& a) {
        const auto to = destination(program, a);
        const auto from = (program.world().memory.*where.find)(a[2]);
        if (from.size() < to.size()) return read_nothing(program, where.gap, to);
        if (!to.empty()) std::memmove(to.data(), from.data(), to.size());
        return from_status(0);
    };
}

// bpf_probe_read_kernel_str(to, bytes, from). Reads up to and including the NUL; truncated text
// gets a NUL as its last byte. Returns the number of bytes written.
BpfHelper probe_read_str(const From& where) {
    return [where](Interpreter& program, const BpfArguments& a) {
        const auto to = destination(program, a);
        if (to.empty()) return from_status(0);
        auto from = (program.world().memory.*where.find)(a[2]);
        const auto end =
            std::ranges::find(from.first(std::min(from.size(), to.size())), std::byte{});
        const auto length = static_cast<std::size_t>(end - from.begin());
        if (length >= from.size() && from.size() < to.size())
            return read_nothing(program, where.gap, to);
        const std::size_t kept = std::min(length, to.size() - 1);
        std::memmove(to.data(), from.data(), kept);
        to[kept] = std::byte{};
        return std::uint64_t{kept + 1};
    };
}

std::uint64_t current_comm(Interpreter& program, const BpfArguments& a) {
    const auto to = program.writable(a[0], a[1]);
    if (to.empty()) program.fail("the size of the buffer is 0");
    const std::string_view comm = program.world().now.comm;
    const std::size_t kept = std::min({comm.size(), to.size() - 1, kCommBytes - 1});
    std::memset(to.data(), 0, to.size());
    std::ranges::copy(std::as_bytes(std::span(comm.substr(0, kept))), to.begin());
    return 0;
}

std::uint64_t time_now(Interpreter& program, const BpfArguments&) {
    return program.world().now.time_ns;
}

std::uint64_t current_ids(Interpreter& program, const BpfArguments&) {
    const auto& now = program.world().now;
    if (!now.is_pid_known) program.world().miss(Gap::process);
    return std::uint64_t{now.pid} << 32 | now.tid;
}

// bpf_get_ns_current_pid_tgid(device, inode, to, bytes): { u32 tid, u32 process }
std::uint64_t ids_in_namespace(Interpreter& program, const BpfArguments& a) {
    const auto to = program.writable(a[2], a[3]);
    const std::uint64_t ids = current_ids(program, a);
    if (to.size() != sizeof ids) {
        std::ranges::fill(to, std::byte{});
        return from_status(-EINVAL);
    }
    const std::uint32_t both[] = {static_cast<std::uint32_t>(ids),
                                  static_cast<std::uint32_t>(ids >> 32)};
    std::memcpy(to.data(), both, sizeof both);
    return 0;
}

std::uint64_t current_user(Interpreter& program, const BpfArguments&) {
    program.world().miss(Gap::user);
    return kNobody << 32 | kNobody;
}

std::uint64_t current_cgroup(Interpreter& program, const BpfArguments&) {
    program.world().miss(Gap::cgroup);
    return 0;
}

// Marsaglia's xorshift.
std::uint64_t random_number(Interpreter& program, const BpfArguments&) {
    std::uint64_t& x = program.world().random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x >> 32;
}

// bpf_strncmp(text, its bytes, constant text)
std::uint64_t compare_texts(Interpreter& program, const BpfArguments& a) {
    for (std::uint64_t i = 0; i < a[1]; ++i) {
        const auto x = program.readable(a[0] + i, 1)[0], y = program.readable(a[2] + i, 1)[0];
        // The kernel's strncmp() (lib/string.c) returns only -1, 0 or 1.
        if (x != y) return from_status(x < y ? -1 : 1);
        if (x == std::byte{0}) break;
    }
    return 0;
}

// bpf_loop(iterations, function, its second argument, 0). Stops when the function returns 1.
std::uint64_t loop(Interpreter& program, const BpfArguments& a) {
    constexpr std::uint32_t kMaxLoops = 8u << 20;
    const auto count = static_cast<std::uint32_t>(a[0]);
    if (a[3] != 0) return from_status(-EINVAL);
    if (count > kMaxLoops) return from_status(-E2BIG);
    for (std::uint32_t i = 0; i < count; ++i)
        if (program.call(a[1], {i, a[2], 0, 0, 0}) != 0) return i + 1;
    return count;
}

std::uint64_t nothing(Interpreter&, const BpfArguments&) {
    return 0;
}

}  // namespace

void add_common_helpers(VmState& world) {
    auto& helpers = world.helpers;
    helpers[BPF_FUNC_probe_read] = probe_read(kKernel);
    helpers[BPF_FUNC_probe_read_kernel] = probe_read(kKernel);
    helpers[BPF_FUNC_probe_read_user] = probe_read(kUser);
    helpers[BPF_FUNC_probe_read_str] = probe_read_str(kKernel);
    helpers[BPF_FUNC_probe_read_kernel_str] = probe_read_str(kKernel);
    helpers[BPF_FUNC_probe_read_user_str] = probe_read_str(kUser);
    helpers[BPF_FUNC_ktime_get_ns] = time_now;
    helpers[BPF_FUNC_ktime_get_boot_ns] = time_now;
    helpers[BPF_FUNC_ktime_get_coarse_ns] = time_now;
    helpers[BPF_FUNC_get_smp_processor_id] = [](Interpreter& program, const BpfArguments&) {
        return std::uint64_t{program.world().now.cpu};
    };
    helpers[BPF_FUNC_get_current_pid_tgid] = current_ids;
    helpers[BPF_FUNC_get_ns_current_pid_tgid] = ids_in_namespace;
    helpers[BPF_FUNC_get_current_uid_gid] = current_user;
    helpers[BPF_FUNC_get_current_cgroup_id] = current_cgroup;
    helpers[BPF_FUNC_get_current_comm] = current_comm;
    // 0 is not a readable address: a recording has no task structs.
    helpers[BPF_FUNC_get_current_task] = nothing;
    helpers[BPF_FUNC_get_attach_cookie] = nothing;
    helpers[BPF_FUNC_get_prandom_u32] = random_number;
    helpers[BPF_FUNC_strncmp] = compare_texts;
    helpers[BPF_FUNC_loop] = loop;
    add_map_helpers(world);
}

}  // namespace gpufs
