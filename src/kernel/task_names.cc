#include "gpufs/kernel/task_names.h"

#include <charconv>

#include "gpufs/base/file.h"
#include "gpufs/base/text.h"

namespace gpufs {
namespace {

// "5217 python3": the number, and what stands behind the space.
template <class OnLine>
void for_each_task(const std::string& path, OnLine&& on_line) {
    const auto text = read_file_if_readable(path);
    if (!text) return;
    for (const std::string_view line : lines_of(*text)) {
        int pid = 0;
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), pid);
        const auto at = static_cast<std::size_t>(end - line.data());
        if (error == std::errc() && at < line.size()) on_line(pid, line.substr(at + 1));
    }
}

}  // namespace

std::string_view TaskNames::comm(int pid) const {
    if (pid == 0) return "<idle>";
    if (pid < 0)
        return "<XX"
               "X>";  // the kernel's word for it
    const auto it = comms_.find(pid);
    return it == comms_.end() ? std::string_view("<...>") : std::string_view(it->second);
}

int TaskNames::tgid(int pid) const {
    const auto it = tgids_.find(pid);
    return it == tgids_.end() ? 0 : it->second;
}

void TaskNames::refresh() {
    if (top_.empty()) return;
    for_each_task(top_ + "/saved_cmdlines",
                  [&](int pid, std::string_view comm) { comms_[pid] = comm; });
    for_each_task(top_ + "/saved_tgids", [&](int pid, std::string_view text) {
        std::from_chars(text.data(), text.data() + text.size(), tgids_[pid]);
    });
}

}  // namespace gpufs
