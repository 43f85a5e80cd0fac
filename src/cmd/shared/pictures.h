#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/output.h"
#include "base/whole_file.h"
#include "cmd/shared/command.h"
#include "cmd/shared/page_file.h"
#include "engine/results/map_contents.h"
#include "lang/program/program.h"
#include "view/columns.h"
#include "view/monitor/value_text.h"
#include "view/pictures/flame_svg.h"
#include "view/pictures/heat_panels.h"

namespace gpufs {

class Options;

// What is drawn of a run.
struct PictureChoices {
    std::optional<std::string> flame, heat, html, perfetto, title;
    bool is_reversed = false, is_icicle = false;
    bool is_plotted = false;  // histograms, in the terminal

    bool has_timeline() const { return html || perfetto; }
    bool has_files() const { return flame || heat || has_timeline(); }
    // The options of the files, and their paths.
    std::vector<OptionFile> files() const;
    bool has_any() const { return has_files() || is_plotted; }
    // What is drawn by time needs samples where there is no interval.
    bool has_times() const { return heat || has_timeline() || is_plotted; }
};

// Declares the options that fill it.
void add_picture_options(Options& options, PictureChoices& choices);
// Those of commands which may have histograms.
void add_histogram_options(Options& options, PictureChoices& choices);
// Those of commands which have a timeline.
void add_timeline_options(Options& options, PictureChoices& choices);
// Throws UsageError if an option lacks another, and where two name one file.
void check_pictures(const PictureChoices& choices);
// Throws UsageError where what is to be written, the pictures or ctx.out, is the file that is read.
void check_written(const Context& ctx, const PictureChoices& choices, const std::string& input,
                   std::string_view what = "the recording");

// Collects what maps counted during a run, and draws it when that is over.
class Pictures {
public:
    // Throws SysError if a file cannot be written. Keeps a reference to the choices. `name`: of
    // what runs, for the title where none was chosen.
    Pictures(const PictureChoices& choices, std::string name);

    // The run begins. `time_text`: empty for times of CLOCK_MONOTONIC, else the words for one.
    void begin(std::uint64_t now_ns, TimeText time_text);

    // What a map held at the end of an interval, or of the run; one after the other is added up.
    void add(const MapDeclaration& map, const std::vector<Report>& reports,
             const MapEntries& entries, ValueWriter& values);
    // What a histogram counted from a time to another.
    void add_column(const MapDeclaration& map, const std::vector<Report>& reports,
                    const MapEntries& entries, std::uint64_t from_ns, std::uint64_t to_ns);
    // Where there are no intervals: what a histogram has counted since the begin.
    void sample(const MapDeclaration& map, const std::vector<Report>& reports,
                const MapEntries& entries, std::uint64_t now_ns);
    // Nothing was counted since the last samples until now.
    void pass_time(std::uint64_t now_ns) { heats_.pass_time(now_ns); }
    bool wants_sample(std::uint64_t now_ns) const {
        return has_heats() && heats_.wants_sample(now_ns);
    }

    // A line of a monitor is wanted as JSON, for the page.
    bool wants_lines() const { return page_.has_value(); }
    void add_line(std::string_view monitor, std::uint64_t time_ns, std::string_view json);
    // What is to be told on the page, too.
    void add_note(const std::string& note);
    // The recording that timelines are made of; `kept` is open as long as it is needed.
    void set_recording(std::string path, Fd kept = {});

    // The heat maps as text; empty where they are not to be plotted.
    std::string plots(const Screen& screen) const;
    // Writes the files; `err` may have a line about the progress. Throws SysError; what had their
    // names before is then unchanged.
    void write(const Output& err);

private:
    void add_report(const MapDeclaration& map, const Report& report, const MapEntries& entries,
                    ValueWriter& values);
    FlamePanel& flames_of(const MapDeclaration& map, const Report& report);
    std::string title(const std::vector<std::string>& panels) const;
    void write_flame();
    void write_heat();
    bool has_heats() const { return choices_.heat || choices_.is_plotted; }
    std::string time_words(std::uint64_t ns) const;
    void write_timelines(const Output& err);

    const PictureChoices& choices_;
    std::string name_;
    std::optional<WholeFile> flame_, heat_, perfetto_;
    std::optional<PageFile> page_;
    std::string recording_;
    Fd kept_;
    std::vector<std::string> flame_maps_;  // whose panels these are
    std::vector<FlamePanel> flames_;
    HeatPanels heats_;
    TimeText time_text_;
};

// How often to look whether a sample is due: live, and in the time of a recording.
inline constexpr std::chrono::nanoseconds kLiveSample = std::chrono::milliseconds(50),
                                          kRecordedSample = std::chrono::microseconds(100);

}  // namespace gpufs
