#include "engine/session/scratch_instance.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/scan.h"
#include "base/text.h"
#include "engine/session/run_mark.h"
#include "engine/session/session_probes.h"
#include "kernel/host/proc_task.h"

namespace gpufs {
namespace {

constexpr std::string_view kInstancePrefix = "gpufs.";
constexpr std::string_view kGroupPrefix = "gpufs_";
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

bool is_file_at(const Fd& file, const std::string& path) {
    struct stat held, found;
    return ::fstat(file.get(), &held) == 0 && ::stat(path.c_str(), &found) == 0 &&
           held.st_dev == found.st_dev && held.st_ino == found.st_ino;
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

ScratchInstance::ScratchInstance(const Tracefs& top, std::string_view suffix)
    : top_(top), here_(top) {
    const auto stat = parse_task_stat(read_file("/proc/self/stat"));
    if (!stat) throw Error("cannot read the start time in /proc/self/stat");
    const std::string name =
        cat(kInstancePrefix, ::getpid(), '.', stat->start_ticks, suffix.empty() ? "" : ".", suffix);
    probe_group_ = cat(kGroupPrefix, ::getpid(), '_', stat->start_ticks);
    here_ = top.instance(name);
    const std::string group = probe_group_;
    for (unsigned number = 2; !make(); ++number) {
        here_ = top.instance(cat(name, '.', number));
        probe_group_ = cat(group, '_', number);
    }
}

// Makes the instance and holds it. Returns false if a living owner has one of this name.
bool ScratchInstance::make() {
    // Another gpufs, in whose /proc this process is not, may remove the instance before it is held.
    // Each round needs one that comes at this very moment.
    constexpr int kMostRounds = 1000;
    for (int round = 1;; ++round) {
        if (!here_.make()) {
            if (round == kMostRounds)
                throw SysError(EEXIST, cat("make the instance ", here_.root()));
            // A dead owner's, unless it is in use.
            if (::rmdir(here_.root().c_str()) == -1 && errno == EBUSY) return false;
            continue;
        }
        held_ = Fd{::open(here_.path("tracing_on").c_str(), O_RDONLY | O_CLOEXEC)};
        const int code = held_ ? ENODEV : errno;
        // The kernel knows an instance by the address of its trace_array: the file of one that is
        // being removed can be opened when another has got that address, and holds the other.
        if (held_ && is_file_at(held_, here_.path("tracing_on"))) return true;
        held_ = Fd();
        // ENODEV: the instance was being removed (Linux 6.18).
        if ((code == ENOENT || code == ENODEV) && round < kMostRounds) continue;
        ::rmdir(here_.root().c_str());
        throw SysError(code, cat("open ", here_.path("tracing_on")));
    }
}

ScratchInstance::~ScratchInstance() {
    held_ = Fd();
    ::rmdir(here_.root().c_str());
    try {
        remove_probes(top_, probe_group_);
    } catch (const Error&) {
        // The next start of gpufs removes them, because their instance is gone.
    }
}

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
