#include "engine/recording/perf_recording.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/recording/file.h"
#include "support/temp_file.h"
#include "view/export/stack_profile.h"

namespace gpufs {
namespace {

const std::string kPerfFolder = "tests/data/perf_data/";

// A line of perf script, without the blanks that align its columns.
std::string without_columns(std::string_view line) {
    return join(split(line, ' '), " ");
}

// As perf script prints the record.
std::string perf_line(TraceFile& file, const TraceRecord& record) {
    TraceContext& context = file.context();
    const TraceEvent* const event = context.events.find(record.id());
    BOOST_REQUIRE(event);
    const int tid = common_fields(record.bytes).pid;
    char place[100];
    std::snprintf(place, sizeof place, " %d [%03d] %lu.%06lu: ", tid, record.cpu,
                  record.timestamp / 1'000'000'000, record.timestamp / 1000 % 1'000'000);
    std::string line = cat(tid == 0 ? "swapper" : context.tasks.comm(tid), std::string(place));
    // perf knows events that are no tracepoints by their names alone, and prints nothing of them.
    if (event->format.full_name() == "perf:cpu_clock") return without_columns(line + "cpu-clock:");
    line += event->format.full_name() + ": ";
    event->print().print(record.bytes, context.addresses, line);
    return without_columns(line);
}

bool is_stack(TraceFile& file, const TraceRecord& record) {
    const TraceEvent* const event = file.context().events.find(record.id());
    return event && stack_field(event->format).field;
}

std::vector<std::string> lines_in(TraceFile& file) {
    std::vector<std::string> lines;
    while (const TraceRecord* record = file.next())
        if (!is_stack(file, *record)) lines.push_back(perf_line(file, *record));
    return lines;
}

std::vector<std::string> lines_of_perf(const std::string& name) {
    const std::string text = read_file(kPerfFolder + name + ".txt");
    std::vector<std::string> lines;
    for (const std::string_view line : lines_of(text)) lines.push_back(without_columns(line));
    return lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(perf_recording)

BOOST_DATA_TEST_CASE(a_perf_data_gives_the_lines_that_perf_script_prints,
                     boost::unit_test::data::make({"small", "stacks", "zstd", "pipe"}), name) {
    TraceFile file(cat(kPerfFolder, name, ".data"));
    const std::vector<std::string> expected = lines_of_perf(name);
    BOOST_TEST(expected.size() >= 4u);
    BOOST_TEST(lines_in(file) == expected, boost::test_tools::per_element());
    BOOST_TEST(file.damage().empty());
    file.rewind();
    BOOST_TEST(lines_in(file).size() == expected.size());
}

BOOST_AUTO_TEST_CASE(a_perf_data_tells_where_it_is_from) {
    const TraceFile file(kPerfFolder + "small.data");
    const TraceFile::Facts& facts = file.facts();
    BOOST_TEST(cat(facts.format, '|', facts.uname, '|', facts.recorder, '|', facts.clock, '|',
                   facts.cpus) == "perf.data|Linux vm 6.18.44-fc-v782 x86_64|perf 6.1.187|perf|2");
    BOOST_TEST(TraceFile(kPerfFolder + "pipe.data").facts().clock == "mono");
    BOOST_TEST(TraceFile(kPerfFolder + "zstd.data").facts().compression.starts_with("zstd"));
}

// Events of a damaged file may all have the whole file for their ids.
BOOST_AUTO_TEST_CASE(ids_beyond_measure_are_refused) {
    std::string bytes = read_file(kPerfFolder + "small.data");
    std::uint64_t entry_bytes = 0, entries_at = 0;
    std::memcpy(&entry_bytes, bytes.data() + 16, sizeof entry_bytes);
    std::memcpy(&entries_at, bytes.data() + 24, sizeof entries_at);
    const std::uint64_t many = std::uint64_t{1} << 40;
    std::memcpy(bytes.data() + entries_at + entry_bytes - sizeof many, &many, sizeof many);
    const test::TempFile file(bytes);
    BOOST_CHECK_EXCEPTION(TraceFile(file.path()), Error, [&](const Error& e) {
        return std::string(e.what()) ==
               cat("cannot read '", file.path(), "': there are more ids of events than can be");
    });
}

BOOST_AUTO_TEST_CASE(stacks_stand_behind_their_record) {
    TraceFile file(kPerfFolder + "stacks.data");
    std::size_t kernel = 0, user = 0, records = 0;
    while (const TraceRecord* record = file.next()) {
        BOOST_REQUIRE(!is_stack(file, *record));
        ++records;
        const CommonFields common = common_fields(record->bytes);
        while (const TraceRecord* stack = file.take_stack(common)) {
            const TraceEvent* const event = file.context().events.find(stack->id());
            const auto [field, is_user] = stack_field(event->format);
            BOOST_REQUIRE(field);
            const auto frames = stack_of(*field, stack->bytes, is_user);
            BOOST_TEST(!frames.empty());
            ++(is_user ? user : kernel);
        }
    }
    BOOST_TEST(records == lines_of_perf("stacks").size());
    BOOST_TEST(kernel > 0u);
    BOOST_TEST(user > 0u);
    file.rewind();
    StackProfile profile(file.context());
    while (const TraceRecord* record = file.next()) profile.add(*record);
    profile.finish();
    std::uint64_t counted = 0;
    for (const auto& [sample, count] : profile.counts()) counted += count;
    BOOST_TEST(counted <= records);
    BOOST_TEST(counted > 0u);
}

// Line by line: the record, then the addresses of its stacks, the kernel's first.
BOOST_AUTO_TEST_CASE(stacks_have_the_frames_that_perf_has) {
    TraceFile file(kPerfFolder + "frames.data");
    std::vector<std::string> lines;
    while (const TraceRecord* record = file.next()) {
        lines.push_back(perf_line(file, *record));
        const CommonFields common = common_fields(record->bytes);
        while (const TraceRecord* stack = file.take_stack(common)) {
            const TraceEvent* const event = file.context().events.find(stack->id());
            const auto [field, is_user] = stack_field(event->format);
            for (const std::uint64_t address : stack_of(*field, stack->bytes, is_user)) {
                char text[20];
                std::snprintf(text, sizeof text, "\t%016lx", address);
                lines.push_back(text);
            }
        }
    }
    BOOST_TEST(lines == lines_of_perf("frames"), boost::test_tools::per_element());
    BOOST_TEST(lines.size() > 60u);
}

BOOST_AUTO_TEST_CASE(one_cpu_of_a_perf_data_can_be_read) {
    TraceFile file(kPerfFolder + "small.data");
    file.rewind({1});
    std::size_t seen = 0;
    while (const TraceRecord* record = file.next()) {
        BOOST_REQUIRE(record->cpu == 1);
        ++seen;
    }
    std::size_t expected = 0;
    for (const std::string& line : lines_of_perf("small"))
        expected += line.find("[001]") != line.npos;
    BOOST_TEST(seen == expected);
}

BOOST_AUTO_TEST_CASE(a_perf_data_that_is_cut_gives_what_is_in_front_of_the_cut) {
    const std::string whole = read_file(kPerfFolder + "pipe.data");
    const test::TempFile cut(whole.substr(0, whole.size() - 100));
    TraceFile file(cut.path());
    const std::vector<std::string> lines = lines_in(file);
    const std::vector<std::string> expected = lines_of_perf("pipe");
    BOOST_TEST(lines.size() <= expected.size());
    BOOST_TEST(file.damage().size() == 1u);
    BOOST_TEST(file.damage().at(0) ==
               cat("the file ends at byte ", whole.size() - 100, ", inside a record"));
}

BOOST_AUTO_TEST_CASE(a_perf_data_of_the_other_byte_order_is_refused) {
    const test::TempFile other("2ELIFREP" + std::string(200, '\0'));
    BOOST_CHECK_EXCEPTION(TraceFile(other.path()), UnsupportedError, [&](const Error& e) {
        return e.what() == cat("cannot read '", other.path(),
                               "': it was recorded on a machine of the other byte order");
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
