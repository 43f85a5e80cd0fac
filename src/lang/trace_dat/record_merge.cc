#include "lang/trace_dat/record_merge.h"

#include <cstring>
#include <utility>

#include "base/cat.h"

namespace gpufs {
namespace {

// A file that is not a trace would yield damage every few kilobytes.
constexpr std::size_t kMostTold = 100;

}  // namespace

int TraceRecord::id() const {
    if (bytes.size() < 2) return -1;
    std::uint16_t type;
    std::memcpy(&type, bytes.data(), sizeof type);
    return type;
}

RecordMerge::RecordMerge(std::vector<int> cpus, NextPage next_page, const TraceClock* clock)
    : next_page_(std::move(next_page)), clock_(clock), streams_(cpus.size()) {
    for (std::size_t i = 0; i < cpus.size(); ++i) {
        streams_[i].record.cpu = cpus[i];
        streams_[i].record.stream = i;
    }
    heap_.reserve(cpus.size());
    refill();
}

// Reads on in a stream's pages; false when they have no more records yet.
bool RecordMerge::read(std::size_t i, TraceRecord& record) {
    Stream& s = streams_[i];
    if (s.is_dry) return false;
    RingRecord found;
    while (!s.page.next(found)) {
        if (!s.page.damage().empty()) {
            if (damage_.size() < kMostTold)
                damage_.push_back(
                    cat("CPU ", s.record.cpu, ": a ring buffer page is damaged ", s.page.damage()));
            else if (damage_.size() == kMostTold)
                damage_.push_back("more pages are damaged");
            s.lost += Loss::at_least(0);
        }
        auto page = next_page_(i);
        s.is_dry = !page;
        s.page = page ? std::move(*page) : RingPage();
        if (!page) return false;
        s.lost += s.page.lost_before();
    }
    record.timestamp = clock_ ? clock_->time_of(found.timestamp, record.cpu) : found.timestamp;
    record.bytes = found.bytes;
    record.lost_before = std::exchange(s.lost, {});
    return true;
}

// Advances a stream to its next record; false when it has none yet.
bool RecordMerge::advance(std::size_t i) {
    Stream& s = streams_[i];
    if (s.ahead.empty()) return read(i, s.record);
    s.held = std::move(s.ahead.front());
    s.ahead.pop_front();
    s.record = s.held.record;
    return true;
}

void RecordMerge::refill() {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        if (!std::exchange(streams_[i].is_dry, false) || !advance(i)) continue;
        heap_.push_back(i);
        sift_up(heap_.size() - 1);
    }
}

const TraceRecord* RecordMerge::next(std::uint64_t limit) {
    if (top_is_used_) {
        top_is_used_ = false;
        if (!advance(heap_.front())) {
            heap_.front() = heap_.back();
            heap_.pop_back();
        }
        if (!heap_.empty()) sift_down(0);
    }
    if (heap_.empty()) return nullptr;
    const TraceRecord& first = streams_[heap_.front()].record;
    if (first.timestamp > limit) return nullptr;
    top_is_used_ = true;
    return &first;
}

const TraceRecord* RecordMerge::peek_behind(std::size_t n) {
    if (!top_is_used_) return nullptr;
    const std::size_t top = heap_.front();
    Stream& s = streams_[top];
    while (s.ahead.size() <= n) {
        Held next{s.record, {}};
        if (!read(top, next.record)) return nullptr;
        next.bytes.assign(next.record.bytes.begin(), next.record.bytes.end());
        next.record.bytes = next.bytes;
        s.ahead.push_back(std::move(next));
    }
    return &s.ahead[n].record;
}

const TraceRecord* RecordMerge::take_behind(std::size_t n) {
    auto& ahead = streams_[heap_.front()].ahead;
    const auto at = ahead.begin() + static_cast<std::ptrdiff_t>(n);
    taken_ = std::move(*at);
    ahead.erase(at);
    return &taken_.record;
}

bool RecordMerge::is_before(std::size_t a, std::size_t b) const {
    const std::uint64_t x = streams_[a].record.timestamp, y = streams_[b].record.timestamp;
    return x != y ? x < y : a < b;
}

void RecordMerge::sift_up(std::size_t at) {
    while (at > 0) {
        const std::size_t parent = (at - 1) / 2;
        if (!is_before(heap_[at], heap_[parent])) return;
        std::swap(heap_[at], heap_[parent]);
        at = parent;
    }
}

void RecordMerge::sift_down(std::size_t at) {
    for (;;) {
        std::size_t child = 2 * at + 1;
        if (child >= heap_.size()) return;
        if (child + 1 < heap_.size() && is_before(heap_[child + 1], heap_[child])) ++child;
        if (!is_before(heap_[child], heap_[at])) return;
        std::swap(heap_[at], heap_[child]);
        at = child;
    }
}

}  // namespace gpufs
