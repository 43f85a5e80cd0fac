#include "view/monitor/top_text.h"

#include <algorithm>
#include <vector>

#include "base/cat.h"
#include "base/text.h"

namespace gpufs {
namespace {

constexpr std::string_view kInvert = "\x1b[7m", kPlain = "\x1b[0m";
// The rows of title and keys.
constexpr std::size_t kFrameRows = 2;

std::size_t body_rows(const Screen& screen) {
    return screen.rows > kFrameRows ? screen.rows - kFrameRows : 0;
}

std::string cut(std::string_view line, const Screen& screen) {
    std::string text(line);
    cut_from(text, 0, screen);
    return text;
}

// A line of the screen's width.
std::string bar(std::string_view left, std::string_view right, const Screen& screen) {
    std::string text = cut(left, screen);
    const std::size_t used = columns_of(text) + columns_of(right);
    if (used < screen.columns)
        text += cat(std::string(screen.columns - used, ' '), right);
    else
        text.append(screen.columns - columns_of(text), ' ');
    return cat(kInvert, text, kPlain);
}

}  // namespace

std::size_t last_first_line(std::string_view body, const Screen& screen) {
    const std::size_t lines = lines_of(body).size();
    return lines - std::min(lines, body_rows(screen));
}

std::string top_text(const TopPage& page, const Screen& screen) {
    const auto lines = lines_of(page.body);
    const std::size_t rows = body_rows(screen);
    const std::size_t first = std::min(page.first, last_first_line(page.body, screen));
    const std::size_t end = std::min(lines.size(), first + rows);
    std::string text = bar(page.title, "", screen);
    for (std::size_t i = first; i < first + rows; ++i)
        text += cat('\n', i < end ? cut(lines[i], screen) : std::string());
    if (screen.rows < kFrameRows) return text;
    const std::string shown =
        end - first < lines.size() ? cat("lines ", first + 1, "-", end, " of ", lines.size()) : "";
    return text + cat('\n', bar(page.keys, shown, screen));
}

}  // namespace gpufs
