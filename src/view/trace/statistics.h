#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/trace/file.h"
#include "view/columns.h"

namespace gpufs {

// Counts what a recording holds: by event, process and CPU, with the losses, and the longest time
// in which nothing was recorded.
class TraceStatistics {
public:
    // `context` is borrowed.
    explicit TraceStatistics(TraceContext& context) : context_(context) {}

    // In the order of time.
    void add(const TraceRecord& record);

    // Where the file is from, a table each, the longest gap; then the kernel's own counters.
    std::string to_text(const TraceFile& file, const Screen& screen = {}) const;
    // One object, in one line.
    std::string to_json(const TraceFile& file) const;

private:
    struct Gap {
        std::uint64_t begin = 0, length = 0;
    };
    struct CpuCount {
        std::uint64_t records = 0;
        std::uint64_t lost = 0;  // kLostUnknown: nobody knows how many
    };
    std::string time_text(std::uint64_t time) const;
    std::string rate_text(std::uint64_t count) const;
    std::string event_name(int id) const;

    TraceContext& context_;
    std::uint64_t count_ = 0, first_ = 0, last_ = 0;
    Gap longest_;
    std::map<int, std::uint64_t> events_, tasks_;  // by id, by pid
    std::map<int, CpuCount> cpus_;
};

}  // namespace gpufs
