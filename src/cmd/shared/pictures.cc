#include "cmd/shared/pictures.h"

#include <algorithm>

#include "base/error.h"
#include "cmd/shared/command_line.h"
#include "engine/results/report_rows.h"
#include "view/monitor/report_text.h"

namespace gpufs {

void add_picture_options(Options& options, PictureChoices& choices) {
    options.value("flame", choices.flame, "FILE", "draw them as a flame graph, an SVG file")
        .flag("reverse", choices.is_reversed, "the flame graph begins with the innermost frames")
        .flag("icicle", choices.is_icicle, "the flame graph grows downwards")
        .value("title", choices.title, "TEXT", "what stands above the picture");
}

void check_pictures(const PictureChoices& choices) {
    const auto needs_flame = [&](bool is_given, const char* option) {
        if (is_given && !choices.flame) throw UsageError(cat(option, " goes with --flame"));
    };
    needs_flame(choices.is_reversed, "--reverse");
    needs_flame(choices.is_icicle, "--icicle");
    if (choices.title && !choices.has_any()) throw UsageError("--title goes with --flame");
}

Pictures::Pictures(const PictureChoices& choices, std::string name)
    : choices_(choices), name_(std::move(name)) {
    if (choices.flame) flame_.emplace(*choices.flame);
}

FlamePanel& Pictures::panel_of(const MapDeclaration& map, const Report& report) {
    const auto known = std::ranges::find(maps_, map.name);
    if (known != maps_.end()) return panels_[static_cast<std::size_t>(known - maps_.begin())];
    maps_.push_back(map.name);
    FlamePanel& panel = panels_.emplace_back();
    panel.title = report.title;
    panel.unit = stack_unit(map);
    return panel;
}

void Pictures::add(const MapDeclaration& map, const std::vector<Report>& reports,
                   const std::vector<MapEntry>& entries, ValueWriter& values) {
    if (!flame_) return;
    for (const Report& report : reports) {
        const ReportRows rows = report_rows(map, report, entries);
        if (!has_stacks(rows.key)) continue;
        FlamePanel& panel = panel_of(map, report);
        for (CountedStack& stack : counted_stacks(map, rows, values)) {
            if (choices_.is_reversed) std::ranges::reverse(stack.frames);
            panel.tree.add(stack.frames, stack.weight);
        }
        return;  // others have the same stacks, with other members of the key
    }
}

void Pictures::write() {
    // What nothing was counted for is not drawn beside others.
    std::erase_if(panels_, [](const FlamePanel& panel) { return panel.tree.weight() == 0; });
    if (panels_.empty()) panels_.emplace_back();
    const std::string only = panels_.size() == 1 ? panels_[0].title : "";
    const FlameLook look{choices_.title.value_or(cat(name_, only.empty() ? "" : ": ", only)),
                         choices_.is_icicle};
    flame_->write(flame_svg(panels_, look));
}

}  // namespace gpufs
