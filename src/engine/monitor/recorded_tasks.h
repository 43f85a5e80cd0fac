#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/trace/by_event_id.h"
#include "engine/trace/context.h"
#include "lang/event/task_naming.h"
#include "lang/trace_dat/record_merge.h"

namespace gpufs {

// The names and processes of a recording's tasks at the time of the current record. Names come from
// the records read so far; before a record names a task, from the list of final names that the file
// contains. If neither execs nor renames are recorded, it is unknown when a name changed; then the
// final name is used, except in records that name the running task.
class RecordedTasks {
public:
    // Keeps a reference to the context.
    explicit RecordedTasks(TraceContext& context);

    struct Task {
        std::string comm;
        std::uint32_t process = 0;
        bool is_process_known = false;  // if false, `process` is the task's own id
    };
    // `cpu` distinguishes the idle tasks, which all have id 0.
    const Task& find(std::uint32_t tid, int cpu);

    // Learn task names from a record: before() those that were valid when the record was made,
    // after() those that are valid from then on.
    void take_before(const TraceRecord& record) {
        named_tid_ = 0;
        take(record, false);
    }
    void take_after(const TraceRecord& record) { take(record, true); }
    // Sets a task's process, as named by the record of its user stack.
    void set_process(std::uint32_t tid, std::uint32_t process);

private:
    // What an event tells of tasks.
    struct Told {
        std::vector<TaskNaming> namings;
        const Field* clone_flags = nullptr;  // of a new task
    };
    Told told_by(int id) const;
    void take(const TraceRecord& record, bool is_after);
    void set_name(std::uint32_t tid, std::string_view name, std::uint32_t running);
    void set_process_of_new(std::uint32_t tid, std::uint64_t clone_flags, std::uint32_t running);
    Task& task(std::uint32_t tid);

    TraceContext& context_;
    bool sees_changes_;  // renames are recorded
    Task named_;         // the current record's task, if name changes are not recorded
    std::uint32_t named_tid_ = 0;
    std::unordered_map<std::uint32_t, Task> tasks_;
    std::unordered_map<int, Task> idle_;  // by CPU
    ByEventId<Told> told_;
};

}  // namespace gpufs
