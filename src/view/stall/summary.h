#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "engine/stall/stall.h"
#include "view/monitor/histogram.h"

namespace gpufs {

// Sums stalls by kernel stack and by system call.
class StallSummary {
public:
    // Groups by the functions of `stack` and by `syscall`, the call's name or a word in its place.
    void add(const Stall& stall, const std::vector<std::string>& stack, const std::string& syscall);

    std::uint64_t count() const { return all_.count; }
    // Two tables, sorted by total time in descending order, and a histogram for each system call.
    // Empty if no stall was added.
    std::string to_text(Controls controls = Controls::escaped) const;
    // The two tables as lines of JSON, each in the form of report_json().
    std::string to_json() const;
    // Adds the members "stalls", "total_ns" and "longest_ns".
    void add_to(class JsonObject& object) const;

private:
    struct Group {
        std::uint64_t count = 0, total_ns = 0, shortest_ns = 0, longest_ns = 0;
        SyscallState::Known syscall = SyscallState::Known::no;  // of groups by system call
        Log2Histogram us;
        void add(std::uint64_t ns);
    };
    // State, and functions of the stack or the system call alone.
    using Place = std::pair<char, std::vector<std::string>>;
    using Groups = std::map<Place, Group>;
    static std::vector<Groups::const_iterator> by_time(const Groups& groups);
    static std::string table(const Groups& groups, const std::string& title, Controls controls);
    static std::string json(const Groups& groups, std::string_view name, std::string_view title);

    Group all_;
    Groups by_stack_, by_syscall_;
};

}  // namespace gpufs
