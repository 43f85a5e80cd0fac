#include "engine/session/stale.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/cat.h"
#include "base/error.h"
#include "base/scan.h"
#include "engine/session/run_mark.h"
#include "engine/session/scratch_instance.h"
#include "engine/session/session_probes.h"
#include "kernel/host/proc_task.h"

namespace gpufs {
namespace {

constexpr std::string_view kDefaultGroup = "gpufs";

// "gpufs.PID.STARTTIME" or "gpufs.PID.STARTTIME.SUFFIX".
struct Owner {
    int pid = 0;
    std::uint64_t start_ticks = 0;
};
std::optional<Owner> owner_of(std::string_view instance) {
    Scan scan(instance);
    if (!scan.take(kInstancePrefix)) return std::nullopt;
    const auto pid = scan.take_number<int>();
    if (!pid || *pid <= 0 || !scan.take(".")) return std::nullopt;
    const auto start = scan.take_number<std::uint64_t>();
    if (!start) return std::nullopt;
    while (scan.take("."))
        if (scan.take_all(is_word_char).empty()) return std::nullopt;
    return scan.at_end() ? std::optional(Owner{*pid, *start}) : std::nullopt;
}

// Whether /proc shows the owner. It does not show processes of other pid namespaces.
bool is_seen_alive(const Owner& owner) {
    const auto stat = proc::stat(owner.pid);
    return stat && stat->start_ticks == owner.start_ticks && stat->state != 'Z' &&
           stat->state != 'X';
}

// The instance whose probes are in this group: "gpufs.123.456" for "gpufs_123_456", "gpufs-x" for
// "gpufs_x", because a session's name begins with a letter. Empty for others' groups.
std::string instance_of_group(std::string_view group) {
    if (group == kDefaultGroup) return std::string(kDefaultGroup);
    if (!group.starts_with(kGroupPrefix)) return {};
    std::string rest(group.substr(kGroupPrefix.size()));
    if (rest.empty() || !std::ranges::all_of(rest, is_word_char)) return {};
    if (!is_digit(rest[0])) return is_letter(rest[0]) ? cat("gpufs-", rest) : std::string();
    std::ranges::replace(rest, '_', '.');
    return cat(kInstancePrefix, rest);
}

}  // namespace

std::vector<std::string> remove_stale(const Tracefs& top) {
    std::vector<std::string> removed;
    if (!top.has("instances")) return removed;
    for (const std::string& instance : top.instances()) {
        const auto owner = owner_of(instance);
        // An owner that has just made its instance does not hold it yet.
        if (!owner || is_seen_alive(*owner)) continue;
        // Fails with EBUSY while the owner lives, and with EPERM without permission.
        if (::rmdir(top.instance(instance).root().c_str()) == 0)
            removed.push_back(cat("instance ", instance));
    }
    std::ranges::move(remove_stale_marked(top), std::back_inserter(removed));
    std::set<std::string> groups;
    for (const ProbeLine& probe : read_probe_lines(top)) groups.insert(probe.group);
    for (const std::string& group : groups) {
        const std::string instance = instance_of_group(group);
        if (instance.empty() || top.has(cat("instances/", instance))) continue;
        try {
            remove_probes(top, group);
            removed.push_back(cat("probes in group ", group));
        } catch (const SysError&) {
            // Another process has them enabled, or has just removed them.
        }
    }
    return removed;
}

}  // namespace gpufs
