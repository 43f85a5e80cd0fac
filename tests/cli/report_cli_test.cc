#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <fstream>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "support/json.h"
#include "support/recording.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::TempFile;

const std::string kFolder = "tests/data/trace_dat/";
const std::string kRecordings[] = {"sched-6.18", "mono-6.18", "tsc-6.18",    "stack-6.18",
                                   "gpu-6.12",   "gpu-6.1",   "function-6.1"};

Ended report(const std::string& recording, std::vector<std::string> args = {}) {
    args.insert(args.begin(), {"report", "-i", kFolder + recording + ".dat"});
    return test::gpufs(args);
}

std::string expected_text(const std::string& recording) {
    return read_file(kFolder + recording + ".txt");
}

// The letter that trace-cmd has for a state of a task (gpufs-report(1)).
std::string as_trace_cmd_says(std::string line) {
    const auto arrow = line.find(" ==> ");
    if (line.find(": sched_switch: ") == line.npos || arrow == line.npos) return line;
    const auto begin = line.rfind(' ', arrow - 1) + 1;
    std::string state = line.substr(begin, arrow - begin);
    if (state == "R+")
        state = "R";
    else if (state == "I")
        state = "W";
    else if (state == "Z")
        state = "X";
    else if (state == "X")
        state = "Z";
    return line.replace(begin, arrow - begin, state);
}

std::string all_as_trace_cmd_says(const std::string& text) {
    std::string out;
    for (const std::string_view line : lines_of(text))
        out += as_trace_cmd_says(std::string(line)) + '\n';
    return out;
}

// A copy of a recording's first bytes.
TempFile cut_file(const std::string& recording, std::size_t bytes) {
    return TempFile(read_file(kFolder + recording + ".dat").substr(0, bytes));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(report_command, *ut::label("pure"))

BOOST_DATA_TEST_CASE(report_prints_what_trace_cmd_prints, ut::data::make(kRecordings), recording) {
    const Ended ended = report(recording);
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.err == "");
    BOOST_TEST(all_as_trace_cmd_says(ended.out) == expected_text(recording));
}

BOOST_AUTO_TEST_CASE(report_shows_the_chosen_events_only) {
    const Ended ended = report("sched-6.18", {"-e", "softirq_*,sched_wakeup"});
    std::string expected = "cpus=2\n";
    for (const std::string_view line : lines_of(expected_text("sched-6.18")))
        if (line.find(": softirq_") != line.npos || line.find(": sched_wakeup: ") != line.npos)
            expected += cat(line, '\n');
    BOOST_TEST(ended.out == expected);
    BOOST_TEST(lines_of(expected).size() > 5u);
}

BOOST_AUTO_TEST_CASE(report_shows_records_for_which_the_condition_holds) {
    const Ended ended = report("tsc-6.18", {"--if", "prev_comm == sleep && prev_state == 1"});
    BOOST_TEST(ended.out ==
               "cpus=2\n"
               "gpufs.t1:            sleep-13538 [000]91404201753814: sched_switch:         "
               "sleep:13538 [120] S ==> swapper/0:0 [120]\n");
}

BOOST_AUTO_TEST_CASE(report_shows_a_task_and_a_time_and_a_cpu) {
    const Ended ended = report("tsc-6.18", {"-p", "13537", "--cpu", "1", "--from", "91404198000000",
                                            "--to", "91404198249518"});
    BOOST_TEST(ended.out ==
               "cpus=2\n"
               "gpufs.t1:               sh-13537 [001]91404198249518: sched_switch:         "
               "sh:13537 [120] S ==> swapper/1:0 [120]\n");
}

BOOST_AUTO_TEST_CASE(report_puts_stacks_below_their_events) {
    const Ended ended = report("stack-6.18", {"--stacks", "-e", "sched_waking"});
    const std::string text = ended.out;
    std::string before;
    std::size_t stacks = 0;
    for (const std::string_view line : lines_of(text)) {
        if (line.find("<stack trace >") != line.npos) {
            BOOST_TEST(test::has(before, ": sched_waking: "));
            ++stacks;
        }
        before = line;
    }
    BOOST_TEST(stacks == 6u);
}

BOOST_AUTO_TEST_CASE(report_makes_a_table_of_one_event) {
    const Ended ended = report("tsc-6.18", {"--csv", "-e", "sched_switch", "--cpu", "0"});
    BOOST_TEST(
        std::string(ended.out.substr(0, ended.out.find("\n", 120) + 1)) ==
        "time,cpu,tid,pid,comm,event,prev_comm,prev_pid,prev_prio,prev_state,next_comm,next_pid,"
        "next_prio\n"
        "91404198174046,0,0,,<idle>,sched:sched_switch,swapper/0,0,120,0,sh,13538,120\n");
}

