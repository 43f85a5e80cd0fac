#include "lang/expr/record_condition.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "support/assemble_text.h"

namespace gpufs {
namespace {

// A record that is told, one of the same members for --freeze-on alone, and one of others.
const std::string kText =
    ".map    events ringbuf\n"
    ".record slow { comm str16, run_us u64 us, left s32 }\n"
    ".record job { comm str16, run_us u64 us, left s32 } then { freeze }\n"
    ".record other { run_us u64 us }\n"
    ".prog p begin\n  r0 = 0\n  exit\n";

std::vector<std::byte> record_of(const RecordLayout& layout, std::string_view comm,
                                 std::uint64_t run_us, std::int32_t left) {
    std::vector<std::byte> bytes(layout.layout.bytes);
    std::memcpy(bytes.data() + layout.layout.find("comm")->offset, comm.data(), comm.size());
    std::memcpy(bytes.data() + layout.layout.find("run_us")->offset, &run_us, sizeof run_us);
    std::memcpy(bytes.data() + layout.layout.find("left")->offset, &left, sizeof left);
    return bytes;
}

std::string refusal(const Program& program, const std::string& text) {
    try {
        const RecordCondition condition(program, parse_expression({"--freeze-on", text}));
    } catch (const UsageError& e) {
        return e.what();
    }
    return {};
}

BOOST_AUTO_TEST_SUITE(record_condition)

BOOST_AUTO_TEST_CASE(records_are_judged_by_their_members) {
    const Program program = assemble({"t.bpf", kText}, {});
    const RecordLayout& slow = *program.find_record("slow");
    const RecordLayout& job = *program.find_record("job");
    BOOST_TEST(job.is_for_freeze());
    BOOST_TEST(!slow.is_for_freeze());
    const auto holds = [&](const std::string& text, const RecordLayout& layout,
                           std::string_view comm, std::uint64_t run_us, std::int32_t left) {
        return RecordCondition(program, parse_expression({"--freeze-on", text}))
            .holds(layout, record_of(layout, comm, run_us, left));
    };
    for (const RecordLayout* layout : {&slow, &job}) {
        BOOST_TEST(holds("run_us > 100000", *layout, "vim", 100001, 0));
        BOOST_TEST(!holds("run_us > 100000", *layout, "vim", 100000, 0));
        BOOST_TEST(holds("comm ~ \"v*\" && left < 0", *layout, "vim", 0, -1));
        BOOST_TEST(!holds("comm ~ \"v*\" && left < 0", *layout, "emacs", 0, -1));
    }
    const RecordLayout& other = *program.find_record("other");
    const std::vector<std::byte> bytes(other.layout.bytes, std::byte{1});
    BOOST_TEST(!RecordCondition(program, parse_expression({"--freeze-on", "run_us > 1"}))
                    .holds(other, bytes));
}

// What gpufs-monitors(7) says that --freeze-on looks at.
BOOST_AUTO_TEST_CASE(records_of_trouble_are_judged_beside_those_of_jobs) {
    const std::pair<const char*, const char*> cases[] = {
        {"amdgpu", "event"}, {"amdgpu", "fault"}, {"amdgpu", "dump"},  {"i915", "event"},
        {"i915", "wait"},    {"xe", "event"},     {"xe", "trouble"},   {"xe", "timeout"},
        {"npu", "event"},    {"npu", "reset"},    {"nvidia", "event"}, {"nvidia", "error"},
        {"nvidia", "power"}, {"drm", "event"},    {"fence", "slow"},   {"vblank", "slow"},
        {"cuda", "done"},    {"hip", "done"},     {"ze", "done"},      {"vulkan", "done"}};
    for (const auto& [monitor, name] : cases) {
        const Program program = assemble_file(cat(kBpfFolder, "/", monitor, ".bpf"));
        const RecordLayout* record = program.find_record(name);
        BOOST_TEST_REQUIRE(record, monitor << ' ' << name);
        const std::vector<std::byte> bytes(record->layout.bytes);
        BOOST_TEST(RecordCondition(program, parse_expression({"--freeze-on", "when == 0"}))
                       .holds(*record, bytes),
                   monitor << ' ' << name);
    }
}

BOOST_AUTO_TEST_CASE(what_no_record_has_is_a_mistake) {
    const Program program = assemble({"t.bpf", kText}, {});
    BOOST_TEST(refusal(program, "run_ms > 1") ==
               "--freeze-on:1:1: error: t:slow has no field 'run_ms'\nrun_ms > 1\n^~~~~~");
    BOOST_TEST(refusal(assemble({"t.bpf", ".prog p begin\n  r0 = 0\n  exit\n"}, {}), "x > 1") ==
               "'t' sends nothing that --freeze-on could look at");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
