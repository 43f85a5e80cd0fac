#include "view/bt/script_output.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "view/bt/value_samples.h"

namespace gpufs::bt {
namespace {

using namespace test;
using Form = ScriptOutput::Form;
using Severity = ScriptOutput::Severity;

const OutputPlace kPlace = {"stdin:1:9-62", "stdin", 1, 9, "the line\n~~~\n"};

// What one call prints, in both forms: "out" and "err" of text, then those of JSON.
struct Printed {
    std::string text, text_err, json, json_err;
};
template <class Call>
Printed printed(Call&& call) {
    const ValueWriter writer(known_tables(), known_names());
    ScriptOutput text(Form::text, writer), json(Form::json, writer);
    call(text), call(json);
    return {text.out, text.err, json.out, json.err};
}

BOOST_AUTO_TEST_SUITE(bt_script_output)

// What bpftrace 0.17 printed.
BOOST_AUTO_TEST_CASE(texts_are_written_as_they_are_and_as_json) {
    const Printed line = printed([](ScriptOutput& out) { out.printf("hi\t3\n"); });
    BOOST_TEST(line.text == "hi\t3\n");
    BOOST_TEST(line.json == R"({"type": "printf", "data": "hi\t3\n"})"
                            "\n");
    BOOST_TEST(printed([](ScriptOutput& out) { out.printf("a \r \n \\ \" b"); }).json ==
               R"({"type": "printf", "data": "a \r \n \\ \" b"})"
               "\n");
    BOOST_TEST(printed([](ScriptOutput& out) { out.time("12:00\n"); }).json ==
               R"({"type": "time", "data": "12:00\n"})"
               "\n");
    BOOST_TEST(printed([](ScriptOutput& out) { out.cat("1.0\n"); }).json ==
               R"({"type": "cat", "data": "1.0\n"})"
               "\n");
    BOOST_TEST(printed([](ScriptOutput& out) { out.syscall("a b c\n"); }).json ==
               R"({"type": "syscall", "data": "a b c\n"})"
               "\n");
    BOOST_TEST(printed([](ScriptOutput& out) { out.syscall("a b c\n"); }).text == "a b c\n");
}

BOOST_AUTO_TEST_CASE(joined_words_are_a_line) {
    const Printed line = printed([](ScriptOutput& out) { out.join("/bin/echo,'A'"); });
    BOOST_TEST(line.text == "/bin/echo,'A'\n");
    BOOST_TEST(line.json == R"({"type": "join", "data": "/bin/echo,'A'"})"
                            "\n");
}

BOOST_AUTO_TEST_CASE(a_value_is_a_line) {
    const TypePtr type = pair_of(integer_type(4, true), string_type(4));
    const ByteVector bytes = fields_of(type, {bytes_of(1), text_bytes("x", 4)});
    const Printed line = printed([&](ScriptOutput& out) { out.value({type}, bytes); });
    BOOST_TEST(line.text == "(1, x)\n");
    BOOST_TEST(line.json == R"({"type": "value", "data": [1,"x"]})"
                            "\n");
}

BOOST_AUTO_TEST_CASE(a_text_of_the_script_stays_as_it_is) {
    const ByteVector bytes = text_bytes("\x1b[m", 8);
    const auto shown = [&](bool is_own) {
        return printed([&](ScriptOutput& out) {
                   out.value({string_type(8), 0, is_own}, bytes);
               })
            .text;
    };
    BOOST_TEST(shown(true) == "\x1b[m\n");
    BOOST_TEST(shown(false) == "\\x1b[m\n");
}

BOOST_AUTO_TEST_CASE(maps_at_the_end_stand_apart) {
    ScriptMap map;
    map.name = "a";
    map.value = integer_type(8, true);
    const ByteVector key(8), value = bytes_of(std::int64_t{2});
    const MapElement element{key, value};
    const Printed all = printed([&](ScriptOutput& out) {
        out.end_of_run();
        out.map(map, {&element, 1});
    });
    BOOST_TEST(all.text == "\n\n@a: 2\n");
    BOOST_TEST(all.json == R"({"type": "map", "data": {"@a": 2}})"
                           "\n");
}