BOOST_AUTO_TEST_CASE(report_makes_a_table_of_all_events) {
    const Ended ended = report("mono-6.18", {"--csv", "--to", "37377.070360"});
    BOOST_TEST(ended.out ==
               "time,cpu,tid,pid,comm,event,fields\n"
               "37377.070357881,1,13519,,sh,syscalls:sys_enter_openat,__syscall_nr=257 "
               "dfd=4294967196 filename=140294746914993 flags=524288 mode=0\n");
}

BOOST_AUTO_TEST_CASE(report_gives_each_record_as_json) {
    const Ended ended = report("tsc-6.18", {"--json", "--to", "91404198174046", "--cpu", "0"});
    BOOST_TEST(ended.out.substr(0, ended.out.find("{\"what\"")) ==
               "{\"time\":91404198174046,\"cpu\":0,\"comm\":\"<idle>\",\"tid\":0,\"event\":"
               "\"sched:sched_switch\",\"fields\":{\"prev_comm\":\"swapper/0\",\"prev_pid\":0,"
               "\"prev_prio\":120,\"prev_state\":0,\"next_comm\":\"sh\",\"next_pid\":13538,"
               "\"next_prio\":120},\"flags\":\"d..2.\"}\n"
               "{\"summary\":{\"records\":1,\"lost\":0,\"losses\":[");
}

BOOST_AUTO_TEST_CASE(report_counts_what_is_in_a_recording) {
    const std::string text = report("sched-6.18", {"--stat", "-e", "sched_switch"}).out;
    BOOST_TEST(text.substr(0, text.find("The kernel's counters")) ==
               "machine   Linux vm 6.18.44-fc-v595 x86_64\n"
               "recorder  3.1.6 not-a-git-repo\n"
               "format    trace.dat version 6\n"
               "clock     local\n"
               "instance  gpufs.t1, 8192 bytes\n"
               "records   14\n"
               "time      37376.754644636 to 37376.761408604, 6.7 ms\n"
               "rate      2070 a second\n"
               "gap       2.0 ms from 37376.756703978, the longest\n"
               "\n"
               "EVENT               COUNT  PER SECOND\n"
               "sched:sched_switch     14        2070\n"
               "\n"
               "COMM           PID  COUNT  PER SECOND\n"
               "sh           13501      5         739\n"
               "<idle>           0      3         444\n"
               "sleep        13502      3         444\n"
               "cat          13503      2         296\n"
               "rcu_preempt     15      1         148\n"
               "\n"
               "CPU  COUNT  PER SECOND  LOST\n"
               "  0      6         887     0\n"
               "  1      8        1183     0\n"
               "\n");
}

BOOST_AUTO_TEST_CASE(report_reads_a_cut_recording_as_far_as_it_goes) {
    const TempFile cut = cut_file("sched-6.18", 42000);
    const Ended ended = test::gpufs({"report", "-i", cut.path()});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.err ==
               "gpufs: gpufs.t1: CPU 0: the file ends at byte 42000, 3056 bytes of its pages are "
               "missing\n"
               "gpufs: gpufs.t1: CPU 1: the file ends at byte 45056, 4096 bytes of its pages are "
               "missing\n"
               "gpufs: CPU 0: a ring buffer page is damaged at byte 1072: an event of 0 bytes has "
               "96 left\n"
               "3 lost: 3 damaged places in the recording\n");
    BOOST_TEST(lines_of(ended.out).size() > 20u);
    BOOST_TEST(test::gpufs({"report", "--strict", "-i", cut.path()}).status == 4);
}

BOOST_AUTO_TEST_CASE(report_says_where_a_recording_is_cut_before_its_records) {
    const TempFile start = cut_file("drm-6.12", 100);
    BOOST_TEST(test::gpufs({"report", "-i", start.path()}).err ==
               cat("gpufs: '", start.path(),
                   "' is cut at byte 100, inside its options: no record can be read\n"));
    const TempFile cut = cut_file("sched-6.18", 30000);
    const Ended ended = test::gpufs({"report", "-i", cut.path()});
    BOOST_TEST(ended.status == 1);
    BOOST_TEST(ended.err ==
               cat("gpufs: '", cut.path(),
                   "' is cut at byte 30000, inside the event formats: no record can be "
                   "read\n"));
}

