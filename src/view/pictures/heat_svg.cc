#include "view/pictures/heat_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/cat.h"
#include "view/duration.h"
#include "view/monitor/value_text.h"
#include "view/pictures/svg.h"

namespace gpufs {
namespace {

// In pixels.
constexpr double kHeatWidth = 1200, kHeatTop = 44, kLeft = 84, kRight = 176, kSums = 60, kMap = 360,
                 kBelow = 76, kGap = 6;
constexpr double kMapWidth = kHeatWidth - kLeft - kRight;
constexpr std::size_t kColours = 8;

struct Line {
    std::string_view name;
    unsigned per_mille;
};
constexpr std::array<Line, 3> kLines = {{{"p50", 500}, {"p95", 950}, {"p99", 990}}};

std::string amount_text(double value, const std::string& unit) {
    if (value < 0) return cat(static_cast<std::int64_t>(value), unit.empty() ? "" : " ", unit);
    return quantity_text(static_cast<std::uint64_t>(value), false, unit);
}

std::string text_at(std::string_view style, double x, double y, std::string_view text) {
    return cat("<text class=\"", style, "\" x=\"", pixels(x), "\" y=\"", pixels(y), "\">",
               xml_text(text), "</text>\n");
}

std::string rect_at(double x, double y, double width, double height) {
    return cat("x=\"", pixels(x), "\" y=\"", pixels(y), "\" width=\"", pixels(width),
               "\" height=\"", pixels(height), '"');
}

class DrawnMap {
public:
    DrawnMap(const HeatPanel& panel, const TimeText& time_text, double top)
        : panel_(panel),
          how_(panel.map.how()),
          columns_(panel.map.columns()),
          time_text_(time_text),
          rows_(how_, columns_),
          top_(top + kSums + kGap) {
        for (const HeatMap::Column& column : columns_) cells_.push_back(cells_of(column));
        for (const auto& column : cells_)
            for (const auto& [row, count] : column) counts_.push_back(count);
        std::ranges::sort(counts_);
        for (const HeatMap::Column& column : columns_)
            most_in_column_ = std::max(most_in_column_, sum_of(column.counts));
        begin_ns_ = panel.map.begin_ns();
        during_ns_ = std::max<std::uint64_t>(1, panel.map.end_ns() - begin_ns_);
    }

    std::string text() const {
        std::string out = cat("<g class=\"panel\" data-ranges=\"", xml_text(ranges()), "\">\n");
        out += cat("<g class=\"map\"><rect class=\"field\" ", rect_at(kLeft, top_, kMapWidth, kMap),
                   "/>\n");
        for (std::size_t i = 0; i < columns_.size(); ++i) append_column(out, i);
        for (const Line& line : kLines) out += percentile_line(line);
        return out + "</g>\n" + row_sums() + value_axis() + time_axis() + legend() + "</g>\n";
    }

private:
    using Cells = std::map<std::size_t, std::uint64_t>;  // by row

    Cells cells_of(const HeatMap::Column& column) const {
        Cells cells;
        for (const auto& [bucket, count] : column.counts) cells[rows_.row_of(bucket)] += count;
        return cells;
    }

    double x_of(std::uint64_t ns) const {
        return kLeft +
               kMapWidth * static_cast<double>(ns - begin_ns_) / static_cast<double>(during_ns_);
    }
    double y_of(double value) const { return top_ + kMap * (1 - rows_.height(value)); }

    std::size_t colour_of(std::uint64_t count) const {
        if (count == counts_.back()) return kColours - 1;
        const auto smaller = std::ranges::lower_bound(counts_, count) - counts_.begin();
        return static_cast<std::size_t>(smaller) * kColours / counts_.size();
    }

    // "16 us to 32 us|32 us to 64 us", what the rows hold, the lowest first.
    std::string ranges() const {
        std::string text;
        for (const HeatRows::Range& row : rows_.rows()) {
            if (!text.empty()) text += '|';
            const std::string from = amount_text(row.from, panel_.unit);
            if (!row.has_from)
                text += cat("below ", amount_text(row.to, panel_.unit));
            else if (!row.has_to)
                text += cat(from, " and more");
            else if (row.to - row.from <= 1)
                text += from;
            else
                text += cat(from, " to ", amount_text(row.to, panel_.unit));
        }
        return text;
    }

