#define BOOST_TEST_DYN_LINK
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <map>

#include "base/cat.h"
#include "base/text.h"
#include "cli/adhoc/adhoc_support.h"
#include "support/json.h"
#include "support/needs.h"
#include "support/run_gpufs.h"

// Histograms that the kernel keeps: gpufs trigger hist, gpufs show --hist.
namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Ended;
using test::Json;
using test::TempSession;

constexpr const char* kSeek = "syscalls:sys_enter_lseek";

void seek_to(std::int64_t offset, int times) {
    for (int i = 0; i < times; ++i) ::syscall(SYS_lseek, -1, offset, SEEK_SET);
}

std::string only_mine() {
    return cat("common_pid == ", ::gettid());
}

Ended hists_in(const TempSession& session, std::vector<std::string> words) {
    words.insert(words.end(), {"--session", session.name()});
    return test::gpufs(words);
}

Ended set_hist(const TempSession& session, const std::string& spec, const std::string& event,
               const std::string& condition) {
    return hists_in(session, {"trigger", "hist", spec, "-e", event, "--if", condition});
}

std::vector<Json> hists_of(const TempSession& session) {
    return test::parse_json_lines(hists_in(session, {"show", "--hist", "--json"}).out);
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(hists)

BOOST_AUTO_TEST_CASE(a_kernel_without_them_is_told_the_way_that_it_has,
                     *ut::precondition(test::lacks_trigger{"hist"})) {
    const TempSession session;
    const Ended ended = hists_in(session, {"trigger", "hist", "key=whence", "-e", kSeek});
    BOOST_TEST(ended.status == 3);
    BOOST_TEST(test::has(ended.err, "this kernel has no 'hist' trigger; it has: "), ended.err);
    BOOST_TEST(test::has(ended.err, "without CONFIG_HIST_TRIGGERS; 'gpufs count'"), ended.err);
    BOOST_TEST(hists_in(session, {"show", "--hist"}).status == 1);
}

BOOST_AUTO_TEST_CASE(mistakes_are_told_before_anything_is_set) {
    const TempSession session;
    const Ended unknown = hists_in(session, {"trigger", "hist", "key=whenc", "-e", kSeek});
    BOOST_TEST(unknown.status == 2);
    BOOST_TEST(unknown.err ==
               "gpufs: hist:1:10: error: syscalls:sys_enter_lseek has no field 'whenc'\n"
               "hist key=whenc\n"
               "         ^~~~~\n"
               "hint: did you mean 'whence'?\n");
    BOOST_TEST(
        hists_in(session, {"trigger", "hist", "key=whence", "--count", "1", "-e", kSeek}).status ==
        2);
    BOOST_TEST(test::gpufs({"show", "--hist", "--last", "1"}).status == 2);
    BOOST_TEST(test::gpufs({"record", "-e", kSeek, "--trigger", "hist:keys=whence"}).status == 2);
    BOOST_TEST(hists_in(session, {"status"}).status == 1);
}

BOOST_AUTO_TEST_SUITE(counted, *ut::precondition(test::has_trigger{"hist"}))

BOOST_AUTO_TEST_CASE(counts_and_sums_are_exact) {
    const TempSession session;
    const Ended set = set_hist(session, "key=offset,whence val=offset", kSeek, only_mine());
    BOOST_TEST(set.status == 0, set.err);
    seek_to(3, 300);
    seek_to(1000, 200);
    const std::vector<Json> all = hists_of(session);
    BOOST_TEST_REQUIRE(all.size() == 1u);
    BOOST_TEST(all[0]["hits"].number() == 500);
    const std::vector<Json>& entries = all[0]["entries"].items;
    BOOST_TEST_REQUIRE(entries.size() == 2u);
    BOOST_TEST(entries[0]["key"]["offset"].number() == 3);
    BOOST_TEST(entries[0]["key"]["whence"].number() == SEEK_SET);
    BOOST_TEST(entries[0]["value"]["hitcount"].number() == 300);
    BOOST_TEST(entries[0]["value"]["offset"].number() == 900);
    BOOST_TEST(entries[1]["value"]["offset"].number() == 200'000);
    // What is counted is not recorded.
    BOOST_TEST(session.read("events/syscalls/sys_enter_lseek/enable") == "0*\n");
    const Ended text = hists_in(session, {"show", "--hist", "-e", "sys_enter_lseek"});
    BOOST_TEST(test::has(text.out, "500 hits, 2 entries\nOFFSET  WHENCE  HITCOUNT  OFFSET\n"),
               text.out);
    BOOST_TEST(hists_in(session, {"show", "--hist", "-e", "sched_switch"}).out == "");
}

// The same work, counted by the kernel's histogram and by a BPF program.
BOOST_AUTO_TEST_CASE(both_ways_give_the_same_numbers) {
    const TempSession session;
    BOOST_TEST(set_hist(session, "key=offset", kSeek, only_mine()).status == 0);
    const Ended ended = test::trace(
        {"count", kSeek, "by", "offset", "--if", only_mine(), "--json", "--strict"}, [] {
            for (int i = 1; i <= 50; ++i) seek_to(i * 7, i);
        });
    BOOST_TEST(ended.status == 0, ended.err);
    std::map<long long, long long> by_kernel, by_program;
    const Json counted = hists_of(session).at(0);
    for (const Json& entry : counted["entries"].items)
        by_kernel[entry["key"]["offset"].number()] = entry["value"]["hitcount"].number();
    const std::vector<Json> lines = test::parse_json_lines(ended.out);
    for (const Json& line : lines)
        if (line.members.contains("entries"))
            for (const Json& entry : line["entries"].items)
                by_program[entry["key"]["offset"].number()] = entry["count"].number();
    BOOST_TEST(by_kernel.size() == 50u);
    BOOST_TEST((by_kernel == by_program), ended.out);
    BOOST_TEST(by_kernel[7 * 50] == 50);
}

BOOST_AUTO_TEST_CASE(powers_of_two_are_drawn) {
    const TempSession session;
    BOOST_TEST(set_hist(session, "key=offset.log2", kSeek, only_mine()).status == 0);
    seek_to(16, 10);
    seek_to(17, 20);
    const Ended shown = hists_in(session, {"show", "--hist"});
    const std::string half = std::string(26, '@') + std::string(26, ' ');
    BOOST_TEST(test::has(shown.out, cat("offset                 count\n"
                                        "[9, 17)                   10 |",
                                        half,
                                        "|\n"
                                        "[17, 33)                  20 |",
                                        std::string(52, '@'), "|\n")),
               shown.out);
}

BOOST_AUTO_TEST_CASE(a_stack_is_a_key) {
    const TempSession session;
    BOOST_TEST(set_hist(session, "key=stacktrace", "sched:sched_switch",
                        cat("prev_state == 2 && prev_pid == ", ::getpid()))
                   .status == 0);
    test::block_in_d_state(3, 5);
    const std::vector<Json> all = hists_of(session);
    long long vforks = 0;
    for (const Json& entry : all.at(0)["entries"].items)
        for (const Json& frame : entry["key"]["stacktrace"].items)
            if (frame.text.starts_with("kernel_clone+"))
                vforks += entry["value"]["hitcount"].number();
    BOOST_TEST(vforks == 3);
}

BOOST_AUTO_TEST_CASE(keys_without_room_are_dropped_and_told) {
    const TempSession session;
    constexpr int kKeys = 5000;
    BOOST_TEST(set_hist(session, "key=offset size=128", kSeek, only_mine()).status == 0);
    for (int i = 0; i < kKeys; ++i) seek_to(i, 1);
    const Json hist = hists_of(session).at(0);
    BOOST_TEST(hist["dropped"].number() > 0);
    BOOST_TEST(hist["hits"].number() + hist["dropped"].number() == kKeys);
    const Ended shown = hists_in(session, {"show", "--hist", "--strict"});
    BOOST_TEST(shown.status == 4);
    BOOST_TEST(test::has(shown.out, cat(", ", hist["dropped"].number(), " dropped: no room")),
               shown.out);
}

BOOST_AUTO_TEST_CASE(one_of_a_kind_is_replaced_and_others_stay) {
    const TempSession session;
    set_hist(session, "key=offset", kSeek, only_mine());
    set_hist(session, "key=whence", kSeek, only_mine());
    seek_to(5, 10);
    const Ended again = set_hist(session, "key=offset sort=offset", kSeek, only_mine());
    BOOST_TEST(test::has(again.err, "; it replaces 'hist:keys=offset:"), again.err);
    seek_to(5, 1);
    std::map<std::string, long long> hits;
    const std::vector<Json> both = hists_of(session);
    for (const Json& hist : both) hits[hist["trigger"].text.substr(0, 16)] += hist["hits"].number();
    BOOST_TEST(hits["hist:keys=offset"] == 1);
    BOOST_TEST(hits["hist:keys=whence"] == 11);
    const Ended cleared = hists_in(session, {"trigger", "hist", "--clear"});
    BOOST_TEST(cleared.status == 0, cleared.err);
    BOOST_TEST(hists_in(session, {"trigger"}).out == "");
    BOOST_TEST(test::has(hists_in(session, {"show", "--hist"}).err, "no hist trigger is set in"));
}

// What status prints sets the same again; a variable's maker comes before who reads it.
BOOST_AUTO_TEST_CASE(status_has_the_commands_that_set_them_again) {
    const TempSession session;
    hists_in(session, {"trigger", "hist", "key=pid ts0=common_timestamp.usecs", "-e",
                       "sched:sched_waking", "--if", "pid == 1"});
    const Ended reads =
        hists_in(session, {"trigger", "hist", "key=next_pid lat=common_timestamp.usecs-$ts0", "-e",
                           "sched:sched_switch"});
    BOOST_TEST(reads.status == 0, reads.err);
    set_hist(session, "key=stacktrace,common_pid.execname", kSeek, "offset > 1");
    const std::string before = hists_in(session, {"trigger"}).out;
    BOOST_TEST(lines_of(before).size() == 3u, before);
    const Ended status = hists_in(session, {"status"});
    BOOST_TEST(hists_in(session, {"reset"}).status == 0);
    for (const std::string_view line : lines_of(status.out)) {
        if (!line.starts_with("gpufs ")) continue;
        test::Child::Setup setup;
        setup.argv = {"sh", "-c", cat(shell_quote(test::gpufs_binary()), line.substr(5))};
        const Ended ended = test::Child(setup).wait();
        BOOST_TEST(ended.status == 0, cat(line, '\n', ended.err));
    }
    BOOST_TEST(hists_in(session, {"trigger"}).out == before);
}

// The kernel keeps a trigger while another one reads its variable.
BOOST_AUTO_TEST_CASE(reset_removes_those_that_read_variables_first) {
    const char* const events[] = {"sched:sched_switch", "sched:sched_waking"};
    const char* const keys[] = {"next_pid", "pid"};
    for (const int setter : {0, 1}) {
        const TempSession session;
        const int reader = 1 - setter;
        hists_in(session, {"trigger", "hist", cat("key=", keys[setter], " ts0=common_timestamp"),
                           "-e", events[setter]});
        const Ended reads = hists_in(
            session, {"trigger", "hist", cat("key=", keys[reader], " lat=common_timestamp-$ts0"),
                      "-e", events[reader]});
        BOOST_TEST(reads.status == 0, reads.err);
        const Ended reset = hists_in(session, {"reset"});
        BOOST_TEST(reset.status == 0, reset.err);
    }
}

BOOST_AUTO_TEST_CASE(the_kernels_own_complaint_is_shown) {
    const TempSession session;
    const Ended ended =
        hists_in(session, {"trigger", "hist", "key=pid lat=common_timestamp.usecs-$nobody", "-e",
                           "sched:sched_waking"});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(test::has(ended.err, "hist:sched:sched_waking: error: "), ended.err);
}

BOOST_AUTO_TEST_CASE(those_of_others_in_the_top_level_buffer_are_left_alone,
                     *ut::precondition(test::owns_the_machine)) {
    const auto top = [](std::vector<std::string> words) {
        words.emplace_back("--global");
        return test::gpufs(words);
    };
    BOOST_TEST(top({"trigger", "hist", "key=whence", "-e", kSeek}).status == 0);
    BOOST_TEST(top({"trigger", "hist", "key=whence", "-e", kSeek}).status == 1);
    BOOST_TEST(top({"trigger", "--clear", "-e", kSeek}).status == 0);
    BOOST_TEST(top({"reset", "-e", kSeek}).status == 0);
    BOOST_TEST(test::has(top({"trigger", "-e", kSeek}).out, "hist:keys=whence"));
    BOOST_TEST(top({"trigger", "hist", "--clear", "-e", kSeek}).status == 0);
    BOOST_TEST(top({"trigger", "-e", kSeek}).out == "");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
