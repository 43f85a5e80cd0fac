#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <thread>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/trace/buffer_counts.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/workloads.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Child;
using test::Ended;
using test::TempSession;
using namespace std::chrono_literals;

Ended within(const TempSession& session, std::vector<std::string> args) {
    args.push_back("--session");
    args.push_back(session.name());
    return test::gpufs(args);
}

std::size_t count_of(const std::string& text, std::string_view what) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++n;
    return n;
}

// A session in which this process was switched out in D state `times` times and nothing else is;
// on a slow machine more often: code that is read from disk is waited for so, too.
void record_d_states(const TempSession& session, int times) {
    const auto set = [&](std::vector<std::string> args) {
        const Ended ended = within(session, std::move(args));
        BOOST_TEST_REQUIRE(ended.status == 0, ended.err);
    };
    set({"filter", cat("prev_state == 2 && prev_pid == ", ::getpid())});
    set({"trigger", "stacktrace"});
    test::block_in_d_state(times, 5);
    set({"stop"});
}

// Raw pages can be looked at without taking them since Linux 6.10.
boost::test_tools::assertion_result keeps_raw_pages(ut::test_unit_id) {
    const TempSession session;
    within(session, {"filter", "prev_state == 2"});
    const Ended ended = within(session, {"show", "--json"});
    boost::test_tools::assertion_result yes(ended.status == 0);
    yes.message() << "needs a kernel that maps its ring buffer (6.10)";
    return yes;
}
boost::test_tools::assertion_result gives_raw_pages_once(ut::test_unit_id id) {
    return boost::test_tools::assertion_result(!keeps_raw_pages(id));
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))

BOOST_AUTO_TEST_CASE(show_gives_the_same_answer_twice) {
    const TempSession session;
    record_d_states(session, 3);
    const std::string first = within(session, {"show"}).out;
    BOOST_TEST(count_of(first, "prev_state=D") >= 3u, first);
    BOOST_TEST(count_of(first, "<stack trace>") >= 3u, first);
    BOOST_TEST(within(session, {"show"}).out == first);
}

BOOST_AUTO_TEST_CASE(consume_prints_what_the_kernel_prints_and_empties_the_buffer) {
    const TempSession session;
    record_d_states(session, 3);
    std::string kernel;
    const std::string trace = within(session, {"show"}).out;
    for (const std::string_view line : lines_of(trace))
        if (!line.starts_with('#')) kernel += cat(line, "\n");
    BOOST_TEST(within(session, {"show", "--consume"}).out == kernel);
    BOOST_TEST(within(session, {"show", "--consume"}).out == "");
}

BOOST_AUTO_TEST_CASE(last_counts_events_and_keeps_their_stacks) {
    const TempSession session;
    record_d_states(session, 4);
    const std::string last = within(session, {"show", "--last", "2"}).out;
    BOOST_TEST(count_of(last, "prev_state=D") == 2u, last);
    BOOST_TEST(count_of(last, "<stack trace>") == 2u);
    BOOST_TEST(!last.starts_with(" =>"));
    for (const char* bad : {"0", "-1", "x", ""})
        BOOST_TEST(within(session, {"show", cat("--last=", bad)}).status == 2);
}

BOOST_AUTO_TEST_CASE(follow_shows_events_as_they_come_and_ends_as_the_shell_expects) {
    const TempSession session;
    within(session, {"filter", cat("prev_state == 2 && prev_pid == ", ::getpid())});
    Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "show", "--follow", "--session", session.name()};
    Child follow(setup);
    // Until it is at work, and shows what comes.
    for (int i = 0; i < 600 && !follow.wait_for_output("prev_state=D", 100ms); ++i)
        test::block_in_d_state(1, 5);
    follow.send(SIGINT);
    const Ended ended = follow.wait();
    BOOST_TEST(ended.signal == SIGINT);
    // On a slow machine more: code that is read from disk is waited for in state D, too.
    const auto shown = count_of(ended.out, "prev_state=D");
    BOOST_TEST(shown >= 1u, ended.out);
    BOOST_TEST(ended.err == cat(shown, shown == 1 ? " event" : " events", ", 0 lost\n"));
}

