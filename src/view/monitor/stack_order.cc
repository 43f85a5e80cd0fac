#include "view/monitor/stack_order.h"

namespace gpufs {
namespace {

constexpr std::size_t kMostHeld = 10'000;

}  // namespace

void StackOrder::add(std::size_t stream, bool is_stack, std::string_view lines) {
    const auto open = open_.find(stream);
    if (is_stack && open != open_.end()) {
        held_[open->second - written_].lines += lines;
        return;
    }
    if (open != open_.end()) {
        held_[open->second - written_].is_open = false;
        open_.erase(open);
    }
    if (!is_stack) open_[stream] = written_ + held_.size();
    held_.push_back({stream, !is_stack, std::string(lines)});
    while (!held_.empty() && (!held_.front().is_open || held_.size() > kMostHeld)) write_front();
}

void StackOrder::write_front() {
    const Entry& entry = held_.front();
    write_(entry.lines);
    if (entry.is_open) open_.erase(entry.stream);
    held_.pop_front();
    ++written_;
}

void StackOrder::flush() {
    while (!held_.empty()) write_front();
}

}  // namespace gpufs
