#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "view/columns.h"

namespace gpufs {

// A table with a line of titles. Columns are as wide as their widest cell and two spaces apart:
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

    // One cell per column.
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    // Adds lines below the last row, unchanged.
    void add_below(const std::string& lines);

    // Truncates lines to the screen's width. Without rows, only the titles.
    std::string to_text(const Screen& screen = {}) const;

private:
    void append_row(std::string& out, const std::vector<std::string>& cells,
                    const std::vector<int>& widths, const Screen& screen) const;

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
    std::vector<std::string> below_;  // by row; may be shorter than rows_
};

}  // namespace gpufs
