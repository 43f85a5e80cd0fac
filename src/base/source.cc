#include "base/source.h"

#include <algorithm>
#include <utility>

#include "base/printable.h"

namespace gpufs {
namespace {

// Lines up to kWholeLine, as a comparison with the longest text is, are shown whole; of longer ones
// kShown bytes, kBefore of them in front of the caret.
constexpr std::size_t kWholeLine = 400, kShown = 160, kBefore = 60;
constexpr std::string_view kMore = "...";

// The next place that is not inside of a character of UTF-8; of bytes that are none, one nearby.
std::size_t character_from(std::string_view line, std::size_t at) {
    constexpr std::size_t kMost = 3;  // bytes behind the first one of a character
    const std::size_t end = std::min(at + kMost, line.size());
    while (at < end && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80) ++at;
    return at;
}

// The part of a line that is shown for a caret at `indent`.
Span shown_part(std::string_view line, std::size_t indent) {
    if (line.size() <= kWholeLine) return {0, line.size()};
    const std::size_t begin =
        std::min(character_from(line, indent - std::min(indent, kBefore)), indent);
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

PlacedMessage place_message(const SourceText& source, Span at, std::string_view message,
                            std::string_view hint) {
    PlacedMessage made;
    made.name = source.name;
    made.begin = position_of(source, at.begin);
    made.end = position_of(source, std::max(at.begin, at.end));
    made.line = source.line(made.begin.line);
    made.message = message;
    made.hint = hint;
    return made;
}

SourceError::SourceError(const SourceText& source, Span at, std::string_view message,
                         std::string_view hint)
    : UsageError(point_at(source, at, message), hint),
      Placed({place_message(source, at, message, hint)}),
      at_(at) {}

std::string pointed_at(const PlacedMessage& mistake) {
    const std::string_view line = mistake.line;
    const std::size_t indent = std::min(mistake.begin.column - 1, line.size());
    const Span shown = shown_part(line, indent);
    const auto shown_text = [&](std::size_t begin, std::size_t end) {
        return printable_lines(line.substr(begin, end - begin));
    };
    std::string pad(shown.begin == 0 ? 0 : kMore.size(), ' ');
    pad += shown_text(shown.begin, indent);
    for (char& c : pad)
        if (c != '\t')
            c = ' ';  // keep tabs, so that the terminal expands them as in the line above
    // A place may extend past what is shown; the underline stops there.
    const bool is_on_line = mistake.end.line == mistake.begin.line;
    const std::size_t end =
        is_on_line ? std::min(mistake.end.column - 1, shown.end) : std::size_t{shown.end};
    const std::size_t underlined = shown_text(indent, std::max(indent, end)).size();
    const std::string tail(underlined > 1 ? underlined - 1 : 0, '~');
    return cat(mistake.name, ':', mistake.begin.line, ':', mistake.begin.column,
               ": error: ", printable_lines(mistake.message), '\n', shown.begin == 0 ? "" : kMore,
               shown_text(shown.begin, shown.end), shown.end == line.size() ? "" : kMore, '\n', pad,
               '^', tail);
}

std::string point_at(const SourceText& source, Span at, std::string_view message) {
    return pointed_at(place_message(source, at, message));
}

}  // namespace gpufs
