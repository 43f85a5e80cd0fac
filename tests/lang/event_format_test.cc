#include "gpufs/lang/event_format.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "gpufs/base/error.h"

namespace gpufs {
namespace {

constexpr std::string_view kSched =
    "name: sched_switch\n"
    "ID: 372\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\tfield:__data_loc char[] name;\toffset:40;\tsize:4;\tsigned:1;\n"
    "\tfield:const char * raw;\toffset:48;\tsize:8;\tsigned:0;\n"
    "\tfield:u32 words[4];\toffset:56;\tsize:16;\tsigned:0;\n"
    "\n"
    "print fmt: \"prev_comm=%s\", REC->prev_comm\n";

BOOST_AUTO_TEST_SUITE(event_format)

BOOST_AUTO_TEST_CASE(a_format_file_becomes_fields) {
    const EventFormat event = parse_event_format("sched", kSched);
    BOOST_TEST(event.full_name() == "sched:sched_switch");
    BOOST_TEST(event.id == 372);
    BOOST_TEST(event.print_format == "\"prev_comm=%s\", REC->prev_comm");
    BOOST_REQUIRE(event.fields.size() == 8u);

    const Field& comm = *event.find("prev_comm");
    BOOST_TEST(comm.declaration() == "char prev_comm[16]");
    BOOST_TEST((comm.is_string && comm.is_array && comm.holds_text()));
    BOOST_TEST(comm.size == 16u);

    const Field& state = *event.find("prev_state");
    BOOST_TEST(state.declaration() == "long prev_state");
    BOOST_TEST((state.is_signed && !state.is_array && !state.is_string));
    BOOST_TEST(state.offset == 32u);

    const Field& name = *event.find("name");
    BOOST_TEST(name.declaration() == "__data_loc char[] name");
    BOOST_TEST((name.place == Field::Place::data_loc));
    BOOST_TEST(name.holds_text());

    const Field& raw = *event.find("raw");
    BOOST_TEST(raw.declaration() == "const char *raw");
    BOOST_TEST((raw.is_string && raw.is_pointer && !raw.holds_text()));

    const Field& words = *event.find("words");
    BOOST_TEST(words.declaration() == "u32 words[4]");
    BOOST_TEST((words.is_array && !words.is_string));
    BOOST_TEST(words.element_size == 4u);
}

BOOST_AUTO_TEST_CASE(common_fields_are_not_offered) {
    const EventFormat event = parse_event_format("sched", kSched);
    BOOST_TEST(event.find("common_pid")->is_common);
    BOOST_TEST(event.field_names().front() == "prev_comm");
}

BOOST_AUTO_TEST_CASE(what_is_no_format_is_refused) {
    BOOST_CHECK_THROW(parse_event_format("sched", "hello\n"), Error);
    BOOST_CHECK_THROW(parse_event_format("sched", ""), Error);
}

BOOST_AUTO_TEST_CASE(a_field_is_found_in_the_text_by_its_whole_name) {
    BOOST_TEST(declares_field(kSched, "prev_state"));
    BOOST_TEST(declares_field(kSched, "prev_comm"));
    BOOST_TEST(declares_field(kSched, "name"));
    BOOST_TEST(declares_field(kSched, "raw"));
    BOOST_TEST(!declares_field(kSched, "state"));
    BOOST_TEST(!declares_field(kSched, "prev"));
    BOOST_TEST(!declares_field(kSched, "sched_switch"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
