#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "kernel/tracefs/tracefs.h"

namespace gpufs {

// A probe event of ours in tracefs (kprobe_events, uprobe_events): made here, removed by the
// destructor. The kernel says EBUSY as long as somebody has it enabled.
class DynamicEvent {
public:
    // Writes "TYPE:GROUP/NAME WHERE" to FILE of the top tracefs directory; the name is made of
    // `hint`, this process and a number. Throws UnsupportedError where this kernel has no such
    // file, SysError with the kernel's words otherwise.
    DynamicEvent(std::string file, std::string_view type, std::string_view group,
                 std::string_view hint, std::string_view where);
    DynamicEvent(DynamicEvent&& other) noexcept
        : tracefs_(std::move(other.tracefs_)),
          file_(std::move(other.file_)),
          group_(std::move(other.group_)),
          name_(std::exchange(other.name_, {})) {}
    DynamicEvent& operator=(DynamicEvent&& other) noexcept;
    ~DynamicEvent();

    // What perf_event_open(2) knows it by.
    std::uint64_t id() const;
    // Hits that could not be delivered, for kernel probes.
    std::optional<std::uint64_t> missed() const;
    // Throws SysError; the destructor tries once more and says nothing.
    void remove();

private:
    Tracefs tracefs_;
    std::string file_;
    std::string group_;
    std::string name_;  // empty: moved from, or removed
};

}  // namespace gpufs
