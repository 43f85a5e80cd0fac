#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cmd/shared/command.h"
#include "cmd/shared/run_program.h"
#include "engine/results/losses.h"
#include "engine/results/map_contents.h"
#include "engine/results/running_program.h"
#include "engine/results/stack_maps.h"
#include "view/monitor/record_text.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// Tells what comes out of a program at work: records, reports and losses, as text or as a JSON line
// each. Text gathers and is written by flush(), or when it is much.
class MonitorPrinter {
public:
    // Borrows context and program.
    // `names` know no stacks yet.
    MonitorPrinter(Context& ctx, const RunningProgram& running, const RunChoices& choices,
                   ValueNames names);
    MonitorPrinter(const MonitorPrinter&) = delete;
    MonitorPrinter& operator=(const MonitorPrinter&) = delete;

    // Looks at the screen and the clock again; for each batch of records.
    void begin_batch();
    // Carries out the record's actions.
    void tell(const RecordLayout& layout, std::span<const std::byte> record);
    void flush();

    // Once an exit action was carried out, its status. Records behind it are not told.
    std::optional<int> exit_status() const noexcept { return exit_status_; }
    // Tells records again: those of the end programs.
    void tell_on() { is_silent_ = false; }

    // What the maps counted since they were told the last time, below the time, which is as
    // `names` show times.
    void tell_interval(std::uint64_t now_ns);
    // The same, for whoever shows it otherwise.
    struct Taken {
        const MapDeclaration* map;
        std::vector<MapEntry> entries;
    };
    std::vector<Taken> take();
    // Makes room for other stacks than those that were taken last.
    void release_stacks(const std::vector<Taken>& taken);
    // Those it was given, and the stacks. Good as long as this.
    const ValueNames& names() const noexcept { return names_; }
    // A record that is not shown.
    void pass() { ++count_; }
    // What they counted, and the losses, at the end. False when something is lost.
    // `known`: as read_losses() takes it.
    // `now_ns`: the time above what an interval began to count.
    bool tell_end(std::uint64_t now_ns, std::vector<Loss> known);

private:
    void tell_time(std::uint64_t now_ns);
    void tell_map(const MapDeclaration& map, const std::vector<MapEntry>& entries);
    void tell_report(const MapDeclaration& map, const Report& report,
                     const std::vector<MapEntry>& entries);
    void tell_summary(const Losses& losses, const std::vector<Loss>& tallies);

    Context& ctx_;
    const RunningProgram& running_;
    bool is_json_, is_folded_, is_in_intervals_;
    StackMaps stacks_;
    ValueNames names_;
    ValueWriter values_;
    RecordText records_;
    MapReader maps_;
    Screen screen_;
    std::string text_;
    std::uint64_t count_ = 0;
    std::uint64_t stack_collisions_ = 0;  // in what maps counted
    std::optional<int> exit_status_;
    bool is_silent_ = false;
    bool is_below_text_ = false;  // a report that comes now stands apart from what is above
};

}  // namespace gpufs
