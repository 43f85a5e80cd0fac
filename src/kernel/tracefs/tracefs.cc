#include "kernel/tracefs/tracefs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "kernel/host/mounts.h"

namespace gpufs {

namespace {

constexpr std::string_view kUsualMount = "/sys/kernel/tracing";

[[noreturn]] void throw_unwritable(int code, const std::string& doing, const std::string& root) {
    if (code != EROFS) throw SysError(code, doing);
    const Trouble trouble = read_only_tracefs(root.substr(0, root.find("/instances/")));
    throw UnsupportedError(trouble.what, trouble.fix);
}

}  // namespace

std::string Tracefs::path(std::string_view file) const {
    return cat(root_, '/', file);
}

bool Tracefs::has(std::string_view file) const {
    return file_exists(path(file));
}

std::string Tracefs::read(std::string_view file) const {
    return read_file(path(file));
}

std::optional<std::string> Tracefs::read_if_readable(std::string_view file) const {
    return read_file_if_readable(path(file));
}

void Tracefs::write(std::string_view file, std::string_view text, Write mode) const {
    const int flags = O_WRONLY | (mode == Write::replace ? O_TRUNC : O_APPEND);
    const Fd fd{::open(path(file).c_str(), flags | O_CLOEXEC)};
    if (!fd) throw_unwritable(errno, cat("open '", path(file), "'"), root_);
    const ssize_t n = ::write(fd.get(), text.data(), text.size());
    if (n == -1) {
        const int code = errno;
        throw SysError(code, cat("write '", trim(text), "' to ", path(file)), {},
                       last_complaint(text));
    }
    if (static_cast<std::size_t>(n) != text.size())
        throw Error(cat(path(file), " took ", n, " of ", text.size(), " bytes"));
}

Tracefs Tracefs::instance(std::string_view name) const {
    return Tracefs(cat(root_, "/instances/", name));
}

std::vector<std::string> Tracefs::instances() const {
    return has("instances") ? list_directory(path("instances")) : std::vector<std::string>();
}

std::vector<std::string> Tracefs::events() const {
    // Instances have no available_events; they have the events of the top directory.
    return split(read("available_events"), '\n');
}

// The newest entry of error_log, if it is about this text. Older kernels have no such file, and
// some refusals are not logged; then only errno explains the failure.
//
//   [ 1908.714517] event filter parse error: error: Field not found
//     Command: next_pidd == 3
//                        ^
std::string Tracefs::last_complaint(std::string_view about) const {
    const std::string log = read_if_readable("error_log").value_or("");
    const auto last = log.rfind("\n[");
    const std::string entry = last == log.npos ? log : log.substr(last + 1);
    constexpr std::string_view kCommand = "Command: ";
    const auto command = entry.find(kCommand);
    if (command == entry.npos) return {};
    const auto start = command + kCommand.size();
    const std::string_view quoted =
        trim(std::string_view(entry).substr(start, entry.find('\n', start) - start));
    return about.find(quoted) == about.npos ? std::string() : entry;
}

std::string event_directory(std::string_view full_name) {
    const auto colon = full_name.find(':');
    return cat("events/", full_name.substr(0, colon), '/', full_name.substr(colon + 1));
}

bool Tracefs::make() const {
    if (::mkdir(root_.c_str(), 0750) == 0) return true;
    const int code = errno;
    if (code != EEXIST) throw_unwritable(code, cat("make the instance ", root_), root_);
    return false;
}

void Tracefs::remove() const {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::milliseconds(500);
    while (::rmdir(root_.c_str()) == -1) {
        const int code = errno;
        if (code != EBUSY || Clock::now() > until)
            throw SysError(code, cat("remove the instance ", root_));
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

namespace {

// Where tracefs is mounted.
struct TracefsMounts {
    std::string tracefs;   // a mount point that shows tracefs; empty if none does
    std::string covered;   // else one that another file system covers,
    std::string covering;  // and the type of that: "tmpfs"
};

TracefsMounts tracefs_mounts() {
    std::map<std::string, std::vector<std::string>> types;  // by mount point, the topmost last
    for (Mount& mount : mounts()) types[mount.at].push_back(std::move(mount.type));
    TracefsMounts found;
    for (const auto& [point, stack] : types) {
        if (stack.back() == "tracefs") {
            if (found.tracefs.empty() || point == kUsualMount) found.tracefs = point;
        } else if (std::ranges::count(stack, "tracefs") > 0) {
            found.covered = point;
            found.covering = stack.back();
        }
    }
    return found;
}

TracefsMount missing_tracefs(const TracefsMounts& mounts) {
    if (!mounts.covered.empty())
        return {{},
                cat("tracefs is hidden: a ", mounts.covering, " is mounted over ", mounts.covered),
                cat("as root: umount ", mounts.covered)};
    if (const auto trouble = missing_mount(kUsualMount))
        return {{},
                cat("tracefs is not mounted, and ", trouble->what),
                cat(trouble->fix, "; mount -t tracefs nodev ", kUsualMount)};
    if (!file_exists(std::string(kUsualMount)))
        return {{},
                cat("this kernel has no tracefs: there is no ", kUsualMount),
                "a kernel with CONFIG_TRACING=y"};
    return {{}, "tracefs is not mounted", cat("as root: mount -t tracefs nodev ", kUsualMount)};
}

}  // namespace

std::optional<Trouble> missing_mount(std::string_view path) {
    if (path.starts_with("/proc/") && !file_exists("/proc/self"))
        return Trouble{"/proc is not mounted", "as root: mount -t proc proc /proc"};
    if (path.starts_with("/sys/") && !file_exists("/sys/kernel"))
        return Trouble{"/sys is not mounted", "as root: mount -t sysfs sysfs /sys"};
    return {};
}

Trouble read_only_tracefs(const std::string& mount) {
    return {cat(mount, " is mounted read-only"), cat("as root: mount -o remount,rw ", mount)};
}

TracefsMount find_tracefs_mount() {
    if (auto trouble = missing_mount("/proc/self"))
        return {{}, std::move(trouble->what), std::move(trouble->fix)};
    TracefsMount found;
    const char* const chosen = std::getenv("GPUFS_TRACEFS");
    const bool is_chosen = chosen && *chosen;
    if (is_chosen) {
        found.root = chosen;
    } else {
        const TracefsMounts here = tracefs_mounts();
        if (here.tracefs.empty()) return missing_tracefs(here);
        found.root = here.tracefs;
    }
    const std::string events = cat(found.root, "/available_events");
    if (const Fd fd{::open(events.c_str(), O_RDONLY | O_CLOEXEC)}) return found;
    const int code = errno;
    if (is_out_of_files(code)) throw SysError(code, cat("open '", events, "'"));
    // A directory without search permission returns EACCES for every file in it.
    if (code == EACCES || code == EPERM) {
        found.problem = cat("this user may not read ", found.root);
        found.fix =
            cat("run gpufs as root or with CAP_DAC_READ_SEARCH, or let root remount it for "
                "a group: mount -o remount,gid=GROUP,mode=750 ",
                found.root);
    } else {
        found.problem = cat(found.root, " is not a tracefs: it has no available_events");
        found.fix = is_chosen ? "GPUFS_TRACEFS names it: unset that, or let it name a tracefs"
                              : cat("as root: mount -t tracefs nodev ", kUsualMount);
    }
    return found;
}

Tracefs find_tracefs() {
    TracefsMount found = find_tracefs_mount();
    if (!found.problem.empty()) throw UnsupportedError(found.problem, found.fix);
    return Tracefs(std::move(found.root));
}

std::string missing_probe_events_hint(bool is_user) {
    return is_user ? "a kernel with CONFIG_UPROBE_EVENTS=y"
                   : "a kernel with CONFIG_KPROBE_EVENTS=y";
}

}  // namespace gpufs
