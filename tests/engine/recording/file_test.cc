#include "engine/recording/file.h"

#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <fstream>

#include "base/cat.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/recorder/recording_file.h"
#include "lang/trace_dat/header.h"
#include "support/recording.h"
#include "support/ring_pages.h"
#include "support/temp_file.h"

namespace gpufs {
namespace {

const std::string kFolder = "tests/data/trace_dat/";

// "[001] 37343.887539: sched_switch", of a line that trace-cmd printed of a record; empty for
// others.
std::string place_time_and_event(std::string_view line) {
    const auto open = line.find(" [");
    const auto time = open == line.npos ? open : line.find(": ", open);
    const auto name = time == line.npos ? time : line.find(':', time + 2);
    return name == line.npos ? "" : std::string(line.substr(open + 1, name - open - 1));
}

// The same of all records of a file.
std::vector<std::string> seen_in(TraceFile& file) {
    std::vector<std::string> seen;
    while (const TraceRecord* record = file.next()) {
        const TraceEvent* event = file.context().events.find(record->id());
        char text[100];
        const std::uint64_t us = (record->timestamp + 500) / 1000;
        if (file.context().options.clock_is_ns)
            std::snprintf(text, sizeof text, "[%03d] %5lu.%06lu: ", record->cpu, us / 1'000'000,
                          us % 1'000'000);
        else
            std::snprintf(text, sizeof text, "[%03d]%12lu: ", record->cpu, record->timestamp);
        seen.push_back(cat(text, event ? event->format.name : "?"));
    }
    return seen;
}

struct Recording {
    const char *name, *facts;
};
std::ostream& operator<<(std::ostream& out, const Recording& r) {
    return out << r.name;
}
const Recording kRecordings[] = {
    {"sched-6.18", "6||Linux vm 6.18.44-fc-v595 x86_64|3.1.6 not-a-git-repo|local"},
    {"mono-6.18", "7|zstd 1.5.4|Linux vm 6.18.44-fc-v595 x86_64|3.1.6 not-a-git-repo|mono"},
    {"gpu-6.12",
     "7|zstd 1.5.4|Linux (none) 6.12.117+deb12-amd64 x86_64|3.1.6 not-a-git-repo|local"},
    {"gpu-6.1", "7|zstd 1.5.4|Linux (none) 6.1.0-56-amd64 x86_64|3.1.6 not-a-git-repo|local"},
    {"tsc-6.18", "7||Linux vm 6.18.44-fc-v595 x86_64|3.1.6 not-a-git-repo|x86-tsc"},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(trace_file)

BOOST_DATA_TEST_CASE(a_recording_gives_the_records_that_trace_cmd_prints,
                     boost::unit_test::data::make(kRecordings), recording) {
    TraceFile file(cat(kFolder, recording.name, ".dat"));
    const std::string text = read_file(cat(kFolder, recording.name, ".txt"));
    std::vector<std::string> expected;
    for (const std::string_view line : lines_of(text))
        if (std::string of = place_time_and_event(line); !of.empty()) expected.push_back(of);
    BOOST_TEST(seen_in(file) == expected, boost::test_tools::per_element());
    BOOST_TEST(file.damage().empty());
    file.rewind();
    BOOST_TEST(seen_in(file).size() == expected.size());
}

BOOST_DATA_TEST_CASE(a_recording_tells_where_it_is_from, boost::unit_test::data::make(kRecordings),
                     recording) {
    const TraceFile file(cat(kFolder, recording.name, ".dat"));
    const TraceFile::Facts& facts = file.facts();
    BOOST_TEST(cat(facts.version, '|', facts.compression, '|', facts.uname, '|', facts.recorder,
                   '|', facts.clock) == recording.facts);
    BOOST_REQUIRE(file.buffers().size() >= 2u);
    BOOST_TEST(file.buffers()[0].name == "");
    BOOST_TEST(file.buffers()[1].name != "");
}

BOOST_AUTO_TEST_CASE(one_cpu_of_a_recording_can_be_read) {
    TraceFile file(kFolder + "sched-6.18.dat");
    std::size_t all = 0, of_cpu = 0;
    while (const TraceRecord* record = file.next()) {
        ++all;
        of_cpu += record->cpu == 1;
    }
    file.rewind({1});
    std::size_t seen = 0;
    while (const TraceRecord* record = file.next()) {
        BOOST_REQUIRE(record->cpu == 1);
        ++seen;
    }
    BOOST_TEST(seen == of_cpu);
    BOOST_TEST(seen < all);
    BOOST_TEST(seen > 0u);
}

BOOST_AUTO_TEST_CASE(tasks_and_symbols_are_those_of_the_recording) {
    TraceFile file(kFolder + "mono-6.18.dat");
    const TraceRecord* first = file.next();
    BOOST_REQUIRE(first);
    const TraceEvent* event = file.context().events.find(first->id());
    BOOST_REQUIRE(event);
    const Field* pid = event->format.find("common_pid");
    BOOST_TEST(file.context().tasks.comm(static_cast<int>(integer_of(*pid, first->bytes))) == "sh");
    const auto symbol = file.context().addresses.symbol(0xffffffff821f8c03);
    BOOST_REQUIRE(symbol);
    BOOST_TEST(symbol->name == "schedule");
}

BOOST_AUTO_TEST_CASE(tasks_have_the_last_names_that_records_tell) {
    const std::string pid = "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n";
    trace_dat::Head head = test::recording_head({});
    head.systems = {
        {"task",
         {test::event_format(7, "task_newtask",
                             cat(pid, "\tfield:char comm[8];\toffset:12;\tsize:8;\tsigned:1;\n")),
          test::event_format(8, "task_rename",
                             cat(pid,
                                 "\tfield:char oldcomm[8];\toffset:12;\tsize:8;\tsigned:1;\n"
                                 "\tfield:char newcomm[8];\toffset:20;\tsize:8;\tsigned:1;\n"))}},
        {"sched",
         {test::event_format(9, "sched_process_exec",
                             "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
                             "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n")}}};
    const test::TempFile made;
    test::write_recording(
        made.path(), std::move(head),
        test::PageBuilder(100)
            .record(0, {"\7\0\0\0\x64\0\0\0\x65\0\0\0child\0\0\0", 20})
            .record(1, {"\10\0\0\0\x66\0\0\0\x66\0\0\0old\0\0\0\0\0new\0\0\0\0\0", 28})
            .record(1, {"\11\0\0\0\x65\0\0\0\x10\0\x0d\0\x65\0\0\0/bin/program\0\0\0\0", 32})
            .record(1, {"\7\0\0\0\x64\0\0\0\x64\0\0\0other\0\0\0", 20}));
    TraceFile file(made.path());
    const auto& tasks = file.context().tasks;
    BOOST_TEST(tasks.comm(101) == "<...>");
    BOOST_REQUIRE(file.next());
    const std::string_view child = tasks.comm(101);
    BOOST_TEST(child == "child");
    BOOST_TEST(tasks.comm(102) == "<...>");
    BOOST_REQUIRE(file.next());
    BOOST_TEST(tasks.comm(102) == "old");
    BOOST_REQUIRE(file.next());
    BOOST_TEST(tasks.comm(102) == "new");
    BOOST_TEST(tasks.comm(101) == "program");
    BOOST_TEST(child == "child");  // borrowed before
    BOOST_REQUIRE(file.next());
    BOOST_TEST(tasks.comm(100) == "other");
    BOOST_TEST(!file.next());
    file.rewind();
    BOOST_TEST(tasks.comm(101) == "<...>");
    BOOST_REQUIRE(file.next());
    BOOST_TEST(tasks.comm(101) == "child");
    BOOST_TEST(tasks.comm(102) == "<...>");
}

BOOST_AUTO_TEST_CASE(names_that_were_saved_stay) {
    const test::TempFile made;
    {
        RecordingFile recording(made.path());
        trace_dat::Head head = test::recording_head({});
        head.systems = {
            {"task",
             {test::event_format(7, "task_newtask",
                                 "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
                                 "\tfield:char comm[8];\toffset:12;\tsize:8;\tsigned:1;\n")}}};
        recording.begin(std::move(head), 1 << 20);
        recording.set_names("101 final\n");
        test::add_page(
            recording, 0,
            test::PageBuilder(100).record(0, {"\7\0\0\0\x64\0\0\0\x65\0\0\0child\0\0\0", 20}));
        recording.commit();
    }
    TraceFile file(made.path());
    BOOST_REQUIRE(file.next());
    BOOST_TEST(file.context().tasks.comm(101) == "final");
}

BOOST_AUTO_TEST_CASE(a_table_of_processes_stands_where_others_have_the_number_of_cpus) {
    // gpuvis' branch of trace-cmd writes lines "TID TGID" as option 8.
    std::string bytes = read_file(kFolder + "sched-6.18.dat");
    const std::string table = "13501 13500\n13502 13500\n123 456\n";
    const auto at = bytes.find("Linux vm 6.18");  // the option of uname has the same size
    BOOST_REQUIRE(at != bytes.npos);
    bytes.replace(at, table.size(), table);
    bytes.replace(at - 6, 1, "\x08");
    const test::TempFile copy(bytes);
    TraceFile whole(kFolder + "sched-6.18.dat"), file(copy.path());
    BOOST_TEST(file.facts().cpus == 2u);
    BOOST_TEST(file.context().tasks.tgid(13502) == 13500);
    BOOST_TEST(file.context().tasks.tgid(123) == 456);
    BOOST_TEST(seen_in(file) == seen_in(whole), boost::test_tools::per_element());
    BOOST_TEST(file.damage().empty());
}

BOOST_AUTO_TEST_CASE(a_table_of_processes_is_told_from_a_number) {
    BOOST_TEST(trace_dat::is_tgid_table("13501 13500\n13502 13500\n"));
    BOOST_TEST(trace_dat::is_tgid_table("1 1\n"));
    BOOST_TEST(trace_dat::is_tgid_table(std::string("13501 13500\n\0", 13)));
    BOOST_TEST(!trace_dat::is_tgid_table(std::string("\x02\0\0\0", 4)));
    BOOST_TEST(!trace_dat::is_tgid_table(std::string(" \0\0\0", 4)));  // 32 CPUs
    BOOST_TEST(!trace_dat::is_tgid_table(""));
}

// Small recordings made by hand, each of 6 records in its first CPU's pages.
const std::string kSmall = "tests/fuzz/corpus/trace_dat/";

BOOST_AUTO_TEST_CASE(times_are_corrected_as_the_file_says) {
    TraceFile file(kSmall + "6");
    const TraceRecord* first = file.next();
    BOOST_REQUIRE(first);
    // 1005 in the page; by the time shift 1005 + 5 + 10, by the clock's multiplier 3 / 2, and 100.
    BOOST_TEST(first->timestamp == (1005u + 15) * 3 / 2 + 100);
}

BOOST_AUTO_TEST_CASE(pages_of_a_recorder_that_was_killed_are_found) {
    TraceFile file(kSmall + "6");
    std::size_t of_cpu_1 = 0;
    while (const TraceRecord* record = file.next()) of_cpu_1 += record->cpu == 1;
    BOOST_TEST(of_cpu_1 == 3u);
    const std::vector<std::string> damage = file.damage();
    BOOST_TEST(damage == std::vector<std::string>{"CPU 1: the recording was not ended: its table "
                                                  "counts 0 bytes, there are 128"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(pages_of_a_32_bit_kernel_are_read) {
    TraceFile wide(kSmall + "6"), narrow(kSmall + "32");
    const auto of_narrow = seen_in(narrow);
    BOOST_TEST(of_narrow == seen_in(wide), boost::test_tools::per_element());
    BOOST_TEST(of_narrow.size() == 9u);
}

BOOST_AUTO_TEST_CASE(pages_compressed_by_zlib_are_read) {
    TraceFile file(kSmall + "7");
    BOOST_TEST(seen_in(file).size() == 6u);
    BOOST_TEST(file.damage().empty());
    BOOST_TEST(file.facts().compression == "zlib 1.2");
    const auto symbol = file.context().addresses.symbol(0xffffffff81000105);
    BOOST_REQUIRE(symbol);
    BOOST_TEST(symbol->name == "schedule");
    BOOST_TEST(*file.context().addresses.text(0xffffffff82000000) == "hello\n");
}

BOOST_AUTO_TEST_CASE(a_buffer_of_pages_that_no_kernel_has_is_left_out) {
    std::string bytes = read_file(kSmall + "7");
    // The buffer's option: its clock, the size of its pages.
    const std::string clock("local\0", 6);
    const auto at = bytes.rfind(clock);
    BOOST_REQUIRE(at != bytes.npos);
    bytes.replace(at + clock.size(), 4, "\xff\xff\xff\x7f");
    const std::string path = cat("/tmp/gpufs-pages-", ::getpid(), ".dat");
    std::ofstream(path, std::ios::binary) << bytes;
    TraceFile file(path);
    std::remove(path.c_str());
    BOOST_TEST(seen_in(file).empty());
    const std::vector<std::string> damage = file.damage();
    BOOST_TEST(damage == std::vector<std::string>{"buffer '' cannot be read: pages of 2147483647 "
                                                  "bytes are damage"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_recording_cut_anywhere_gives_what_is_there_or_says_why_not) {
    for (const char* name : {"6", "7"}) {
        const std::string whole = read_file(kSmall + name);
        const std::string path = cat("/tmp/gpufs-cut-", ::getpid(), ".dat");
        std::size_t most = 0;
        for (std::size_t n = 0; n <= whole.size(); ++n) {
            std::ofstream(path, std::ios::binary) << whole.substr(0, n);
            std::size_t seen = 0;
            try {
                TraceFile file(path);
                seen = seen_in(file).size();
                if (n < whole.size() && name[0] == '7') BOOST_TEST(!file.damage().empty());
            } catch (const Error& e) {
                BOOST_TEST(std::string(e.what()).find(path) != std::string::npos);
            }
            BOOST_TEST(seen >= most);
            most = seen;
        }
        BOOST_TEST(most == (name[0] == '6' ? 9u : 6u));
        std::remove(path.c_str());
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
