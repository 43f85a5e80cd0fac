#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lang/event/event_format.h"
#include "lang/event/field_value.h"

namespace gpufs {

// Whether an event of this whole name happens in a task that wakes another, which it is about.
bool is_wakeup(std::string_view event);

// The fields by which a record names a task. A sched_switch names two.
class TaskNaming {
public:
    // What the records of this event name; nothing for most events.
    static std::vector<TaskNaming> of(const EventFormat& format);

    // The id of the thread: the running one's, where the event does not say which.
    std::uint32_t tid(RecordBytes record) const;
    // At most 15 characters, as the kernel keeps them; borrowed from the record.
    std::string_view comm(RecordBytes record) const;
    // The task has this name after the event, and another one at it.
    bool is_after() const { return is_after_; }
    // The task executes a new program, so its id is that of a process, too.
    bool is_exec() const { return is_exec_; }

private:
    const Field* tid_ = nullptr;
    const Field* name_ = nullptr;
    bool is_after_ = false, is_exec_ = false;
};

}  // namespace gpufs