    void append_column(std::string& out, std::size_t i) const {
        const HeatMap::Column& column = columns_[i];
        const double x = x_of(column.from_ns), width = std::max(0.5, x_of(column.to_ns) - x);
        out += cat("<g class=\"column\" data-t=\"", xml_text(time_text_(column.from_ns)),
                   "\" data-d=\"", duration_text(column.to_ns - column.from_ns), "\" data-n=\"",
                   sum_of(column.counts), "\">");
        const double sum = kSums * share_of(sum_of(column.counts), most_in_column_);
        out += cat("<rect class=\"sum\" ", rect_at(x, top_ - kGap - sum, width, sum), "/>");
        for (const auto& [row, count] : cells_[i]) {
            const HeatRows::Range& range = rows_.rows()[row];
            const double y = y_of(range.to);
            out +=
                cat("<rect class=\"cell c", colour_of(count), "\" data-r=\"", row, "\" data-n=\"",
                    count, "\" ", rect_at(x, y, width, y_of(range.from) - y), "/>");
        }
        out += "</g>\n";
    }

    static double share_of(std::uint64_t part, std::uint64_t whole) {
        return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
    }
    // A step for each column, joined where nothing is between them.
    std::string percentile_line(const Line& line) const {
        std::string path;
        std::uint64_t end_ns = 0;
        for (const HeatMap::Column& column : columns_) {
            const double y =
                y_of(std::max(0.0, percentile_of(how_, column.counts, line.per_mille)));
            path +=
                cat(!path.empty() && column.from_ns == end_ns ? "L" : "M",
                    pixels(x_of(column.from_ns)), ' ', pixels(y), 'H', pixels(x_of(column.to_ns)));
            end_ns = column.to_ns;
        }
        return cat("<path class=\"line ", line.name, "\" d=\"", path, "\"/>\n");
    }

    HeatMap::Counts all_counts() const {
        HeatMap::Counts all;
        for (const HeatMap::Column& column : columns_)
            for (const auto& [bucket, count] : column.counts) all[bucket] += count;
        return all;
    }
    // "p95 186 us"
    std::string percentile_text(const Line& line, const HeatMap::Counts& counts) const {
        const double value = percentile_of(how_, counts, line.per_mille);
        return cat(line.name, ' ', amount_text(value, panel_.unit));
    }

    // All times together, to the right, with the percentiles of all.
    std::string row_sums() const {
        Cells sums;
        const HeatMap::Counts all = all_counts();
        for (const Cells& column : cells_)
            for (const auto& [row, count] : column) sums[row] += count;
        std::uint64_t most = 0;
        for (const auto& [row, count] : sums) most = std::max(most, count);
        const double left = kHeatWidth - kRight + kGap;
        std::string out = "<g class=\"beside\"><g class=\"sums\">";
        for (const auto& [row, count] : sums) {
            const HeatRows::Range& range = rows_.rows()[row];
            const double y = y_of(range.to);
            out += cat("<rect class=\"sum\" data-r=\"", row, "\" data-n=\"", count, "\" ",
                       rect_at(left, y, kSums * share_of(count, most), y_of(range.from) - y), "/>");
        }
        out += "</g>\n";
        double above = top_ + kMap + 12;  // labels keep their distance
        for (const Line& line : kLines) {
            const double value = percentile_of(how_, all, line.per_mille), y = y_of(value);
            out += cat("<path class=\"line ", line.name, "\" d=\"M", pixels(left), ' ', pixels(y),
                       'H', pixels(left + kSums), "\"/>\n");
            above = std::min(above - 12, y + 4);
            out += text_at("label", left + kSums + 4, above, percentile_text(line, all));
        }
        return out + "</g>\n";
    }

    // Powers of ten, or of two where there are few of these, or steps of one size.
    std::vector<double> ticks() const {
        const double from = rows_.rows().front().from, to = rows_.rows().back().to;
        std::vector<double> ticks;
        if (how_.kind == Aggregation::Kind::linear) {
            const auto step = static_cast<double>(how_.step);
            const double apart = std::max(1.0, std::ceil((to - from) / step / 12)) * step;
            for (double at = from; at <= to; at += apart) ticks.push_back(at);
            return ticks;
        }
        for (const double base : {10.0, 2.0}) {
            ticks.clear();
            if (from < 1) ticks.push_back(0);
            for (double at = 1; at <= to; at *= base)
                if (at >= from) ticks.push_back(at);
            if (ticks.size() > 2) break;
        }
        return ticks;
    }

