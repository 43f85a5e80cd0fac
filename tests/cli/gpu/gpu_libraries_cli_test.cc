#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "support/needs.h"
#include "support/told.h"

namespace ut = boost::unit_test;

// The monitors of libraries that give GPUs work, over libraries of our own without one. Each is
// called by a program whose every thread makes the same calls as often.
namespace gpufs {
namespace {

using test::Child;
using test::Json;
using test::Told;

constexpr long long kMockThreads = 3, kRounds = 6, kMockCalls = kMockThreads * kRounds;

// What the monitor of a library, or it and others, tell of the program gpufs-NAME-work. A library
// is in the folder of its name.
class ToldOf : public Told {
public:
    explicit ToldOf(const std::string& name, const std::vector<std::string>& others = {})
        : Told(run(name, others)), comm_(work_of(name).substr(0, 15)) {}

    // The rows of the program.
    std::vector<Json> ours(const std::string& map, Wanted more = {}) const {
        more.emplace("comm", comm_);
        return rows(map, more);
    }
    long long all(const std::string& map, Wanted more, const std::string& column) const {
        more.emplace("comm", comm_);
        return sum(map, more, column);
    }
    // What was allocated in each call, and freed but for one of each thread.
    void check_memory(const char* memory, long long bytes) const {
        const auto got = [&](const char* what) {
            return all("memories", {{"memory", memory}, {"what", what}}, "sum");
        };
        BOOST_TEST(got("allocated") == kMockCalls * bytes, memory);
        BOOST_TEST(got("freed") == (kMockCalls - kMockThreads) * bytes, memory);
        BOOST_TEST(got("not freed") == kMockThreads * bytes, memory);
    }
    // Each call took two milliseconds.
    void check_waits(const char* call, std::size_t calls = kMockCalls) const {
        const auto rows = ours("took", {{"call", call}});
        BOOST_TEST_REQUIRE(rows.size() == 1u, call);
        BOOST_TEST(rows[0]["count"].number() == calls, call);
        BOOST_TEST(rows[0]["max"].number() >= 2000, call);
    }

private:
    static std::string work_of(const std::string& name) { return cat("gpufs-", name, "-work"); }
    static test::Ended run(const std::string& name, const std::vector<std::string>& others) {
        const std::string binary = test::gpufs_binary();
        const std::string folder = binary.substr(0, binary.rfind('/') + 1);
        std::string path = cat("LD_LIBRARY_PATH=", folder, name);
        Child::Setup setup;
        setup.argv = {binary, "run", name};
        for (const std::string& other : others) {
            setup.argv.push_back(other);
            path += cat(':', folder, other);
        }
        for (const std::string& word :
             {std::string("--json"), std::string("--strict"), std::string("--"),
              cat(folder, work_of(name)), std::string("all"), cat(kMockThreads), cat(kRounds)})
            setup.argv.push_back(word);
        setup.environment = {path};
        return Child(setup).wait();
    }

