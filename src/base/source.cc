#include "base/source.h"

#include <algorithm>

#include "base/printable.h"

namespace gpufs {
namespace {

// Lines up to kWholeLine, as a comparison with the longest text is, are shown whole; of longer ones
// kShown bytes, kBefore of them in front of the caret.
constexpr std::size_t kWholeLine = 400, kShown = 160, kBefore = 60;
constexpr std::string_view kMore = "...";

// The next place that is not inside of a character of UTF-8.
std::size_t character_from(std::string_view line, std::size_t at) {
    while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80) ++at;
    return at;
}

// The part of a line that is shown for a caret at `indent`.
Span shown_part(std::string_view line, std::size_t indent) {
    if (line.size() <= kWholeLine) return {0, line.size()};
    const std::size_t begin = character_from(line, indent - std::min(indent, kBefore));
    return {begin, character_from(line, std::min(begin + kShown, line.size()))};
}

}  // namespace

std::string_view SourceText::line(std::size_t n) const {
    std::string_view rest = text;
    while (--n > 0) {
        const auto eol = rest.find('\n');
        if (eol == rest.npos) return {};
        rest.remove_prefix(eol + 1);
    }
    return rest.substr(0, rest.find('\n'));
}

SourcePos position_of(const SourceText& source, std::size_t offset) {
    const std::string_view before = std::string_view(source.text).substr(0, offset);
    const auto newlines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const auto last = before.rfind('\n');
    return {newlines + 1, last == before.npos ? before.size() + 1 : before.size() - last};
}

std::string point_at(const SourceText& source, Span at, std::string_view message) {
    const SourcePos pos = position_of(source, at.begin);
    const std::string_view line = source.line(pos.line);
    const std::size_t indent = std::min(pos.column - 1, line.size());
    const Span shown = shown_part(line, indent);
    const auto shown_text = [&](std::size_t begin, std::size_t end) {
        return printable_lines(line.substr(begin, end - begin));
    };
    std::string pad(shown.begin == 0 ? 0 : kMore.size(), ' ');
    pad += shown_text(shown.begin, indent);
    for (char& c : pad)
        if (c != '\t')
            c = ' ';  // keep tabs, so that the terminal expands them as in the line above
    // A span may extend past what is shown; the underline stops there.
    const std::size_t width = std::min(at.end - std::min(at.begin, at.end), shown.end - indent);
    const std::size_t underlined = shown_text(indent, indent + width).size();
    const std::string tail(underlined > 1 ? underlined - 1 : 0, '~');
    return cat(source.name, ':', pos.line, ':', pos.column, ": error: ", printable_lines(message),
               '\n', shown.begin == 0 ? "" : kMore, shown_text(shown.begin, shown.end),
               shown.end == line.size() ? "" : kMore, '\n', pad, '^', tail);
}

}  // namespace gpufs
