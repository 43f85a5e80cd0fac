#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/trace/by_event_id.h"
#include "engine/trace/context.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// Who the tasks of a recording are, at the moment that its records have reached: names from what
// the records themselves tell, and, until they do, the last ones, which the file saved; processes
// as far as either tells. Where neither execs nor renames are recorded, nobody knows when a name
// changed: then it is the last one but in records that name the running task.
class RecordedTasks {
public:
    // Borrows the context.
    explicit RecordedTasks(TraceContext& context);

    struct Task {
        std::string comm;
        std::uint32_t process = 0;
        bool is_process_known = false;  // otherwise it is the task's own id
    };
    // `cpu` tells the idle tasks apart, whose ids are all 0.
    const Task& find(std::uint32_t tid, int cpu);

    // Takes what a record tells of the time when it was made, and of the time from then on.
    void take_before(const TraceRecord& record) {
        named_tid_ = 0;
        take(record, false);
    }
    void take_after(const TraceRecord& record) { take(record, true); }
    // A process that a record of its stack names.
    void set_process(std::uint32_t tid, std::uint32_t process);

private:
    // How an event names a task.
    struct Naming {
        const Field* tid = nullptr;   // absent: the running task
        const Field* comm = nullptr;  // absent: `file`'s last part
        const Field* file = nullptr;
        const Field* clone_flags = nullptr;
        bool is_whole_process = false;  // it has this id, too
        bool is_after = false;          // it holds from the event on
    };
    std::vector<Naming> find_namings(int id);
    void take(const TraceRecord& record, bool is_after);
    void apply(const Naming& naming, const TraceRecord& record, std::uint32_t running);
    Task& task(std::uint32_t tid);

    TraceContext& context_;
    bool sees_changes_;  // of names
    Task named_;         // by the record at hand, if it did not see them
    std::uint32_t named_tid_ = 0;
    std::unordered_map<std::uint32_t, Task> tasks_;
    std::unordered_map<int, Task> idle_;  // by CPU
    ByEventId<std::vector<Naming>> namings_;
};

}  // namespace gpufs
