#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/printable.h"
#include "engine/stall/stall.h"
#include "view/monitor/histogram.h"

namespace gpufs {

// Sums stalls by kernel stack and by system call.
class StallSummary {
public:
    // `stack` and `syscall` are the texts to group by.
    void add(const Stall& stall, const std::string& stack, const std::string& syscall);

    std::uint64_t count() const { return all_.count; }
    // Two tables, sorted by total time in descending order, and a histogram for each system call.
    // Empty if no stall was added.
    std::string to_text(Controls controls = Controls::escaped) const;
    // Adds the members "stalls", "total_ns", "longest_ns", "by_stack", "by_syscall".
    void add_to(class JsonObject& object) const;

private:
    struct Group {
        std::uint64_t count = 0, total_ns = 0, longest_ns = 0;
        Log2Histogram us;
        void add(std::uint64_t ns);
    };
    using Groups = std::map<std::pair<char, std::string>, Group>;  // key: state and text
    static std::vector<Groups::const_iterator> by_time(const Groups& groups);
    static std::string table(const Groups& groups, const std::string& title, Controls controls);
    static std::string json(const Groups& groups, const std::string& key);

    Group all_;
    Groups by_stack_, by_syscall_;
};

}  // namespace gpufs