    std::string value_axis() const {
        std::string out = "<g class=\"axis\">";
        for (const double value : ticks()) {
            const double y = y_of(value);
            out += cat("<path d=\"M", pixels(kLeft - 4), ' ', pixels(y), "h4\"/>",
                       text_at("value", kLeft - 8, y + 4, amount_text(value, panel_.unit)));
        }
        return out + "</g>\n";
    }

    // A nice number of nanoseconds, about a tenth of the whole.
    std::uint64_t tick_ns() const {
        std::uint64_t step = 1;
        while (step * 20 <= during_ns_) step *= 10;
        for (const std::uint64_t factor : {5U, 2U})
            if (step * factor * 8 <= during_ns_) return step * factor;
        return step;
    }

    std::string time_axis() const {
        const double y = top_ + kMap;
        std::string out = "<g class=\"axis times\">";
        const std::uint64_t step = tick_ns();
        for (std::uint64_t at = 0; at <= during_ns_; at += step) {
            const double x = x_of(begin_ns_ + at);
            out += cat("<path d=\"M", pixels(x), ' ', pixels(y), "v4\"/>",
                       text_at("time", x, y + 17, at == 0 ? "0" : short_duration(at)));
        }
        out += "</g>\n";
        return out + text_at("note", kLeft, y + 36, cat("from ", time_text_(begin_ns_)));
    }

    // "1 s", "250 ms": of round numbers.
    static std::string short_duration(std::uint64_t ns) {
        struct Unit {
            std::uint64_t ns;
            std::string_view name;
        };
        constexpr Unit kUnits[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}};
        for (const Unit& unit : kUnits)
            if (ns % unit.ns == 0) return cat(ns / unit.ns, ' ', unit.name);
        return cat(ns, " ns");
    }

    // The colours, with the least and the greatest count of each end; and the lines. Where there is
    // no room beside the map, heat.js tells the values of these, too.
    std::string legend() const {
        const double y = top_ + kMap + 54;
        const std::string least = grouped(counts_.front()), most = grouped(counts_.back());
        std::string out = "<g class=\"legend\">";
        double x = kLeft;
        out += text_at("label", x, y, least);
        x += 7.3 * static_cast<double>(least.size()) + 6;
        for (std::size_t i = 0; i < kColours; ++i, x += 18)
            out += cat("<rect class=\"c", i, "\" ", rect_at(x, y - 10, 18, 12), "/>");
        out += text_at("label", x + 6, y, cat(most, " in a cell, by rank"));
        x += 6 + 7.3 * static_cast<double>(most.size() + 19) + 24;
        const HeatMap::Counts all = all_counts();
        for (const Line& line : kLines) {
            out += cat("<g class=\"key\" data-name=\"", line.name, "\" data-value=\"",
                       xml_text(percentile_text(line, all)), "\"><path class=\"line ", line.name,
                       "\" d=\"M", pixels(x), ' ', pixels(y - 4), "h24\"/>",
                       text_at("label", x + 30, y, line.name), "</g>");
            x += 76;
        }
        return out + "</g>\n";
    }

    const HeatPanel& panel_;
    const Aggregation& how_;
    const std::vector<HeatMap::Column>& columns_;
    const TimeText& time_text_;
    HeatRows rows_;
    double top_;
    std::vector<Cells> cells_;           // by column
    std::vector<std::uint64_t> counts_;  // of the cells, sorted
    std::uint64_t begin_ns_ = 0, during_ns_ = 1;
    std::uint64_t most_in_column_ = 0;
};

}  // namespace

std::string heat_svg(const std::vector<HeatPanel>& panels, const std::string& title,
                     const TimeText& time_text) {
    std::string body = text_at("title", kHeatWidth / 2, 24, title);
    double top = kHeatTop;
    for (const HeatPanel& panel : panels) {
        if (panel.map.is_empty()) continue;
        if (panels.size() > 1) {
            body += text_at("heading", kLeft, top + 12, panel.title);
            top += 20;
        }
        body += DrawnMap(panel, time_text, top).text();
        top += kSums + kGap + kMap + kBelow;
    }
    if (top == kHeatTop) {
        body += text_at("note", kLeft, top + 12, "nothing was counted");
        top += 30;
    }
    body += cat("<g class=\"foot\">", text_at("status", kLeft, top + 10, ""), "</g>\n");
    const SvgFile file{"heat", "heat.css", "heat.js", title, kHeatWidth, top + 24};
    return svg_text(file, "", body);
}

}  // namespace gpufs
