#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/text_hash.h"
#include "view/export/protobuf.h"
#include "view/export/timeline.h"

namespace gpufs {

// Texts that a trace writes once and then means by their number, from 1 on. Of the first 4,096.
class InternedTexts {
public:
    struct Found {
        std::uint64_t number = 0;  // 0: the text has none
        bool is_new = false;
    };
    Found find(std::string_view text);

private:
    std::unordered_map<std::string, std::uint64_t, TextHash, std::equal_to<>> numbers_;
};

// Writes a timeline as Perfetto's trace of packets (perfetto/trace/trace.proto). Packets do not
// depend on later ones, so a file that is cut opens up to there.
//
// Switches and wakeups are in compact form (FtraceEventBundle.CompactSched), which leaves out what
// the switch before on the CPU tells: the task that goes. All else are events of tracks.
class PerfettoWriter : public TimelineWriter {
public:
    // Receives pieces of the file, each of whole packets.
    using Write = std::function<void(std::string_view bytes)>;
    explicit PerfettoWriter(Write write) : write_(std::move(write)) {}

    void start(const TimelineFacts& facts, std::uint64_t time) override;
    void add_track(const Track& track) override;
    void begin(const Happening& slice) override;
    void end(std::uint32_t track, std::uint64_t time, std::span<const Argument> arguments) override;
    void instant(const Happening& instant) override;
    void count(std::uint32_t track, std::uint64_t time, std::int64_t value) override;
    void switch_task(const TaskSwitch& change) override;
    void wake(const Wakeup& wakeup) override;
    void lose(const Gap& gap) override;
    void finish() override { flush(); }
    // Writes all there is so far.
    void flush();

private:
    // The switches and wakeups of one CPU that are not written yet: columns of numbers.
    struct Bundle {
        bool has_lost = false;
        std::size_t count = 0;
        std::uint64_t last_switch = 0, last_wakeup = 0;
        std::map<std::string, std::uint64_t, std::less<>> comms;
        std::vector<std::string> comm_order;
        std::string switch_times, prev_states, next_pids, next_prios, next_comms;
        std::string wakeup_times, woken_pids, target_cpus, woken_prios, woken_comms, flags;
    };
    enum class Type : std::uint64_t { begin = 1, end = 2, instant = 3, counter = 4 };

    std::size_t open_packet();
    void close_packet(std::size_t opened);
    void write_clock(std::string_view clock, std::uint64_t time);
    void write_machine(std::string_view uname);
    void add_process(const Track& thread);
    std::uint64_t intern(unsigned field, InternedTexts& texts, std::string_view text);
    void write_event(Type type, const Happening& what);
    void write_arguments(std::span<const Argument> arguments);
    static std::uint64_t comm_number(Bundle& bundle, std::string_view comm);
    Bundle& bundle_of(int cpu);
    void flush_bundle(int cpu, Bundle& bundle);
    void flush_if_full();

    Write write_;
    Protobuf out_;
    Protobuf interned_;                     // for the packet that is written next
    std::vector<std::uint64_t> arguments_;  // the numbers of the names of its arguments
    InternedTexts names_, categories_, argument_names_;
    std::unordered_set<int> processes_;
    std::map<int, Bundle> bundles_;  // by CPU
};

}  // namespace gpufs
