#include "lang/event/task_naming.h"

#include "base/kernel_abi.h"
#include "base/path.h"

namespace gpufs {
namespace {

enum class When { at, after, exec };  // exec: the name is the last part of a path
struct Row {
    std::string_view event, tid, name;
    When when = When::at;
};
constexpr Row kRows[] = {
    {"sched:sched_switch", "prev_pid", "prev_comm"},
    {"sched:sched_switch", "next_pid", "next_comm"},
    {"sched:sched_wakeup", "pid", "comm"},
    {"sched:sched_wakeup_new", "pid", "comm"},
    {"sched:sched_waking", "pid", "comm"},
    {"sched:sched_process_fork", "child_pid", "child_comm"},
    {"sched:sched_process_exec", "pid", "filename", When::exec},
    {"sched:sched_process_exit", "pid", "comm"},
    {"sched:sched_prepare_exec", "pid", "comm"},
    {"sched:sched_stat_runtime", "pid", "comm"},
    {"task:task_newtask", "pid", "comm"},
    {"task:task_rename", "pid", "oldcomm"},
    {"task:task_rename", "pid", "newcomm", When::after},
};

}  // namespace

bool is_wakeup(std::string_view event) {
    return event == "sched:sched_waking" || event == "sched:sched_wakeup" ||
           event == "sched:sched_wakeup_new";
}

std::vector<TaskNaming> TaskNaming::of(const EventFormat& format) {
    std::vector<TaskNaming> found;
    const std::string event = format.full_name();
    for (const Row& row : kRows) {
        if (row.event != event) continue;
        TaskNaming naming;
        naming.tid_ = format.find(row.tid);
        naming.name_ = format.find(row.name);
        naming.is_after_ = row.when == When::after;
        naming.is_exec_ = row.when == When::exec;
        if (naming.name_) found.push_back(naming);
    }
    return found;
}

std::uint32_t TaskNaming::tid(RecordBytes record) const {
    return static_cast<std::uint32_t>(tid_ ? integer_of(*tid_, record) : common_fields(record).pid);
}

std::string_view TaskNaming::comm(RecordBytes record) const {
    const std::string_view name = text_of(*name_, record);
    return is_exec_ ? file_name(name).substr(0, kCommBytes - 1) : name;
}

}  // namespace gpufs
