#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs {

enum class Write {
    replace,  // opens with O_TRUNC, as a shell's `>`: filters, switches, lists replaced as a whole
    append,   // opens without it, as `>>`: triggers and dynamic events, where truncating drops
              // what others have set (hist triggers, every dynamic event)
};

// A tracefs directory: the mount point, an instance, or a copy in a test. Knows paths and write
// semantics but not the meaning of the files.
class Tracefs {
public:
    explicit Tracefs(std::string root) : root_(std::move(root)) {}

    const std::string& root() const noexcept { return root_; }
    std::string path(std::string_view file) const;
    bool has(std::string_view file) const;
    // Throws SysError.
    std::string read(std::string_view file) const;
    // Absent when the file does not exist or cannot be read.
    std::optional<std::string> read_if_readable(std::string_view file) const;

    // Writes one command with one write(2), because the kernel parses each write on its own. Throws
    // UnsupportedError if tracefs is read-only. If the text is refused, throws SysError; its
    // evidence is the kernel's reason from this directory's error_log, if there is one for this
    // text.
    void write(std::string_view file, std::string_view text, Write mode) const;

    // The directory of an instance, which need not exist.
    Tracefs instance(std::string_view name) const;
    std::vector<std::string> instances() const;

    // Makes the directory, for an instance. Returns false if it exists. Throws SysError, and
    // UnsupportedError if tracefs is read-only.
    bool make() const;
    // Removes it. Files that were closed can keep it in use for a moment (seen on Linux 5.10, where
    // no process had one open), which is waited for: 0.5 s. Throws SysError.
    void remove() const;

    // All events as "system:name", in the kernel's order. Reads one file.
    std::vector<std::string> events() const;

private:
    std::string last_complaint(std::string_view about) const;

    std::string root_;
};

// "events/sched/sched_switch" for "sched:sched_switch".
std::string event_directory(std::string_view full_name);

// The tracefs of this machine: $GPUFS_TRACEFS if set, else from /proc/self/mounts, preferring
// /sys/kernel/tracing.
struct TracefsMount {
    std::string root;     // empty if there is none
    std::string problem;  // why this user cannot read it; empty if it can be read
    std::string fix;      // what helps
};
// Throws SysError if too many files are open.
TracefsMount find_tracefs_mount();

// The same; throws UnsupportedError with the problem and its fix.
Tracefs find_tracefs();

// What is wrong, and what helps: "/proc is not mounted", "as root: mount -t proc proc /proc".
struct Trouble {
    std::string what, fix;
};
// Why the files at this path are missing, if /proc or /sys, where they belong, is not mounted.
std::optional<Trouble> missing_mount(std::string_view path);
// That the tracefs at this mount point is read-only.
Trouble read_only_tracefs(const std::string& mount);

// What a kernel without uprobe_events, or without kprobe_events, would need.
std::string missing_probe_events_hint(bool is_user);

}  // namespace gpufs
