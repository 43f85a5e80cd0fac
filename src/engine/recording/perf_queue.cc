#include "engine/recording/perf_queue.h"

#include <algorithm>
#include <limits>

namespace gpufs {

void PerfQueue::add(std::uint64_t time, perf_data::Bytes record) {
    if (taken_ == entries_.size()) {
        bytes_.clear();
        entries_.clear();
        taken_ = released_ = 0;
    }
    entries_.push_back({time, bytes_.size(), record.size()});
    bytes_.insert(bytes_.end(), record.begin(), record.end());
    latest_ = std::max(latest_, time);
}

// Records at one time stay in the order in which they came.
void PerfQueue::release(std::uint64_t up_to) {
    const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(released_);
    std::stable_sort(begin, entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.time < b.time; });
    const auto end = std::upper_bound(begin, entries_.end(), up_to,
                                      [](std::uint64_t t, const Entry& e) { return t < e.time; });
    released_ = static_cast<std::size_t>(end - entries_.begin());
}

void PerfQueue::end_round() {
    release(latest_of_round_before_);
    latest_of_round_before_ = latest_;
}

void PerfQueue::end() {
    release(std::numeric_limits<std::uint64_t>::max());
}

void PerfQueue::give_way() {
    const std::size_t half = released_ + (entries_.size() - released_) / 2;
    release(0);
    if (half < entries_.size()) release(entries_[half].time);
}

// Moves what is left to the begin, in the order of the entries.
void PerfQueue::compact() {
    std::vector<std::byte> kept;
    std::vector<Entry> entries;
    for (std::size_t i = taken_; i < entries_.size(); ++i) {
        const Entry& e = entries_[i];
        entries.push_back({e.time, kept.size(), e.size});
        const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(e.at);
        kept.insert(kept.end(), from, from + static_cast<std::ptrdiff_t>(e.size));
    }
    bytes_ = std::move(kept);
    entries_ = std::move(entries);
    taken_ = released_ = 0;
}

perf_data::Bytes PerfQueue::take() {
    if (taken_ == released_) {
        if (taken_ > 0) compact();
        return {};
    }
    const Entry& e = entries_[taken_++];
    return std::span<const std::byte>(bytes_).subspan(e.at, e.size);
}

}  // namespace gpufs
