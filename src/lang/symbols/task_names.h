#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace gpufs {

// The names and process ids of tasks that the tracer remembers: saved_cmdlines and saved_tgids of
// the top tracefs directory. The kernel remembers few (saved_cmdlines_size); a task it forgot is
// "<...>".
class TaskNames {
public:
    // Knows nothing, until add() says so.
    TaskNames() = default;
    TaskNames(TaskNames&&) = default;
    TaskNames& operator=(TaskNames&&) = default;
    // Borrows nothing: `saved_cmdlines` and `saved_tgids` are asked for the texts at each refresh.
    using Text = std::function<std::string()>;
    TaskNames(Text saved_cmdlines, Text saved_tgids)
        : saved_cmdlines_(std::move(saved_cmdlines)), saved_tgids_(std::move(saved_tgids)) {}

    // "<idle>" for 0, kUnknown for a task that is not known. Borrowed: the text stays when the task
    // gets another name.
    static constexpr std::string_view kUnknown = "<...>";
    std::string_view comm(int pid) const;
    bool knows(int pid) const { return comms_.contains(pid); }
    // 0 when not known.
    int tgid(int pid) const;

    // Takes the texts anew; names that the kernel forgot since are kept.
    void refresh();
    void add(int pid, std::string_view comm) {
        std::string_view& known = comms_[pid];
        if (known != comm) known = *texts_.emplace(comm).first;
    }
    void remove(int pid) { comms_.erase(pid); }
    void add_process(int pid, int tgid) { tgids_[pid] = tgid; }
    // Those in a text of saved_cmdlines.
    void add_lines(std::string_view saved_cmdlines);
    // The process ids in a text of saved_tgids.
    void add_tgid_lines(std::string_view saved_tgids);
    // Of a recording: a text of saved_cmdlines, and behind a NUL, if there is any, one of
    // saved_tgids.
    void add_recorded(std::string_view lines);
    std::string to_recorded() const;
    const std::unordered_map<int, std::string_view>& comms() const { return comms_; }

private:
    Text saved_cmdlines_, saved_tgids_;
    std::unordered_set<std::string> texts_;
    std::unordered_map<int, std::string_view> comms_;  // of texts_
    std::unordered_map<int, int> tgids_;
};

}  // namespace gpufs