BOOST_AUTO_TEST_CASE(follow_ends_by_itself_after_its_duration) {
    const TempSession session;
    within(session, {"filter", "prev_prio == 12345"});
    const Ended ended = within(session, {"show", "--follow", "--duration", "200ms"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.err == "0 events, 0 lost\n");
}

BOOST_AUTO_TEST_CASE(json_has_numbers_as_numbers_and_stacks_as_names,
                     *ut::precondition(keeps_raw_pages)) {
    const TempSession session;
    record_d_states(session, 1);
    const std::string json = within(session, {"show", "--json"}).out;
    const auto lines = lines_of(json);
    BOOST_REQUIRE(lines.size() >= 2u);
    BOOST_TEST(lines[0].find("\"event\":\"sched:sched_switch\"") != std::string::npos, json);
    BOOST_TEST(lines[0].find(cat("\"prev_pid\":", ::getpid(), ",")) != std::string::npos);
    BOOST_TEST(lines[0].find("\"prev_state\":2,") != std::string::npos);
    BOOST_TEST(lines[1].find("\"stack\":[") != std::string::npos);
    BOOST_TEST(within(session, {"show", "--json"}).out == json);
}

BOOST_AUTO_TEST_CASE(a_condition_chooses_among_what_was_recorded,
                     *ut::precondition(keeps_raw_pages)) {
    const TempSession session;
    record_d_states(session, 2);
    const std::string all = within(session, {"show", "--if", "prev_state == 2"}).out;
    BOOST_TEST(count_of(all, "prev_state=D") == 2u);
    BOOST_TEST(count_of(all, "<stack trace>") == 2u);
    BOOST_TEST(within(session, {"show", "--if", "prev_state == 1"}).out == "");
    BOOST_TEST(within(session, {"show", "-e", "sched_wakeup"}).out == "");
    BOOST_TEST(within(session, {"show", "--if", "nosuch == 1"}).status == 2);
}

BOOST_AUTO_TEST_CASE(an_older_kernel_is_said_to_give_fields_only_once,
                     *ut::precondition(gives_raw_pages_once)) {
    const TempSession session;
    record_d_states(session, 1);
    const Ended ended = within(session, {"show", "--json"});
    BOOST_TEST(ended.status == 3);
    BOOST_TEST(
        ended.err ==
        "gpufs: the fields of these records can be had only by taking them out of the buffer: "
        "it takes Linux 6.10 and no snapshot trigger to leave them in\n"
        "hint: add --consume, or --follow for what comes; plain 'gpufs show' leaves them in\n");
    BOOST_TEST(count_of(within(session, {"show", "--json", "--consume"}).out, "\"prev_state\":2") ==
               1u);
}

BOOST_AUTO_TEST_CASE(lost_events_are_counted) {
    const TempSession session;
    within(session, {"options", "buffer=8k"});
    within(session, {"filter", "-e", "sched:sched_switch,sched:sched_waking", "--all"});
    test::block_in_d_state(300, 0);
    within(session, {"stop"});
    const Ended ended = within(session, {"show", "--consume"});
    BOOST_TEST(ended.out.find(" EVENTS]") != std::string::npos, ended.out.substr(0, 400));
    BOOST_TEST(ended.err.find("read and removed; 0 lost") == std::string::npos, ended.err);
}

// Pages that are full to the last byte have no room for the number of events lost before them.
BOOST_AUTO_TEST_CASE(the_kernels_counters_say_how_many_were_lost_where_pages_do_not) {
    const TempSession session;
    within(session, {"options", "buffer=8k"});
    within(session, {"stop"});
    const Ended calm = within(session, {"show", "--consume", "--strict", "--json"});
    BOOST_TEST(calm.status == 0);
    BOOST_TEST(calm.out ==
               "{\"summary\":{\"records\":0,\"lost\":0,\"losses\":["
               "{\"what\":\"events, overwritten unread\",\"count\":0},"
               "{\"what\":\"events, the buffer was full\",\"count\":0},"
               "{\"what\":\"damaged pages\",\"count\":0}]}}\n");
    within(session, {"start"});
    constexpr int kMarks = 2000;
    // On one CPU, and such that 102 records of 40 bytes fill a page.
    std::thread([&session] {
        test::pin_to_cpu(0);
        const Fd marker = open_file(session.directory() + "/trace_marker", O_WRONLY);
        for (int i = 0; i < kMarks; ++i) write_all(marker.get(), "123456789012345678", "marker");
    }).join();
    within(session, {"stop"});
    const auto overrun = parse_buffer_counts(session.read("per_cpu/cpu0/stats")).overrun;
    BOOST_TEST(overrun > 1000u);
    const Ended ended = within(session, {"show", "--follow", "--duration", "10ms", "--strict"});
    BOOST_TEST(ended.status == 4);
    BOOST_TEST(ended.err == cat(kMarks - overrun, " events, ", overrun, " lost: ", overrun,
                                " events, overwritten unread\n"));
}

BOOST_AUTO_TEST_CASE(what_is_no_session_says_how_to_make_one) {
    const TempSession session;
    const Ended ended = within(session, {"show"});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(ended.err == cat("gpufs: there is no session '", session.name(),
                                "'\nhint: 'gpufs filter EXPR --session ", session.name(),
                                "' makes it, as a trigger or an option does\n"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
