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
#include "kernel/host/proc_task.h"
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

Monitor::Choice choice_for(FollowedTasks::Of what) {
    Monitor::Choice choice;
    if (what == FollowedTasks::Of::process) choice.parameters.numbers["threads"] = 1;
    return choice;
}

}  // namespace

FollowedTasks::FollowedTasks(KernelFacts& machine, Of what)
    : what_(what), monitor_(follow_program(), choice_for(what), machine) {}

// Returns whether it had another mark. Those that programs set meanwhile for other tasks of the
// block may be lost.
bool FollowedTasks::mark(int task, std::uint8_t as) const {
    const std::uint32_t id = static_cast<std::uint32_t>(task), block = id / kFollowedBlockBytes;
    std::vector<std::byte> tasks(kFollowedBlockBytes);
    map().lookup(bytes_of(block), tasks);
    std::byte& mark = tasks[id % kFollowedBlockBytes];
    if (mark == std::byte{as}) return false;
    mark = std::byte{as};
    map().update(bytes_of(block), tasks);
    return true;
}

void FollowedTasks::follow(int pid) {
    if (what_ == Of::command) {
        mark(pid, kFollowedAtExec);
        return monitor_.attach();
    }
    const auto mark_threads = [&] {
        bool is_new = false;
        for (const int thread : proc::threads(pid)) is_new = mark(thread, kFollowed) || is_new;
        return is_new;
    };
    mark_threads();
    monitor_.attach();
    while (mark_threads()) continue;  // those that were started in between
}

LossLedger FollowedTasks::missed() const {
    const Loss missed = monitor_.missed().total();
    if (missed.is_zero()) return {};
    return {{"tasks that may not have been followed", missed}};
}

}  // namespace gpufs
