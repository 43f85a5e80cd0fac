#include "engine/recorder/recording_file.h"

#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>

#include "base/cat.h"
#include "base/file.h"
#include "engine/recorder/compress.h"
#include "engine/recording/file.h"
#include "support/recording.h"
#include "support/ring_pages.h"
#include "support/temp_file.h"

namespace gpufs {
namespace {

trace_dat::Head head_for(std::size_t cpus) {
    return test::recording_head({test::event_format(7, "tick")}, cpus);
}

// A file of one test, and what a reader finds in it at any moment.
class Recorded {
public:
    const std::string& path() const { return file_.path(); }

    static void move(RecordingFile& file, std::size_t cpu, std::uint64_t time) {
        test::add_page(file, cpu, test::PageBuilder(time).record(0, {"\7\0\0\0\x0c\0\0\0", 8}));
    }
    // "1@100 0@200": CPU and time of each record, and what the reader complains about.
    std::string found(std::uint64_t from = 0) const {
        TraceFile trace(path());
        trace.rewind({}, from);
        std::string found;
        while (const TraceRecord* record = trace.next())
            found += cat(found.empty() ? "" : " ", record->cpu, '@', record->timestamp);
        for (const std::string& what : trace.damage()) found += cat("; ", what);
        return found;
    }
    std::string name_of(int task) const {
        TraceFile trace(path());
        return std::string(trace.context().tasks.comm(task));
    }

private:
    test::TempFile file_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(recording_file)

BOOST_AUTO_TEST_CASE(a_reader_finds_what_was_committed_at_any_moment) {
    const Recorded recorded;
    RecordingFile file(recorded.path());
    file.begin(head_for(3), 1 << 20);
    BOOST_TEST(recorded.found() == "");
    recorded.move(file, 2, 100);
    // It looks behind what it is told there is, too.
    BOOST_TEST(
        recorded.found() ==
        "2@100; CPU 2: the recording was not ended: its table counts 0 bytes, there are 4096");
    file.commit();
    BOOST_TEST(recorded.found() == "2@100");
    recorded.move(file, 0, 200);
    recorded.move(file, 2, 300);
    file.commit();
    BOOST_TEST(recorded.found() == "2@100 0@200 2@300");
    BOOST_TEST(file.bytes() == 3u * 4096);
    BOOST_TEST(file.room_left(2) == (1u << 20) - 2 * 4096);
}

BOOST_AUTO_TEST_CASE(a_reader_can_begin_at_each_cpus_last_page_before_a_time) {
    const Recorded recorded;
    RecordingFile file(recorded.path());
    file.begin(head_for(3), 1 << 20);
    constexpr std::uint64_t kPages = 101;  // by turns of CPUs 0 and 2
    for (std::uint64_t i = 0; i < kPages; ++i) recorded.move(file, i % 2 * 2, 100 * i);
    file.commit();
    for (const std::uint64_t from : {0u, 1u, 100u, 101u, 5050u, 9900u, 10'000u, 1'000'000u}) {
        std::string expected;
        for (std::uint64_t i = 0; i < kPages; ++i) {
            const bool is_last_before = i + 2 >= kPages || 100 * (i + 2) >= from;
            if (is_last_before)
                expected += cat(expected.empty() ? "" : " ", i % 2 * 2, '@', 100 * i);
        }
        BOOST_TEST(recorded.found(from) == expected);
    }
}

BOOST_AUTO_TEST_CASE(gaps_are_closed_without_a_loss) {
    const Recorded recorded;
    RecordingFile file(recorded.path());
    file.begin(head_for(3), 1 << 20);
    for (const std::size_t cpu : {2, 0, 2}) recorded.move(file, cpu, 100 * (file.bytes() + 1));
    const std::uint64_t head_bytes = file.target(0).at;
    BOOST_TEST(file.close_gaps());
    BOOST_TEST(recorded.found() == "2@100 0@409700 2@819300");
    struct stat facts {};
    BOOST_REQUIRE(::stat(recorded.path().c_str(), &facts) == 0);
    BOOST_TEST(static_cast<std::uint64_t>(facts.st_size) == head_bytes + 3 * std::size_t{4096});
}

BOOST_AUTO_TEST_CASE(names_and_numbers_are_replaced_in_place) {
    const Recorded recorded;
    RecordingFile file(recorded.path());
    file.begin(head_for(1), 1 << 20);
    file.set_names("12 a long name\n13 other\n");
    BOOST_TEST(recorded.name_of(13) == "other");
    file.set_names("12 short\n");
    BOOST_TEST(recorded.name_of(12) == "short");
    BOOST_TEST(recorded.name_of(13) == "<...>");
    // Beyond the room, whole lines are left out.
    file.set_names("12 short\n" + std::string("13 ") + std::string(60, 'x') + "\n");
    BOOST_TEST(recorded.name_of(12) == "short");
    BOOST_TEST(recorded.name_of(13) == "<...>");
    file.set_statistics(0, "CPU: 0\noverrun: 5\n");
    TraceFile trace(recorded.path());
    BOOST_TEST(trace.facts().statistics.starts_with("CPU: 0\noverrun: 5"));
    BOOST_TEST(trace.facts().uname == "Linux box");
    BOOST_TEST(trace.facts().clock == "mono");
}

BOOST_AUTO_TEST_CASE(a_compressed_recording_is_the_same_one) {
    const Recorded recorded;
    {
        RecordingFile file(recorded.path());
        file.begin(head_for(3), 1 << 20);
        file.set_names("12 task\n");
        for (std::uint64_t i = 0; i < 200; ++i) recorded.move(file, i % 2 * 2, 1000 + i);
        BOOST_TEST(file.close_gaps());
    }
    const std::string before = recorded.found();
    compress_recording(recorded.path());
    BOOST_TEST(recorded.found() == before);
    BOOST_TEST(recorded.name_of(12) == "task");
    TraceFile trace(recorded.path());
    BOOST_TEST(trace.facts().version == 7u);
    BOOST_TEST(trace.facts().clock == "mono");
    BOOST_TEST(!file_exists(recorded.path() + ".part"));
    // The option that says how many CPUs there are: number 8, of 4 bytes.
    const std::string cpus("\x08\0\x04\0\0\0\x03\0\0\0", 10);
    BOOST_TEST((read_file(recorded.path()).find(cpus) != std::string::npos));
}

BOOST_AUTO_TEST_CASE(a_file_that_never_began_is_as_it_was) {
    const Recorded recorded;
    write_all(open_file(recorded.path(), O_WRONLY).get(), "before", recorded.path());
    { const RecordingFile file(recorded.path()); }
    BOOST_TEST(read_file(recorded.path()) == "before");
    const std::string other = recorded.path() + ".new";
    { const RecordingFile file(other); }
    BOOST_TEST(!file_exists(other));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
