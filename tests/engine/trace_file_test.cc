#include "gpufs/engine/trace_file.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdio>

#include "gpufs/base/cat.h"
#include "gpufs/base/file.h"
#include "gpufs/base/text.h"

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
        const CatalogEvent* event = file.context().events.find(record->id());
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
    BOOST_TEST(file.buffers().size() == 2u);
    BOOST_TEST(file.buffers()[0].name == "");
    BOOST_TEST(file.buffers()[1].name == "gpufs.t1");
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
    const CatalogEvent* event = file.context().events.find(first->id());
    BOOST_REQUIRE(event);
    const Field* pid = event->format.find("common_pid");
    BOOST_TEST(file.context().tasks.comm(static_cast<int>(integer_of(*pid, first->bytes))) == "sh");
    const auto symbol = file.context().addresses.symbol(0xffffffff821f8c03);
    BOOST_REQUIRE(symbol);
    BOOST_TEST(symbol->name == "schedule");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
