#include "cmd/shared/pictures.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "cmd/shared/command_line.h"
#include "cmd/shared/progress.h"
#include "cmd/shared/recording_input.h"
#include "engine/recording/file.h"
#include "engine/results/report_rows.h"
#include "view/duration.h"
#include "view/export/perfetto.h"
#include "view/export/tee.h"
#include "view/losses.h"
#include "view/pictures/heat_text.h"
#include "view/report/report_cells.h"
#include "view/report/report_stacks.h"
#include "view/report/report_text.h"

namespace gpufs {

void add_picture_options(Options& options, PictureChoices& choices) {
    options.value("flame", choices.flame, "FILE", "draw stacks as a flame graph, an SVG file")
        .flag("reverse", choices.is_reversed, "the flame graph begins with the innermost frames")
        .flag("icicle", choices.is_icicle, "the flame graph grows downwards")
        .value("title", choices.title, "TEXT", "what stands above the picture");
}

void add_histogram_options(Options& options, PictureChoices& choices) {
    options
        .value("heat", choices.heat, "FILE", "draw histograms by time as a heat map, an SVG file")
        .flag("plot", choices.is_plotted, "draw histograms in the terminal, by time too");
}

void add_timeline_options(Options& options, PictureChoices& choices) {
    options
        .value("html", choices.html, "FILE", "draw it as one page with a timeline, for a browser")
        .value("perfetto", choices.perfetto, "FILE", "write the timeline for ui.perfetto.dev");
}

std::vector<OptionFile> PictureChoices::files() const {
    std::vector<OptionFile> given;
    const auto add = [&](const char* option, const std::optional<std::string>& path) {
        if (path) given.push_back({option, *path});
    };
    add("--flame", flame);
    add("--heat", heat);
    add("--html", html);
    add("--perfetto", perfetto);
    return given;
}

void check_pictures(const PictureChoices& choices) {
    const auto needs_flame = [&](bool is_given, const char* option) {
        if (is_given && !choices.flame) throw UsageError(cat(option, " goes with --flame"));
    };
    needs_flame(choices.is_reversed, "--reverse");
    needs_flame(choices.is_icicle, "--icicle");
    if (choices.title && !choices.has_files()) throw UsageError("--title goes with a picture");
    const auto files = choices.files();
    for (const auto& [option, path] : files) check_is_file(option, path);
    check_are_apart(files);
}

void check_written(const Context& ctx, const PictureChoices& choices, const std::string& input,
                   std::string_view what) {
    check_is_not_input("--output", ctx.out.file(), input, what);
    for (const auto& [option, path] : choices.files())
        check_is_not_input(option, path, input, what);
}

Pictures::Pictures(const PictureChoices& choices, std::string name)
    : choices_(choices), name_(std::move(name)) {
    if (choices.flame) flame_.emplace(*choices.flame);
    if (choices.heat) heat_.emplace(*choices.heat);
    if (choices.perfetto) perfetto_.emplace(*choices.perfetto);
    if (choices.html)
        page_.emplace(*choices.html, choices.title.value_or(cat("gpufs watch ", name_)));
}

void Pictures::begin(std::uint64_t now_ns, TimeText time_text) {
    heats_.begin(now_ns);
    time_text_ = std::move(time_text);
}

FlamePanel& Pictures::flames_of(const MapDeclaration& map, const Report& report) {
    const auto known = std::ranges::find(flame_maps_, map.name);
    if (known != flame_maps_.end())
        return flames_[static_cast<std::size_t>(known - flame_maps_.begin())];
    flame_maps_.push_back(map.name);
    FlamePanel& panel = flames_.emplace_back();
    panel.title = report.title;
    panel.unit = stack_unit(map);
    return panel;
}

void Pictures::add(const MapDeclaration& map, const std::vector<Report>& reports,
                   const MapEntries& entries, ValueWriter& values) {
    for (const Report& report : reports)
        if (page_) add_report(map, report, entries, values);
    if (!flame_) return;
    for (const Report& report : reports) {
        const ReportRows rows = shown_rows(map, report, entries, values);
        if (!has_stacks(rows.key)) continue;
        FlamePanel& panel = flames_of(map, report);
        for (CountedStack& stack : counted_stacks(map, rows, values)) {
            if (choices_.is_reversed) std::ranges::reverse(stack.frames);
            panel.tree.add(stack.frames, stack.weight);
        }
        return;  // others have the same stacks, with other members of the key
    }
}

// The title is the first line.
void Pictures::add_report(const MapDeclaration& map, const Report& report,
                          const MapEntries& entries, ValueWriter& values) {
    const std::string text =
        report_text(map, report, shown_rows(map, report, entries, values), values);
    const std::size_t title = std::min(text.find('\n'), text.size());
    if (!text.empty())
        page_->writer().add_report(text.substr(0, title),
                                   text.substr(std::min(title + 1, text.size())));
}

void Pictures::add_line(std::string_view monitor, std::uint64_t time_ns, std::string_view json) {
    page_->writer().add_line(monitor, time_ns, json);
}

void Pictures::add_note(const std::string& note) {
    if (page_) page_->writer().add_note(note);
}

void Pictures::set_recording(std::string path, Fd kept) {
    recording_ = std::move(path);
    kept_ = std::move(kept);
}

void Pictures::add_column(const MapDeclaration& map, const std::vector<Report>& reports,
                          const MapEntries& entries, std::uint64_t from_ns, std::uint64_t to_ns) {
    if (has_heats() && map.aggregation.is_histogram())
        heats_.add(map, reports, entries, from_ns, to_ns);
}

void Pictures::sample(const MapDeclaration& map, const std::vector<Report>& reports,
                      const MapEntries& entries, std::uint64_t now_ns) {
    if (has_heats() && map.aggregation.is_histogram()) heats_.sample(map, reports, entries, now_ns);
}

std::string Pictures::title(const std::vector<std::string>& panels) const {
    if (choices_.title) return *choices_.title;
    return panels.size() == 1 && !panels[0].empty() ? cat(name_, ": ", panels[0]) : name_;
}

void Pictures::write(const Output& err) {
    if (flame_) write_flame();
    if (heat_) write_heat();
    if (page_ || perfetto_) write_timelines(err);
}

void Pictures::write_timelines(const Output& err) {
    TraceFile file(recording_);
    TimelineTee tee;
    PerfettoWriter perfetto([this](std::string_view bytes) { perfetto_->add(bytes); });
    if (page_) tee.add(page_->writer());
    if (perfetto_) tee.add(perfetto);
    RecordTimeline timeline(file, tee);
    {
        Progress progress(err, file);
        for (; const TraceRecord* record = file.next(); progress.step()) timeline.add(*record);
    }
    if (perfetto_) {
        perfetto.finish();
        perfetto_->commit();
    }
    if (!page_) return;
    for (const std::string& what : file.damage()) add_note(what);
    if (!file.damage_losses().is_complete()) add_note(losses_text(file.damage_losses()));
    page_->finish(timeline);
}

void Pictures::write_flame() {
    // What nothing was counted for is not drawn beside others.
    std::erase_if(flames_, [](const FlamePanel& panel) { return panel.tree.weight() == 0; });
    if (flames_.empty()) flames_.emplace_back();
    std::vector<std::string> titles;
    for (const FlamePanel& panel : flames_) titles.push_back(panel.title);
    flame_->write(flame_svg(flames_, {title(titles), choices_.is_icicle}));
}

std::string Pictures::time_words(std::uint64_t ns) const {
    return time_text_ ? time_text_(ns) : wall_clock_text(ns);
}

std::string Pictures::plots(const Screen& screen) const {
    std::string text;
    if (!choices_.is_plotted) return text;
    for (const HeatPanel& panel : heats_.panels())
        text += cat('\n', heat_text(
                              panel, [this](std::uint64_t ns) { return time_words(ns); }, screen));
    return text;
}

void Pictures::write_heat() {
    const std::vector<HeatPanel> panels = heats_.panels();
    std::vector<std::string> titles;
    for (const HeatPanel& panel : panels) titles.push_back(panel.title);
    heat_->write(
        heat_svg(panels, title(titles), [this](std::uint64_t ns) { return time_words(ns); }));
}

}  // namespace gpufs
