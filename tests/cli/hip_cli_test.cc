#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "support/needs.h"
#include "support/told.h"

namespace ut = boost::unit_test;

// The monitor hip, over a libamdhip64.so of our own, which a program calls that knows how often.
namespace gpufs {
namespace {

using test::Child;
using test::Told;

const std::string kHipWork = "gpufs-hip-work";

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(hip, *ut::precondition(test::has_file{"uprobe_events"}))

BOOST_AUTO_TEST_CASE(hip_tells_launches_memory_copies_and_waits) {
    constexpr long long kThreads = 3, kCount = 6, kEach = kThreads * kCount;
    const std::string binary = test::gpufs_binary();
    const std::string folder = binary.substr(0, binary.rfind('/') + 1);
    Child::Setup setup;
    setup.argv = {binary, "run",         "hip",      "--json", "--strict", "--", folder + kHipWork,
                  "all",  cat(kThreads), cat(kCount)};
    setup.environment = {cat("LD_LIBRARY_PATH=", folder, "hip")};
    const Told told(Child(setup).wait());
    const auto ours = [](Told::Wanted more) {
        more.emplace("comm", kHipWork);
        return more;
    };
    struct Kernel {
        const char *name, *grid, *block;
    };
    for (const Kernel& one :
         {Kernel{"wave<double>", "1x2x3", "4x5x6"}, Kernel{"own_kernel", "7x8x9", "10x11x12"},
          Kernel{"plain_name", "13x14x15", "16x17x18"}})
        BOOST_TEST(told.sum("launches",
                            ours({{"kernel", one.name}, {"grid", one.grid}, {"block", one.block}}),
                            "count") == kEach,
                   one.name);
    BOOST_TEST(told.sum("launches", ours({}), "count") == 3 * kEach);
    for (long long stream = 1; stream <= kThreads; ++stream) {
        BOOST_TEST(told.sum("streams", ours({{"stream", cat(stream)}}), "count") == 3 * kCount);
        BOOST_TEST(told.sum("graphs", ours({{"stream", cat(stream)}}), "count") == kCount);
    }
    struct Memory {
        const char* memory;
        long long bytes;
    };
    for (const Memory& one : {Memory{"device", 1000}, Memory{"host", 300}}) {
        const auto bytes = [&](const char* what) {
            return told.sum("memories", ours({{"memory", one.memory}, {"what", what}}), "sum");
        };
        BOOST_TEST(bytes("allocated") == kEach * one.bytes, one.memory);
        BOOST_TEST(bytes("freed") == (kEach - kThreads) * one.bytes, one.memory);
        BOOST_TEST(bytes("not freed") == kThreads * one.bytes, one.memory);
    }
    const auto copied = [&](const char* way) {
        return told.sum("copies", ours({{"way", way}}), "sum");
    };
    BOOST_TEST(copied("host to host") == 10 * kEach);
    BOOST_TEST(copied("host to device") == 80 * kEach);
    BOOST_TEST(copied("device to host") == 510 * kEach);
    BOOST_TEST(copied("device to device") == 10 * kEach);
    BOOST_TEST(copied("by address") == 10 * kEach);
    BOOST_TEST(copied("set") == 24 * kEach);
    for (const char* call : {"hipStreamSynchronize", "hipDeviceSynchronize"}) {
        const auto rows = told.rows("took", ours({{"call", call}}));
        BOOST_TEST_REQUIRE(rows.size() == 1u, call);
        BOOST_TEST(rows[0]["count"].number() == kEach, call);
        BOOST_TEST(rows[0]["min"].number() >= 2000, call);
    }
    BOOST_TEST(told.sum("failures", ours({{"call", "hipMalloc"}, {"result", "out of memory"}}),
                        "count") == kThreads);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
