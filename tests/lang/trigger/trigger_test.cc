#include "lang/trigger/trigger.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/text.h"

namespace gpufs {
namespace {

BOOST_AUTO_TEST_SUITE(trigger)

// The kernel's line, and how gpufs writes the same trigger.
struct Line {
    const char *kernel, *written, *removal;
};
constexpr Line kLines[] = {
    {"stacktrace:unlimited if prev_state == 2", "stacktrace if prev_state == 2", "!stacktrace"},
    {"stacktrace:unlimited", "stacktrace", "!stacktrace"},
    {"traceoff:count=1 if prev_state == 2", "traceoff:1 if prev_state == 2", "!traceoff"},
    {"enable_event:sched:sched_wakeup:unlimited", "enable_event:sched:sched_wakeup",
     "!enable_event:sched:sched_wakeup"},
    {"disable_event:sched:sched_wakeup:count=3 if pid == 1",
     "disable_event:sched:sched_wakeup:3 if pid == 1", "!disable_event:sched:sched_wakeup"},
    {"snapshot:count=0", "snapshot:0", "!snapshot"},
    {"hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 if pid > 1 [active]",
     "hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 if pid > 1",
     "!hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 if pid > 1"},
    {"hist:keys=pid:vals=hitcount:sort=hitcount:size=2048 [paused]",
     "hist:keys=pid:vals=hitcount:sort=hitcount:size=2048",
     "!hist:keys=pid:vals=hitcount:sort=hitcount:size=2048"},
    // Linux 7.3.
    {"hist:keys=common_cpucommon_cpu,pid:vals=hitcount:sort=hitcount:size=2048 [active]",
     "hist:keys=common_cpu,pid:vals=hitcount:sort=hitcount:size=2048",
     "!hist:keys=common_cpu,pid:vals=hitcount:sort=hitcount:size=2048"},
};

BOOST_AUTO_TEST_CASE(the_kernels_lines_become_what_sets_and_removes_them) {
    for (const Line& line : kLines) {
        const Trigger trigger = parse_trigger(line.kernel);
        BOOST_TEST(trigger.to_text() == line.written);
        BOOST_TEST(trigger.removal() == line.removal);
        BOOST_TEST(parse_trigger(trigger.to_text()).to_text() == line.written);
    }
}

BOOST_AUTO_TEST_CASE(one_of_a_kind_means_the_action_and_its_event) {
    BOOST_TEST(parse_trigger("stacktrace:5 if a == 1").kind() ==
               parse_trigger("stacktrace").kind());
    BOOST_TEST(parse_trigger("enable_event:a:b").kind() !=
               parse_trigger("enable_event:a:c").kind());
}

BOOST_AUTO_TEST_CASE(comments_of_a_trigger_file_are_no_triggers) {
    const std::string file =
        "# Available triggers:\n# traceon traceoff stacktrace enable_event disable_event\n";
    BOOST_TEST(parse_triggers(file).empty());
    BOOST_TEST(join(*available_triggers(file), " ") ==
               "traceon traceoff stacktrace enable_event disable_event");
    BOOST_TEST(!available_triggers("stacktrace:unlimited\n").has_value());
    BOOST_TEST(parse_triggers("stacktrace:unlimited\ntraceoff:count=1\n").size() == 2u);
}

BOOST_AUTO_TEST_CASE(actions_that_gpufs_does_not_set_are_only_shown) {
    BOOST_TEST(!parse_trigger("eprobe:a").is_known());
    BOOST_TEST(parse_trigger("stacktrace").is_known());
    BOOST_TEST(parse_trigger("hist:keys=pid").is_known());
}

BOOST_AUTO_TEST_CASE(hist_triggers_are_of_a_kind_by_keys_and_values) {
    const auto kind = [](const char* line) { return parse_trigger(line).kind(); };
    BOOST_TEST(kind("hist:keys=pid:vals=hitcount:sort=hitcount if pid > 1 [active]") ==
               kind("hist:keys=pid:vals=hitcount:sort=pid:size=256"));
    BOOST_TEST(kind("hist:keys=pid:vals=hitcount") != kind("hist:keys=comm:vals=hitcount"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
