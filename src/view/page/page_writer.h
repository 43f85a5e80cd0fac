#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text_hash.h"
#include "view/export/timeline.h"
#include "view/page/number_file.h"
#include "view/page/page_chunks.h"
#include "view/page/page_overview.h"
#include "view/page/spilled_bytes.h"

namespace gpufs {

// How much a page may hold of a kind. Of more, what happened within a short time is told as one
// item with its count: the page opens, whatever the recording's size.
struct PageLimits {
    std::uint64_t switches = 40'000'000, instants = 1'000'000, wakeups = 40'000'000;
    // More of them are in segments, which a browser reads when they are looked at.
    std::uint64_t unsegmented = 400'000, segment = 100'000;
    std::uint64_t slices = 4'000'000, counts = 1'000'000, lines = 200'000;
    std::uint64_t argument_bytes = 48 << 20;
    std::uint64_t names = 200'000;
    // A page with less has no overview: its details are read as fast.
    std::uint64_t bytes_without_overview = 512 << 10;
};

// Writes a timeline as one HTML page, which needs no other file: style, script and data are in it.
// An overview and the reports come first, so that a browser shows them while it reads the details.
// Memory: the tracks, the names, the tasks, the reports, and the slices that are open; what else is
// known before the overview lies in files without a name.
class PageWriter : public TimelineWriter {
public:
    PageWriter(WritePage write, std::string title, PageLimits limits = {});

    void start(const TimelineFacts& facts, std::uint64_t time) override;
    // One that is added again has a new name.
    void add_track(const Track& track) override;
    void begin(const Happening& slice) override;
    void end(std::uint32_t track, std::uint64_t time, std::span<const Argument> arguments) override;
    void instant(const Happening& instant) override;
    void count(std::uint32_t track, std::uint64_t time, std::int64_t value) override;
    void switch_task(const TaskSwitch& change) override;
    void wake(const Wakeup& wakeup) override;
    // What ran on the CPU is not known until its next switch. Said as an instant by who calls this.
    void lose(const Gap& gap) override;
    void finish() override;

    // A line that a monitor printed, at the time of its record; before or behind others.
    void add_line(std::string_view monitor, std::uint64_t time, std::string_view text);
    // What stands beside the timeline: text in columns, with its title.
    void add_report(std::string_view title, std::string_view text);
    // A sentence about the page's contents. All before finish().
    void add_note(std::string note) { notes_.push_back(std::move(note)); }

private:
    // Whose job a slice is; of a wait, the job that it is for.
    struct Fence {
        std::uint64_t pid = 0, context = 0, seqno = 0;
    };
    // A switch as the switch file has it.
    struct Switch {
        std::uint64_t cpu = 0, time = 0, prev_task = 0, task = 0;
        std::int64_t prev_state = 0, prio = 0;
    };
    // Written among the switches, in order of time: as one to kUnknownTask, in front of the switch
    // that came next.
    struct Unknown {
        std::uint64_t since = 0, before_switch = 0, cpu = 0;
    };
    // A slice that has begun.
    struct Open {
        std::uint64_t time = 0, flow = 0;
        std::uint32_t name = 0, category = 0, arguments = 0;
        std::string values;          // of the arguments
        std::optional<Fence> fence;  // of the category gpu
    };
    // Switches of one CPU that become one, each shorter than the grain: to the task that ran
    // longest, the idle one only where no other ran.
    struct Merged {
        std::uint64_t time = 0, prev_task = 0, task = 0, longest = 0, busy = 0, count = 0;
        std::int64_t prev_state = 0, prio = 0;
    };
    // The task of a CPU, since when, and what its last switch said.
    struct Running {
        bool is_known = false;
        Merged merged, now;
    };
    // A part of the time, whose switches and wakeups are read without those before them. Times are
    // since the begin.
    struct Segment {
        std::uint64_t from = 0, switches = 0, wakeups = 0;
    };
    struct Repeated {
        std::uint64_t time = 0, arguments = 0, count = 0;
        std::uint32_t category = 0;
    };

