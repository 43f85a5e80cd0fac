#include "cmd/run/gpu_section.h"

#include <algorithm>

#include "base/cat.h"
#include "kernel/host/gpu_files.h"
#include "kernel/host/proc_task.h"
#include "view/gpu/usage_text.h"

namespace gpufs {

GpuSection::GpuSection(Choice choice) : choice_(choice), gpus_(find_gpus()), usage_(read()) {}

// A process whose parent is gone belongs to the command if it was seen before.
bool GpuSection::is_chosen(int pid) {
    if (choice_.pid != 0) return pid == choice_.pid;
    if (choice_.command == 0) return true;
    for (int at = pid; at > 1;) {
        if (at == choice_.command || command_.contains(at)) {
            command_.insert(pid);
            return true;
        }
        const auto stat = proc::stat(at);
        at = stat ? stat->parent : 0;
    }
    return false;
}

GpuClients GpuSection::read() {
    GpuProcesses found = find_gpu_processes();
    const bool is_about_all = choice_.pid == 0 && choice_.command == 0;
    if (is_about_all) unreadable_ = std::max(unreadable_, found.unreadable);
    std::erase_if(found.processes, [&](const GpuProcess& one) { return !is_chosen(one.pid); });
    return join_gpu_clients(gpus_, found);
}

void GpuSection::take() {
    uses_ = usage_.take(read());
}

std::string GpuSection::text(const Screen& screen) const {
    std::string text;
    for (const GpuUse& use : uses_)
        text += cat(text.empty() ? "" : "\n", usage_text(gpus_[use.gpu], use, screen));
    return text;
}

std::string GpuSection::json() const {
    std::string lines;
    for (const GpuUse& use : uses_) lines += cat(usage_json(gpus_[use.gpu], use), '\n');
    return lines;
}

std::string GpuSection::note() const {
    return unreadable_text(unreadable_);
}

std::string unreadable_text(std::size_t processes) {
    if (processes == 0) return {};
    return cat("not looked at: the open files of ", processes,
               processes == 1 ? " process" : " processes", " of other users; root sees them");
}

}  // namespace gpufs
