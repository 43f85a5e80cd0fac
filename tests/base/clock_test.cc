#define BOOST_TEST_DYN_LINK
#include "base/clock.h"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "support/workloads.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(clock)

// Another task takes the CPU every few milliseconds, also between the reads of two clocks.
BOOST_AUTO_TEST_CASE(a_moment_has_one_wall_time_however_busy_the_cpu_is) {
    constexpr int kLooks = 1'000'000;
    constexpr std::uint64_t kSpreadNs = 50'000;
    const int cpu = test::first_cpu();
    std::atomic<bool> is_over = false;
    std::thread other([&] {
        test::pin_to_cpu(cpu);
        while (!is_over) {
        }
    });
    std::uint64_t least = ~std::uint64_t{0}, most = 0;
    std::thread looker([&] {
        test::pin_to_cpu(cpu);
        for (int i = 0; i < kLooks; ++i) {
            const std::uint64_t ahead = real_time_ahead_ns();
            least = std::min(least, ahead);
            most = std::max(most, ahead);
        }
    });
    looker.join();
    is_over = true;
    other.join();
    BOOST_TEST(most - least < kSpreadNs);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
