#include "view/export/record_timeline.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <utility>

#include "base/file.h"
#include "support/recording.h"
#include "support/temp_file.h"

namespace gpufs {
namespace {

using test::bytes_of;

// Keeps the slices that were begun and ended, and the last value of each counter.
class Drawn : public TimelineWriter {
public:
    struct Slice {
        std::uint32_t track = 0;
        std::uint64_t begin = 0, end = 0;
        std::string how;  // it ended; empty: as usual
    };
    std::vector<Slice> slices;
    std::map<std::string, std::int64_t> counters;

    void start(const TimelineFacts&, std::uint64_t) override {}
    void add_track(const Track& track) override { names_[track.id] = track.name; }
    void begin(const Happening& slice) override {
        open_[slice.track] = slices.size();
        slices.push_back({slice.track, slice.time, 0, {}});
    }
    void end(std::uint32_t track, std::uint64_t time,
             std::span<const Argument> arguments) override {
        Slice& slice = slices[open_.at(track)];
        slice.end = time;
        if (!arguments.empty()) slice.how = arguments[0].text;
    }
    void instant(const Happening&) override {}
    void count(std::uint32_t track, std::uint64_t, std::int64_t value) override {
        counters[names_.at(track)] = value;
    }
    void switch_task(const TaskSwitch&) override {}
    void wake(const Wakeup&) override {}
    void lose(const Gap&) override {}
    void finish() override {}

private:
    std::map<std::uint32_t, std::string> names_;
    std::map<std::uint32_t, std::size_t> open_;  // by track
};

// Draws records of the events of one system, as the kernel has them.
class Drawing {
public:
    Drawing(const std::string& kernel, const std::string& system,
            const std::vector<std::string>& events)
        : system_(system) {
        trace_dat::Head head = test::recording_head({});
        std::vector<std::string> formats;
        for (const std::string& event : events)
            formats.push_back(read_file(
                cat("tests/data/formats/", kernel, "/events/", system, '/', event, "/format")));
        head.systems = {{system, std::move(formats)}};
        test::write_recording(recording_.path(), std::move(head), test::PageBuilder(100));
        file_.emplace(recording_.path());
        timeline_.emplace(*file_, drawn_);
    }

    // `fields`: what stands behind the common ones.
    void add(const std::string& event, std::uint64_t time, const std::string& fields) {
        int& id = ids_[event];
        if (id == 0) id = file_->context().events.find_format(cat(system_, ':', event))->id;
        const std::string bytes = bytes_of(static_cast<std::uint16_t>(id)) +
                                  bytes_of(std::uint16_t{0}) + bytes_of(7) + fields;
        timeline_->add({time, 0, {}, test::as_record(bytes)});
    }
    const Drawn& drawn() const { return drawn_; }
    std::vector<std::string> notes() const { return timeline_->notes(); }

private:
    std::string system_;
    test::TempFile recording_;
    std::optional<TraceFile> file_;
    Drawn drawn_;
    std::optional<RecordTimeline> timeline_;
    std::map<std::string, int> ids_;
};

std::string fence(std::uint32_t seqno) {
    constexpr std::uint32_t kName = 2 << 16 | 24;  // "d", behind the numbers
    return bytes_of(kName) + bytes_of(kName) + bytes_of(std::uint32_t{1}) + bytes_of(seqno) +
           std::string("d\0\0\0", 4);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(record_timeline)

BOOST_AUTO_TEST_CASE(the_oldest_of_too_many_fences_makes_room_for_the_next,
                     *boost::unit_test::label("long")) {
    constexpr std::uint32_t kMost = 65536;
    Drawing drawing("6.18", "dma_fence", {"dma_fence_init", "dma_fence_signaled"});
    std::uint64_t time = 1000;
    for (std::uint32_t i = 0; i < kMost + 2; ++i) drawing.add("dma_fence_init", ++time, fence(i));
    drawing.add("dma_fence_signaled", 100'000, fence(0));  // has no slice any more
    drawing.add("dma_fence_signaled", 100'001, fence(kMost + 1));

    const std::vector<Drawn::Slice>& slices = drawing.drawn().slices;
    BOOST_TEST_REQUIRE(slices.size() == kMost + 2);
    for (const std::uint32_t i : {0U, 1U}) {
        BOOST_TEST(slices[i].how == "not recorded");
        BOOST_TEST(slices[i].end == slices[kMost + i].begin);
        BOOST_TEST(slices[i].track == slices[kMost + i].track);
    }
    BOOST_TEST(slices.back().end == 100'001u);
    BOOST_TEST(slices.back().how == "");
    BOOST_TEST(std::ranges::count(slices, 0u, &Drawn::Slice::end) == kMost - 1);
    BOOST_TEST(drawing.notes().empty());
}

BOOST_AUTO_TEST_CASE(a_fence_that_begins_again_has_ended) {
    Drawing drawing("6.18", "dma_fence", {"dma_fence_init", "dma_fence_destroy"});
    drawing.add("dma_fence_init", 1000, fence(5));
    drawing.add("dma_fence_init", 1010, fence(5));
    drawing.add("dma_fence_destroy", 1020, fence(5));
    const std::vector<Drawn::Slice>& slices = drawing.drawn().slices;
    BOOST_TEST_REQUIRE(slices.size() == 2u);
    BOOST_TEST(slices[0].end == 1010u);
    BOOST_TEST(slices[0].how == "not recorded");
    BOOST_TEST(slices[1].end == 1020u);
    BOOST_TEST(slices[1].how == "destroyed without a signal");
}

BOOST_AUTO_TEST_CASE(buffers_that_are_not_counted_are_told, *boost::unit_test::label("long")) {
    constexpr std::uint64_t kMost = 1 << 18;
    Drawing drawing("6.12", "i915", {"i915_gem_object_create", "i915_gem_object_destroy"});
    const auto create = [&](std::uint64_t buffer, std::uint64_t bytes) {
        drawing.add("i915_gem_object_create", 1000, bytes_of(buffer) + bytes_of(bytes));
    };
    for (std::uint64_t i = 0; i < kMost; ++i) create(i, 4096);
    BOOST_TEST(drawing.notes().empty());
    create(5, 8192);  // one that is known takes no room
    const auto known = static_cast<std::int64_t>((kMost + 1) * 4096);
    BOOST_TEST(drawing.drawn().counters.at("buffers") == known);
    BOOST_TEST(drawing.notes().empty());
    create(kMost, 4096);
    create(kMost + 1, 4096);
    BOOST_TEST(drawing.drawn().counters.at("buffers") == known);
    drawing.add("i915_gem_object_destroy", 1000, bytes_of(std::uint64_t{5}));
    create(kMost + 2, 4096);
    BOOST_TEST(drawing.drawn().counters.at("buffers") == static_cast<std::int64_t>(kMost * 4096));
    BOOST_TEST(
        (drawing.notes() ==
         std::vector<std::string>{"2 buffers are not counted: too many were there at a time"}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
