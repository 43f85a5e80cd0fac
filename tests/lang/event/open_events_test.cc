#include "lang/event/open_events.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

namespace gpufs {
namespace {

constexpr CommonFields kTask{0, 0, 7}, kSoftirq{kTraceSoftirq, 0, 7},
    kHardirq{kTraceHardirq | kTraceSoftirq, 0, 7}, kNmi{kTraceNmi | kTraceHardirq, 0, 7},
    kOther{0, 0, 8};

// The name of the event that a stack belongs to; "-" for none.
std::string owner(OpenEvents<std::string>& events, const CommonFields& stack) {
    const std::string* const found = events.find(stack);
    return found ? *found : "-";
}

BOOST_AUTO_TEST_SUITE(open_events)

BOOST_AUTO_TEST_CASE(each_stack_belongs_to_the_last_event_of_its_level) {
    OpenEvents<std::string> events;
    events.open(kTask, "before");
    events.open(kTask, "call");
    events.open(kSoftirq, "soft");
    events.open(kHardirq, "hard");
    events.open(kNmi, "nmi");
    BOOST_TEST(owner(events, kNmi) == "nmi");
    BOOST_TEST(owner(events, kHardirq) == "hard");
    BOOST_TEST(owner(events, kSoftirq) == "soft");
    BOOST_TEST(owner(events, kTask) == "call");
    BOOST_TEST(owner(events, kTask) == "call");  // of the process, too
}

BOOST_AUTO_TEST_CASE(a_record_ends_those_of_deeper_levels_and_of_other_tasks) {
    OpenEvents<std::string> events;
    std::string closed;
    const auto close = [&](const std::string& name) { closed += name + ' '; };
    events.open(kTask, "call", close);
    events.open(kHardirq, "hard", close);
    BOOST_TEST(!events.find(kNmi, close));
    BOOST_TEST(closed == "");
    events.open(kSoftirq, "soft", close);
    BOOST_TEST(closed == "hard ");
    BOOST_TEST(!events.find(kHardirq, close));
    events.open(kOther, "other", close);
    BOOST_TEST(closed == "hard soft call ");
    BOOST_TEST(!events.find(kTask, close));
    BOOST_TEST(closed == "hard soft call other ");
    events.open(kTask, "again", close);
    events.close_all(close);
    BOOST_TEST(closed == "hard soft call other again ");
    BOOST_TEST(!events.find(kTask));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
