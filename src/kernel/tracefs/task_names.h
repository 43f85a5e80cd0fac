#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

namespace gpufs {

// The names and process ids of tasks that the tracer remembers: saved_cmdlines and saved_tgids of
// the top tracefs directory. The kernel remembers few (saved_cmdlines_size); a task it forgot is
// "<...>".
class TaskNames {
public:
    // Without a directory nothing is known, until add() says so.
    TaskNames() = default;
    explicit TaskNames(std::string tracefs_top) : top_(std::move(tracefs_top)) {}

    // "<idle>" for 0, "<...>" for a task that is not known; borrowed until the next refresh.
    std::string_view comm(int pid) const;
    bool knows(int pid) const { return comms_.contains(pid); }
    // 0 when not known.
    int tgid(int pid) const;

    // Reads the files anew; names that the kernel forgot since are kept. A file that is not there
    // or may not be read is empty.
    void refresh();
    void add(int pid, std::string_view comm) { comms_[pid] = comm; }
    // Another machine's, from the text of its saved_cmdlines.
    void add_lines(std::string_view saved_cmdlines);
    const std::unordered_map<int, std::string>& comms() const { return comms_; }

private:
    std::string top_;
    std::unordered_map<int, std::string> comms_;
    std::unordered_map<int, int> tgids_;
};

}  // namespace gpufs