BOOST_AUTO_TEST_CASE(report_says_what_is_wrong_with_words) {
    const Ended event = report("tsc-6.18", {"-e", "sched_swich"});
    BOOST_TEST(event.status == 2);
    BOOST_TEST(event.err ==
               "gpufs: this recording has no event 'sched_swich'\n"
               "hint: did you mean 'sched_switch'?\n");
    const Ended field = report("tsc-6.18", {"--if", "prev_stat == 2"});
    BOOST_TEST(field.status == 2);
    BOOST_TEST(field.err ==
               "gpufs: --if:1:1: error: no event of this recording has a field 'prev_stat'\n"
               "prev_stat == 2\n"
               "^~~~~~~~~\n"
               "hint: did you mean 'prev_state'?\n");
    // What to do next is about this recording, not about the kernel.
    BOOST_TEST(has(report("tsc-6.18", {"--if", "zzz == 1"}).err,
                   cat("\nhint: 'gpufs report --json ", kFolder,
                       "tsc-6.18.dat' shows the fields of its records\n")));
    BOOST_TEST(has(report("tsc-6.18", {"-e", "zzz"}).err,
                   cat("\nhint: 'gpufs report --stat ", kFolder,
                       "tsc-6.18.dat' shows the events of the recording\n")));
    BOOST_TEST(has(test::gpufs({"watch", "-i", kFolder + "tsc-6.18.dat"}).err,
                   cat("gpufs: no GPU monitor can run over this recording\n"
                       "hint: 'gpufs watch --list -i ",
                       kFolder, "tsc-6.18.dat' says why\n")));
    BOOST_TEST(
        test::gpufs({"report"}).err ==
        "gpufs: there is no trace.dat here\nhint: 'gpufs report FILE' names the recording\n");
    BOOST_TEST(report("tsc-6.18", {"--cpu", "7"}).err ==
               "gpufs: the recording has no CPU 7\nhint: it has 0-1\n");
    BOOST_TEST(report("tsc-6.18", {"--from", "x"}).err ==
               "gpufs: --from takes a time, not 'x'\n"
               "hint: as the lines show it: 220.5; or with a unit: 220500ms\n");
    BOOST_TEST(report("tsc-6.18", {"--from", "1.5s"}).err ==
               "gpufs: --from: '1.5s' is no count of the clock 'x86-tsc'\n");
    BOOST_TEST(report("tsc-6.18", {"--csv", "--json"}).err ==
               "gpufs: --csv and --json exclude each other\n");
}

// Lines show microseconds, records have nanoseconds.
BOOST_AUTO_TEST_CASE(report_finds_lines_by_the_times_that_they_show) {
    const std::string all = report("sched-6.18").out;
    std::size_t looked_at = 0;
    for (const std::string_view line : lines_of(all)) {
        const auto end = line.find(": ", line.find('['));
        if (end == line.npos || ++looked_at % 4 != 0) continue;
        const auto begin = line.rfind(' ', end) + 1;
        const std::string time(line.substr(begin, end - begin));
        std::string expected = "cpus=2\n";
        for (const std::string_view one : lines_of(all))
            if (has(std::string(one), cat(' ', time, ": "))) expected += cat(one, '\n');
        BOOST_TEST(report("sched-6.18", {"--from", time, "--to", time}).out == expected);
    }
    BOOST_TEST(looked_at > 80);
    // More digits tell a record's time exactly, as JSON has it.
    const std::string json = report("sched-6.18", {"--json"}).out;
    const auto at = json.find("\"time\":") + 7;
    const std::string exact = json.substr(at, json.find(',', at) - at);
    BOOST_TEST(lines_of(report("sched-6.18", {"--from", exact, "--to", exact}).out).size() == 2u);
}

BOOST_AUTO_TEST_CASE(report_says_what_the_recording_has_nothing_of) {
    const char* const extent =
        "no record is of that time: the recording goes from 37377.070358 to 37377.077874\n";
    for (const char* when : {"--from", "--to"}) {
        const Ended ended =
            report("mono-6.18", {when, when == std::string("--to") ? "1" : "99999"});
        BOOST_TEST(ended.status == 0);
        BOOST_TEST(ended.out == "cpus=2\n");
        BOOST_TEST(ended.err == extent);
    }
    const std::string path = kFolder + "mono-6.18.dat";
    BOOST_TEST(test::gpufs({"export", path, "--to", "100s", "--csv", "-"}).err == extent);
    BOOST_TEST(report("mono-6.18", {"-p", "13519,1"}).err == "no record here is of task 1\n");
    BOOST_TEST(report("mono-6.18", {"--from", "1", "-e", "sched_switch"}).err == "");
}

