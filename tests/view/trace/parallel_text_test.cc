#include "view/trace/parallel_text.h"

#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>

#include "base/cat.h"
#include "engine/recording/file.h"

namespace gpufs {
namespace {

const std::vector<std::string> kPrefixes = {"", "other: "};
// So that there are many batches, of other records than before.
constexpr int kRounds = 60;

std::string recording(const std::string& name) {
    return cat("tests/data/trace_dat/", name, ".dat");
}

// All of a recording, again and again.
template <class OnRecord>
void walk(TraceFile& file, OnRecord&& on_record) {
    for (int i = 0; i < kRounds; ++i) {
        file.rewind();
        while (const TraceRecord* record = file.next())
            on_record(*record, static_cast<std::size_t>(i % 2));
    }
}

std::string text_of_one(const std::string& name) {
    TraceFile file(recording(name));
    TraceCmdText text(file.context());
    std::string lines;
    walk(file, [&](const TraceRecord& record, std::size_t prefix) {
        text.print(record, kPrefixes[prefix], lines);
    });
    return lines;
}

std::string text_of_several(const std::string& name, std::size_t threads) {
    TraceFile file(recording(name));
    std::string lines;
    ParallelText text(file.context(), kPrefixes, threads,
                      [&](std::string_view more) { lines += more; });
    walk(file, [&](const TraceRecord& record, std::size_t prefix) { text.add(record, prefix); });
    text.finish();
    return lines;
}

BOOST_AUTO_TEST_SUITE(parallel_text)

// Functions are indented by those before them, stacks ask for names.
BOOST_DATA_TEST_CASE(several_threads_print_what_one_does,
                     boost::unit_test::data::make({"sched-6.18", "function-6.1", "stack-6.18",
                                                   "gpu-6.12", "drm-6.17"}),
                     name) {
    const std::string expected = text_of_one(name);
    for (const std::size_t threads : {std::size_t{1}, std::size_t{3}})
        BOOST_TEST((text_of_several(name, threads) == expected));
}

BOOST_AUTO_TEST_CASE(what_writing_throws_ends_it) {
    TraceFile file(recording("gpu-6.12"));
    const auto print = [&] {
        ParallelText text(file.context(), kPrefixes, 2,
                          [](std::string_view) { throw std::runtime_error("full"); });
        walk(file,
             [&](const TraceRecord& record, std::size_t prefix) { text.add(record, prefix); });
        text.finish();
    };
    BOOST_CHECK_THROW(print(), std::runtime_error);
}

// What stands before it is made by another thread, and still under way when this one fails.
BOOST_AUTO_TEST_CASE(what_stands_before_a_failure_is_written) {
    TraceFile file(recording("stack-6.18"));
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> is_asked = false, is_far = false;
    file.context().addresses.symbol = [&](std::uint64_t) -> std::optional<Symbol> {
        if (std::this_thread::get_id() == caller) throw std::runtime_error("no name");
        is_asked = true;
        while (!is_far) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        return std::nullopt;
    };
    std::string lines;
    const auto print = [&] {
        ParallelText text(file.context(), kPrefixes, 1,
                          [&](std::string_view more) { lines += more; });
        std::size_t bytes = 0;
        walk(file, [&](const TraceRecord& record, std::size_t prefix) {
            text.add(record, prefix);
            bytes += record.bytes.size();
            // The first batch is with the other thread when the next ones come.
            while (bytes > (32 << 10) && !is_asked) std::this_thread::yield();
            is_far = bytes > (64 << 10);
        });
        text.finish();
    };
    BOOST_CHECK_THROW(print(), std::runtime_error);
    BOOST_TEST(lines.size() > 24u << 10);
}

BOOST_AUTO_TEST_CASE(a_recording_without_records_has_no_text) {
    TraceFile file(recording("sched-6.18"));
    std::string lines;
    ParallelText text(file.context(), kPrefixes, 1, [&](std::string_view more) { lines += more; });
    text.finish();
    BOOST_TEST(lines == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
