#pragma once

#include <vector>

#include "view/export/timeline.h"

namespace gpufs {

// Hands a timeline on to several writers, which it borrows.
class TimelineTee : public TimelineWriter {
public:
    void add(TimelineWriter& writer) { writers_.push_back(&writer); }

    void start(const TimelineFacts& facts, std::uint64_t time) override {
        for (TimelineWriter* one : writers_) one->start(facts, time);
    }
    void add_track(const Track& track) override {
        for (TimelineWriter* one : writers_) one->add_track(track);
    }
    void begin(const Happening& slice) override {
        for (TimelineWriter* one : writers_) one->begin(slice);
    }
    void end(std::uint32_t track, std::uint64_t time,
             std::span<const Argument> arguments) override {
        for (TimelineWriter* one : writers_) one->end(track, time, arguments);
    }
    void instant(const Happening& instant) override {
        for (TimelineWriter* one : writers_) one->instant(instant);
    }
    void count(std::uint32_t track, std::uint64_t time, std::int64_t value) override {
        for (TimelineWriter* one : writers_) one->count(track, time, value);
    }
    void switch_task(const TaskSwitch& change) override {
        for (TimelineWriter* one : writers_) one->switch_task(change);
    }
    void wake(const Wakeup& wakeup) override {
        for (TimelineWriter* one : writers_) one->wake(wakeup);
    }
    void lose(const Gap& gap) override {
        for (TimelineWriter* one : writers_) one->lose(gap);
    }
    void finish() override {
        for (TimelineWriter* one : writers_) one->finish();
    }

private:
    std::vector<TimelineWriter*> writers_;
};

}  // namespace gpufs
