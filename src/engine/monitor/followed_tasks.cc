#include "engine/monitor/followed_tasks.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "base/scan.h"
#include "engine/places/monitor_files.h"
#include "kernel/host/pid_namespace.h"
#include "lang/ir/followed.h"

namespace gpufs {
namespace {

// The largest that Linux allows.
constexpr std::int64_t kMostTasks = 4 << 20;

// The program, with room for all tasks of this machine.
Program follow_program() {
    require_pids_to_follow();
    const std::string text = read_file("/proc/sys/kernel/pid_max");
    const auto tasks = Scan(text).take_number<std::int64_t>().value_or(kMostTasks);
    Program program = assemble_shipped("lib/follow.bpf");
    for (MapDeclaration& map : program.maps)
        if (map.name == kFollowedMap)
            map.max_entries = static_cast<std::uint64_t>(
                std::clamp<std::int64_t>(tasks, 1, kMostTasks) / kFollowedBlockBytes + 1);
    return program;
}

}  // namespace

FollowedTasks::FollowedTasks(KernelFacts& machine) : monitor_(follow_program(), {}, machine) {}

void FollowedTasks::follow(int pid) {
    const std::uint32_t task = static_cast<std::uint32_t>(pid), block = task / kFollowedBlockBytes;
    std::vector<std::byte> tasks(kFollowedBlockBytes);
    tasks[task % kFollowedBlockBytes] = std::byte{kFollowedAtExec};
    map().update(bytes_of(block), tasks);
    monitor_.attach();
}

LossLedger FollowedTasks::missed() const {
    const Loss missed = monitor_.missed().total();
    if (missed.is_zero()) return {};
    return {{"tasks that may not have been followed", missed}};
}

}  // namespace gpufs
