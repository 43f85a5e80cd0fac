#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

// Scripts over a recording: they tell what its text has.
namespace gpufs {
namespace {

using test::Ended;

const std::string kSchedRecording = "tests/data/trace_dat/sched-6.18";

Ended over_recording(const std::string& script) {
    return test::gpufs({"run", "-e", script, "-i", kSchedRecording + ".dat"});
}

// The lines of the recording's text with this event.
std::vector<std::string> lines_with(const std::string& event) {
    std::vector<std::string> lines;
    const std::string text = read_file(kSchedRecording + ".txt");
    for (const std::string_view line : lines_of(text))
        if (test::has(std::string(line), cat(' ', event, ':'))) lines.emplace_back(line);
    return lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(recorded_scripts, *boost::unit_test::label("pure"))

BOOST_AUTO_TEST_CASE(count_what_is_in_it) {
    const std::size_t switches = lines_with("sched_switch").size();
    BOOST_TEST(switches > 10);
    const Ended ended = over_recording("tracepoint:sched:sched_switch { @switches = count() }");
    BOOST_TEST(ended.err == "");
    BOOST_TEST(ended.out == cat("\n\n@switches: ", switches, '\n'));
    BOOST_TEST(ended.status == 0);
}

// The CPU of each record, and its time, which the text rounds to microseconds.
BOOST_AUTO_TEST_CASE(have_its_time_and_its_cpus) {
    const Ended ended = over_recording(
        "tracepoint:sched:sched_switch { $us = (nsecs + 500) / 1000; "
        "printf(\"[%03d] %d.%06d\\n\", cpu, $us / 1000000, $us % 1000000) }");
    BOOST_TEST(ended.err == "");
    std::vector<std::string> told;
    for (const std::string_view line : lines_of(ended.out))
        if (!line.empty()) told.emplace_back(line);
    const std::vector<std::string> expected = lines_with("sched_switch");
    BOOST_TEST_REQUIRE(told.size() == expected.size());
    for (std::size_t i = 0; i < told.size(); ++i)
        BOOST_TEST(test::has(expected[i], cat(told[i], ':')), expected[i] << " has " << told[i]);
}

BOOST_AUTO_TEST_CASE(have_its_clock_wherever_they_ask_for_a_time) {
    const Ended ended = over_recording(
        "begin { @start = nsecs; printf(\"%d\\n\", elapsed); } "
        "interval:ms:2 { printf(\"%d\\n\", elapsed / 1000000); } "
        "tracepoint:sched:sched_switch { if (@n++ == 5) { printf(\"%d\\n\", nsecs - @start == "
        "elapsed); time(\"%H:%M:%S\\n\"); printf(\"%s\\n\", strftime(\"%H:%M:%S\", nsecs)); "
        "clear(@start); clear(@n); exit() } }");
    for (const std::string function : {"time", "strftime"})
        BOOST_TEST(test::has(ended.err, cat(": WARNING: ", function,
                                            "() shows the recording's own clock, of which the time "
                                            "of day is not known\n")),
                   ended.err);
    const std::vector<std::string_view> lines = lines_of(ended.out);
    BOOST_TEST_REQUIRE(lines.size() > 4);
    BOOST_TEST(lines[0] == "0");
    BOOST_TEST(lines[1] == "2");
    const auto same = std::ranges::find(lines, "1");
    BOOST_TEST_REQUIRE(std::distance(same, lines.end()) > 2);
    BOOST_TEST(same[1] == same[2]);
}

BOOST_AUTO_TEST_CASE(that_ask_for_no_event_run) {
    const Ended ended = over_recording("begin { printf(\"%d\\n\", 6 * 7); exit() }");
    BOOST_TEST(ended.err == "");
    BOOST_TEST(ended.out == "42\n\n\n");
    BOOST_TEST(ended.status == 0);
}

BOOST_AUTO_TEST_CASE(begin_though_there_is_no_record) {
    const test::TempFile empty("# tracer: nop\n#\n", ".txt");
    const Ended ended = test::gpufs(
        {"run", "-i", empty.path(), "-e", "begin { @x = 1 } end { printf(\"%d\\n\", @x) }"});
    BOOST_TEST(ended.out == "1\n\n\n@x: 1\n", ended.err);
}

// An element that is replaced is not gone through again, nor is one that is added.
BOOST_AUTO_TEST_CASE(go_through_a_map_that_they_change) {
    const Ended ended = over_recording(
        "begin { @m[1] = 1; @m[2] = 2; @m[3] = 3; "
        "for ($kv : @m) { @m[$kv.0] = $kv.1 + 10; @n++ } exit() }");
    BOOST_TEST(ended.out == "\n\n@m[1]: 11\n@m[2]: 12\n@m[3]: 13\n@n: 3\n", ended.err);
}

BOOST_AUTO_TEST_CASE(that_ask_for_a_field_that_an_event_lacks_are_told_its_fields) {
    const Ended ended =
        test::gpufs({"run", "-e", "tracepoint:amdgpu:amdgpu_cs_ioctl { @[str(args.ring_name)]++ }",
                     "-i", "tests/data/trace_dat/amdgpu-6.12.dat"});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(ended.out == "");
    BOOST_TEST(test::has(ended.err, "does not contain a field named 'ring_name'\n"), ended.err);
    BOOST_TEST(
        ended.err.ends_with("\nhint: in this recording its fields are sched_job_id, timeline, "
                            "context, seqno, fence, ring, num_ibs\n"),
        ended.err);
}

BOOST_AUTO_TEST_CASE(have_all_fields_of_an_event_in_one_record) {
    const std::string at = "tracepoint:sched:sched_wakeup ";
    const std::string each = over_recording(at +
                                            "{ printf(\"{ .comm = %s, .pid = %d, .prio = %d, "
                                            ".target_cpu = %d }\\n\", args.comm, args.pid, "
                                            "args.prio, args.target_cpu) }")
                                 .out;
    BOOST_TEST(lines_of(each).size() > 10);
    const Ended printed = over_recording(at + "{ print(args) }");
    BOOST_TEST(printed.err == "");
    BOOST_TEST(printed.out == each);
    const Ended kept = over_recording(at + "{ $a = args; @last = ($a, \"x\"); @[args] = $a.pid }");
    BOOST_TEST(kept.err == "");
    for (const std::string_view line : lines_of(each))
        BOOST_TEST((line.empty() || test::has(kept.out, cat("@[", line, "]: "))), line);
    const std::string whole = std::string(trim(each));
    const std::string last = whole.substr(whole.rfind('\n') + 1);
    BOOST_TEST(test::has(kept.out, cat("@last: (", last, ", x)\n")), kept.out);

    const Ended none = over_recording("begin { print(args) }");
    BOOST_TEST(none.status == 2);
    BOOST_TEST(test::has(none.err, "error: there are no arguments at begin\n"), none.err);
}

BOOST_AUTO_TEST_CASE(know_the_names_of_its_tasks) {
    const Ended ended = over_recording(
        "tracepoint:sched:sched_wakeup { printf(\"%s %s\\n\", comm(args.pid), args.comm) }");
    BOOST_TEST(ended.err == "");
    BOOST_TEST(lines_of(ended.out).size() > 10);
    for (const std::string_view line : lines_of(ended.out)) {
        const std::size_t half = line.size() / 2;
        BOOST_TEST((line.empty() || line.substr(0, half) == line.substr(half + 1)), line);
    }
}

// Beside the monitors of watch, whose tables theirs are like.
BOOST_AUTO_TEST_CASE(stand_beside_the_monitors_of_watch) {
    const test::TempFile script(
        "tracepoint:gpu_scheduler:drm_sched_job_queue { @queued[str(args.name)] = count(); "
        "@all = count(); @none = 0 }",
        ".bt");
    const Ended ended =
        test::gpufs({"watch", "drm", script.path(), "-i", "tests/data/trace_dat/drm-6.17.dat"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(test::has(ended.out, "\nBy ring\n"), ended.out);
    BOOST_TEST(test::has(ended.out,
                         "@queued\nNAME     COUNT\ngfx         21\n"
                         "compute     17\nsdma        16\n"),
               ended.out);
    BOOST_TEST(test::has(ended.out, "@all: 54\n"), ended.out);
    BOOST_TEST(test::has(ended.out, "@none\nVALUE\n    0\n"), ended.out);
}

BOOST_AUTO_TEST_CASE(that_ask_for_what_it_cannot_have_say_so) {
    const Ended ended = over_recording("kprobe:vfs_read { @ = count() }");
    BOOST_TEST(ended.status == 3);
    BOOST_TEST(ended.err ==
               "gpufs: this recording has nothing of what '-e' looks at: kprobe vfs_read\n"
               "hint: run it live\n");
    BOOST_TEST(over_recording("profile:hz:99 { @ = count() }").err ==
               "gpufs: this recording has nothing of what '-e' looks at: profile\n"
               "hint: 'perf record' makes a recording that has samples\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
