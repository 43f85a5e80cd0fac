#include "view/monitor/folded.h"

#include <algorithm>
#include <string_view>

#include "base/scan.h"
#include "base/text.h"

namespace gpufs {
namespace {

constexpr std::size_t kMostFrames = 4096;

CountedStack parse_line(const SourceText& source, std::size_t begin, std::string_view line) {
    const auto fail = [&](const char* message) -> SourceError {
        return {source,
                {begin, begin + line.size()},
                message,
                "a line is outer;inner 12, as --folded prints it"};
    };
    const auto space = line.rfind(' ');
    const std::string_view number = space == line.npos ? line : line.substr(space + 1);
    CountedStack stack;
    const auto weight = whole_number<decltype(stack.weight)>(number);
    if (space == line.npos || !weight) throw fail("the line does not end with a count");
    stack.weight = *weight;
    std::string_view rest = line.substr(0, space);
    for (;;) {
        const auto semicolon = rest.find(';');
        stack.frames.push_back({std::string(rest.substr(0, semicolon)), FrameKind::user});
        if (stack.frames.size() > kMostFrames) throw fail("the stack has more than 4,096 frames");
        if (semicolon == rest.npos) return stack;
        rest.remove_prefix(semicolon + 1);
    }
}

}  // namespace

std::vector<CountedStack> parse_folded(const SourceText& source) {
    std::vector<CountedStack> stacks;
    std::size_t begin = 0;
    for (const std::string_view line : lines_of(source.text)) {
        if (!line.empty()) stacks.push_back(parse_line(source, begin, line));
        begin += line.size() + 1;
    }
    return stacks;
}

std::string folded_field(std::string text) {
    if (text.empty()) return "[no name]";
    std::ranges::replace(text, ';', ':');
    std::ranges::replace(text, '\n', ' ');
    return text;
}

}  // namespace gpufs
