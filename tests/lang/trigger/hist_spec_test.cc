#include "lang/trigger/hist_spec.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"

namespace gpufs {
namespace {

EventFormat switch_event() {
    return parse_event_format("sched",
                              "name: sched_switch\nID: 316\nformat:\n"
                              "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                              "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                              "\tfield:int prev_prio;\toffset:24;\tsize:4;\tsigned:1;\n"
                              "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\n"
                              "print fmt: \"x\"\n");
}

std::string argument_of(const std::string& text) {
    const SourceText source{"hist", text};
    const HistSpec spec = parse_hist_spec(source);
    check_hist_spec(spec, source, switch_event());
    return spec.argument();
}

// The message behind its place, the marked text, and the hint.
std::string hist_refusal(const std::string& text) {
    try {
        return cat("taken: ", argument_of(text));
    } catch (const SourceError& e) {
        return cat(e.message(), " @", text.substr(e.at().begin, e.at().end - e.at().begin), " | ",
                   e.hint());
    }
}

constexpr const char* kUsage =
    "hist key=FIELD,… [val=FIELD,…] [sort=FIELD,…] [size=N]; 'gpufs trigger --help'";

BOOST_AUTO_TEST_SUITE(hist_spec)

BOOST_AUTO_TEST_CASE(parts_in_any_order_become_the_kernels_words) {
    BOOST_TEST(argument_of("key=prev_comm") ==
               "keys=prev_comm:vals=hitcount:sort=hitcount.descending");
    BOOST_TEST(
        argument_of("hist size=4096 sort=prev_prio val=prev_prio key=prev_comm,prev_state") ==
        "keys=prev_comm,prev_state:vals=hitcount,prev_prio:sort=prev_prio:size=4096");
    BOOST_TEST(argument_of("hist:keys=prev_state.log2:vals=hitcount,prev_prio") ==
               "keys=prev_state.log2:vals=hitcount,prev_prio:sort=hitcount.descending");
    BOOST_TEST(argument_of("key=common_pid.execname,prev_prio.buckets=10 sort=hitcount") ==
               "keys=common_pid.execname,prev_prio.buckets=10:vals=hitcount:sort=hitcount");
}

BOOST_AUTO_TEST_CASE(what_the_kernel_shows_is_what_was_asked) {
    for (const char* shown :
         {"keys=prev_comm:vals=hitcount:sort=hitcount.descending:size=2048",
          "keys=prev_state.hex:vals=hitcount,prev_prio:sort=prev_prio.ascending,hitcount:size=128",
          "keys=common_pid:vals=hitcount:ts0=common_timestamp.usecs:sort=hitcount:size=2048:"
          "onmax($ts0).save(prev_comm,prev_prio)"})
        BOOST_TEST(argument_of(shown) == shown);
}

BOOST_AUTO_TEST_CASE(stacks_have_the_name_that_all_kernels_take) {
    const char* wanted = "keys=stacktrace:vals=hitcount:sort=hitcount.descending";
    BOOST_TEST(argument_of("key=stacktrace") == wanted);
    BOOST_TEST(argument_of("key=common_stacktrace") == wanted);
}

BOOST_AUTO_TEST_CASE(variables_and_handlers_stay_what_they_are) {
    BOOST_TEST(argument_of("key=common_pid lat=common_timestamp.usecs-$ts0 val=$lat "
                           "onmatch(sched.sched_waking).wake($lat,prev_prio)") ==
               "keys=common_pid:vals=hitcount,$lat:lat=common_timestamp.usecs-$ts0:"
               "sort=hitcount.descending:onmatch(sched.sched_waking).wake($lat,prev_prio)");
}

BOOST_AUTO_TEST_CASE(triggers_with_the_same_keys_and_values_are_of_a_kind) {
    const auto kind = [](const std::string& text) { return hist_kind(argument_of(text)); };
    BOOST_TEST(kind("key=prev_comm") == kind("key=prev_comm sort=prev_comm size=256"));
    BOOST_TEST(kind("key=prev_comm") != kind("key=prev_comm val=prev_prio"));
    BOOST_TEST(hist_kind("keys=common_stacktrace:vals=hitcount:sort=hitcount:size=2048") ==
               kind("key=stacktrace"));
}

struct Refused {
    const char *text, *said;
};
const Refused kRefused[] = {
    {"val=prev_prio", "a hist trigger counts by keys, and there is none @val=prev_prio | "},
    {"key=prev_com",
     "sched:sched_switch has no field 'prev_com' @prev_com | did you mean 'prev_comm'?"},
    {"key=nothing",
     "sched:sched_switch has no field 'nothing' @nothing | it has: prev_comm prev_prio prev_state"},
    {"key=prev_comm.log2",
     "'prev_comm' is a text, and '.log2' is for numbers @prev_comm.log2 | key=prev_comm"},
    {"key=prev_prio.log3",
     "'.log3' is nothing that a key can have @prev_prio.log3 | did you mean "
     "'log2'?"},
    {"key=prev_prio.percent",
     "'.percent' is nothing that a key can have @prev_prio.percent | it "
     "has: .hex .sym .sym-offset .execname .syscall .log2 .buckets .usecs "
     ".stacktrace"},
    {"key=prev_prio.buckets",
     "'.buckets' needs the size of a bucket @prev_prio.buckets | such as "
     "FIELD.buckets=100"},
    {"key=prev_prio.buckets=0",
     "'0' is no size of a bucket @prev_prio.buckets=0 | such as "
     "FIELD.buckets=100"},
    {"key=prev_prio.log2=3", "'.log2' takes no number @prev_prio.log2=3 | such as FIELD.log2"},
    {"key=prev_prio.execname",
     "'.execname' is for common_pid: the kernel knows the name of its task only "
     "@prev_prio.execname | common_pid.execname"},
    {"key=prev_prio.usecs",
     "'.usecs' is for common_timestamp @prev_prio.usecs | common_timestamp.usecs"},
    {"key=hitcount", "hitcount is a value, no key @hitcount | key=FIELD"},
    {"key=prev_comm val=prev_comm",
     "'prev_comm' is no number that can be summed @prev_comm | it can be a key: key=prev_comm"},
    {"key=prev_comm,prev_comm", "'prev_comm' is there twice @prev_comm | "},
    {"key=prev_prio,prev_prio.log2", "'prev_prio.log2' is there twice @prev_prio.log2 | "},
    {"key=prev_comm, prev_prio", "a field is missing here @  | "},
    {"key=prev_comm sort=prev_prio",
     "'prev_prio' is neither a key nor a value @prev_prio | sort by one of: hitcount prev_comm"},
    {"key=prev_comm size=64",
     "a hist trigger cannot have '64' entries @64 | 128 to 131072; the kernel takes the next power "
     "of two"},
    {"key=prev_comm kay=1", "'kay=1' is no part of a hist trigger @kay=1 | did you mean 'key'?"},
    {"prev_comm", "'prev_comm' is no part of a hist trigger @prev_comm | "},
    {"key=prev_comm clear",
     "'clear' changes a histogram that is there, and gpufs does not @clear | 'gpufs stop' lets all "
     "of the session pause; set the trigger again to clear it"},
    {"key=prev_comm,prev_prio,prev_state,common_pid",
     "a hist trigger has at most 3 keys @common_pid | "},
};

BOOST_AUTO_TEST_CASE(mistakes_are_told_with_their_place) {
    for (const Refused& one : kRefused) {
        std::string said = one.said;
        if (said.ends_with("| ")) said += kUsage;
        BOOST_TEST(hist_refusal(one.text) == said);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
