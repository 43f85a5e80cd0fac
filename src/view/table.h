#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "view/columns.h"

namespace gpufs {

// A table with a line of titles. Columns are as wide as their widest cell and two spaces apart:
//
//   COMM   COUNT
//   make     949
class Table {
public:
    // newest: as right; but on a screen that is too narrow, cells lose their begin, not their end,
    // as far as the title leaves them room.
    enum class Align { left, right, newest };
    struct Column {
        std::string title;
        Align align = Align::right;
    };
    explicit Table(std::vector<Column> columns);

    // One cell per column.
    void add(const std::vector<std::string>& row);
    // The same, without a text for each cell: append one cell after the other to text(), and end
    // each with end_cell().
    std::string& text() noexcept { return text_; }
    void end_cell();
    // Adds lines below the last row, unchanged.
    void add_below(std::string_view lines);

    // On a screen that is too narrow, the longest texts lose their middle first, so that the
    // numbers behind them are seen: "at::native::vec..array<char*, 1ul> >". Truncates lines to the
    // screen's width; of a column that is aligned to the right nothing is shown where it has no
    // room for the whole, because the begin of a number is another number. Without rows, only the
    // titles.
    std::string to_text(const Screen& screen = {}) const;

private:
    struct Cell {
        std::uint32_t bytes = 0;    // of text_, behind those of the cell before
        std::uint32_t columns = 0;  // on the screen
    };

    // Where the screen is too narrow for these widths, those of `newest` columns become less, and
    // then those of the widest texts.
    // Returns how many columns of the screen are used, 0: as many as there are.
    std::size_t fit(std::vector<std::size_t>& widths, const Screen& screen) const;

    std::vector<Column> columns_;
    std::string text_;                          // of all cells, one behind the other
    std::size_t begin_ = 0;                     // in text_, of the cell that is not ended
    std::vector<Cell> cells_;                   // row by row, the titles first
    std::map<std::size_t, std::string> below_;  // by number of cells before
};

}  // namespace gpufs
