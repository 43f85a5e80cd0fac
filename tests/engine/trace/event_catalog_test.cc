#include "engine/trace/event_catalog.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/error.h"
#include "base/file.h"

namespace gpufs {
namespace {

std::string name_of(const CatalogEvent* event) {
    return event ? event->format.full_name() : "none";
}

BOOST_AUTO_TEST_SUITE(event_catalog)

BOOST_AUTO_TEST_CASE(events_of_a_captured_tree_are_found_by_id_and_by_name) {
    EventCatalog catalog(Tracefs("tests/data/formats/6.12"));
    const CatalogEvent* const job = catalog.find("gpu_scheduler", "drm_sched_job");
    BOOST_TEST(name_of(job) == "gpu_scheduler:drm_sched_job");
    BOOST_TEST(catalog.find(job->format.id) == job);

    // Not asked for by name first: the id alone must do, of every event in the tree.
    for (const std::string event :
         {"sched/sched_switch", "irq/irq_handler_entry", "drm/drm_vblank_event"}) {
        const std::string text = read_file("tests/data/formats/6.12/events/" + event + "/format");
        const int id = parse_event_format("x", text).id;
        BOOST_TEST(catalog.find(id)->format.name == event.substr(event.find('/') + 1));
    }
    BOOST_TEST(name_of(catalog.find("no", "event")) == "none");
    BOOST_TEST(name_of(catalog.find(65535)) == "none");
    BOOST_TEST(name_of(catalog.find(65536)) == "none");
    BOOST_TEST(name_of(catalog.find(-1)) == "none");
}

BOOST_AUTO_TEST_CASE(formats_can_come_from_elsewhere) {
    EventCatalog catalog;
    BOOST_TEST(name_of(catalog.find(372)) == "none");
    const std::string text = read_file("tests/data/formats/6.18/events/sched/sched_switch/format");
    const CatalogEvent& added = catalog.add("sched", text);
    BOOST_TEST(catalog.find(added.format.id) == &added);
    BOOST_TEST(catalog.find("sched", "sched_switch") == &added);
    BOOST_TEST(&catalog.add("sched", text) == &added);
    BOOST_CHECK_THROW(catalog.add("sched", "nonsense"), Error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
