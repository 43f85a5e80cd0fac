#define BOOST_TEST_DYN_LINK
#include "view/page/page_writer.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>

#include "base/base64.h"
#include "base/cat.h"
#include "support/timeline.h"

namespace gpufs {
namespace {

using test::ShownTimeline;

// A page of what is done to its writer.
template <class Do>
std::string page_of(PageLimits limits, Do&& what) {
    std::string text;
    PageWriter writer([&](std::string_view piece) { text += piece; }, "a page", limits);
    writer.start({"mono", "Linux"}, 1000);
    what(writer);
    writer.finish();
    return text;
}

TaskSwitch switch_to(int pid, std::uint64_t time, int cpu) {
    TaskSwitch change;
    change.time = time;
    change.cpu = cpu;
    change.next_pid = pid;
    change.next_comm = pid == 0 ? "idle" : "busy";
    return change;
}

std::uint32_t add_lane(PageWriter& writer, std::uint32_t id) {
    Track track;
    track.id = id;
    track.name = cat("lane ", id);
    writer.add_track(track);
    return id;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(view_page)

BOOST_AUTO_TEST_CASE(base_64_has_digits_of_six_bits_and_equals_signs_behind) {
    BOOST_TEST(base64("") == "");
    BOOST_TEST(base64("f") == "Zg==");
    BOOST_TEST(base64("fo") == "Zm8=");
    BOOST_TEST(base64("foo") == "Zm9v");
    BOOST_TEST(base64("\xff\xfe\xfd") == "//79");
}

BOOST_AUTO_TEST_CASE(slices_within_each_other_end_from_the_inside) {
    const std::string page = page_of({}, [](PageWriter& writer) {
        const std::uint32_t lane = add_lane(writer, 1);
        writer.begin({lane, 1100, "outer", "c", {}});
        writer.begin({lane, 1200, "inner", "c", {}});
        writer.end(lane, 1300, {});
        const Argument why{"why", Argument::Kind::text, 0, "done"};
        writer.end(lane, 1400, {&why, 1});
        writer.begin({lane, 1500, "open", "c", {}});
    });
    const ShownTimeline shown = test::read_page(page);
    BOOST_TEST_REQUIRE(shown.slices.size() == 3u);
    BOOST_TEST(shown.slices[0].name == "inner");
    BOOST_TEST(shown.slices[0].begin == 1200u);
    BOOST_TEST(shown.slices[0].end == 1300u);
    BOOST_TEST(shown.slices[1].name == "outer");
    BOOST_TEST(shown.slices[1].begin == 1100u);
    BOOST_TEST(shown.slices[1].end == 1400u);
    BOOST_TEST(shown.slices[1].arguments.at("why") == "done");
    BOOST_TEST(shown.slices[2].name == "open");
    BOOST_TEST(shown.slices[2].is_open);
}

BOOST_AUTO_TEST_CASE(a_slice_does_not_end_before_it_begins) {
    const std::string page = page_of({}, [](PageWriter& writer) {
        const std::uint32_t lane = add_lane(writer, 1);
        writer.begin({lane, 1300, "slice", "c", {}});
        writer.end(lane, 1200, {});
    });
    const ShownTimeline shown = test::read_page(page);
    BOOST_TEST_REQUIRE(shown.slices.size() == 1u);
    BOOST_TEST(shown.slices[0].begin == 1300u);
    BOOST_TEST(shown.slices[0].end == 1300u);
}

// Whatever is told together adds up: how many switches there were, and how long the CPUs worked.
BOOST_AUTO_TEST_CASE(more_switches_than_a_page_has_room_for_are_told_together) {
    constexpr std::uint64_t kMany = 20'000, kLimit = 1000;
    PageLimits limits;
    limits.switches = kLimit;
    std::uint64_t busy = 0;
    const std::string page = page_of(limits, [&](PageWriter& writer) {
        std::uint64_t time = 1000, works_since[2] = {0, 0};  // 0: idle
        for (std::uint64_t i = 0; i < kMany; ++i) {
            const bool works = i / 2 % 2 == 0;
            writer.switch_task(switch_to(works ? 7 : 0, time, static_cast<int>(i % 2)));
            std::uint64_t& since = works_since[i % 2];
            if (since != 0) busy += time - since;
            since = works ? time : 0;
            time += i == kMany / 2 ? 1'000'000 : works ? 50 : 100;
        }
    });
    const ShownTimeline shown = test::read_page(page);
    BOOST_TEST(shown.switches.size() < kLimit);
    std::uint64_t switches = 0, told_busy = 0;
    std::uint64_t ends[2] = {0, 0};
    for (auto one = shown.switches.rbegin(); one != shown.switches.rend(); ++one) {
        switches += one->merged == 0 ? 1 : one->merged;
        std::uint64_t& end = ends[one->cpu];
        if (one->merged != 0)
            told_busy += one->next_pid != 0 ? one->busy_ns : 0;
        else if (end != 0 && one->next_pid != 0)
            told_busy += end - one->time;
        end = one->time;
    }
    BOOST_TEST(switches == kMany);
    BOOST_TEST(told_busy == busy);
}

// Nobody knows what ran on a CPU whose events were lost.
BOOST_AUTO_TEST_CASE(no_task_runs_through_a_gap) {
    const auto switches = [](PageLimits limits) {
        const std::string page = page_of(limits, [](PageWriter& writer) {
            writer.switch_task(switch_to(7, 1100, 0));
            writer.switch_task(switch_to(8, 1150, 1));
            writer.switch_task(switch_to(9, 1300, 1));
            writer.lose({0, 1200, 1400, Loss::exactly(5)});
            writer.switch_task(switch_to(7, 1400, 0));
            // Without a time between, and of a CPU that no switch was on.
            writer.lose({0, 1400, 1400, Loss::at_least(2)});
            writer.lose({2, 1400, 1400, Loss::exactly(1)});
            writer.switch_task(switch_to(8, 1500, 0));
        });
        BOOST_TEST(page.find("\"notes\":[\"lost events: 8 or more; what ran meanwhile is not "
                             "known\"]") != page.npos);
        std::string told;
        for (const ShownTimeline::Switch& one : test::read_page(page).switches)
            told += cat(one.time, " CPU ", one.cpu, ' ', one.next_comm, ' ', one.next_pid, '\n');
        return told;
    };
    const std::string expected =
        "1100 CPU 0 busy 7\n1150 CPU 1 busy 8\n1200 CPU 0 unknown 0\n1300 CPU 1 busy 9\n"
        "1400 CPU 0 busy 7\n1400 CPU 0 unknown 0\n1500 CPU 0 busy 8\n";
    BOOST_TEST(switches({}) == expected);
    PageLimits segments;
    segments.unsegmented = segments.segment = 2;
    BOOST_TEST(switches(segments) == expected);
}

// The page's own sums, where it has an overview.
BOOST_AUTO_TEST_CASE(a_gap_counts_for_no_task) {
    PageLimits limits;
    limits.bytes_without_overview = 0;
    const std::string page = page_of(limits, [](PageWriter& writer) {
        writer.switch_task(switch_to(7, 1100, 0));
        writer.lose({0, 1200, 2000, Loss::exactly(5)});
        writer.switch_task(switch_to(0, 2000, 0));
    });
    BOOST_TEST(page.find("\"processes\":[[7,100,0,0]]") != page.npos);
}

// Each item once and with its time, task and priority, wherever a segment begins.
BOOST_AUTO_TEST_CASE(many_switches_and_wakeups_are_in_segments) {
    constexpr std::uint64_t kMany = 1050, kSegment = 100;
    PageLimits limits;
    limits.unsegmented = 1000;
    limits.segment = kSegment;
    const std::string page = page_of(limits, [&](PageWriter& writer) {
        for (std::uint64_t i = 0; i < kMany; ++i) {
            TaskSwitch change = switch_to(static_cast<int>(i % 7), 1000 + i * 10, i % 3 == 0);
            change.next_prio = static_cast<int>(100 + i % 7);
            writer.switch_task(change);
            if (i % 50 != 0) continue;
            Wakeup wakeup;
            wakeup.time = 1005 + i * 10;
            wakeup.pid = static_cast<int>(i);
            writer.wake(wakeup);
        }
    });
    BOOST_TEST((page.find("\"segments\":[[0,100,2],[1000,100,2],[2000,100,2],") != page.npos));
    BOOST_TEST((page.find("[10000,50,1]]") != page.npos));
    const ShownTimeline shown = test::read_page(page);
    BOOST_TEST_REQUIRE(shown.switches.size() == kMany);
    for (std::uint64_t i = 0; i < kMany; ++i) {
        const ShownTimeline::Switch& one = shown.switches[i];
        BOOST_TEST(one.time == 1000 + i * 10);
        BOOST_TEST(static_cast<std::uint64_t>(one.next_pid) == i % 7);
        BOOST_TEST(static_cast<std::uint64_t>(one.next_prio) == 100 + i % 7);
        BOOST_TEST(one.cpu == (i % 3 == 0));
    }
    BOOST_TEST_REQUIRE(shown.wakeups.size() == kMany / 50);
    for (std::uint64_t i = 0; i < kMany / 50; ++i) {
        BOOST_TEST(shown.wakeups[i].time == 1005 + i * 500);
        BOOST_TEST(static_cast<std::uint64_t>(shown.wakeups[i].pid) == i * 50);
    }
}

BOOST_AUTO_TEST_CASE(few_switches_are_not_in_segments) {
    const std::string page =
        page_of({}, [](PageWriter& writer) { writer.switch_task(switch_to(7, 1000, 0)); });
    BOOST_TEST((page.find("\"segments\":[]") != page.npos));
}

BOOST_AUTO_TEST_CASE(more_instants_than_a_page_has_room_for_are_marks_with_their_number) {
    constexpr std::uint64_t kMany = 10'000, kLimit = 500;
    PageLimits limits;
    limits.instants = kLimit;
    const std::string page = page_of(limits, [&](PageWriter& writer) {
        const std::uint32_t lanes[] = {add_lane(writer, 1), add_lane(writer, 2)};
        for (std::uint64_t i = 0; i < kMany; ++i) {
            const std::uint64_t flow = i == 77 ? 5 : 0;  // part of an arrow
            writer.instant({lanes[i % 2], 1000 + i * 10, "event", "c", {}, flow});
        }
    });
    const ShownTimeline shown = test::read_page(page);
    BOOST_TEST(shown.instants.size() < 2 * kLimit);
    std::uint64_t told = 0;
    std::size_t arrows = 0;
    for (const ShownTimeline::Event& one : shown.instants) {
        told += one.repeated;
        if (one.flows.empty()) continue;
        ++arrows;
        BOOST_TEST(one.begin == 1770u);
        BOOST_TEST(one.repeated == 1u);
    }
    BOOST_TEST(told == kMany);
    BOOST_TEST(arrows == 1u);
}

BOOST_AUTO_TEST_CASE(what_is_left_out_is_told) {
    PageLimits limits;
    limits.slices = 1;
    limits.counts = 1;
    limits.lines = 1;
    limits.argument_bytes = 0;
    limits.wakeups = 0;
    const std::string page = page_of(limits, [](PageWriter& writer) {
        const std::uint32_t lane = add_lane(writer, 1);
        const Argument number{"n", Argument::Kind::unsigned_number, 1, {}};
        for (std::uint64_t time = 1000; time < 1003; ++time) {
            writer.begin({lane, time, "slice", "c", {&number, 1}});
            writer.end(lane, time, {});
            writer.count(lane, time, 1);
            writer.add_line("monitor", time, "{}");
        }
        Wakeup wakeup;
        wakeup.time = 1004;
        writer.wake(wakeup);
    });
    for (const char* note :
         {"\"who woke whom is left out: 1 wakeups\"", "\"2 slices are left out\"",
          "\"2 changes of counters are left out\"", "\"2 lines of monitors are left out\"",
          "\"1 items are without their fields\""})
        BOOST_TEST((page.find(note) != page.npos), note);
}

BOOST_AUTO_TEST_CASE(a_track_that_is_added_again_has_a_new_name) {
    const std::string page = page_of({}, [](PageWriter& writer) {
        Track track;
        track.id = 1;
        track.name = "before";
        writer.add_track(track);
        track.name = "now";
        writer.add_track(track);
    });
    const ShownTimeline shown = test::read_page(page);
    BOOST_TEST(shown.tracks.size() == 1u);
    BOOST_TEST(shown.tracks.at(1).name == "now");
}

// By looking through all of them for each, it would take more than a minute.
BOOST_AUTO_TEST_CASE(a_page_may_have_very_many_tracks,
                     *boost::unit_test::timeout(30) * boost::unit_test::label("long")) {
    constexpr std::uint32_t kMany = 400'000;
    const std::string page = page_of({}, [](PageWriter& writer) {
        for (std::uint32_t id = 1; id <= kMany; ++id) add_lane(writer, id);
    });
    BOOST_TEST((page.find(cat("\"lane ", kMany, "\"")) != page.npos));
}

// Two CPUs, each with a task that runs, and a ring.
BOOST_AUTO_TEST_CASE(a_page_with_many_details_has_an_overview_before_them) {
    const auto make = [](PageWriter& writer) {
        Track device, ring, run, task;
        device.kind = ring.kind = Track::Kind::group;
        task.kind = Track::Kind::task;
        device.id = ring.parent = 1;
        ring.id = run.parent = 2;
        run.id = 3;
        task.id = 4;
        ring.name = "ring gfx";
        run.name = "run";
        task.tid = 8;
        task.pid = 7;
        for (const Track& track : {device, ring, run, task}) writer.add_track(track);
        const Argument pid{"pid", Argument::Kind::unsigned_number, 7, {}};
        writer.switch_task(switch_to(0, 1000, 0));
        writer.switch_task(switch_to(8, 1200, 1));
        writer.begin({run.id, 1300, "job", kGpuCategory, {&pid, 1}});
        writer.switch_task(switch_to(9, 1400, 0));
        writer.end(run.id, 1600, {});
        writer.begin({run.id, 1900, "job", kGpuCategory, {&pid, 1}});
        writer.switch_task(switch_to(0, 2000, 1));
    };
    PageLimits limits;
    limits.bytes_without_overview = 0;
    const std::string page = page_of(limits, make);
    const std::size_t at = page.find("\"overview\":{\"parts\":1024,\"lanes\":[[\"cpu\",0,600,");
    BOOST_TEST((at != page.npos));
    BOOST_TEST((page.find("\"chunk\"") > at));
    for (const char* part : {"[\"cpu\",1,800,", "[\"ring\",2,400,", "[\"task\",8,800,",
                             "[\"task\",9,600,", "\"processes\":[[7,800,400,2],[9,600,0,0]]"})
        BOOST_TEST((page.find(part) != page.npos), part);
    BOOST_TEST((page_of({}, make).find("\"overview\"") == std::string::npos));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
