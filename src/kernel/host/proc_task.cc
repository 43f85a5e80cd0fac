#include "kernel/host/proc_task.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

// include/linux/sched.h
constexpr unsigned kKernelThread = 0x00200000;  // PF_KTHREAD

std::string text_of(int tid, std::string_view file) {
    return read_file_if_readable(cat("/proc/", tid, "/", file)).value_or("");
}

// The last number of a line of /proc/TID/status; absent when there is none.
template <class T>
std::optional<T> last_number(std::string_view status, std::string_view field) {
    for (const std::string_view line : lines_of(status)) {
        if (!line.starts_with(field)) continue;
        const std::string_view numbers = trim(line.substr(field.size()));
        return whole_number<T>(numbers.substr(numbers.find_last_of(" \t") + 1));
    }
    return std::nullopt;
}

int last_number(int tid, std::string_view field) {
    return last_number<int>(text_of(tid, "status"), field).value_or(0);
}

bool have_all_ended(const std::vector<int>& tids) {
    return std::ranges::all_of(tids, [](int tid) {
        const auto stat = proc::stat(tid);
        return !stat || stat->has_ended();
    });
}

std::string ended_text(int process, const TaskStat& stat) {
    const std::string name = proc::comm(stat.parent);
    return cat(process, " (", stat.comm, ") has ended; its parent ",
               name.empty() ? "" : cat(name, "-", stat.parent, " "),
               "has not waited for it (a zombie)");
}

}  // namespace

SyscallState parse_proc_syscall(std::string_view text) {
    SyscallState state;
    const auto words = split(trim(text), ' ');
    const auto nr = words.empty() ? std::nullopt : whole_number<long>(words[0]);
    if (!nr) return state;
    if (*nr == -1) {
        state.known = SyscallState::Known::none;
        return state;
    }
    if (words.size() < 1 + state.call.args.size()) return state;
    state.call.nr = *nr;
    for (std::size_t i = 0; i < state.call.args.size(); ++i) {
        std::string_view word = words[1 + i];
        if (word.starts_with("0x")) word.remove_prefix(2);
        const auto arg = whole_number<std::uint64_t>(word, 16);
        if (!arg) return {};
        state.call.args[i] = *arg;
    }
    state.known = SyscallState::Known::yes;
    return state;
}

std::optional<TaskStat> parse_task_stat(std::string_view text) {
    // "4711 (any text, even with ')') S 1 ...": the name ends at the last parenthesis.
    const auto open = text.find('('), close = text.rfind(')');
    if (open == text.npos || close == text.npos || close < open) return std::nullopt;
    const auto words = split(trim(text.substr(close + 1)), ' ');
    if (words.size() < 7 || words[0].size() != 1) return std::nullopt;
    const auto parent = whole_number<int>(words[1]);
    const auto flags = whole_number<unsigned>(words[6]);
    if (!parent || !flags) return std::nullopt;
    TaskStat stat;
    stat.parent = *parent;
    stat.comm = text.substr(open + 1, close - open - 1);
    stat.state = words[0][0];
    constexpr std::size_t kStart = 19;  // field 22
    if (words.size() > kStart)
        stat.start_ticks = whole_number<std::uint64_t>(words[kStart]).value_or(0);
    stat.is_kernel_thread = (*flags & kKernelThread) != 0;
    return stat;
}

std::vector<std::string> parse_proc_stack(std::string_view text) {
    std::vector<std::string> functions;
    for (std::string_view line : lines_of(text)) {
        if (const auto bracket = line.find("] "); bracket != line.npos)
            line.remove_prefix(bracket + 2);
        functions.emplace_back(line.substr(0, line.find('+')));
    }
    return functions;
}

namespace proc {

std::vector<int> numbers_in(const std::string& directory) {
    std::vector<int> numbers;
    for (const std::string& name : list_directory_if_readable(directory))
        if (const auto n = whole_number<int>(name)) numbers.push_back(*n);
    std::ranges::sort(numbers);
    return numbers;
}

std::optional<TaskStat> stat(int tid) {
    // The same for /proc/TID/stat would have the kernel add up the times of all threads.
    return parse_task_stat(text_of(tid, cat("task/", tid, "/stat")));
}

std::optional<std::uint64_t> switches(int tid) {
    const std::string status = text_of(tid, "status");
    const auto voluntary = last_number<std::uint64_t>(status, "voluntary_ctxt_switches:");
    const auto forced = last_number<std::uint64_t>(status, "nonvoluntary_ctxt_switches:");
    if (!voluntary || !forced) return std::nullopt;
    return *voluntary + *forced;
}

SyscallState syscall(int tid) {
    return parse_proc_syscall(text_of(tid, "syscall"));
}

std::vector<std::string> stack(int tid) {
    return parse_proc_stack(text_of(tid, "stack"));
}

std::string wchan(int tid) {
    std::string name = text_of(tid, "wchan");
    return name == "0" ? std::string() : name;
}

std::string comm(int tid) {
    return std::string(trim(text_of(tid, "comm")));
}

int tgid(int tid) {
    return last_number(tid, "Tgid:");
}

int require_tgid(int tid) {
    const int process = tgid(tid);
    const auto leader = process == 0 ? std::nullopt : stat(process);
    if (!leader)
        throw Error(cat("there is no process ", tid), "it may have ended; 'pgrep -a NAME' looks");
    // The first thread may end before the others.
    if (leader->has_ended() && have_all_ended(threads(process)))
        throw Error(ended_text(process, *leader));
    return process;
}

int innermost_pid(int tid) {
    return last_number(tid, "NSpid:");
}

std::optional<std::uint32_t> owner(int tid) {
    struct stat status;
    if (::stat(cat("/proc/", tid).c_str(), &status) != 0) return std::nullopt;
    return status.st_uid;
}

std::vector<int> threads(int pid) {
    return numbers_in(cat("/proc/", pid, "/task"));
}

std::vector<int> children(int pid) {
    std::vector<int> found;
    for (const int tid : threads(pid))
        for (const std::string& word :
             split(trim(text_of(pid, cat("task/", tid, "/children"))), ' '))
            if (const auto n = whole_number<int>(word)) found.push_back(*n);
    return found;
}

std::vector<int> processes() {
    return numbers_in("/proc");
}

std::string maps(int pid) {
    return text_of(pid, "maps");
}

std::string file_of(int tid, int fd) {
    return link_target(cat("/proc/", tid, "/fd/", fd));
}

}  // namespace proc
}  // namespace gpufs
