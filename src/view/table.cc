#include "view/table.h"

#include <algorithm>
#include <numeric>

#include "base/cat.h"

namespace gpufs {
namespace {

constexpr std::string_view kBetween = "  ";  // two columns
constexpr std::string_view kLeftOut = "..";
constexpr std::size_t kLeastText = 20;  // of a text, so much is worth to be shown

std::string begin_of(std::string_view text, std::size_t columns) {
    std::string begin(text);
    cut_from(begin, 0, {columns});
    return begin;
}

// More of the begin than of the end.
std::string without_middle(std::string_view text, std::size_t has, std::size_t width) {
    const std::size_t kept = width - kLeftOut.size(), end = kept * 2 / 5;
    return cat(begin_of(text, kept - end), kLeftOut, without_columns(text, has - end));
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
    for (const Column& column : columns_) {
        text_ += column.title;
        end_cell();
    }
}

void Table::add(const std::vector<std::string>& row) {
    for (const std::string& cell : row) {
        text_ += cell;
        end_cell();
    }
}

void Table::end_cell() {
    const std::string_view cell = std::string_view(text_).substr(begin_);
    cells_.push_back(
        {static_cast<std::uint32_t>(cell.size()), static_cast<std::uint32_t>(columns_of(cell))});
    begin_ = text_.size();
}

void Table::add_below(std::string_view lines) {
    below_[cells_.size()] += lines;
}

std::size_t Table::fit(std::vector<std::size_t>& widths, const Screen& screen) const {
    const auto total = [](const std::vector<std::size_t>& all) {
        return std::accumulate(all.begin(), all.end(), kBetween.size() * (all.size() - 1));
    };
    const std::size_t whole = total(widths);
    if (screen.columns == 0 || whole <= screen.columns) return screen.columns;
    for (std::size_t i = 0; i < widths.size(); ++i)
        if (columns_[i].align == Align::newest)
            widths[i] -= std::min(whole - screen.columns, widths[i] - cells_[i].columns);
    for (std::size_t used = total(widths); used > screen.columns; --used) {
        std::size_t* widest = nullptr;
        for (std::size_t i = 0; i < widths.size(); ++i)
            if (columns_[i].align == Align::left && widths[i] > (widest ? *widest : kLeastText))
                widest = &widths[i];
        if (!widest) break;
        --*widest;
    }
    std::size_t end = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::size_t before = end;
        end += widths[i] + (i == 0 ? 0 : kBetween.size());
        if (end <= screen.columns) continue;
        const bool is_text = columns_[i].align == Align::left || i == 0;
        return is_text ? screen.columns : before;
    }
    return end;
}

std::string Table::to_text(const Screen& screen) const {
    std::vector<std::size_t> widths(columns_.size());
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        std::size_t& width = widths[i % columns_.size()];
        width = std::max<std::size_t>(width, cells_[i].columns);
    }
    const Screen shown{fit(widths, screen), screen.rows, screen.plot};
    std::string out;
    const auto below_at = [&](std::size_t cells) {
        if (const auto below = below_.find(cells); below != below_.end()) out += below->second;
    };
    std::size_t at = 0, line = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        const std::size_t column = i % columns_.size();
        std::string_view cell = std::string_view(text_).substr(at, cells_[i].bytes);
        at += cell.size();
        const std::size_t width = widths[column], has = cells_[i].columns;
        const bool is_left = columns_[column].align == Align::left;
        std::string cut;
        if (has > width && is_left)
            cell = cut = without_middle(cell, has, width);
        else if (has > width)
            cell = without_columns(cell, has - width);
        const std::size_t padding = width - std::min(width, has);
        if (column == 0)
            line = out.size();
        else
            out += kBetween;
        if (!is_left) out.append(padding, ' ');
        out += cell;
        if (is_left) out.append(padding, ' ');
        if (column + 1 != columns_.size()) continue;
        cut_from(out, line, shown);
        // No trailing spaces.
        while (out.size() > line && out.back() == ' ') out.pop_back();
        out += '\n';
        below_at(i + 1);
    }
    return out;
}

}  // namespace gpufs
