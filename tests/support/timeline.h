#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpufs::test {

// What a viewer makes of a file of events over time.
struct ShownTimeline {
    struct Track {
        std::uint64_t parent = 0;
        std::string name;
        int tid = -1, pid = -1;  // of a thread; of a process only pid
        bool is_counter = false;
    };
    using Arguments = std::map<std::string, std::string>;
    struct Event {
        std::uint64_t track = 0, begin = 0, end = 0;
        bool is_open = false;        // a slice without an end
        std::uint64_t repeated = 1;  // how often an instant of a page is one mark
        std::size_t depth = 0;
        std::string name, category;
        Arguments arguments;
        std::vector<std::uint64_t> flows, ending_flows;
    };
    struct Value {
        std::uint64_t track = 0, time = 0;
        std::int64_t value = 0;
    };
    struct Switch {
        std::uint64_t time = 0;
        int cpu = 0;
        std::int64_t prev_state = 0, next_pid = 0, next_prio = 0;
        std::string next_comm;
        std::uint64_t merged = 0, busy_ns = 0;  // of a page: how many are told as one
    };
    struct Wakeup {
        std::uint64_t time = 0;
        int cpu = 0;
        std::int64_t pid = 0, target_cpu = 0, prio = 0;
        std::string comm;
    };
    std::map<std::uint64_t, Track> tracks;
    std::vector<Event> slices, instants;  // in the file's order
    std::vector<Value> values;
    std::vector<Switch> switches;
    std::vector<Wakeup> wakeups;
    std::map<std::uint64_t, std::uint64_t> clocks;  // times of the snapshot, by clock
    std::uint64_t default_clock = 0, primary_clock = 0;
    std::string release;

    // "GPU 0000:03:00.0/ring gfx/run".
    std::string path_of(std::uint64_t track) const;
};

// Decodes a Perfetto trace by the published numbers of its fields. Throws std::runtime_error for
// what the format does not allow: a number without its text, an event on a track that is not
// described, an end without a begin, slices that overlap but are not within one another, times that
// go back on one track.
ShownTimeline read_perfetto(std::string_view bytes);
// The same of Chrome's trace events; tracks are numbered as their names come, and the tasks that
// run are slices of the process "Scheduler". An arrow belongs to the event in front of it.
ShownTimeline read_chrome(std::string_view json);

// The same of a page with a timeline, as its script reads it.
ShownTimeline read_page(std::string_view html);

}  // namespace gpufs::test
