#include "lang/event/event_format.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "base/error.h"
#include "base/text.h"

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

BOOST_AUTO_TEST_CASE(several_fields_are_found_together_or_not_at_all) {
    const EventFormat event = parse_event_format("sched", kSched);
    const std::string_view known[] = {"prev_pid", "prev_comm"}, other[] = {"prev_pid", "no_such"};
    const auto found = event.find_all(known);
    BOOST_TEST_REQUIRE(found.size() == 2u);
    BOOST_TEST(found[0] == event.find("prev_pid"));
    BOOST_TEST(found[1] == event.find("prev_comm"));
    BOOST_TEST(event.find_all(other).empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_format_is_refused) {
    BOOST_CHECK_THROW(parse_event_format("sched", "hello\n"), Error);
    BOOST_CHECK_THROW(parse_event_format("sched", ""), Error);
}

struct Damage {
    std::string_view from, to;
    int line;
};
std::ostream& operator<<(std::ostream& out, const Damage& damage) {
    return out << damage.to;
}
const Damage kDamages[] = {
    {"name: sched_switch", "name: sched switch", 1},
    {"name: sched_switch", "name: ", 1},
    {"ID: 372", "ID: 65536", 2},
    {"ID: 372", "ID: -1", 2},
    {"format:", "form", 3},
    {"\tfield:pid_t prev_pid", " field:pid_t prev_pid", 8},
    {"\tfield:pid_t prev_pid", "\tfield:prev_pid", 8},
    {"\tfield:pid_t prev_pid", "\tfield:* prev_pid", 8},
    {"\tfield:pid_t prev_pid", "\tfield:pid_t prev_pid *", 8},
    {"\tfield:pid_t prev_pid", "\tfield:pid_t (prev_pid)", 8},
    {"\tfield:pid_t prev_pid", "\tfield:pid_t 4", 8},
    {"prev_pid;\toffset:24;", "prev_pid;\toffset:-24;", 8},
    {"prev_pid;\toffset:24;", "prev_pid;\toffset:65533;", 8},
    {"prev_pid;\toffset:24;", "prev_pid;\toffset:99999999999999999999;", 8},
    {"prev_pid;\toffset:24;", "prev_pid; offset:24;", 8},
    {"prev_pid;\toffset:24;\tsize:4;", "prev_pid;\toffset:24;", 8},
    {"size:8;\tsigned:1;", "size:8;\tsigned:2;", 9},
    {"size:8;\tsigned:1;", "size:8;\tsigned:1", 9},
    {"size:8;\tsigned:1;", "size:8;\tsigned:1;;", 9},
    {"__data_loc char[] name", "__data_loc char[4] name", 10},
    {"__data_loc char[] name", "__data_loc char[]name", 10},
    {"__data_loc char[] name", "__data_loc[] name", 10},
    {"__data_loc char[] name", "__data_loc name", 10},
    {"words[4]", "words[4", 12},
    {"format:\n", "format:\n\n", 4},
    {"signed:1;\n\n\tfield:char", "signed:1;\n\n\n\tfield:char", 8},
    {"words[4]", "words]4[", 12},
    {"words[4]", "words[3]", 12},
    {"words[4]", "words[4][4]", 12},
    {"words[4]", "words[\"4\"]", 12},
};
BOOST_DATA_TEST_CASE(a_damaged_line_is_told_with_its_number, boost::unit_test::data::make(kDamages),
                     damage) {
    std::string text(kSched);
    const auto at = text.find(damage.from);
    BOOST_REQUIRE(at != text.npos);
    text.replace(at, damage.from.size(), damage.to);
    BOOST_CHECK_EXCEPTION(parse_event_format("sched", text), Error, [&](const Error& e) {
        BOOST_TEST(e.what() == cat("cannot read the format of an event in 'sched': line ",
                                   damage.line, " is damaged"));
        BOOST_TEST(e.evidence() ==
                   std::string(lines_of(text).at(static_cast<std::size_t>(damage.line) - 1)));
        return true;
    });
}

BOOST_AUTO_TEST_CASE(a_text_that_ends_before_its_fields_do_is_refused) {
    for (const std::string_view last :
         {"ID: 372\n", "format:\n", "\tfield:int", "\tfield:u32 words"})
        BOOST_CHECK_EXCEPTION(parse_event_format("sched", kSched.substr(0, kSched.find(last))),
                              Error, [](const Error& e) {
                                  BOOST_TEST(e.what() ==
                                             "cannot read the format of an event in 'sched': it "
                                             "ends too early");
                                  return true;
                              });
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
