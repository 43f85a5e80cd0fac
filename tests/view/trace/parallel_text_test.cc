#include "view/trace/parallel_text.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <stdexcept>

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
