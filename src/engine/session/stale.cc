#include "engine/session/stale.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>

#include "base/cat.h"
#include "base/error.h"
#include "base/scan.h"
#include "base/text.h"
#include "engine/session/changes.h"
#include "engine/session/instance_names.h"
#include "engine/session/scratch_instance.h"
#include "engine/session/session.h"
#include "engine/session/session_probes.h"
#include "kernel/host/proc_task.h"

namespace gpufs {
namespace {

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
    return stat && stat->start_ticks == owner.start_ticks && !stat->has_ended();
}

// Removes an instance of a dead owner. Fails with EBUSY while the owner lives, and with EPERM
// without permission; also while triggers with variables are set, which are those of a dead one
// only where the mark says so.
bool remove_instance(const Tracefs& top, const std::string& instance) {
    const std::string path = top.instance(instance).root();
    if (::rmdir(path.c_str()) == 0) return true;
    return errno == EBUSY && empty_if_stale(Session::left_in(top, instance)) &&
           ::rmdir(path.c_str()) == 0;
}

// The synthetic events that runs made for themselves: they have the names of the groups of their
// probes.
std::vector<std::string> own_synthetic_events(const Tracefs& top) {
    std::vector<std::string> names;
    const std::string text = top.read_if_readable("dynamic_events").value_or("");
    for (const std::string_view line : lines_of(text)) {
        Scan scan(line);
        if (!scan.take("s:synthetic/")) continue;
        const std::string name(scan.take_all(is_word_char));
        if (owner_of(instance_of_group(name))) names.push_back(name);
    }
    return names;
}

}  // namespace

std::vector<std::string> remove_stale(const Tracefs& top, Stale what) {
    const bool is_told = what == Stale::told;
    std::vector<std::string> removed;
    if (!top.has("instances")) return removed;
    for (const std::string& instance : top.instances()) {
        const auto owner = owner_of(instance);
        // An owner that has just made its instance does not hold it yet.
        if (!owner || is_seen_alive(*owner)) continue;
        if (is_told || remove_instance(top, instance))
            removed.push_back(cat("instance ", instance));
    }
    std::ranges::move(remove_stale_marked(top, what), std::back_inserter(removed));
    std::set<std::string> groups;
    for (const ProbeLine& probe : read_probe_lines(top)) groups.insert(probe.group);
    for (const std::string& group : groups) {
        const std::string instance = instance_of_group(group);
        if (instance.empty() || top.has(cat("instances/", instance))) continue;
        try {
            if (!is_told) remove_probes(top, group);
            removed.push_back(cat("probes in group ", group));
        } catch (const SysError&) {
            // Another process has them enabled, or has just removed them.
        }
    }
    for (const std::string& name : own_synthetic_events(top)) {
        if (top.has(cat("instances/", instance_of_group(name)))) continue;
        try {
            Changes changes;
            changes.append(top, "dynamic_events", cat("-:synthetic/", name), "");
            if (!is_told) changes.apply_to_the_end();
            removed.push_back(cat("synthetic event ", name));
        } catch (const Error&) {
            // Another process uses it, or has just removed it.
        }
    }
    return removed;
}

}  // namespace gpufs
