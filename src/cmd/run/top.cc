#include "cmd/run/top.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/cat.h"
#include "base/units.h"
#include "cmd/run/gpu_section.h"
#include "cmd/shared/screen.h"
#include "engine/results/report_rows.h"
#include "view/report/report_cells.h"
#include "view/report/report_text.h"

namespace gpufs {
namespace {

// The columns that the sort key cycles through; empty: the report's own. A report without the
// column keeps its own order.
constexpr std::array<std::string_view, 4> kSorts = {"", "count", "max", "key"};

std::string_view owner_of(std::string_view map) {
    return map.substr(0, std::min(map.find('.'), map.size()));
}

// The names of the monitors in a merged program, in order of appearance.
std::vector<std::string> monitors_in(const Program& program) {
    std::vector<std::string> names;
    for (const ProbeProgram& probe : program.programs) {
        const std::string owner(owner_of(probe.name));
        if (owner != probe.name && std::ranges::find(names, owner) == names.end())
            names.push_back(owner);
    }
    return names;
}

// Several reports of a map have different rows.
std::string report_name(const MonitorPrinter::Taken& taken, std::size_t number) {
    return cat(taken.map->name, ' ', number);
}

}  // namespace

Top::Top(Context& ctx, const Program& program, MonitorPrinter& printer,
         std::chrono::nanoseconds interval)
    : ctx_(ctx),
      program_(program),
      printer_(printer),
      interval_(interval),
      values_(printer.names()),
      monitors_(monitors_in(program)),
      plot_(plot_of(ctx.out.fd())),
      screen_(STDIN_FILENO, ctx.out.fd()) {
    page_.body = "waiting for the first interval\n";
    draw();
}

void Top::tick(std::uint64_t now_ns) {
    std::vector<MonitorPrinter::Taken> taken = printer_.take(MonitorPrinter::Histograms::rows);
    std::string when = printer_.begin_intervals(now_ns);
    GpuSection* gpus = printer_.gpus();
    if (gpus) gpus->take();
    add_trends(taken);
    if (is_paused_) return;
    shown_trends_ = trends_;
    if (gpus) gpu_text_ = gpus->text({});
    values_.look_at_clock();
    when_ = std::move(when);
    taken_ = std::move(taken);
    printer_.release_stacks(taken_);
    has_begun_ = true;
    draw();
}

bool Top::handle_keys() {
    while (const auto pressed = screen_.next_key())
        if (!handle(*pressed)) return false;
    return true;
}

bool Top::handle(Key pressed) {
    const auto rows = static_cast<std::ptrdiff_t>(size_.rows);
    switch (pressed) {
        case U'q':
        case key::kEscape:
            return false;
        case U'p':
        case U' ':
            is_paused_ = !is_paused_;
            break;
        case U's':
            sort_ = (sort_ + 1) % kSorts.size();
            break;
        case U'm':
        case U'\t':
            shown_ = (shown_ + 1) % (monitors_.size() + 1);
            page_.first = 0;
            break;
        case key::kUp:
        case U'k':
            scroll(-1);
            break;
        case key::kDown:
        case U'j':
            scroll(1);
            break;
        case key::kPageUp:
            scroll(-rows);
            break;
        case key::kPageDown:
            scroll(rows);
            break;
        case key::kHome:
            page_.first = 0;
            break;
        case key::kEnd:
            page_.first = page_.body.size();
            break;
        default:
            return true;
    }
    draw();
    return true;
}

void Top::scroll(std::ptrdiff_t lines) {
    const auto last = static_cast<std::ptrdiff_t>(last_first_line(page_.body, size_));
    const auto first = std::min(static_cast<std::ptrdiff_t>(page_.first), last);
    page_.first = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(first + lines, 0, last));
}

void Top::add_trends(const std::vector<MonitorPrinter::Taken>& taken) {
    for (const MonitorPrinter::Taken& one : taken)
        for (std::size_t i = 0; i < one.reports.size(); ++i)
            trends_.add(report_name(one, i), *one.map,
                        shown_rows(*one.map, one.reports[i], one.entries, values_));
}

std::string Top::report(const MonitorPrinter::Taken& taken, std::size_t number) {
    Report report = taken.reports[number];
    // Histograms would leave no room for anything else.
    report.is_table = report.is_table || taken.map->aggregation.is_histogram();
    if (!kSorts[sort_].empty()) report.sort = kSorts[sort_];
    const ReportRows rows = shown_rows(*taken.map, report, taken.entries, values_);
    const std::vector<std::string> trends =
        shown_trends_.texts(report_name(taken, number), *taken.map, rows, plot_);
    return report_text(*taken.map, report, rows, values_, size_, trends);
}

std::string Top::body() {
    std::string text = shown_ == 0 ? gpu_text_ : "";
    for (const MonitorPrinter::Taken& taken : taken_) {
        if (shown_ != 0 && owner_of(taken.map->name) != monitors_[shown_ - 1]) continue;
        std::vector<std::string> parts;
        if (!taken.picture.empty()) parts.push_back(taken.picture);
        for (std::size_t i = 0; i < taken.reports.size(); ++i) parts.push_back(report(taken, i));
        for (const std::string& lines : parts)
            if (!lines.empty()) text += cat(text.empty() ? "" : "\n", lines);
    }
    return text.empty() ? std::string(kNothingCounted) : text;
}

void Top::draw() {
    size_ = screen_of(ctx_.out.fd());
    if (has_begun_) page_.body = body();
    page_.title = cat("gpufs  ", shown_ == 0 ? program_.name : monitors_[shown_ - 1], "   every ",
                      duration_to_text(interval_), "   ", when_, is_paused_ ? "   paused" : "");
    page_.keys = cat("q quit  p pause  s sort: ", sort_ == 0 ? "as declared" : kSorts[sort_],
                     monitors_.empty() ? "" : "  m next monitor", "  up/down scroll");
    screen_.show(top_text(page_, size_));
}

}  // namespace gpufs
