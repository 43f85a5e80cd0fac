#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "kernel/tracefs/tracefs.h"

namespace gpufs {

// Owns a probe event in tracefs (kprobe_events, uprobe_events): the constructor makes it, the
// destructor removes it. The kernel refuses removal with EBUSY while anyone has it enabled.
class DynamicEvent {
public:
    // Writes "TYPE:GROUP/NAME WHERE" to FILE of the top tracefs directory; the name consists of
    // `hint`, this pid and a number. Throws UnsupportedError if this kernel has no such file,
    // SysError with the kernel's message otherwise.
    DynamicEvent(std::string file, std::string_view type, std::string_view group,
                 std::string_view hint, std::string_view where);
    DynamicEvent(DynamicEvent&& other) noexcept
        : tracefs_(std::move(other.tracefs_)),
          file_(std::move(other.file_)),
          group_(std::move(other.group_)),
          name_(std::exchange(other.name_, {})) {}
    DynamicEvent& operator=(DynamicEvent&& other) noexcept;
    ~DynamicEvent();

    // The event's id for perf_event_open(2).
    std::uint64_t id() const;
    // Hits that were not delivered; only kernel probes count them.
    std::optional<std::uint64_t> missed() const;
    // Throws SysError; the destructor tries once more and ignores errors.
    void remove();

private:
    Tracefs tracefs_;
    std::string file_;
    std::string group_;
    std::string name_;  // empty: moved from, or removed
};

}  // namespace gpufs
