#include "cmd/shared/pictures.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "cmd/shared/command_line.h"
#include "engine/results/report_rows.h"
#include "view/duration.h"
#include "view/monitor/report_text.h"

namespace gpufs {
namespace {

HeatMap::Counts counts_of(const std::vector<MapEntry>& entries) {
    HeatMap::Counts counts;
    for (const MapEntry& entry : entries)
        for (const HistogramBucket& bucket : entry.buckets) counts[bucket.number] += bucket.count;
    return counts;
}

// What was counted between two samples; where the map was emptied, since then.
HeatMap::Counts added_since(const HeatMap::Counts& before, const HeatMap::Counts& now) {
    HeatMap::Counts added;
    for (const auto& [bucket, count] : now) {
        const auto old = before.find(bucket);
        const std::uint64_t had = old == before.end() ? 0 : old->second;
        if (const std::uint64_t more = count >= had ? count - had : count; more != 0)
            added[bucket] = more;
    }
    return added;
}

}  // namespace

void add_picture_options(Options& options, PictureChoices& choices) {
    options.value("flame", choices.flame, "FILE", "draw them as a flame graph, an SVG file")
        .flag("reverse", choices.is_reversed, "the flame graph begins with the innermost frames")
        .flag("icicle", choices.is_icicle, "the flame graph grows downwards")
        .value("title", choices.title, "TEXT", "what stands above the picture");
}

void add_heat_option(Options& options, PictureChoices& choices) {
    options.value("heat", choices.heat, "FILE",
                  "draw histograms by time as a heat map, an SVG file");
}

void check_pictures(const PictureChoices& choices) {
    const auto needs_flame = [&](bool is_given, const char* option) {
        if (is_given && !choices.flame) throw UsageError(cat(option, " goes with --flame"));
    };
    needs_flame(choices.is_reversed, "--reverse");
    needs_flame(choices.is_icicle, "--icicle");
    if (choices.title && !choices.has_any())
        throw UsageError("--title goes with --flame or --heat");
    if (choices.flame && choices.heat && are_one_file(*choices.flame, *choices.heat))
        throw UsageError("--flame and --heat write to one file");
}

Pictures::Pictures(const PictureChoices& choices, std::string name)
    : choices_(choices), name_(std::move(name)) {
    if (choices.flame) flame_.emplace(*choices.flame);
    if (choices.heat) heat_.emplace(*choices.heat);
}

void Pictures::begin(std::uint64_t now_ns, TimeText time_text) {
    begin_ns_ = now_ns;
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

HeatPanel& Pictures::heat_of(const MapDeclaration& map) {
    const auto known = std::ranges::find(heat_maps_, map.name);
    if (known != heat_maps_.end())
        return heats_[static_cast<std::size_t>(known - heat_maps_.begin())];
    heat_maps_.push_back(map.name);
    const std::string unit =
        map.value.members.empty() ? std::string() : map.value.members[0].type.unit;
    heats_.push_back({map.name, unit, HeatMap(map.aggregation)});
    return heats_.back();
}

void Pictures::add(const MapDeclaration& map, const std::vector<Report>& reports,
                   const std::vector<MapEntry>& entries, ValueWriter& values) {
    if (!reports.empty()) titles_.try_emplace(map.name, reports.front().title);
    if (!flame_) return;
    for (const Report& report : reports) {
        const ReportRows rows = report_rows(map, report, entries);
        if (!has_stacks(rows.key)) continue;
        FlamePanel& panel = flames_of(map, report);
        for (CountedStack& stack : counted_stacks(map, rows, values)) {
            if (choices_.is_reversed) std::ranges::reverse(stack.frames);
            panel.tree.add(stack.frames, stack.weight);
        }
        return;  // others have the same stacks, with other members of the key
    }
}

void Pictures::add_column(const MapDeclaration& map, const std::vector<MapEntry>& entries,
                          std::uint64_t from_ns, std::uint64_t to_ns) {
    if (!heat_ || !map.aggregation.is_histogram()) return;
    heat_of(map).map.add(from_ns, to_ns, counts_of(entries));
}

void Pictures::sample(const MapDeclaration& map, const std::vector<MapEntry>& entries,
                      std::uint64_t now_ns) {
    if (!heat_ || !map.aggregation.is_histogram()) return;
    Sample& last = samples_.try_emplace(map.name, Sample{{}, begin_ns_}).first->second;
    Sample now{counts_of(entries), now_ns};
    heat_of(map).map.add(last.at_ns, now_ns, added_since(last.counts, now.counts));
    last = std::move(now);
}

void Pictures::pass_time(std::uint64_t now_ns) {
    for (auto& [map, sample] : samples_) sample.at_ns = std::max(sample.at_ns, now_ns);
}

bool Pictures::wants_sample(std::uint64_t now_ns) const {
    if (!heat_) return false;
    if (samples_.empty()) return true;
    // All are sampled together.
    const std::uint64_t since = now_ns - samples_.begin()->second.at_ns;
    return since >= heats_.front().map.column_ns() / 4 * 3;
}

std::string Pictures::title(const std::vector<std::string>& panels) const {
    if (choices_.title) return *choices_.title;
    return panels.size() == 1 && !panels[0].empty() ? cat(name_, ": ", panels[0]) : name_;
}

void Pictures::write() {
    if (flame_) write_flame();
    if (heat_) write_heat();
}

void Pictures::write_flame() {
    // What nothing was counted for is not drawn beside others.
    std::erase_if(flames_, [](const FlamePanel& panel) { return panel.tree.weight() == 0; });
    if (flames_.empty()) flames_.emplace_back();
    std::vector<std::string> titles;
    for (const FlamePanel& panel : flames_) titles.push_back(panel.title);
    flame_->write(flame_svg(flames_, {title(titles), choices_.is_icicle}));
}

void Pictures::write_heat() {
    std::erase_if(heats_, [](const HeatPanel& panel) { return panel.map.is_empty(); });
    std::vector<std::string> titles;
    for (HeatPanel& panel : heats_) {
        if (const auto known = titles_.find(panel.title); known != titles_.end())
            panel.title = known->second;
        titles.push_back(panel.title);
    }
    const auto time_text = [&](std::uint64_t ns) {
        return time_text_ ? time_text_(ns) : wall_clock_text(ns);
    };
    heat_->write(heat_svg(heats_, title(titles), time_text));
}

}  // namespace gpufs
