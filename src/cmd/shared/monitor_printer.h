#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cmd/shared/command.h"
#include "engine/results/losses.h"
#include "engine/results/map_contents.h"
#include "engine/results/running_program.h"
#include "engine/results/stack_maps.h"
#include "view/monitor/record_text.h"
#include "view/monitor/value_text.h"

namespace gpufs {

// Prints what comes out of a program at work: records, reports and losses, as text or as a JSON
// line each. Text gathers and is written by flush(), or when it is much.
class MonitorPrinter {
public:
    struct Form {
        bool json = false;
        bool folded = false;  // stacks of maps as flamegraph.pl reads them, and nothing else
        bool intervals =
            false;  // print_interval() will be called: the end has a time above it, too
    };
    // Borrows context and program. `names` know no stacks yet.
    MonitorPrinter(Context& ctx, const RunningProgram& running, Form form, ValueNames names);
    MonitorPrinter(const MonitorPrinter&) = delete;
    MonitorPrinter& operator=(const MonitorPrinter&) = delete;

    // Looks at the screen and the clock again; for each batch of records.
    void begin_batch();
    // Carries out the record's actions.
    void print(const RecordLayout& layout, std::span<const std::byte> record);
    void flush();

    // Once an exit action was carried out, its status. Records behind it are not printed.
    std::optional<int> exit_status() const noexcept { return exit_status_; }
    // Prints records again: those of the end programs.
    void print_on() { is_silent_ = false; }

    // Prints what the maps counted since the last interval, below the time, which is as `names`
    // show times.
    void print_interval(std::uint64_t now_ns);
    // The same as data, for a display that shows it in another way.
    struct Taken {
        const MapDeclaration* map;
        std::vector<MapEntry> entries;
    };
    std::vector<Taken> take();
    // Makes room for other stacks than those that were taken last.
    void release_stacks(const std::vector<Taken>& taken);
    // The names it was given, and the stacks. Good as long as this.
    const ValueNames& names() const noexcept { return names_; }
    // Counts a record that is not printed.
    void pass() { ++count_; }
    // Prints what the maps hold and what was lost, at the end. False when something was lost.
    // `known`: as read_losses() takes it.
    // `now_ns`: the time above what an interval began to count.
    bool print_end(std::uint64_t now_ns, std::vector<Loss> known);

private:
    void print_time(std::uint64_t now_ns);
    void print_map(const MapDeclaration& map, const std::vector<MapEntry>& entries);
    void print_report(const MapDeclaration& map, const Report& report,
                      const std::vector<MapEntry>& entries);
    void print_summary(const Losses& losses, const std::vector<Loss>& tallies);

    Context& ctx_;
    const RunningProgram& running_;
    Form form_;
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
