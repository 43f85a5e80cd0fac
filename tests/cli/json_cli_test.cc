#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "base/cat.h"
#include "base/text.h"
#include "support/json_page.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

// What gpufs prints with --json is what gpufs-json(5) says. test::gpufs() checks the same of every
// line of every test.
namespace gpufs {
namespace {

namespace ut = boost::unit_test;
using test::Ended;
using test::Json;
using test::JsonPage;

constexpr std::string_view kPage =
    ".SH COMMANDS\n.TP\n.B gpufs one\nfirst, second\n"
    ".SH OBJECTS\n.SS first\nWords.\n.TP\n.BR a \" (number or null)\"\nof it\n"
    ".TP\n.BR b \" (array of part, optional)\"\n.SS part\n.TP\n.IR NAME \" (text)\"\n"
    ".SS second\n.TP\n.BR c \" (boolean)\"\n.SH SEE ALSO\n.BR gpufs (1)\n";

std::string object_of(std::string_view line) {
    std::string why;
    const std::string object = JsonPage(kPage).object_of("one", test::parse_json(line), why);
    return object.empty() ? why : object;
}

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(json_cli)

BOOST_AUTO_TEST_CASE(the_page_is_read_as_a_schema, *ut::label("pure")) {
    for (const char* line : {R"({"a":5})", R"({"a":null,"b":[]})", R"({"a":1,"b":[{"x":"y"}]})"})
        BOOST_TEST(object_of(line) == "first");
    BOOST_TEST(object_of(R"({"c":false})") == "second");
    BOOST_TEST(object_of(R"({"a":"5"})") ==
               "first: a: text where the page has number, text where the page has null\n"
               "second: has no c\n");
    BOOST_TEST(object_of(R"({"a":1,"b":[{"x":2}]})") ==
               "first: b: [0]: x: number where the page has text\nsecond: has no c\n");
    BOOST_TEST(object_of(R"({"a":1,"d":2})") ==
               "first: the page has no member d\nsecond: has no c\n");
}

BOOST_AUTO_TEST_CASE(the_page_has_every_command_that_prints_json, *ut::label("pure")) {
    std::vector<std::string> found;
    const Ended all = test::gpufs({"--help"});
    for (const std::string_view line : lines_of(all.out)) {
        if (!line.starts_with("  ")) continue;
        const std::string name(line.substr(2, line.find(' ', 2) - 2));
        if (name.empty() || name[0] == '-') continue;
        if (test::has(test::gpufs({name, "--help"}).out, "--json")) found.push_back(name);
    }
    std::ranges::sort(found);
    BOOST_TEST(found == JsonPage::manual().commands(), boost::test_tools::per_element());
}

// Each object but gpu and its use (there may be none) and gap, in the fewest runs.
BOOST_AUTO_TEST_CASE(the_objects_of_the_page_are_what_the_commands_print,
                     *ut::label("pure") * ut::precondition(test::can_trace)) {
    const test::TempFile file("");
    const test::TempSession session;
    const std::string recording = "tests/data/trace_dat/drm-6.17.dat";
    const std::vector<std::string> in{"--session", session.name()};
    const auto with = [&](std::vector<std::string> args, std::vector<std::string> more) {
        args.insert(args.end(), more.begin(), more.end());
        return args;
    };
    for (const auto& args : {with({"filter", "prev_state == 2", "-e", "sched:sched_switch"}, in),
                             with({"trigger", "stacktrace", "-e", "sched:sched_switch"}, in),
                             with({"start"}, in), with({"stop"}, in)})
        BOOST_TEST(test::gpufs(args).status == 0, args[0]);
    std::set<std::string> seen;
    const std::vector<std::vector<std::string>> runs = {
        {"doctor"},
        {"list", "sched:sched_switch", "-v"},
        {"list", "--triggers"},
        with({"filter"}, in),
        with({"trigger"}, in),
        with({"status"}, in),
        {"status", "--global"},
        with({"options"}, in),
        with({"show", "--consume"}, in),
        {"report", "-i", recording},
        {"report", "-i", recording, "--stat"},
        {"recipe", "list"},
        {"run", "--list"},
        {"run", "opens", "--interval", "50ms", "--", "true"},
        {"watch", "--list"},
        {"watch", "drm", "-i", recording},
        {"count", "syscalls:sys_enter_*", "by", "comm,kstack", "--", "true"},
        {"count", "sched:sched_switch", "--", "true"},
        {"stacks", "sched:sched_switch", "--", "true"},
        {"hist", "syscalls:sys_exit_read", "ret", "by", "comm", "--", "true"},
        {"latency", "syscalls:sys_enter_read", "syscalls:sys_exit_read", "--over", "1ns", "--",
         "cat", "/dev/null"},
        {"stall", "--state", "S", "--over", "10ms", "--", "sleep", "0.2"},
        {"record", "-e", "sched:sched_switch", "-o", file.path(), "--", "true"},
    };
    for (std::vector<std::string> args : runs) {
        args.insert(std::ranges::find(args, "--"), "--json");
        const Ended ended = test::gpufs(args);
        BOOST_TEST(ended.status == 0, join(args, " ") + ": " + ended.err);
        for (const std::string_view line : lines_of(ended.out)) {
            std::string why;
            seen.insert(cat(args[0], ' ',
                            JsonPage::manual().object_of(args[0], test::parse_json(line), why)));
        }
    }
    for (const char* object :
         {"doctor finding",  "list event",      "list action",       "filter filter",
          "trigger trigger", "status session",  "options settings",  "show show-end",
          "report trace",    "report show-end", "report statistics", "recipe recipe",
          "run monitor",     "run interval",    "run run-end",       "watch fitting",
          "watch map",       "watch run-end",   "count map",         "stacks map",
          "hist map",        "latency record",  "latency map",       "stall stall",
          "stall map",       "stall stall-end", "record recording"})
        BOOST_TEST(seen.contains(object), object);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