BOOST_AUTO_TEST_CASE(messages_of_a_script_have_their_place) {
    const Printed error = printed(
        [](ScriptOutput& out) { out.message(Severity::error, kPlace, "Something bad: 10\n"); });
    BOOST_TEST(error.text == "");
    BOOST_TEST(error.text_err == "stdin:1:9-62: ERROR: Something bad: 10\n");
    BOOST_TEST(error.json == R"({"type": "errorf", "msg": "Something bad: 10\n", )"
                             R"("filename": "stdin", "line": 1, "col": 9})"
                             "\n");
    BOOST_TEST(error.json_err == "");
    const Printed warning =
        printed([](ScriptOutput& out) { out.message(Severity::warning, kPlace, "Something odd"); });
    BOOST_TEST(warning.text_err == "stdin:1:9-62: WARNING: Something odd\n");
    BOOST_TEST(warning.json == R"({"type": "warnf", "msg": "Something odd", )"
                               R"("filename": "stdin", "line": 1, "col": 9})"
                               "\n");
}

BOOST_AUTO_TEST_CASE(a_helper_that_failed_is_told_with_its_line) {
    const Printed failed =
        printed([](ScriptOutput& out) { out.helper_error(kPlace, "probe_read_user", -EFAULT); });
    BOOST_TEST(failed.text_err ==
               "stdin:1:9-62: WARNING: Bad address\n"
               "Additional Info - helper: probe_read_user, retcode: -14\n"
               "the line\n~~~\n");
    BOOST_TEST(failed.json == R"({"type": "helper_error", "msg": "Bad address", )"
                              R"("helper": "probe_read_user", "retcode": -14, )"
                              R"("filename": "stdin", "line": 1, "col": 9})"
                              "\n");
}

BOOST_AUTO_TEST_CASE(what_can_be_done_about_a_failed_helper_is_said) {
    const auto said = [](const char* helper, int code) {
        const std::string text = printed([&](ScriptOutput& out) {
                                     out.helper_error({"a", {}, 0, 0, {}}, helper, code);
                                 }).text_err;
        return text.substr(0, text.find('\n'));
    };
    BOOST_TEST(said("map_update_elem", -E2BIG) ==
               "a: WARNING: Map full; can't update element. Try increasing max_map_keys config or "
               "manually setting the max entries in a map declaration e.g. `let @a = hash(5000)`");
    BOOST_TEST(said("map_delete_elem", -ENOENT) ==
               "a: WARNING: Can't delete map element because it does not exist.");
    BOOST_TEST(said("map_lookup_elem", 0) ==
               "a: WARNING: Can't lookup map element because it does not exist.");
    BOOST_TEST(said("map_update_elem", -ENOMEM) == "a: WARNING: Cannot allocate memory");
}

BOOST_AUTO_TEST_CASE(counts_go_to_standard_error_and_into_json) {
    const Printed attached = printed([](ScriptOutput& out) { out.attached_probes(1); });
    BOOST_TEST(attached.text_err == "Attached 1 probe\n");
    BOOST_TEST(attached.json == R"({"type": "attached_probes", "count": 1, "data": {"probes": 1}})"
                                "\n");
    BOOST_TEST(printed([](ScriptOutput& out) { out.attached_probes(2); }).text_err ==
               "Attached 2 probes\n");
    const LossLedger ledger{{"records", Loss::exactly(3)}};
    const Printed lost = printed([&](ScriptOutput& out) { out.losses(ledger, {}); });
    BOOST_TEST(lost.text_err == "3 lost: 3 records\n");
    BOOST_TEST(lost.json == R"({"type": "lost_events", "count": 3, "data": {"events": 3}})"
                            "\n");
    const std::vector<Tally> tallies = {{"stacks cut short", 0}, {"starts without an end", 1}};
    const Printed tally = printed([&](ScriptOutput& out) { out.losses({}, tallies); });
    BOOST_TEST(tally.text_err == "0 lost; 1 start without an end\n");
    BOOST_TEST(tally.json == "");
    const std::span<const Tally> zero(tallies.data(), 1);
    const Printed none = printed([&](ScriptOutput& out) { out.losses({}, zero); });
    BOOST_TEST(none.text_err == "");
    BOOST_TEST(none.json == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs::bt
