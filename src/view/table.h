#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "view/columns.h"

namespace gpufs {

// Rows of cells in columns that are as wide as their widest cell, two spaces apart, below a line of
// titles:
//
//   COMM   COUNT
//   make     949
class Table {
public:
    enum class Align { left, right };
    struct Column {
        std::string title;
        Align align = Align::right;
    };
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    // One cell for each column.
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    // Lines below the row that was added last, as they are.
    void add_below(const std::string& lines);

    // Lines longer than the screen is wide are cut. Without rows only the titles.
    std::string to_text(const Screen& screen = {}) const;

private:
    void append_row(std::string& out, const std::vector<std::string>& cells,
                    const std::vector<int>& widths, const Screen& screen) const;

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
    std::vector<std::string> below_;  // as many as rows, or fewer
};

}  // namespace gpufs
