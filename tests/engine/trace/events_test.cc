#include "engine/trace/events.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "engine/recording/recorded_events.h"
#include "engine/trace/kernel_events.h"

namespace gpufs {
namespace {

std::string name_of(const TraceEvent* event) {
    return event ? event->format.full_name() : "none";
}

std::string read_format(const std::string& tree, const std::string& event) {
    return read_file(cat("tests/data/formats/", tree, "/events/", event, "/format"));
}

// The message and the hint of what asking throws; "nothing" where it throws nothing.
template <class Ask>
std::string complaint(Ask&& ask) {
    try {
        ask();
    } catch (const Error& e) {
        return cat(e.what(), " | ", e.hint());
    }
    return "nothing";
}

BOOST_AUTO_TEST_SUITE(events)

BOOST_AUTO_TEST_CASE(events_of_a_captured_tree_are_found_by_id_and_by_name) {
    Events events = kernel_events(Tracefs("tests/data/formats/6.12"));
    const TraceEvent* const job = events.find("gpu_scheduler:drm_sched_job");
    BOOST_TEST(name_of(job) == "gpu_scheduler:drm_sched_job");
    BOOST_TEST(events.find(job->format.id) == job);
    BOOST_TEST(events.find_format("gpu_scheduler:drm_sched_job") == &job->format);

    // Not asked for by name first: the id alone must do, of every event in the tree.
    for (const std::string event :
         {"sched/sched_switch", "irq/irq_handler_entry", "drm/drm_vblank_event"}) {
        const int id = parse_event_format("x", read_format("6.12", event)).id;
        BOOST_TEST(events.find(id)->format.name == event.substr(event.find('/') + 1));
    }
    BOOST_TEST(name_of(events.find("no:event")) == "none");
    BOOST_TEST(name_of(events.find("sched_switch")) == "none");
    BOOST_TEST(name_of(events.find(65535)) == "none");
    BOOST_TEST(name_of(events.find(65536)) == "none");
    BOOST_TEST(name_of(events.find(-1)) == "none");
}

BOOST_AUTO_TEST_CASE(a_recording_brings_its_events_along) {
    auto source = std::make_unique<RecordedEvents>();
    const std::string text = read_format("6.18", "sched/sched_switch");
    source->add("sched", text);
    source->add("damaged", "name: cut\nID: 7\nformat:\n\tfield:nonsense\n");
    source->add("sched", text);
    Events events(std::move(source));
    const int id = declared_id(text);
    BOOST_TEST(join(events.names(), " ") == "damaged:cut sched:sched_switch");
    BOOST_TEST(name_of(events.find(id)) == "sched:sched_switch");
    BOOST_TEST(events.find("sched:sched_switch") == events.find(id));
    BOOST_TEST(name_of(events.find(id + 1)) == "none");
    // It is in the recording, and nothing can be read by it.
    BOOST_TEST(name_of(events.find(7)) == "none");
    BOOST_TEST(name_of(events.find("damaged:cut")) == "none");
    BOOST_CHECK_THROW(events.require("damaged:cut"), Error);
    BOOST_CHECK_THROW(parse_event_format("sched", "nonsense"), Error);
}

BOOST_AUTO_TEST_CASE(words_mean_an_event_a_system_or_a_pattern) {
    auto source = std::make_unique<RecordedEvents>();
    for (const std::string event : {"sched_switch", "sched_waking", "sched_wakeup"})
        source->add("sched", read_format("6.12", "sched/" + event));
    source->add("irq", read_format("6.12", "irq/irq_handler_entry"));
    Events events(std::move(source));
    const auto means = [&](const std::vector<std::string>& words) {
        std::vector<std::string> found = events.match(words);
        std::ranges::sort(found);
        return join(found, " ");
    };
    BOOST_TEST(means({"sched_switch"}) == "sched:sched_switch");
    BOOST_TEST(means({"sched"}) == "sched:sched_switch sched:sched_wakeup sched:sched_waking");
    BOOST_TEST(means({"sched:sched_wak*", "sched_waking", "irq:*"}) ==
               "irq:irq_handler_entry sched:sched_wakeup sched:sched_waking");
    BOOST_TEST(join(events.names("*:sched_s*"), " ") == "sched:sched_switch");
    BOOST_TEST(complaint([&] { events.match({"sched_swich"}); }) ==
               "this recording has no event 'sched_swich' | did you mean 'sched_switch'?");
    BOOST_TEST(complaint([&] { events.match({"zzz"}); }) ==
               "this recording has no event 'zzz' | "
               "'gpufs report --stat' shows the events of the recording");
    BOOST_TEST(complaint([&] { events.require("block:zzz"); }) ==
               "this recording has no event 'block:zzz' | 'gpufs record -e block:zzz' records it");
}

BOOST_AUTO_TEST_CASE(an_expression_finds_the_events_that_have_its_fields) {
    auto source = std::make_unique<RecordedEvents>();
    source->add("sched", read_format("6.12", "sched/sched_switch"));
    source->add("irq", read_format("6.12", "irq/irq_handler_entry"));
    Events events(std::move(source));
    const auto with = [&](const std::string& text) {
        return events.with_fields_of(parse_expression({"--if", text}));
    };
    BOOST_TEST(with("prev_state == 2").at(0).full_name() == "sched:sched_switch");
    BOOST_TEST(with("common_pid == 2").size() == 2u);
    BOOST_TEST(complaint([&] { with("common_pid == 1 && prv_state == 2"); }) ==
               "--if:1:20: error: no event of this recording has a field 'prv_state'\n"
               "common_pid == 1 && prv_state == 2\n"
               "                   ^~~~~~~~~ | did you mean 'prev_state'?");
    BOOST_TEST(
        complaint([&] { with("prev_state == 2 && irq == 1"); }) ==
        "--if:1:20: error: no event of this recording has all of prev_state, irq\n"
        "prev_state == 2 && irq == 1\n"
        "                   ^~~ | name the events with -e, and filter each by its own fields");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
