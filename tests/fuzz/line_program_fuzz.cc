// The units of .debug_line: any bytes are read to their end.

#include <algorithm>

#include "fuzz/fuzz.h"
#include "lang/dwarf/lines.h"
#include "lang/symbols/function_name.h"

namespace gpufs::fuzz {

void one(std::span<const std::uint8_t> bytes) {
    const std::string text = text_of(bytes);
    const LineTexts texts{[](std::uint64_t at) { return std::to_string(at); }, {}};
    std::string_view rest = text;
    for (std::uint64_t size = line_unit_bytes(rest); size != 0 && !rest.empty();
         size = line_unit_bytes(rest)) {
        for (const CodeSpan& span : line_unit_spans(rest)) {
            expect(span.begin < span.end);
            const auto line = find_source_line(rest, texts, span.begin);
            expect(!line || (line->line != 0 && !line->file.empty()));
        }
        rest.remove_prefix(std::min<std::uint64_t>(size, rest.size()));
    }
    // Names of functions come from the same files.
    const auto [name, clone] = without_types(text);
    expect(name.size() + clone.size() <= text.size());
}

}  // namespace gpufs::fuzz
