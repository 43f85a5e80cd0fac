#define BOOST_TEST_DYN_LINK
#include "engine/stall/cpu_occupancy.h"

#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

constexpr CpuOccupancy::Task kIdle{0, "swapper"};

BOOST_AUTO_TEST_SUITE(run_log)

BOOST_AUTO_TEST_CASE(it_says_who_ran_between_two_times_the_longest_first) {
    CpuOccupancy log;
    log.on_switch(100, 1, kIdle, {7, "hog"});
    log.on_switch(150, 0, kIdle, {9, "elsewhere"});
    log.on_switch(200, 1, {7, "hog"}, {8, "other"});
    log.on_switch(210, 1, {8, "other"}, {7, "hog"});
    log.on_switch(300, 1, {7, "hog"}, {10, "waiter"});
    const auto ran = log.who_ran(1, 120, 300);
    BOOST_REQUIRE_EQUAL(ran.size(), 2);
    BOOST_TEST(ran[0].comm == "hog");
    BOOST_TEST(ran[0].ns == 170);
    BOOST_TEST(ran[1].comm == "other");
    BOOST_TEST(ran[1].ns == 10);
    BOOST_TEST(log.known_to(1) == 300);
    BOOST_TEST(log.known_to(5) == 0);
}

BOOST_AUTO_TEST_CASE(whoever_is_on_the_cpu_now_counts_up_to_the_end_asked_for) {
    CpuOccupancy log;
    log.on_switch(100, 0, kIdle, {7, "hog"});
    BOOST_TEST(log.who_ran(0, 100, 1100).at(0).ns == 1000);
}

BOOST_AUTO_TEST_CASE(where_a_switch_was_not_seen_the_time_is_of_the_task_that_leaves) {
    CpuOccupancy log;
    log.on_switch(100, 0, {10, "waiter"}, {8, "other"});
    log.on_switch(400, 0, {7, "hog"}, {10, "waiter"});
    const auto ran = log.who_ran(0, 100, 400);
    BOOST_REQUIRE_EQUAL(ran.size(), 1);
    BOOST_TEST(ran[0].comm == "hog");
    BOOST_TEST(ran[0].ns == 300);
}

BOOST_AUTO_TEST_CASE(a_long_wait_among_many_switches_is_added_up_exactly) {
    CpuOccupancy log;
    std::uint64_t ns = 0;
    for (int i = 0; i < 100'000; ++i) {
        log.on_switch(ns, 0, {2, "b"}, {1, "a"});
        log.on_switch(ns + 10, 0, {1, "a"}, {2, "b"});
        ns += 40;
    }
    log.on_switch(ns, 0, {2, "b"}, {3, "c"});
    const auto ran = log.who_ran(0, 0, ns);
    BOOST_REQUIRE_EQUAL(ran.size(), 2);
    BOOST_TEST(ran[0].comm == "b");
    BOOST_TEST(ran[0].ns == 3'000'000);
    BOOST_TEST(ran[1].ns == 1'000'000);
}

BOOST_AUTO_TEST_CASE(what_nobody_asks_about_is_forgotten) {
    CpuOccupancy log;
    log.on_switch(100, 0, kIdle, {1, "a"});
    log.on_switch(200, 0, {1, "a"}, {2, "b"});
    log.on_switch(300, 0, {2, "b"}, {3, "c"});
    log.forget_before(200);
    const auto ran = log.who_ran(0, 0, 300);
    BOOST_REQUIRE_EQUAL(ran.size(), 1);
    BOOST_TEST(ran[0].comm == "b");
}

BOOST_AUTO_TEST_CASE(runs_that_somebody_else_kept_count_in_proportion) {
    CpuOccupancy log;
    // Half of the time it was on the CPU.
    log.on_run(0, {100, 200, 50, 7, "often"});
    log.on_run(0, {200, 260, 60, 8, "once"});
    const CpuOccupancy::Run last[] = {{260, 280, 20, 7, "often"}};
    log.on_last_runs(0, last, 280, 9, "now");
    const auto ran = log.who_ran(0, 150, 300);
    BOOST_REQUIRE_EQUAL(ran.size(), 3);
    BOOST_TEST(ran[0].comm == "once");
    BOOST_TEST(ran[0].ns == 60);
    BOOST_TEST(ran[1].comm == "often");
    BOOST_TEST(ran[1].ns == 45);
    BOOST_TEST(ran[2].comm == "now");
    BOOST_TEST(ran[2].ns == 20);
    // The last ones hold until they are told again.
    log.on_run(0, {260, 290, 30, 7, "often"});
    log.on_last_runs(0, {}, 290, 9, "now");
    BOOST_TEST(log.who_ran(0, 260, 290).at(0).ns == 30);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
