#include "engine/trace/pairs.h"

#include <algorithm>

#include "base/sorted.h"
#include "lang/event/field_value.h"

namespace gpufs {
namespace {

// Begins that wait for their end, some 300 bytes each: keys that never come again would be kept
// for ever.
constexpr std::size_t kMostOpen = 64 << 10;

bool is_longer(const RecordPairs::Pair& a, const RecordPairs::Pair& b) {
    return a.took_ns > b.took_ns;
}

}  // namespace

RecordPairs::RecordPairs(Events& events, Wanted wanted)
    : wanted_(std::move(wanted)),
      begin_(find_side(events, wanted_.begin)),
      end_(find_side(events, wanted_.end)) {}

RecordPairs::Side RecordPairs::find_side(Events& events, const std::string& name) const {
    Side side;
    const TraceEvent* event = events.find(name);
    if (!event) return side;
    side.id = event->format.id;
    for (const std::string& key : wanted_.keys) side.keys.push_back(event->format.find(key));
    return side;
}

RecordPairs::Key RecordPairs::key_of(const Side& side, const TraceRecord& record) {
    Key key;
    for (const Field* field : side.keys)
        key.push_back(field ? integer_of(*field, record.bytes)
                            : static_cast<std::uint64_t>(record.cpu));
    return key;
}

void RecordPairs::add(const TraceRecord& record) {
    const int id = record.id();
    if (id < 0) return;  // a cut one
    if (id == begin_.id) {
        Pair pair{0, record, {record.bytes.begin(), record.bytes.end()}};
        pair.begin.bytes = {};
        cut_ += !open_.insert_or_assign(key_of(begin_, record), std::move(pair)).second;
        if (open_.size() > kMostOpen) forget_older_half();
    } else if (id == end_.id) {
        auto node = open_.extract(key_of(end_, record));
        if (node.empty()) {
            ++cut_;
            return;
        }
        Pair& pair = node.mapped();
        if (record.timestamp < pair.begin.timestamp) {  // clocks of two CPUs
            ++cut_;
            return;
        }
        pair.took_ns = record.timestamp - pair.begin.timestamp;
        longest_ns_ = std::max(longest_ns_, pair.took_ns);
        ++count_;
        longest_.push_back(std::move(pair));
        std::ranges::push_heap(longest_, is_longer);
        if (longest_.size() <= wanted_.most) return;
        std::ranges::pop_heap(longest_, is_longer);
        longest_.pop_back();
    }
}

void RecordPairs::forget_older_half() {
    std::vector<std::uint64_t> times;
    times.reserve(open_.size());
    for (const auto& [key, pair] : open_) times.push_back(pair.begin.timestamp);
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    cut_ += std::erase_if(
        open_, [&](const auto& entry) { return entry.second.begin.timestamp <= *middle; });
}

void RecordPairs::forget_open() {
    cut_ += open_.size();
    open_.clear();
}

std::vector<RecordPairs::Pair> RecordPairs::longest() const {
    std::vector<Pair> pairs = longest_;
    sort_stably(pairs, is_longer);
    return pairs;
}

}  // namespace gpufs
