#include "view/bars.h"

#include <algorithm>

#include "base/cat.h"
#include "view/marks.h"

namespace gpufs {
namespace {

constexpr int kLabelWidth = 16, kCountWidth = 12;
constexpr std::size_t kBarWidth = 52, kNarrowBar = 10;
constexpr std::size_t kMostEmptyRows = 3;

// Without the empty ones at both ends.
std::span<const CountedRow> used_of(std::span<const CountedRow> rows) {
    while (!rows.empty() && rows.front().count == 0) rows = rows.subspan(1);
    while (!rows.empty() && rows.back().count == 0) rows = rows.first(rows.size() - 1);
    return rows;
}

}  // namespace

std::string bars_text(std::span<const CountedRow> rows, std::string_view title,
                      const Screen& screen) {
    rows = used_of(rows);
    if (rows.empty()) return {};
    int width = kLabelWidth;
    std::uint64_t most = 0;
    for (const CountedRow& row : rows) {
        width = std::max(width, static_cast<int>(columns_of(row.label)) + 1);
        most = std::max(most, row.count);
    }
    const std::size_t around = static_cast<std::size_t>(width + kCountWidth) + 3;
    const std::size_t bar =
        screen.columns == 0
            ? kBarWidth
            : std::clamp(screen.columns - std::min(screen.columns, around), kNarrowBar, kBarWidth);
    std::string text;
    append_padded(text, title, -width);
    append_padded(text, "count", kCountWidth);
    text += '\n';
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::size_t empty = 0;
        while (rows[i + empty].count == 0) ++empty;
        if (empty > kMostEmptyRows) {
            text += "...\n";
            i += empty;
        }
        append_padded(text, rows[i].label, -width);
        append_padded(text, cat(rows[i].count), kCountWidth);
        text += " |";
        const double share = static_cast<double>(rows[i].count) / static_cast<double>(most);
        append_bar(text, share, bar, screen.plot);
        text += "|\n";
    }
    return text;
}

}  // namespace gpufs
