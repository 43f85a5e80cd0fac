#include "view/monitor/stack_order.h"

namespace gpufs {
namespace {

constexpr std::size_t kMostHeld = 10'000;

}  // namespace

void StackOrder::add(const TraceRecord& record, bool is_stack, std::string_view lines) {
    if (record.stream >= open_.size()) open_.resize(record.stream + 1);
    OpenEvents<std::uint64_t>& open = open_[record.stream];
    const auto close = [this](std::uint64_t number) {
        if (number >= written_) held_[number - written_].is_open = false;
    };
    if (!record.lost_before.is_zero()) open.close_all(close);
    const CommonFields common = common_fields(record.bytes);
    const std::uint64_t number = written_ + held_.size();
    if (!is_stack) {
        open.open(common, number, close);
    } else if (const std::uint64_t* of = open.find(common, close); of && *of >= written_) {
        held_[*of - written_].lines += lines;
        return;
    }
    held_.push_back({!is_stack, std::string(lines)});
    while (!held_.empty() && (!held_.front().is_open || held_.size() > kMostHeld)) write_front();
}

void StackOrder::write_front() {
    write_(held_.front().lines);
    held_.pop_front();
    ++written_;
}

void StackOrder::flush() {
    while (!held_.empty()) write_front();
}

}  // namespace gpufs
