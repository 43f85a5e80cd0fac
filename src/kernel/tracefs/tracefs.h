#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

enum class Write {
    replace,  // opens with O_TRUNC, as a shell's `>`: filters, switches, lists that are set whole
    append,   // opens without it, as `>>`: triggers and dynamic events, where truncating drops
              // what others have set (hist triggers, every dynamic event)
};

// A tracefs directory: the mount itself, one of its instances, or a copy in a test. Knows paths and
// write semantics, and nothing about what is written.
class Tracefs {
public:
    explicit Tracefs(std::string root) : root_(std::move(root)) {}

    const std::string& root() const noexcept { return root_; }
    std::string path(std::string_view file) const;
    bool has(std::string_view file) const;
    // Throws SysError.
    std::string read(std::string_view file) const;
    // Absent when the file is not there or cannot be read.
    std::optional<std::string> read_if_readable(std::string_view file) const;

    // One control-file command is one write(2): the kernel parses each write on its own. On refusal
    // throws SysError whose evidence is the kernel's reason from this directory's error_log, where
    // the kernel gave one for this text.
    void write(std::string_view file, std::string_view text, Write mode) const;

    // The directory of an instance; it need not exist.
    Tracefs instance(std::string_view name) const;
    std::vector<std::string> instances() const;

    // Every event as "system:name", in the kernel's order. Reads one file.
    std::vector<std::string> events() const;

private:
    std::string last_complaint(std::string_view about) const;

    std::string root_;
};

// "events/sched/sched_switch" for "sched:sched_switch".
std::string event_directory(std::string_view full_name);

// Where tracefs is mounted: $GPUFS_TRACEFS if set, else from /proc/self/mounts, /sys/kernel/tracing
// preferred. Throws UnsupportedError when it is not mounted or this user may not read it, saying
// what to do.
Tracefs find_tracefs();

// The same without the check of permissions; absent when there is none.
std::optional<std::string> tracefs_mount_point();

}  // namespace gpufs
