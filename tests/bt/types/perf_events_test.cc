#include "bt/syntax/perf_events.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <set>
#include <utility>

#include "lang/event/sampling_events.h"

namespace gpufs::bt {

BOOST_AUTO_TEST_SUITE(bt_perf_events)

// A name that the engine does not know would count something else.
BOOST_AUTO_TEST_CASE(each_event_of_the_language_is_one_of_the_kernel) {
    std::set<std::pair<std::uint32_t, std::uint64_t>> seen;
    for (const auto events : {software_events(), hardware_events()})
        for (const PerfEventName& one : events) {
            const SamplingEvent* const event = find_sampling_event(one.name);
            BOOST_REQUIRE_MESSAGE(event, one.name);
            BOOST_TEST(seen.emplace(event->type, event->config).second, one.name);
        }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs::bt
