#include "lang/print_fmt/shown_field.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "base/file.h"

namespace gpufs {

BOOST_AUTO_TEST_SUITE(shown_field)

BOOST_AUTO_TEST_CASE(a_field_is_found_by_the_name_that_it_is_printed_under) {
    const EventFormat event = parse_event_format(
        "amdgpu", read_file("tests/data/formats/6.12/events/amdgpu/amdgpu_sched_run_job/format"));
    BOOST_TEST(field_shown_as(event, "ring_name") == "ring");
    BOOST_TEST(field_shown_as(event, "sched_job") == "sched_job_id");
    BOOST_TEST(field_shown_as(event, "num_ibs") == "num_ibs");
    BOOST_TEST(field_shown_as(event, "name") == "");
    BOOST_TEST(field_shown_as(event, "nosuch") == "");
}

BOOST_AUTO_TEST_CASE(a_print_fmt_that_is_no_c_code_shows_no_field) {
    EventFormat event;
    event.fields = {{.name = "a", .type = "int"}};
    for (const char* text : {"", "\"x=%d", "\"x=%d\"", "\"x=%d %%\", (REC->", "REC->a"}) {
        event.print_format = text;
        BOOST_TEST(field_shown_as(event, "x") == "");
    }
    event.print_format = "\"%% %s x=%d\", f(1, 2), REC->a";
    BOOST_TEST(field_shown_as(event, "x") == "a");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