    void see(std::uint64_t time);
    std::uint32_t name_of(std::string_view text);
    std::uint32_t task_of(int tid, std::string_view comm);
    void append_arguments(std::string& values, std::span<const Argument> arguments);
    std::uint64_t store_arguments(PageChunks& chunks, std::uint32_t count, std::string_view values);
    void write_slice(std::uint32_t track, const Open& slice, std::uint64_t duration_and_1);
    void end_open_slices();
    void write_switches();
    template <class Take>
    void each_switch(Take&& take);
    template <class Take>
    void each_run(Take&& take);
    PageOverview overview();
    void write_switch(std::uint64_t cpu, const Merged& change, std::uint64_t& last);
    void begin_segment(std::uint64_t time, std::uint64_t& last);
    void merge_switch(std::uint64_t cpu, Running& running, std::uint64_t until, std::uint64_t grain,
                      std::uint64_t& last);
    void write_instants();
    void write_wakeups();
    std::string facts_json(const PageOverview* overview) const;

    WritePage write_, write_chunk_;
    SpilledBytes chunks_;
    std::string title_;
    PageLimits limits_;
    TimelineFacts facts_;
    std::uint64_t begin_ = 0, end_ = 0;
    bool has_begun_ = false;

    std::vector<Track> tracks_;
    std::unordered_map<std::uint32_t, std::size_t> track_places_;  // in them, by id
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> names_;
    std::vector<std::string> name_order_;
    std::map<std::pair<int, std::uint32_t>, std::uint32_t> tasks_;  // by thread and name
    std::vector<std::pair<int, std::uint32_t>> task_order_;
    std::vector<std::pair<std::string, std::string>> reports_;
    std::vector<std::string> notes_;

    std::unordered_map<std::uint32_t, std::uint32_t>
        rings_;  // groups, by the tracks that jobs run on
    std::unordered_set<std::uint32_t> job_counters_;
    std::unordered_map<std::uint32_t, std::vector<Open>> open_;  // by track
    PageChunks slices_, slice_values_, gpu_slices_, instants_, instant_values_, counts_, switches_,
        wakeups_, lines_;
    std::uint64_t last_slice_ = 0, last_slice_flow_ = 0, last_slice_values_ = 0;
    std::uint64_t last_gpu_slice_ = 0, last_seqno_ = 0, last_count_ = 0, last_line_ = 0;
    std::unordered_map<std::uint32_t, std::uint64_t> last_values_;  // of counters, by track
    std::unordered_map<std::uint64_t, std::uint64_t> last_tasks_;   // that came, by CPU
    std::unordered_map<std::uint64_t, std::uint64_t> last_prios_;   // by task
    std::uint64_t left_out_values_ = 0, left_out_slices_ = 0, left_out_counts_ = 0,
                  left_out_lines_ = 0;

    // What is written when all is known.
    NumberFile switch_file_, instant_file_, wakeup_file_, job_file_;
    std::uint64_t switch_count_ = 0, instant_count_ = 0, wakeup_count_ = 0, job_count_ = 0;
    std::uint64_t last_switch_ = 0, last_instant_ = 0, last_wakeup_ = 0;
    std::unordered_map<std::uint64_t, bool> cpus_;  // of switches: whether what runs is known
    std::unordered_set<std::uint64_t> repeated_;    // tracks and names of instants
    std::vector<Unknown> unknown_;
    Loss lost_;
    std::uint64_t switch_grain_ = 0, instant_grain_ = 0;
    std::vector<Segment> segments_;  // none: all at once
};

// A page from the parts of this folder: what stands before the facts, they and the scripts, and
// what stands behind the details, which follow.
std::string page_head(std::string_view title);
std::string page_scripts(std::string_view facts_json);
std::string page_tail();

}  // namespace gpufs
