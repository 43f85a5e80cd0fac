#include "engine/symbols/source_lines.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/sorted.h"

namespace gpufs {
namespace {

// A unit's header begins with its length field of up to 12 bytes.
constexpr std::size_t kLengthBytes = 12;

std::string_view read_unit(const SectionBytes& section, std::uint64_t at, std::string& scratch) {
    const std::uint64_t bytes = line_unit_bytes(section.read(at, kLengthBytes, scratch));
    // A length beyond the section means a damaged file.
    if (bytes == 0 || bytes > section.size() - at) return {};
    return section.read(at, static_cast<std::size_t>(bytes), scratch);
}

}  // namespace

void SourceLines::index() {
    is_indexed_ = true;
    std::string scratch;
    for (std::uint64_t at = 0; at < sections_.line.size();) {
        const std::string_view unit = read_unit(sections_.line, at, scratch);
        if (unit.empty()) break;
        for (const CodeSpan& span : line_unit_spans(unit)) {
            // Merge adjacent spans: with a section per function, each function is a span.
            if (!stretches_.empty() && stretches_.back().unit == at &&
                stretches_.back().span.end == span.begin) {
                stretches_.back().span.end = span.end;
            } else {
                stretches_.push_back({span, at});
            }
        }
        at += unit.size();
    }
    sort_stably(stretches_, {}, [](const Stretch& s) { return s.span.begin; });
}

std::optional<SourceLine> SourceLines::find(std::uint64_t address) {
    if (!is_indexed_) index();
    const auto begin_of = [](const Stretch& s) { return s.span.begin; };
    const auto after = std::ranges::upper_bound(stretches_, address, {}, begin_of);
    if (after == stretches_.begin() || address >= std::prev(after)->span.end) return std::nullopt;
    std::string scratch;
    const std::string_view unit = read_unit(sections_.line, std::prev(after)->unit, scratch);
    const LineTexts texts{[&](std::uint64_t at) { return sections_.line_str.text(at); },
                          [&](std::uint64_t at) { return sections_.str.text(at); }};
    return find_source_line(unit, texts, address);
}

}  // namespace gpufs
