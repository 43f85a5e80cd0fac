#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cmd/run/run_printer.h"
#include "cmd/shared/command.h"
#include "engine/results/lost_counters.h"
#include "engine/results/map_contents.h"
#include "engine/results/running_program.h"
#include "engine/results/stack_maps.h"
#include "view/bt/script_tables.h"
#include "view/monitor/record_text.h"
#include "view/monitor/value_text.h"

namespace gpufs {

class GpuSection;
class Pictures;

// The object that a run of a program ends with: how many records it printed, and what was lost.
std::string run_end_json(std::uint64_t records, const LossLedger& losses,
                         const std::vector<Tally>& tallies);

// What stands below the times of an interval instead of maps that are all empty.
inline constexpr std::string_view kNothingCounted = "nothing counted in this interval\n";

// Prints the output of a running program: records, reports and losses, as text or as JSON lines.
// Output is buffered until flush() or until the buffer is large.
class MonitorPrinter : public RunPrinter {
public:
    struct Form {
        bool json = false;
        bool folded = false;  // only stacks of maps, in the input format of flamegraph.pl
        bool intervals =
            false;             // print_interval() will be called: the end has a time above it, too
        bool plotted = false;  // histograms with what the terminal has
        Controls controls = Controls::escaped;
        Pictures* pictures = nullptr;  // get what is printed at the end and of intervals
    };
    // Keeps references to the context and the program. `names` need not resolve stacks.
    MonitorPrinter(Context& ctx, RunningProgram& running, Form form, ValueNames names);
    MonitorPrinter(const MonitorPrinter&) = delete;
    MonitorPrinter& operator=(const MonitorPrinter&) = delete;

    // Reads the screen size and the clock; call it for each batch of records.
    void begin_batch() override;
    // Carries out the record's actions.
    void print(const RecordLayout& layout, std::span<const std::byte> record) override;
    // Only counts it.
    void pass(const RecordLayout&, std::span<const std::byte>) override { ++count_; }
    void hand_over() override;
    void flush() override;

    // The status of the first exit action carried out. Later records are not printed.
    std::optional<int> exit_status() const noexcept override { return exit_status_; }
    // Resumes printing for the records of the end programs.
    void print_on() override { is_silent_ = false; }
    void begin_run(std::uint64_t now_ns) override;
    void sample(std::uint64_t moment_ns, std::uint64_t now_ns) override;

    // An interval begins, the first or one behind those that were taken. Returns the time as it is
    // told when the interval ends, in the format of `names`.
    std::string begin_intervals(std::uint64_t now_ns);
    // Each interval also has what processes did with the GPUs, above the maps. Keeps a reference.
    void show_gpus(GpuSection& gpus) { gpus_ = &gpus; }
    // Null if there is none.
    GpuSection* gpus() const noexcept { return gpus_; }
    // Prints a line with the times of the interval that ends now, and the maps' contents of it.
    void print_interval(std::uint64_t now_ns) override;
    // The same as data, for a display with its own format.
    struct Taken {
        const MapDeclaration* map;
        MapEntries entries;
        std::vector<Report> reports;
        std::string picture;  // what is shown instead; empty: nothing
    };
    // `drawn`: histograms of scripts are pictures, else rows of percentiles.
    enum class Histograms { rows, drawn };
    std::vector<Taken> take(Histograms scripts);
    // The maps of these are shown as reports, too. Keeps a reference.
    void show_maps_of(bt::ScriptTables& script) { scripts_.push_back(&script); }
    // Removes stacks from the stack maps, except those in `taken`.
    void release_stacks(const std::vector<Taken>& taken);
    // Lines that print_end() prints below the reports.
    void show_below(std::string lines) { below_ = std::move(lines); }
    // The names given to the constructor, with stacks. Valid as long as this object.
    const ValueNames& names() const noexcept { return names_; }
    // A record was printed by somebody else, above what comes next here.
    void note_lines() {
        ++count_;
        is_below_text_ = true;
    }
    // Neither a record nor anything that a map has was printed.
    bool is_empty() const noexcept { return count_ == 0 && !has_counted_; }
    // Prints the final map contents and the losses, and returns these. `known`: see read_losses().
    // `now_ns`: the time for the last, incomplete interval.
    LossLedger print_end(std::uint64_t now_ns, LossLedger known) override;

private:
    void draw_line(const RecordLayout& layout, std::span<const std::byte> record);
    std::string time_text(std::uint64_t ns);
    void print_times(std::uint64_t now_ns);
    void print_gpus();
    void tell_if_empty();  // where nothing stands below the times of an interval
    void print_map(const MapDeclaration& map, MapEntries entries);
    void print_taken(Taken taken);
    void draw(const Taken& taken, std::uint64_t now_ns);
    Taken shown(const MapDeclaration& map, MapEntries entries, Histograms scripts);
    std::vector<const MapDeclaration*> data_of_scripts() const;
    void print_report(const MapDeclaration& map, const Report& report, MapEntries entries);
    void print_summary(const LossLedger& losses, const std::vector<Tally>& tallies);

    Context& ctx_;
    RunningProgram& running_;
    Form form_;
    StackMaps stacks_;
    ValueNames names_;
    ValueWriter values_;
    RecordText records_;
    RecordText drawn_records_;  // for a page
    MapReader maps_;
    Screen screen_;
    std::string text_, below_;
    std::uint64_t count_ = 0;
    std::uint64_t interval_begin_ns_ = 0;  // of the current interval
    std::uint64_t during_ns_ = 0;          // how long the interval was that is being printed
    std::string interval_from_;            // the same, as it is told
    std::uint64_t stack_collisions_ = 0;   // in the contents of maps
    std::optional<int> exit_status_;
    GpuSection* gpus_ = nullptr;
    std::vector<bt::ScriptTables*> scripts_;
    bool has_counted_ = false;
    bool is_silent_ = false;
    bool is_below_text_ = false;  // a following report is separated by an empty line
};

}  // namespace gpufs
