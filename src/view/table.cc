#include "view/table.h"

#include <algorithm>
#include <cstdlib>

namespace gpufs {

void Table::add_below(const std::string& lines) {
    below_.resize(rows_.size());
    below_.back() += lines;
}

void Table::append_row(std::string& out, const std::vector<std::string>& cells,
                       const std::vector<int>& widths, const Screen& screen) const {
    const std::size_t start = out.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (i != 0) out += "  ";
        append_padded(out, cells[i], widths[i]);
    }
    // No trailing spaces.
    while (out.size() > start && out.back() == ' ') out.pop_back();
    cut_from(out, start, screen);
    out += '\n';
}

std::string Table::to_text(const Screen& screen) const {
    std::vector<std::string> titles;
    std::vector<int> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        titles.push_back(columns_[i].title);
        std::size_t most = columns_of(columns_[i].title);
        for (const auto& row : rows_) most = std::max(most, columns_of(row[i]));
        widths.push_back(static_cast<int>(most) * (columns_[i].align == Align::left ? -1 : 1));
    }
    std::string text;
    append_row(text, titles, widths, screen);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        append_row(text, rows_[i], widths, screen);
        if (i < below_.size()) text += below_[i];
    }
    return text;
}

}  // namespace gpufs
