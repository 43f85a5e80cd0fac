#include "engine/trace/buffer_counts.h"

#include <charconv>
#include <utility>

#include "base/text.h"

namespace gpufs {

BufferCounts& BufferCounts::operator+=(const BufferCounts& other) {
    entries += other.entries;
    read += other.read;
    overrun += other.overrun;
    dropped += other.dropped;
    commit_overrun += other.commit_overrun;
    unwritten += other.unwritten;
    return *this;
}

BufferCounts parse_buffer_counts(std::string_view stats) {
    BufferCounts counts;
    const std::pair<std::string_view, unsigned long long*> known[] = {
        {"entries", &counts.entries},
        {"read events", &counts.read},
        {"overrun", &counts.overrun},
        {"dropped events", &counts.dropped},
        {"commit overrun", &counts.commit_overrun},
        {"unwritten", &counts.unwritten}};
    for (const std::string_view line : lines_of(stats)) {
        const auto colon = line.find(": ");
        if (colon == line.npos) continue;
        for (const auto& [name, count] : known)
            if (name == line.substr(0, colon))
                std::from_chars(line.data() + colon + 2, line.data() + line.size(), *count);
    }
    return counts;
}

std::uint64_t parse_buffer_kb(std::string_view text) {
    constexpr std::string_view kExpanded = "expanded: ";
    if (const auto at = text.find(kExpanded); at != text.npos)
        text.remove_prefix(at + kExpanded.size());
    std::uint64_t kb = 0;
    std::from_chars(text.data(), text.data() + text.size(), kb);
    return kb;
}

}  // namespace gpufs
