#include "view/pictures/heat_text.h"

#include <algorithm>
#include <vector>

#include "base/cat.h"
#include "view/duration.h"
#include "view/marks.h"
#include "view/monitor/histogram_scale.h"
#include "view/pictures/svg.h"

namespace gpufs {
namespace {

constexpr std::size_t kColumnsOfPipes = 80, kFewestCells = 10;
constexpr std::size_t kMostSteps = 24;
constexpr std::string_view kCount = "count";

class HeatCells {
public:
    HeatCells(const HeatPanel& panel, const Screen& screen)
        : panel_(panel), screen_(screen), scale_(panel.map.how(), kMostSteps) {
        for (const HeatMap::Column& column : panel.map.columns())
            for (const auto& [bucket, count] : column.counts) scale_.widen(bucket);
        label_ = kCount.size();
        for (std::size_t step = 0; step < scale_.size(); ++step)
            label_ = std::max(label_, columns_of(scale_.from_text(step, panel.unit)));
        const std::size_t whole = screen.columns == 0 ? kColumnsOfPipes : screen.columns;
        width_ = std::max(whole - std::min(whole, label_ + 3), kFewestCells);
        begin_ns_ = panel.map.begin_ns();
        during_ns_ = std::max<std::uint64_t>(1, panel.map.end_ns() - begin_ns_);
        counts_.assign(scale_.size(), std::vector<std::uint64_t>(width_));
        sums_.assign(width_, 0);
        for (const HeatMap::Column& column : panel.map.columns()) add(column);
        for (const auto& row : counts_)
            std::ranges::copy_if(row, std::back_inserter(ranks_), [](auto n) { return n != 0; });
        std::ranges::sort(ranks_);
    }

    std::string text(const TimeText& time_text) const {
        std::string out = cat(panel_.title, ", by time\n");
        for (std::size_t step = scale_.size(); step-- > 0;) {
            append_label(out, scale_.from_text(step, panel_.unit));
            append_row(out, counts_[step]);
        }
        append_label(out, "");
        out += cat(time_axis(), '\n');
        append_label(out, kCount);
        out += cat(sparkline(std::vector<double>(sums_.begin(), sums_.end()), screen_.plot), "|\n");
        out +=
            cat("from ", time_text(begin_ns_), "; a column is ", duration_text(during_ns_ / width_),
                ", with at most ", grouped(*std::ranges::max_element(sums_)), '\n');
        out += cat("a cell has ", grouped(ranks_.front()), " to ", grouped(ranks_.back()),
                   ", by rank: ");
        for (std::size_t level = 1; level <= heat_levels(screen_.plot); ++level)
            append_cells(out, level, 1, screen_.plot);
        return out + '\n';
    }

private:
    std::size_t cell_at(std::uint64_t ns) const {
        const double share = static_cast<double>(ns - begin_ns_) / static_cast<double>(during_ns_);
        return std::min(width_ - 1, static_cast<std::size_t>(share * static_cast<double>(width_)));
    }
    std::uint64_t middle_of(std::size_t cell) const {
        return begin_ns_ + during_ns_ / width_ * cell + during_ns_ / width_ / 2;
    }

    // To the cells whose middle it has, or to the one that has its own.
    void add(const HeatMap::Column& column) {
        std::size_t first = cell_at(column.from_ns), last = cell_at(column.to_ns);
        while (first <= last && middle_of(first) < column.from_ns) ++first;
        while (last > first && middle_of(last) >= column.to_ns) --last;
        if (first > last || middle_of(first) >= column.to_ns)
            first = last = cell_at(column.from_ns + (column.to_ns - column.from_ns) / 2);
        for (std::size_t cell = first; cell <= last; ++cell) {
            for (const auto& [bucket, count] : column.counts)
                counts_[scale_.step_of(bucket)][cell] += count;
            sums_[cell] += sum_of(column.counts);
        }
    }

    void append_label(std::string& out, std::string_view label) const {
        append_padded(out, label, static_cast<int>(label_));
        out += " |";
    }

    std::size_t level_of(std::uint64_t count) const {
        const std::size_t levels = heat_levels(screen_.plot);
        if (count == 0 || count == ranks_.back()) return count == 0 ? 0 : levels;
        const auto smaller = std::ranges::lower_bound(ranks_, count) - ranks_.begin();
        return 1 + static_cast<std::size_t>(smaller) * levels / ranks_.size();
    }

    void append_row(std::string& out, const std::vector<std::uint64_t>& row) const {
        for (std::size_t cell = 0; cell < row.size();) {
            const std::size_t level = level_of(row[cell]);
            std::size_t end = cell + 1;
            while (end < row.size() && level_of(row[end]) == level) ++end;
            append_cells(out, level, end - cell, screen_.plot);
            cell = end;
        }
        out += "|\n";
    }

    // How long after the begin, where there is room for the words.
    std::string time_axis() const {
        constexpr std::size_t kApart = 20;
        std::string axis = "0";
        for (std::size_t cell = kApart; cell < width_; cell += kApart) {
            const std::string words = duration_text(during_ns_ / width_ * cell);
            if (cell + words.size() + 1 > width_) break;
            axis.append(cell - axis.size(), ' ');
            axis += cat('|', words);
        }
        return axis;
    }

    const HeatPanel& panel_;
    const Screen& screen_;
    HistogramScale scale_;
    std::size_t label_ = 0, width_ = 0;
    std::uint64_t begin_ns_ = 0, during_ns_ = 1;
    std::vector<std::vector<std::uint64_t>> counts_;  // by step and cell
    std::vector<std::uint64_t> sums_;                 // by cell
    std::vector<std::uint64_t> ranks_;                // of the cells, sorted
};

}  // namespace

std::string heat_text(const HeatPanel& panel, const TimeText& time_text, const Screen& screen) {
    return panel.map.is_empty() ? std::string() : HeatCells(panel, screen).text(time_text);
}

}  // namespace gpufs