BOOST_AUTO_TEST_CASE(report_refuses_what_is_no_recording) {
    const Ended folder = test::gpufs({"report", "/"});
    BOOST_TEST(folder.status == 1);
    BOOST_TEST(folder.err == "gpufs: cannot read '/': Is a directory\n");

    const Ended other = test::gpufs({"report", "-i", "Makefile"});
    BOOST_TEST(other.status == 1);
    BOOST_TEST(other.err ==
               "gpufs: cannot read 'Makefile': it is neither a trace.dat, nor a perf.data, nor "
               "the kernel's text of a trace\n");
    const Ended none = test::gpufs({"report", "-i", "/nonexistent"});
    BOOST_TEST(none.status == 1);
    BOOST_TEST(none.err == "gpufs: cannot open '/nonexistent': No such file or directory\n");
}

BOOST_AUTO_TEST_CASE(report_fails_on_a_full_disk_and_is_quiet_on_a_closed_pipe) {
    test::Child::Setup setup;
    setup.argv = {test::gpufs_binary(), "report", "-i", kFolder + "mono-6.18.dat"};
    setup.stdout_file = "/dev/full";
    const Ended full = test::Child(setup).wait();
    BOOST_TEST(full.status == 1);
    BOOST_TEST(full.err == "gpufs: cannot write to 'stdout': No space left on device\n");
    setup.stdout_file.clear();
    setup.close_stdout_early = true;
    const Ended closed = test::Child(setup).wait();
    BOOST_TEST(closed.signal == SIGPIPE);
    BOOST_TEST(closed.err == "");
}

BOOST_AUTO_TEST_CASE(report_needs_no_rights) {
    const Ended ended = test::gpufs_as_nobody({"report", "-i", kFolder + "tsc-6.18.dat"});
    BOOST_TEST(ended.status == 0);
    BOOST_TEST(ended.out == report("tsc-6.18").out);
}

// A page says that records before it were lost, and not how many; the kernel's counters do.
void write_lossy_recording(const TempFile& file, const std::string& counters) {
    RecordingFile recording(file.path());
    recording.begin(test::recording_head({test::event_format(7, "tick")}, 2), 1 << 20);
    const std::string tick("\7\0\0\0\5\0\0\0", 8), idle("\7\0\0\0\0\0\0\0", 8);
    test::add_page(recording, 0, test::PageBuilder(1000).record(0, tick));
    test::add_page(recording, 0, test::PageBuilder(2000).record(0, idle).lost_some());
    test::add_page(recording, 1, test::PageBuilder(3000).record(0, tick));
    recording.set_statistics(0, cat("CPU: 0\n", counters));
    recording.set_statistics(1, "CPU: 1\noverrun: 9\n");
    recording.commit();
}

BOOST_AUTO_TEST_CASE(report_says_what_the_kernel_counted_of_lost_records) {
    const TempFile file("");
    write_lossy_recording(file, "overrun: 5000\ndropped events: 2\n");
    const Ended statistics = test::gpufs({"report", "-i", file.path(), "--stat"});
    BOOST_TEST(statistics.err == "5002 lost: 5002 events that the recording lost, in 1 place\n");
    // CPU 1 kept its last records, as told to: the older ones are not lost.
    BOOST_TEST(has(statistics.out,
                   "CPU  COUNT  PER SECOND  LOST\n"
                   "  0      2     1000000  5002\n"
                   "  1      1      500000     0\n"),
               statistics.out);
    const Ended counted = test::gpufs({"count", "clock:tick", "-i", file.path()});
    BOOST_TEST(counted.err == "5002 lost: 5002 events that the recording lost\n");
    // Of a part nobody knows.
    const Ended part = test::gpufs({"report", "-i", file.path(), "--to", "2500ns"});
    BOOST_TEST(part.err ==
               "1 or more lost: 1 or more events that the recording lost, in 1 place\n");
}

BOOST_AUTO_TEST_CASE(report_does_not_believe_counters_that_are_too_small) {
    const TempFile file("");
    write_lossy_recording(file, "overrun: 0\n");
    BOOST_TEST(test::gpufs({"report", "-i", file.path(), "--stat"}).err ==
               "1 or more lost: 1 or more events that the recording lost, in 1 place\n");
}

BOOST_AUTO_TEST_CASE(report_chooses_the_idle_task_too) {
    const TempFile file("");
    write_lossy_recording(file, "overrun: 1\n");
    const Ended idle = test::gpufs({"report", "-i", file.path(), "-p", "0", "--csv"});
    BOOST_TEST(std::ranges::count(idle.out, '\n') == 2);
    BOOST_TEST(has(idle.out, ",0,0,"), idle.out);
    BOOST_TEST(test::gpufs({"report", "-i", file.path(), "-p", "-1"}).status == 2);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
