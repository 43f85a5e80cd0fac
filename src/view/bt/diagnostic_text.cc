#include "view/bt/diagnostic_text.h"

#include <algorithm>

#include "base/cat.h"
#include "base/printable.h"

namespace gpufs::bt {
namespace {

// A tab is shown as so many blanks, so that marks stand below what they mark.
constexpr std::size_t kTabBlanks = 4;

std::string without_tabs(std::string_view line) {
    std::string text;
    for (const char c : line)
        if (c == '\t')
            text.append(kTabBlanks, ' ');
        else
            text += c;
    return text;
}

}  // namespace

std::string place_words(const PlacedMessage& at) {
    if (at.end.line != at.begin.line)
        return gpufs::cat(at.name, ':', at.begin.line, '-', at.end.line);
    return gpufs::cat(at.name, ':', at.begin.line, ':', at.begin.column, '-', at.end.column);
}

std::string marked_line(const PlacedMessage& at) {
    if (at.end.line != at.begin.line) return {};
    const std::string_view line = at.line;
    const std::size_t begin = std::min(at.begin.column - 1, line.size()),
                      end = std::min(at.end.column - 1, line.size());
    const auto width = [&](std::size_t from, std::size_t to) {
        return printable_lines(without_tabs(line.substr(from, to - from))).size();
    };
    return gpufs::cat(printable_lines(without_tabs(line)), '\n', std::string(width(0, begin), ' '),
                      std::string(std::max<std::size_t>(width(begin, end), 1), '~'), '\n');
}

std::string diagnostic_text(std::string_view severity, const PlacedMessage& message) {
    std::string text = gpufs::cat(place_words(message), ": ", severity, ": ",
                                  printable_lines(message.message), '\n', marked_line(message));
    if (!message.hint.empty()) text += gpufs::cat("HINT: ", message.hint, '\n');
    return text;
}

}  // namespace gpufs::bt
