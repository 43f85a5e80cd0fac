#define BOOST_TEST_DYN_LINK
#include "view/why/time_text.h"

#include <boost/test/unit_test.hpp>

namespace gpufs {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

TimePart part(TimeUse use, std::uint64_t ms) {
    TimePart made;
    made.use = use;
    made.ns = ms * kMs;
    return made;
}

TimePart of_ring(TimeUse use, std::uint64_t ms, int pid, const std::string& comm) {
    TimePart made = part(use, ms);
    made.driver = "drm_sched";
    made.timeline = "gfx";
    made.pid = pid;
    made.comm = comm;
    return made;
}

TimePart blocked(std::uint64_t ms, std::vector<std::string> functions) {
    TimePart made = part(TimeUse::blocked, ms);
    made.stack_names = std::move(functions);
    return made;
}

std::string told(std::vector<TimePart> parts) {
    const TimeAccount account{4711, "game", 3, std::move(parts)};
    return time_text(account, time_rows(account, {}), 2000 * kMs, Controls::escaped);
}

BOOST_AUTO_TEST_SUITE(time_text_view)

BOOST_AUTO_TEST_CASE(each_use_of_time_is_a_line_by_its_size) {
    BOOST_TEST(told({part(TimeUse::cpu, 600), part(TimeUse::ready, 300),
                     of_ring(TimeUse::queued, 2400, 802, "Xorg"),
                     of_ring(TimeUse::runs, 1200, 4711, "game"),
                     blocked(900, {"__schedule", "schedule", "futex_wait_queue", "futex_wait",
                                   "do_futex", "__x64_sys_futex", "do_syscall_64"}),
                     part(TimeUse::moves, 570), part(TimeUse::unseen, 30)}) ==
               "game-4711: 3 threads, 6.000 s of thread time in 2.000 s\n"
               "   40.0 %    2.400 s  queued for ring gfx, behind Xorg-802\n"
               "   20.0 %    1.200 s  running on ring gfx, its own\n"
               "   15.0 %   900.0 ms  blocked in futex: futex_wait_queue < futex_wait\n"
               "   10.0 %   600.0 ms  on a CPU\n"
               "    9.5 %   570.0 ms  moving buffers\n"
               "    5.0 %   300.0 ms  waiting for a CPU\n"
               "    0.5 %    30.0 ms  not known: the kernel left out a switch\n");
}

BOOST_AUTO_TEST_CASE(a_long_time_makes_its_column_wider) {
    BOOST_TEST(told({part(TimeUse::cpu, 80'801'366), part(TimeUse::ready, 900)}) ==
               "game-4711: 3 threads, 80802.266 s of thread time in 2.000 s\n"
               "  100.0 % 80801.366 s  on a CPU\n"
               "    0.0 %    900.0 ms  waiting for a CPU\n");
}

// /proc/TID/stack leaves out __schedule, schedule and do_nanosleep.
BOOST_AUTO_TEST_CASE(what_was_blocked_before_is_told_with_what_blocks_there_later) {
    const std::vector<std::string> sleeps = {"__schedule", "schedule", "do_nanosleep",
                                             "hrtimer_nanosleep", "common_nsleep"};
    const std::vector<std::string> before(sleeps.begin() + 3, sleeps.end());
    ValueNames names;
    names.kernel = [&](std::uint64_t address, auto) { return sleeps.at(address); };
    const auto lines = [&](const std::vector<std::vector<std::uint64_t>>& stacks) {
        TimeAccount account{4711, "game", 1, {blocked(100, before)}};
        for (const auto& stack : stacks) {
            account.parts.push_back(part(TimeUse::blocked, 300));
            account.parts.back().stack = stack;
        }
        std::string text;
        for (const TimeRow& row : time_rows(account, names))
            text += cat(row.part.ns / kMs, ' ', row.where.front(), '\n');
        return text;
    };
    BOOST_TEST(lines({{0, 1, 2, 3, 4}}) == "400 do_nanosleep\n");
    // Two places may be it: nobody knows which.
    BOOST_TEST(lines({{0, 1, 2, 3, 4}, {0, 1, 3, 4}}) ==
               "400 hrtimer_nanosleep\n300 do_nanosleep\n");
    BOOST_TEST(lines({{0, 1, 2, 4}}) == "300 do_nanosleep\n100 hrtimer_nanosleep\n");
}

BOOST_AUTO_TEST_CASE(whose_a_fence_is_is_told_as_far_as_it_is_known) {
    TimePart of_other = of_ring(TimeUse::fence, 100, 802, "Xorg");
    TimePart unknown = of_ring(TimeUse::fence, 200, 0, "");
    unknown.driver = "i915";
    BOOST_TEST(
        told({of_other, unknown, of_ring(TimeUse::runs, 300, 802, "Xorg"),
              of_ring(TimeUse::queued, 400, 0, ""), of_ring(TimeUse::queued, 500, 4711, "game"),
              of_ring(TimeUse::moves, 600, 4711, "game"), blocked(700, {"futex_wait"}),
              blocked(800, {})}) ==
        "game-4711: 3 threads, 3.600 s of thread time in 2.000 s\n"
        "   22.2 %   800.0 ms  blocked\n"
        "   19.4 %   700.0 ms  blocked in futex_wait\n"
        "   16.7 %   600.0 ms  moving buffers on ring gfx, its own\n"
        "   13.9 %   500.0 ms  queued for ring gfx, behind its own\n"
        "   11.1 %   400.0 ms  queued for ring gfx, behind no job: for what it depends on, or a "
        "worker\n"
        "    8.3 %   300.0 ms  running on ring gfx, of Xorg-802\n"
        "    5.6 %   200.0 ms  waiting for a fence of i915 gfx\n"
        "    2.8 %   100.0 ms  waiting for a fence of drm_sched gfx, of Xorg-802\n");
}

BOOST_AUTO_TEST_CASE(one_place_is_one_line_whatever_called_it) {
    BOOST_TEST(told({blocked(10, {"pipe_read", "vfs_read", "ksys_read", "do_syscall_64"}),
                     blocked(30, {"pipe_read", "vfs_read", "ksys_readahead"}),
                     blocked(0, {"do_nanosleep"})}) ==
               "game-4711: 3 threads, 40.0 ms of thread time in 2.000 s\n"
               "  100.0 %    40.0 ms  blocked in pipe_read < vfs_read\n");
}

BOOST_AUTO_TEST_CASE(what_matters_little_is_one_line) {
    std::vector<TimePart> parts;
    for (std::uint64_t i = 1; i <= 9; ++i)
        parts.push_back(of_ring(TimeUse::runs, i, static_cast<int>(i), "job"));
    const std::string text = told(parts);
    BOOST_TEST(
        text.ends_with("    6.7 %     3.0 ms  running on ring gfx, of job-3\n"
                       "    6.7 %     3.0 ms  in 2 other ways\n"));
    parts.pop_back();
    BOOST_TEST(told(parts).ends_with("    2.8 %     1.0 ms  running on ring gfx, of job-1\n"));
}

BOOST_AUTO_TEST_CASE(shares_add_up_however_they_are_rounded) {
    const auto sum = [](const std::vector<unsigned>& shares) {
        unsigned all = 0;
        for (const unsigned share : shares) all += share;
        return all;
    };
    BOOST_TEST(shares_of({1, 1, 1}) == (std::vector<unsigned>{334, 333, 333}),
               boost::test_tools::per_element());
    BOOST_TEST(shares_of({0, 0}) == (std::vector<unsigned>{0, 0}),
               boost::test_tools::per_element());
    BOOST_TEST(shares_of({}).empty());
    std::vector<std::uint64_t> parts;
    for (std::uint64_t i = 1; i < 60; ++i) {
        parts.push_back(i * i * i * 7'777'777'777);
        BOOST_TEST(sum(shares_of(parts)) == 1000u);
    }
}

BOOST_AUTO_TEST_CASE(json_has_all_of_it) {
    const TimeAccount account{
        4711, "game", 1, {of_ring(TimeUse::queued, 2, 802, "Xorg"), blocked(1, {"f", "g", "h"})}};
    BOOST_TEST(time_json(account, time_rows(account, {}), 3 * kMs) ==
               R"({"why":"game","pid":4711,"threads":1,"during_ns":3000000,"ns":3000000,"parts":[)"
               R"({"part":"queued","ns":2000000,"driver":"drm_sched","timeline":"gfx","pid":802,)"
               R"("comm":"Xorg","syscall":null,"where":null},)"
               R"({"part":"blocked","ns":1000000,"driver":null,"timeline":null,"pid":null,)"
               R"("comm":null,"syscall":null,"where":["f","g"]}]})");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
