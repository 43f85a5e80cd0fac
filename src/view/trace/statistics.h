#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/recording/file.h"
#include "view/columns.h"

namespace gpufs {

// Statistics of a recording: counts by event, process and CPU, with losses, and the longest gap
// between two records.
class TraceStatistics {
public:
    // `context` must outlive this object.
    explicit TraceStatistics(TraceContext& context) : context_(context) {}

    // Records must come in order of time.
    void add(const TraceRecord& record);
    // What a CPU lost: shown beside what it recorded.
    void set_lost(int cpu, const Loss& lost);

    // The origin of the file, the tables, the longest gap, and the kernel's own counters.
    std::string to_text(const TraceFile& file, const Screen& screen = {}) const;
    // One object on one line.
    std::string to_json(const TraceFile& file) const;

private:
    struct Gap {
        std::uint64_t begin = 0, length = 0;
    };
    struct CpuCount {
        std::uint64_t records = 0;
        Loss lost;
    };
    std::string time_text(std::uint64_t time) const;
    std::string rate_text(std::uint64_t count) const;
    std::string event_name(int id) const;

    TraceContext& context_;
    std::uint64_t count_ = 0, first_ = 0, last_ = 0;
    Gap longest_;
    std::map<int, std::uint64_t> events_, tasks_;  // key: event id; pid
    std::map<int, CpuCount> cpus_;
};

}  // namespace gpufs
