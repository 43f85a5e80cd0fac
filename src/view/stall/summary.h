#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/stall/stall.h"
#include "view/monitor/histogram.h"

namespace gpufs {

// Adds stalls up by where they were: kernel stack, and system call.
class StallSummary {
public:
    // The words for the place are the caller's.
    void add(const Stall& stall, const std::string& stack, const std::string& syscall);

    std::uint64_t count() const { return all_.count; }
    // Two tables, the most time first, and a histogram for each system call. Empty when nothing
    // was added.
    std::string to_text() const;
    // "stalls", "total_ns", "longest_ns", "by_stack", "by_syscall": members of an object.
    void add_to(class JsonObject& object) const;

private:
    struct Group {
        std::uint64_t count = 0, total_ns = 0, longest_ns = 0;
        Log2Histogram us;
        void add(std::uint64_t ns);
    };
    using Groups = std::map<std::pair<char, std::string>, Group>;  // by state and place
    static std::vector<Groups::const_iterator> by_time(const Groups& groups);
    static std::string table(const Groups& groups, const std::string& title);
    static std::string json(const Groups& groups, const std::string& key);

    Group all_;
    Groups by_stack_, by_syscall_;
};

}  // namespace gpufs
