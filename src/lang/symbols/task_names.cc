#include "lang/symbols/task_names.h"

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "base/cat.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

// "5217 python3": the number, and what stands behind the space. A line without a number is the rest
// of a name that has a newline in it. Recordings are padded with NULs.
template <class OnLine>
void for_each_task(std::string_view text, OnLine&& on_line) {
    int pid = 0;
    std::string_view name;
    const auto give = [&] {
        if (name.data()) on_line(pid, name);
    };
    for (const std::string_view line : lines_of(up_to_nul(text))) {
        Scan scan(line);
        const auto number = scan.take_number<int>();
        if (number && scan.take(" ")) {
            give();
            pid = *number;
            name = scan.rest();
        } else if (name.data() && !line.empty()) {
            name = {name.data(), static_cast<std::size_t>(line.data() + line.size() - name.data())};
        }
    }
    give();
}

}  // namespace

std::string_view TaskNames::comm(int pid) const {
    if (pid == 0) return "<idle>";
    if (pid < 0)
        return "<XX"
               "X>";  // the kernel's word for it
    const auto it = comms_.find(pid);
    return it == comms_.end() ? kUnknown : it->second;
}

int TaskNames::tgid(int pid) const {
    const auto it = tgids_.find(pid);
    return it == tgids_.end() ? 0 : it->second;
}

void TaskNames::add_lines(std::string_view saved_cmdlines) {
    for_each_task(saved_cmdlines, [&](int pid, std::string_view comm) { add(pid, comm); });
}

void TaskNames::add_tgid_lines(std::string_view saved_tgids) {
    for_each_task(saved_tgids, [&](int pid, std::string_view number) {
        if (const auto tgid = Scan(number).take_number<int>()) tgids_[pid] = *tgid;
    });
}

void TaskNames::add_recorded(std::string_view lines) {
    const std::string_view names = up_to_nul(lines);
    add_lines(names);
    lines.remove_prefix(std::min(lines.size(), names.size() + 1));
    add_tgid_lines(lines);
}

// One line a task: a newline within a name is written as \n.
std::string TaskNames::to_recorded() const {
    std::string lines;
    for (const auto& [pid, comm] : std::map(comms_.begin(), comms_.end())) {
        const std::size_t start = lines.size();
        lines += cat(pid, ' ', comm);
        for (auto at = lines.find('\n', start); at != lines.npos; at = lines.find('\n', at))
            lines.replace(at, 1, "\\n");
        lines += '\n';
    }
    if (!tgids_.empty()) lines += '\0';
    for (const auto& [pid, tgid] : std::map(tgids_.begin(), tgids_.end()))
        lines += cat(pid, ' ', tgid, '\n');
    return lines;
}

void TaskNames::refresh() {
    if (saved_cmdlines_) add_lines(saved_cmdlines_());
    if (saved_tgids_) add_tgid_lines(saved_tgids_());
}

}  // namespace gpufs
