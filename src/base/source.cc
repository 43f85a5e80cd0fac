#include "base/source.h"

#include <algorithm>

#include "base/printable.h"

namespace gpufs {

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
    std::string pad = printable_lines(line.substr(0, indent));
    for (char& c : pad)
        if (c != '\t')
            c = ' ';  // keep tabs, so that the terminal expands them as in the line above
    // A span may extend past the line's end; the underline stops there.
    const std::size_t width = std::min(at.end - std::min(at.begin, at.end), line.size() - indent);
    const std::size_t underlined = printable_lines(line.substr(indent, width)).size();
    const std::string tail(underlined > 1 ? underlined - 1 : 0, '~');
    return cat(source.name, ':', pos.line, ':', pos.column, ": error: ", printable_lines(message),
               '\n', printable_lines(line), '\n', pad, '^', tail);
}

}  // namespace gpufs