    std::string comm_;
};

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(gpu_libraries, *ut::precondition(test::has_file{"uprobe_events"}))

BOOST_AUTO_TEST_CASE(hip_tells_launches_memory_copies_and_waits) {
    const ToldOf told("hip");
    struct Kernel {
        const char *name, *grid, *block;
    };
    for (const Kernel& one :
         {Kernel{"wave<double>", "1x2x3", "4x5x6"}, Kernel{"own_kernel", "7x8x9", "10x11x12"},
          Kernel{"plain_name", "13x14x15", "16x17x18"}})
        BOOST_TEST(
            told.all("launches", {{"kernel", one.name}, {"grid", one.grid}, {"block", one.block}},
                     "count") == kMockCalls,
            one.name);
    BOOST_TEST(told.all("launches", {}, "count") == 3 * kMockCalls);
    for (long long stream = 1; stream <= kMockThreads; ++stream) {
        BOOST_TEST(told.all("streams", {{"stream", cat(stream)}}, "count") == 3 * kRounds);
        BOOST_TEST(told.all("graphs", {{"stream", cat(stream)}}, "count") == kRounds);
    }
    for (long long gpu = 0; gpu < kMockThreads; ++gpu) {
        BOOST_TEST(told.all("streams", {{"gpu", cat(gpu)}}, "count") == 3 * kRounds);
        BOOST_TEST(told.all("graphs", {{"gpu", cat(gpu)}}, "count") == kRounds);
    }
    told.check_memory("device", 1000);
    told.check_memory("host", 300);
    const auto copied = [&](const char* way) { return told.all("copies", {{"way", way}}, "sum"); };
    BOOST_TEST(copied("host to host") == 10 * kMockCalls);
    BOOST_TEST(copied("host to device") == 80 * kMockCalls);
    BOOST_TEST(copied("device to host") == 510 * kMockCalls);
    BOOST_TEST(copied("device to device") == 10 * kMockCalls);
    BOOST_TEST(copied("by address") == 10 * kMockCalls);
    BOOST_TEST(copied("set") == 24 * kMockCalls);
    told.check_waits("hipStreamSynchronize");
    told.check_waits("hipDeviceSynchronize");
    BOOST_TEST(told.all("failures", {{"call", "hipMalloc"}, {"result", "out of memory"}},
                        "count") == kMockThreads);
}

BOOST_AUTO_TEST_CASE(ze_tells_kernels_in_command_lists_and_what_queues_execute) {
    const ToldOf told("ze");
    BOOST_TEST(told.all("launches",
                        {{"kernel", "wave<double>"}, {"grid", "1x2x3"}, {"block", "4x5x6"}},
                        "count") == 2 * kMockCalls);
    BOOST_TEST(told.all("launches",
                        {{"kernel", "plain_name"}, {"grid", "7x8x9"}, {"block", "10x11x12"}},
                        "count") == kMockCalls);
    BOOST_TEST(told.all("launches", {}, "count") == 3 * kMockCalls);
    // Two lists and a queue of each thread.
    BOOST_TEST(told.ours("streams").size() == 2u * kMockThreads);
    const auto executed = told.ours("executed");
    BOOST_TEST(executed.size() == std::size_t(kMockThreads));
    for (const Json& queue : executed) {
        BOOST_TEST(queue["count"].number() == 2 * kRounds);
        BOOST_TEST(queue["sum"].number() == 4 * kRounds);
    }
    told.check_memory("device", 1000);
    told.check_memory("host", 300);
    told.check_memory("managed", 200);
    told.check_memory("physical", 4096);
    BOOST_TEST(told.all("copies", {{"way", "by address"}}, "sum") == (70 + 30 + 60) * kMockCalls);
    BOOST_TEST(told.all("copies", {{"way", "set"}}, "sum") == 24 * kMockCalls);
    told.check_waits("zeCommandQueueSynchronize");
    BOOST_TEST(told.all("failures",
                        {{"call", "zeMemAllocDevice"}, {"result", "out of device memory"}},
                        "count") == kMockThreads);
    BOOST_TEST(told.all("failures", {{"call", "zeEventHostSynchronize"}, {"result", "not ready"}},
                        "count") == kMockThreads);
}

// They count in the same maps.
BOOST_AUTO_TEST_CASE(monitors_of_several_libraries_tell_each_by_its_own_names) {
    const ToldOf told("ze", {"hip", "vulkan"});
    told.check_waits("zeCommandQueueSynchronize");
    BOOST_TEST(told.all("launches", {{"kernel", "plain_name"}}, "count") == kMockCalls);
    BOOST_TEST(told.all("failures", {{"call", "zeEventHostSynchronize"}, {"result", "not ready"}},
                        "count") == kMockThreads);
}

BOOST_AUTO_TEST_CASE(vulkan_tells_submissions_frames_memory_and_waits) {
    const ToldOf told("vulkan");
    BOOST_TEST(told.all("frames", {}, "count") == kMockCalls - 1);
    const auto batches = [&](const char* call) {
        return told.all("batches", {{"call", call}}, "sum");
    };
    BOOST_TEST(batches("vkQueueSubmit") == 2 * kMockCalls);
    BOOST_TEST(batches("vkQueueSubmit2") == 3 * kMockCalls);
    told.check_memory("device", 1000);
    told.check_waits("vkQueueWaitIdle");
    told.check_waits("vkWaitForFences", kMockCalls + kMockThreads);
    BOOST_TEST(told.all("failures", {{"call", "vkWaitForFences"}, {"result", "timeout"}},
                        "count") == kMockThreads);
    BOOST_TEST(told.all("failures", {{"call", "vkQueueSubmit"}, {"result", "device lost"}},
                        "count") == kMockThreads);
    BOOST_TEST(told.all("failures", {}, "count") == 2 * kMockThreads);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
