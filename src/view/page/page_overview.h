#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpufs {

// What a page draws until its details are read: for each CPU, the busiest tasks and each ring, how
// busy it was in each of equally long parts of the time, and with which process.
class PageOverview {
public:
    // For a timeline from a time to a later one.
    PageOverview(std::uint64_t begin, std::uint64_t end);

    // A job of a process is on a ring (its group of tracks). Where several are, a part is busy for
    // at most all of its time.
    void add_job(std::uint32_t ring, std::uint64_t pid, std::uint64_t from, std::uint64_t to);
    // A task of a process ran for so many ns. Of all runs and jobs, before runs are added.
    void count_run(int tid, int pid, std::uint64_t ns);
    // Runs on a CPU, each of which has been counted.
    void add_run(std::uint64_t cpu, int tid, int pid, std::uint64_t from, std::uint64_t to);

    // {"parts":N,"lanes":[["cpu",CPU,ns,BYTES],["task",TID,ns,BYTES],["ring",GROUP,ns,BYTES],...],
    // "processes":[[PID,CPU ns,GPU ns,jobs],...]}. ns is how long a lane was busy. BYTES, in base
    // 64, are numbers in base 128 (view/export/protobuf.h): for each part 0 if it was not busy,
    // else the place of the process in `processes`, from 1 on, and how busy it was in 127ths.
    std::string facts_json() const;

private:
    static constexpr std::size_t kParts = 1024;
    // How long it was busy, and with whom most: by how many ns that process is before all others,
    // which is at least what it has more than the others together.
    struct Part {
        std::uint64_t busy = 0, pid = 0, before = 0;
    };
    struct Lane {
        const char* kind;
        std::uint64_t id;
        std::uint64_t busy = 0;
        std::vector<Part> parts = std::vector<Part>(kParts);
    };
    struct Process {
        std::uint64_t cpu = 0, gpu = 0, jobs = 0;
    };
    struct Task {
        std::uint64_t pid = 0, busy = 0;
        bool is_shown = false;
    };

    Lane& lane_of(const char* kind, std::uint64_t id);
    void add(Lane& lane, std::uint64_t pid, std::uint64_t from, std::uint64_t to) const;
    void choose_tasks();
    // By pid: its place among those that are told.
    std::map<std::uint64_t, std::size_t> places_of_processes() const;
    std::string bytes_of(const Lane& lane,
                         const std::map<std::uint64_t, std::size_t>& places) const;

    std::uint64_t begin_, part_ns_;
    std::map<std::pair<std::string_view, std::uint64_t>, Lane> lanes_;  // by kind and id
    std::unordered_map<int, Task> tasks_;
    bool has_chosen_ = false;
    std::map<std::uint64_t, Process> processes_;
};

}  // namespace gpufs
