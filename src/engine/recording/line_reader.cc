#include "engine/recording/line_reader.h"

#include <span>

#include "base/read_at.h"

namespace gpufs {
namespace {

constexpr std::size_t kAtOnce = 256 << 10;
constexpr std::size_t kLongestLine = 1 << 20;

}  // namespace

void LineReader::rewind() {
    *this = LineReader(file_);
}

std::optional<std::string_view> LineReader::next() {
    std::size_t searched = used_;
    for (;;) {
        const std::size_t end = held_.find('\n', searched);
        if (end != held_.npos) {
            const std::string_view line(held_.data() + used_, end - used_);
            used_ = end + 1;
            is_whole_ = true;
            ++line_;
            return line;
        }
        if (has_ended_ || held_.size() - used_ > kLongestLine) break;
        held_.erase(0, used_);
        used_ = 0;
        const std::size_t kept = searched = held_.size();
        held_.resize(kept + kAtOnce);
        const auto into = std::as_writable_bytes(std::span(held_)).subspan(kept);
        const std::size_t got = read_at(file_, at_, into, "the recording");
        held_.resize(kept + got);
        at_ += got;
        has_ended_ = got < kAtOnce;
    }
    if (used_ == held_.size()) return std::nullopt;
    const std::string_view line(held_.data() + used_, held_.size() - used_);
    used_ = held_.size();
    is_whole_ = false;
    ++line_;
    return line;
}

}  // namespace gpufs
