#include "kernel/host/mounts.h"

#include "base/file.h"
#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

// Space, tab, newline and backslash are written as "\040" and so on (seq_path()).
std::string unescaped(std::string_view word) {
    std::string text;
    constexpr std::size_t kEscapeBytes = 4;
    while (!word.empty()) {
        const bool may_be_escape = word.front() == '\\' && word.size() >= kEscapeBytes;
        const auto code =
            may_be_escape ? whole_number<unsigned char>(word.substr(1, 3), 8) : std::nullopt;
        text += code ? static_cast<char>(*code) : word.front();
        word.remove_prefix(code ? kEscapeBytes : 1);
    }
    return text;
}

}  // namespace

std::vector<Mount> parse_mounts(std::string_view text) {
    std::vector<Mount> found;
    for (const std::string_view line : lines_of(text)) {
        // "nodev /sys/kernel/tracing tracefs rw,relatime 0 0"
        std::vector<std::string> words = split(line, ' ');
        if (words.size() > 2) found.push_back({unescaped(words[1]), std::move(words[2])});
    }
    return found;
}

std::vector<Mount> mounts() {
    return parse_mounts(read_file_if_readable("/proc/self/mounts").value_or(""));
}

}  // namespace gpufs
