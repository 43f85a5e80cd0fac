#include "kernel/tracefs/tracefs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace gpufs {

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
    const Fd fd = open_file(path(file), O_WRONLY | (mode == Write::replace ? O_TRUNC : O_APPEND));
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

std::optional<std::string> tracefs_mount_point() {
    if (const char* chosen = std::getenv("GPUFS_TRACEFS"); chosen && *chosen) return chosen;
    constexpr std::string_view kUsual = "/sys/kernel/tracing";
    std::optional<std::string> found;
    const std::string mounts = read_file_if_readable("/proc/self/mounts").value_or("");
    for (const std::string_view line : lines_of(mounts)) {
        // "nodev /sys/kernel/tracing tracefs rw,relatime 0 0"
        const auto words = split(line, ' ');
        if (words.size() < 3 || words[2] != "tracefs") continue;
        if (!found || words[1] == kUsual) found = words[1];
    }
    return found;
}

Tracefs find_tracefs() {
    const auto mount = tracefs_mount_point();
    if (!mount)
        throw UnsupportedError("tracefs is not mounted",
                               "as root: mount -t tracefs nodev /sys/kernel/tracing");
    const std::string events = cat(*mount, "/available_events");
    if (::access(events.c_str(), R_OK) == 0) return Tracefs(*mount);
    // A directory without search permission returns EACCES for every file in it.
    if (errno == EACCES)
        throw UnsupportedError(cat("this user may not read ", *mount),
                               "run gpufs as root, or let root remount it for a group: "
                               "mount -o remount,gid=GROUP,mode=750 " +
                                   *mount);
    throw UnsupportedError(cat(*mount, " is not a tracefs: it has no available_events"),
                           "as root: mount -t tracefs nodev /sys/kernel/tracing");
}

}  // namespace gpufs
