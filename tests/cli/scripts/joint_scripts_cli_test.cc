#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

// Scripts and monitors that run together.
namespace gpufs {
namespace {

using test::Ended;

const std::string kJointRecording = "tests/data/trace_dat/sched-6.18";

// Five calls of its own: openat() of /dev/null.
const std::vector<std::string> kFiveOpenings = {"--", "sh", "-c",
                                                "for i in 1 2 3 4 5; do : < /dev/null; done"};

std::vector<std::string> beside(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::size_t switches_recorded() {
    std::size_t count = 0;
    const std::string text = read_file(kJointRecording + ".txt");
    for (const std::string_view line : lines_of(text))
        count += test::has(std::string(line), " sched_switch:");
    return count;
}

constexpr const char* kOpenings =
    "tracepoint:syscalls:sys_enter_openat /str(args.filename) == \"/dev/null\"/ "
    "{ @n[comm] = count(); printf(\"opens %s\\n\", str(args.filename)) }";
constexpr const char* kOpeningsCounted =
    ".map  n array value count, max 1\n"
    ".prog p tracepoint syscalls:sys_enter_openat\n"
    "      add n[0]\n"
    "      exit 0\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(cli, *boost::unit_test::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(joint_scripts)

BOOST_AUTO_TEST_CASE(have_their_names_in_front_of_lines_and_maps) {
    const Ended ended = test::gpufs(
        beside({"run", "-e", kOpenings, "-e", "begin { printf(\"a \"); printf(\"b\\nc\\n\") }"},
               kFiveOpenings));
    std::string lines = "e2: a b\ne2: c\n";
    for (int i = 0; i < 5; ++i) lines += "e1: opens /dev/null\n";
    BOOST_TEST(ended.out == lines + "\ne1.@n\nCOMM  COUNT\nsh        5\n");
    BOOST_TEST(ended.err == "7 records, 0 lost\nsh ended with exit status 0\n");
    BOOST_TEST(ended.status == 0);
}

BOOST_AUTO_TEST_CASE(run_beside_a_monitor_with_one_end_and_one_ledger) {
    const test::TempFile monitor(kOpeningsCounted, ".bpf");
    const Ended ended =
        test::gpufs(beside({"run", "-e", kOpenings, monitor.path()}, kFiveOpenings));
    const std::string stem = monitor.path().substr(monitor.path().rfind('/') + 1);
    BOOST_TEST(test::has(ended.out, "e.@n\nCOMM  COUNT\nsh        5\n"), ended.out);
    BOOST_TEST(test::has(ended.out, cat('\n', stem.substr(0, stem.size() - 4), ".n: ")), ended.out);
    BOOST_TEST(ended.err == "5 records, 0 lost\nsh ended with exit status 0\n");
}

BOOST_AUTO_TEST_CASE(call_no_two_columns_alike) {
    const Ended ended = test::gpufs(
        beside({"run", "-e", "begin { @one = 1 }", "-e",
                "tracepoint:syscalls:sys_enter_openat /str(args.filename) == \"/dev/null\"/ "
                "{ $count = 1; @n[$count] = count() }"},
               kFiveOpenings));
    BOOST_TEST(test::has(ended.out, "e2.@n\nKEY  COUNT\n  1      5\n"), ended.out);
}

// A picture of a map whose key another program chose.
BOOST_AUTO_TEST_CASE(heed_raw_in_pictures_of_maps) {
    const std::string script = "BEGIN { @h[\"a\\x1b[31m\"] = hist(1); exit(); }";
    const auto shown = [&](const std::vector<std::string>& raw) {
        return test::gpufs(beside({"run", "-e", script, "-e", "BEGIN { exit(); }"}, raw)).out;
    };
    BOOST_TEST(test::has(shown({}), "@h[a\\x1b[31m]"), shown({}));
    BOOST_TEST(test::has(shown({"--raw"}), "@h[a\x1b[31m]"), shown({"--raw"}));
}

BOOST_AUTO_TEST_CASE(have_objects_of_json_that_say_whose_they_are) {
    const Ended ended = test::gpufs(
        beside({"run", "-e", kOpenings, "-e", "begin { @x = 7; print((1, 2)) }", "--json"},
               kFiveOpenings));
    const std::vector<std::string_view> lines = lines_of(ended.out);
    BOOST_TEST_REQUIRE(lines.size() == 9u);
    BOOST_TEST(lines[0] == R"({"program": "e2", "type": "value", "data": [1,2]})");
    BOOST_TEST(lines[1] == R"({"program": "e1", "type": "printf", "data": "opens /dev/null\n"})");
    BOOST_TEST(lines[6] ==
               R"({"map":"e1.@n","title":"e1.@n","entries":[{"key":{"comm":"sh"},"count":5}]})");
    BOOST_TEST(lines[7] == R"({"map":"e2.@x","title":"e2.@x","entries":[)"
                           R"({"key":{},"values":[{"value":7}]}]})");
    BOOST_TEST(lines[8].starts_with(R"({"summary":{"records":6,"lost":0,)"));
}

BOOST_AUTO_TEST_CASE(end_when_one_of_them_says_so_with_its_status) {
    const Ended ended =
        test::gpufs({"run", "-e", "begin { exit(3) } end { printf(\"bye\\n\") }", "-e",
                     "tracepoint:sched:sched_switch { @ = count() } end { printf(\"too\\n\") }"});
    BOOST_TEST(test::has(ended.out, "e1: bye\ne2: too\n"), ended.out);
    BOOST_TEST(ended.status == 3);
}

BOOST_AUTO_TEST_CASE(take_the_arguments_that_they_ask_for) {
    const test::TempFile first("begin { printf(\"%d %d\\n\", $1, $2) }", ".bt");
    const test::TempFile second("begin { printf(\"%d: %d\\n\", $#, $1) }", ".bt");
    const Ended ended = test::gpufs({"run", first.path(), "10", "20", second.path(), "30", "40"});
    BOOST_TEST(test::has(ended.out, ": 10 20\n"), ended.out);
    BOOST_TEST(test::has(ended.out, ": 2: 30\n"), ended.out);
    BOOST_TEST(ended.err == "2 records, 0 lost\n");
}

BOOST_AUTO_TEST_CASE(what_cannot_go_together_is_refused) {
    const test::TempFile script("begin { }", ".bt");
    const struct {
        std::vector<std::string> args;
        std::string err;
    } refusals[] = {
        {{"run", script.path(), "nosuch"},
         "gpufs: there is no monitor 'nosuch'\nhint: 'gpufs run' lists them; a file of your own is "
         "given with its '.bpf', or with a '/'\n"},
        {{"run", "-e", "begin { }", "n=5"},
         "gpufs: the script has no parameter for 'n=5'\nhint: its arguments are $1, $2, …; a "
         "monitor has name=value\n"},
        {{"run", "-", "-"}, "gpufs: standard input can be read only once: '-'\n"},
        {{"run", "-e", "begin { }", "--show"}, "gpufs: --show prints a monitor: not with -e\n"},
        {{"run", "drm", "--unsafe"},
         "gpufs: --unsafe lets a script change the machine: there is none\n"},
        {{"run", "-e", "begin { }", "--folded"},
         "gpufs: --folded shows stacks that maps counted: 'gpufs watch' shows those of a script's "
         "maps so\n"},
    };
    for (const auto& refusal : refusals) {
        const Ended ended = test::gpufs(refusal.args);
        BOOST_TEST(ended.err == refusal.err);
        BOOST_TEST(ended.status == 2);
    }
    const Ended twice = test::gpufs({"run", script.path(), script.path()});
    BOOST_TEST(test::has(twice.err, "' is asked for twice\n"), twice.err);
    BOOST_TEST(twice.status == 2);
}

// Every kind of map: the parts of keys in columns, numbers and data as a monitor's.
BOOST_AUTO_TEST_CASE(have_tables_of_all_their_maps, *boost::unit_test::label("pure")) {
    const test::TempFile script(
        "tracepoint:sched:sched_switch { @pairs[args.prev_prio == 120, 1] = count(); "
        "@last = \"word\"; @sum[\"k\"] = sum(2); @avg = avg(4); @sizes[\"h\"] = hist(5); "
        "@seen[cpu < 1000] = 9 }",
        ".bt");
    const Ended ended = test::gpufs({"watch", script.path(), "-i", kJointRecording + ".dat"});
    const std::string stem = script.path().substr(script.path().rfind('/') + 1);
    const std::string name = stem.substr(0, stem.size() - 3);
    const std::size_t count = switches_recorded();
    BOOST_TEST(ended.err == "0 lost\n");
    BOOST_TEST(test::has(ended.out, cat(name, ".@sum\nKEY  SUM\nk     ", 2 * count, '\n')),
               ended.out);
    BOOST_TEST(test::has(ended.out, cat(name, ".@avg: count ", count, ", avg 4\n")));
    BOOST_TEST(test::has(ended.out, cat(name, ".@sizes[h]:\n[4, 8) ")));
    BOOST_TEST(test::has(ended.out, cat(name, ".@last\nVALUE\nword\n")));
    BOOST_TEST(test::has(ended.out, cat(name, ".@seen\nKEY   VALUE\ntrue      9\n")));
    BOOST_TEST(test::has(ended.out, cat(name, ".@pairs\nKEY")));
    BOOST_TEST(ended.status == 0);
}

BOOST_AUTO_TEST_CASE(and_monitors_run_over_a_recording, *boost::unit_test::label("pure")) {
    const Ended ended = test::gpufs({"run", "-e", "tracepoint:sched:sched_switch { @n = count() }",
                                     "sched-wait", "-i", kJointRecording + ".dat"});
    BOOST_TEST(test::has(ended.out, cat("e.@n: ", switches_recorded(), '\n')), ended.out);
    BOOST_TEST(test::has(ended.out, "Run queue latency"), ended.out);
    BOOST_TEST(ended.status == 0);
}

// What is counted begins anew, data stays.
BOOST_AUTO_TEST_CASE(have_intervals_of_what_they_count) {
    const test::TempFile script(
        "begin { @n = count(); @kept = 5 } "
        "interval:ms:100 { @ticks = count() }",
        ".bt");
    const Ended ended =
        test::gpufs({"watch", script.path(), "--interval", "200ms", "--duration", "500ms"});
    std::size_t counted = 0, kept = 0, intervals = 0;
    for (const std::string_view line : lines_of(ended.out)) {
        counted += test::has(std::string(line), ".@n: 1");
        kept += trim(line) == "5";
        intervals += test::has(std::string(line), " to ");
    }
    BOOST_TEST(intervals >= 2u);
    BOOST_TEST(counted == 1u, ended.out);
    BOOST_TEST(kept == intervals, ended.out);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
