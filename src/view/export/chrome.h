#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "view/export/timeline.h"

namespace gpufs {

// Writes a timeline in the JSON of Chrome's trace events: a bare array, one event a line, which may
// be cut behind any of them. Times are in microseconds with three decimals.
//
// Groups of tracks stand as processes whose numbers no process has, their tracks as threads. An
// integer that a double cannot hold is a text.
class ChromeWriter : public TimelineWriter {
public:
    // Receives pieces of the file, each of whole events.
    using Write = std::function<void(std::string_view text)>;
    explicit ChromeWriter(Write write) : write_(std::move(write)) {}

    void start(const TimelineFacts& facts, std::uint64_t time) override;
    void add_track(const Track& track) override;
    void begin(const Happening& slice) override;
    void end(std::uint32_t track, std::uint64_t time, std::span<const Argument> arguments) override;
    void instant(const Happening& instant) override;
    void count(std::uint32_t track, std::uint64_t time, std::int64_t value) override;
    void switch_task(const TaskSwitch& change) override;
    void wake(const Wakeup& wakeup) override;
    // Said as an instant by who calls this. Whether the task still runs behind it nobody knows.
    void lose(const Gap& gap) override;
    void finish() override;

private:
    // Where a track is shown.
    struct Place {
        std::uint64_t pid = 0, tid = 0;
        std::string name, unit;
    };
    void open_event(std::string_view phase, const Place& place, std::uint64_t time);
    void close_event();
    void add_name(std::string_view what, const Place& place, std::string_view name);
    void add_text(std::string_view key, std::string_view text);
    void add_arguments(std::span<const Argument> arguments);
    void add_flow(const Happening& what, const Place& place);
    Place& cpu_place(int cpu);

    Write write_;
    std::string out_;
    bool is_first_ = true;
    std::unordered_map<std::uint32_t, Place> places_;  // by track
    std::map<int, Place> cpus_;                        // where tasks run
    std::map<int, int> running_;  // by CPU: the thread whose slice is open; 0: none is
    std::unordered_map<std::uint64_t, bool> flows_;  // that have begun
};

}  // namespace gpufs
