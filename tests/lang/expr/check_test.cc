#define BOOST_TEST_DYN_LINK
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/file.h"
#include "lang/event/event_format.h"
#include "lang/event/printed_label.h"
#include "lang/expr/expr.h"
#include "lang/expr/gen.h"

namespace gpufs {
namespace {

namespace data = boost::unit_test::data;

void check(std::string_view text, const EventFormat& event = test::every_kind()) {
    check_expression(parse_expression({"--if", std::string(text)}), event);
}

// The event as if it were a system call's.
EventFormat as_system_call() {
    EventFormat event = test::every_kind();
    event.system = "syscalls";
    return event;
}

BOOST_AUTO_TEST_SUITE(expr_check)

BOOST_AUTO_TEST_CASE(a_name_means_the_events_own_field_first) {
    using Kind = Subject::Kind;
    const EventFormat& event = test::every_kind();
    const std::pair<std::string_view, Kind> subjects[] = {
        {"s8", Kind::integer},
        {"flag", Kind::integer},
        {"ip", Kind::integer},
        {"addr", Kind::integer},
        {"common_pid", Kind::integer},
        {"task_comm", Kind::text},
        {"path", Kind::text},
        {"rel", Kind::text},
        {"mac", Kind::text},
        {"label", Kind::text_pointer},
        {"mask", Kind::cpumask},
        {"args", Kind::opaque},
        {"words", Kind::opaque},
        {"CPU", Kind::cpu},
        {"cpu", Kind::cpu},
        {"common_cpu", Kind::cpu},
        {"COMM", Kind::comm},
        {"comm", Kind::comm},
    };
    for (const auto& [name, kind] : subjects)
        BOOST_TEST((find_subject(event, name)->kind == kind), name);
    BOOST_TEST(!find_subject(event, "nothing"));

    EventFormat other = event;
    other.fields.back().name = "cpu";
    BOOST_TEST((find_subject(other, "cpu")->field == &other.fields.back()));
    BOOST_TEST((find_subject(other, "CPU")->kind == Kind::cpu));
}

const char* const kAccepted[] = {
    "s8 == -128 && s8 != 127 && s8 & -1",
    "u8 < 255 || u8 <= 0xff || u8 > 0377",
    "s16 >= -32768 && u16 & 0x8000",
    "flag == 0 || flag == 1",
    "s32 == -2147483648 && u32 == 4294967295",
    "s64 == -9223372036854775808 && s64 <= 9223372036854775807",
    "u64 == 18446744073709551615",
    "u64 == -0",
    "ip == 0xffffffff81000000",
    "addr == 0x0100007f",
    "common_pid == 1 && common_flags & 1 && common_preempt_count == 0 && common_type == 1",
    "task_comm == bash && task_comm != \"a b\" && task_comm ~ 'x*'",
    "task_comm == \"123456789012345\"",
    "path ~ *.txt && rel == \"\" && mac != \"abcdef\" && tag == abcd",
    "label == \"x\" && label.ustring ~ \"x*\"",
    "COMM == bash && comm ~ *sh",
    "CPU == 0 && cpu != 1 && common_cpu < 4 && CPU >= -1",
    "CPU & CPUS{0-3,7} && CPU == CPUS{3} && CPU != CPUS{3-3}",
    "u32 & CPUS{0-3} && s16 == CPUS{2}",
    "mask & CPUS{0-3} && mask == CPUS{0-3} && mask != CPUS{1}",
    "ip.function == schedule && ip.function != 0xffffffff81000000 && u64.function == _RNv1a.llvm.1",
};
BOOST_DATA_TEST_CASE(what_the_kernel_can_compare_is_accepted, data::make(kAccepted), c) {
    BOOST_CHECK_NO_THROW(check(c));
}

// Each mistake, its mark under the text, the message and the hint.
struct Mistake {
    std::string_view text, mark, message, hint;
};
std::ostream& operator<<(std::ostream& out, const Mistake& m) {
    return out << m.text;
}

void expect(const Mistake& c, const EventFormat& event) {
    BOOST_CHECK_EXCEPTION(check(c.text, event), SourceError, [&](const SourceError& e) {
        BOOST_TEST(e.what() == cat("--if:1:", c.mark.find('^') + 1, ": error: ", c.message, '\n',
                                   c.text, '\n', c.mark));
        BOOST_TEST(e.hint() == c.hint);
        return true;
    });
}

// What is named as the text of an event shows it.
BOOST_AUTO_TEST_CASE(a_field_is_found_by_what_its_event_prints_in_front_of_it) {
    const EventFormat job = parse_event_format(
        "gpu_scheduler",
        read_file("tests/data/formats/6.12/events/gpu_scheduler/drm_sched_job/format"));
    expect({R"(ring == "gfx")", "^~~~", "gpu_scheduler:drm_sched_job has no field 'ring'",
            "its field 'name' is printed as ring="},
           job);
    BOOST_TEST(field_printed_as(job, "count") == "");
    BOOST_TEST(field_printed_as(job, "fence") == "fence");
}

const Mistake kMistakes[] = {
    // names
    {"u9 == 1", "^~", "test:every has no field 'u9'", "did you mean 'u8'?"},
    {"common_pdi == 1", "^~~~~~~~~~", "test:every has no field 'common_pdi'",
     "did you mean 'common_pid'?"},
    {"nothing == 1", "^~~~~~~", "test:every has no field 'nothing'",
     "its fields are s8, u8, s16, u16, flag, s32, u32, s64, u64, prev_state, task_comm, tag, path, "
     "rel, mask, label, ip, addr, mac, args, words"},
    {"stacktrace == 1", "^~~~~~~~~~", "test:every has no field 'stacktrace'",
     "its fields are s8, u8, s16, u16, flag, s32, u32, s64, u64, prev_state, task_comm, tag, path, "
     "rel, mask, label, ip, addr, mac, args, words"},
    // numbers
    {R"(u32 ~ "x")", "    ^", "'u32' is a number (u32 u32); ~ compares text",
     "compare with == != < <= > >= or &"},
    {"u32 ~ 3", "    ^", "'u32' is a number (u32 u32); ~ compares text",
     "compare with == != < <= > >= or &"},
    {"u32 == x", "       ^", R"('u32' is a number (u32 u32), "x" is text)", ""},
    {R"(u32 == "x")", "       ^~~", R"('u32' is a number (u32 u32), "x" is text)", ""},
    {R"(u32 == "12")", "       ^~~~", R"('u32' is a number (u32 u32), "12" is text)",
     "write 12 without quotes"},
    {"u32 == 12ab", "       ^~~~", "'12ab' is no number",
     "numbers are whole and without a unit: 12, -12, 0x1f, 017 (octal)"},
    {"u32 == 0x1g", "       ^~~~", "'0x1g' is no number",
     "numbers are whole and without a unit: 12, -12, 0x1f, 017 (octal)"},
    {"u32 == 1.5", "       ^~~", "'1.5' is no number",
     "numbers are whole and without a unit: 12, -12, 0x1f, 017 (octal)"},
    {"u32 == -5x", "       ^~~", "'-5x' is no number",
     "numbers are whole and without a unit: 12, -12, 0x1f, 017 (octal)"},
    {"u32 == 1ms", "       ^~~", "'1ms' is no number",
     "numbers are whole and without a unit: 12, -12, 0x1f, 017 (octal)"},
    {"u32 == 08", "       ^~", "'08' is no number: a 0 in front makes it octal", "write 8"},
    {"u32 == 0089", "       ^~~~", "'0089' is no number: a 0 in front makes it octal", "write 89"},
    {"u32 == s32", "       ^~~", R"('u32' is a number (u32 u32), "s32" is text)",
     "a field is compared with a value, not with another field"},
    {"u8 == TIMER", "      ^~~~~", R"('u8' is a number (u8 u8), "TIMER" is text)",
     "TIMER is 1: write u8 == 1"},
    {"u8 != RCU", "      ^~~", R"('u8' is a number (u8 u8), "RCU" is text)",
     "RCU is 10: write u8 != 10"},
    {"u16 == TIMER", "       ^~~~~", R"('u16' is a number (u16 u16), "TIMER" is text)", ""},
    {"prev_state == D", "              ^",
     R"('prev_state' is a number (long prev_state), "D" is text)", "D is 2: write prev_state == 2"},
    {"prev_state & S", "             ^",
     R"('prev_state' is a number (long prev_state), "S" is text)", "S is 1: write prev_state & 1"},
    {"prev_state == R", "              ^",
     R"('prev_state' is a number (long prev_state), "R" is text)", "R is 0: write prev_state == 0"},
    {"prev_state == Z", "              ^",
     R"('prev_state' is a number (long prev_state), "Z" is text)",
     "Z is 32: write prev_state == 32"},
    {"prev_state == Q", "              ^",
     R"('prev_state' is a number (long prev_state), "Q" is text)", ""},
    // ranges
    {"s8 == 128", "      ^~~", "128 does not fit in 's8' (s8 s8): it holds -128 to 127",
     "as 8 bits with a sign this is -128"},
    {"s8 == -129", "      ^~~~", "-129 does not fit in 's8' (s8 s8): it holds -128 to 127", ""},
    {"s8 == 0xff", "      ^~~~", "0xff does not fit in 's8' (s8 s8): it holds -128 to 127",
     "as 8 bits with a sign this is -1"},
    {"u8 == 256", "      ^~~", "256 does not fit in 'u8' (u8 u8): it holds 0 to 255", ""},
    {"u8 == -1", "      ^~", "-1 does not fit in 'u8' (u8 u8): it holds 0 to 255",
     "as 8 bits without a sign this is 0xff"},
    {"s16 > 32768", "      ^~~~~",
     "32768 does not fit in 's16' (s16 s16): it holds -32768 to 32767",
     "as 16 bits with a sign this is -32768"},
    {"u16 <= 65536", "       ^~~~~", "65536 does not fit in 'u16' (u16 u16): it holds 0 to 65535",
     ""},
    {"u8 < 0", "^~~~~~", "this never holds: 'u8' (u8 u8) holds 0 to 255",
     "without a sign, numbers below 0 are the largest: write u8 > 0x7f"},
    {"flag == 2", "        ^", "2 does not fit in 'flag' (bool flag): it holds 0 to 1", ""},
    {"flag == -1", "        ^~", "-1 does not fit in 'flag' (bool flag): it holds 0 to 1", ""},
    {"s32 == 0xffffffff", "       ^~~~~~~~~~",
     "0xffffffff does not fit in 's32' (s32 s32): it holds -2147483648 to 2147483647",
     "as 32 bits with a sign this is -1"},
    {"s32 == 4294967296", "       ^~~~~~~~~~",
     "4294967296 does not fit in 's32' (s32 s32): it holds -2147483648 to 2147483647", ""},
    {"u32 == 4294967296", "       ^~~~~~~~~~",
     "4294967296 does not fit in 'u32' (u32 u32): it holds 0 to 4294967295", ""},
    {"u32 == -1", "       ^~", "-1 does not fit in 'u32' (u32 u32): it holds 0 to 4294967295",
     "as 32 bits without a sign this is 0xffffffff"},
    {"u32 == -2147483649", "       ^~~~~~~~~~~",
     "-2147483649 does not fit in 'u32' (u32 u32): it holds 0 to 4294967295", ""},
    {"s64 == 9223372036854775808", "       ^~~~~~~~~~~~~~~~~~~",
     "9223372036854775808 does not fit in 's64' (s64 s64): it holds -9223372036854775808 to "
     "9223372036854775807",
     "as 64 bits with a sign this is -9223372036854775808"},
    {"s64 == 0xffffffffffffffff", "       ^~~~~~~~~~~~~~~~~~",
     "0xffffffffffffffff does not fit in 's64' (s64 s64): it holds -9223372036854775808 to "
     "9223372036854775807",
     "as 64 bits with a sign this is -1"},
    {"u64 == -22", "       ^~~",
     "-22 does not fit in 'u64' (u64 u64): it holds 0 to 18446744073709551615",
     "as 64 bits without a sign this is 0xffffffffffffffea"},
    {"common_pid == 2147483648", "              ^~~~~~~~~~",
     "2147483648 does not fit in 'common_pid' (int common_pid): it holds -2147483648 to 2147483647",
     "as 32 bits with a sign this is -2147483648"},
    {"ip == -1", "      ^~",
     "-1 does not fit in 'ip' (void *ip): it holds 0 to 18446744073709551615",
     "as 64 bits without a sign this is 0xffffffffffffffff"},
    {"addr == 0x100000000", "        ^~~~~~~~~~~",
     "0x100000000 does not fit in 'addr' (__u8 addr[4]): it holds 0 to 4294967295", ""},
    // text
    {R"(task_comm < "x")", "          ^",
     "'task_comm' is text (char task_comm[16]): text is compared with == != or ~", ""},
    {R"(path & "x")", "     ^",
     "'path' is text (__data_loc char[] path): text is compared with == != or ~", ""},
    {"task_comm == 12", "             ^~",
     "'task_comm' is text (char task_comm[16]), 12 is a number", R"(write "12")"},
    {"task_comm == CPUS{1}", "             ^~~~~~~",
     "'task_comm' is text (char task_comm[16]), no CPU", ""},
    {"COMM == 5", "        ^", "'COMM' is text (the name of a task), 5 is a number",
     R"(write "5")"},
    {R"(COMM > "a")", "     ^",
     "'COMM' is text (the name of a task): text is compared with == != or ~", ""},
    {R"(task_comm == "kworker/u16:3-events")", "             ^~~~~~~~~~~~~~~~~~~~~~",
     "the name of a task has at most 15 bytes; this one has 20",
     R"(the kernel cuts it: write "kworker/u16:3-e")"},
    {R"(COMM != "kworker/u16:3-events")", "        ^~~~~~~~~~~~~~~~~~~~~~",
     "the name of a task has at most 15 bytes; this one has 20",
     R"(the kernel cuts it: write "kworker/u16:3-e")"},
    {R"(tag == "abcde")", "       ^~~~~~~", "a text of 5 bytes does not fit in 'tag' (char tag[4])",
     ""},
    {R"(task_comm.ustring == "x")", "         ^~~~~~~~",
     "'task_comm' is char task_comm[16], no address of a text", "leave out .ustring"},
    {"label == 0", "         ^", "'label' is text (const char *label), 0 is a number",
     "the kernel compares the text, not its address"},
    {"label.function == x", "     ^~~~~~~~~", "'label' is const char *label, no address",
     "leave out .function"},
    // CPUs
    {"CPU & 3", "    ^", "'CPU' has no bits to test: & wants a list of CPUs",
     "for example CPU & CPUS{0-3}"},
    {R"(CPU ~ "1")", "    ^", "'CPU' is a number; ~ compares text",
     "compare with == != < <= > or >="},
    {"CPU == x", "       ^", R"('CPU' is a number (int), "x" is text)", ""},
    {"CPU == 2147483648", "       ^~~~~~~~~~", "2147483648 is no CPU", "CPUs are counted from 0"},
    {"CPU == CPUS{0-1}", "    ^~", "one number never equals several CPUs", "write CPU & CPUS{0-1}"},
    {"CPU != CPUS{0-1}", "    ^~", "one number never equals several CPUs",
     "write !(CPU & CPUS{0-1})"},
    {"CPU < CPUS{0}", "    ^", "CPUs are compared with & == or !=, not with <", ""},
    {"u32 == CPUS{0-1}", "    ^~", "one number never equals several CPUs", "write u32 & CPUS{0-1}"},
    {"u32 > CPUS{0}", "    ^", "CPUs are compared with & == or !=, not with >", ""},
    {"u8 & CPUS{0-300}", "     ^~~~~~~~~~~", "CPU 300 does not fit in 'u8' (u8 u8)", ""},
    {"mask == 1", "        ^", "'mask' is a set of CPUs; 1 is none",
     "for example mask & CPUS{0-3}"},
    {"mask & 3", "       ^", "'mask' is a set of CPUs; 3 is none", "for example mask & CPUS{0-3}"},
    {R"(mask == "0-3")", "        ^~~~~", R"('mask' is a set of CPUs; "0-3" is none)",
     "for example mask & CPUS{0-3}"},
    {"mask < CPUS{1}", "     ^", "CPUs are compared with & == or !=, not with <", ""},
    {"mask.ustring == CPUS{1}", "    ^~~~~~~~",
     "'mask' is __data_loc cpumask_t[] mask, no address of a text", "leave out .ustring"},
    // functions
    {"u32.function == schedule", "   ^~~~~~~~~", "'u32' is u32 u32, no address",
     "leave out .function"},
    {"task_comm.function == schedule", "         ^~~~~~~~~",
     "'task_comm' is char task_comm[16], no address", "leave out .function"},
    {"CPU.function == schedule", "   ^~~~~~~~~", "'CPU' is the number of a CPU, no address",
     "leave out .function"},
    {"ip.function < schedule", "            ^", "a function is compared with == or !=, not with <",
     ""},
    {"ip.function & 3", "            ^", "a function is compared with == or !=, not with &", ""},
    {R"(ip.function == "a b")", "               ^~~~~", "'a b' cannot be the name of a function",
     ""},
    {R"(ip.function == "")", "               ^~", "'' cannot be the name of a function", ""},
    {"ip.function == 12ab", "               ^~~~", "'12ab' cannot be the name of a function", ""},
    {"ip.function == -1", "               ^~", "-1 is no address", ""},
    {"ip.function == CPUS{1}", "               ^~~~~~~",
     "a function's name or an address was expected", ""},
    // what cannot be compared
    {"args == 1", "^~~~",
     "'args' (unsigned long args[6]) cannot be compared: it is no number and no text", ""},
    {"words == 1", "^~~~~",
     "'words' (__data_loc u32[] words) cannot be compared: it is no number and no text", ""},
    {"words & 1", "^~~~~",
     "'words' (__data_loc u32[] words) cannot be compared: it is no number and no text", ""},
    // deep inside
    {"u32 == 1 && !(u8 == 2 || s8 == 200)", "                               ^~~",
     "200 does not fit in 's8' (s8 s8): it holds -128 to 127", "as 8 bits with a sign this is -56"},
};
BOOST_DATA_TEST_CASE(a_mistake_is_shown_under_the_text, data::make(kMistakes), c) {
    expect(c, test::every_kind());
}

// The kernel takes these too, and then they are never true: it reads kernel memory at a user
// address.
BOOST_AUTO_TEST_CASE(a_system_calls_text_needs_ustring) {
    const EventFormat event = as_system_call();
    expect({"label == \"x\"", "^~~~~", "'label' is a text in the memory of the calling program",
            "write label.ustring"},
           event);
    expect({"!(label ~ \"x*\")", "  ^~~~~",
            "'label' is a text in the memory of the calling program", "write label.ustring"},
           event);
    BOOST_CHECK_NO_THROW(check("label.ustring == \"x\"", event));
}

BOOST_AUTO_TEST_CASE(a_system_calls_negative_argument_has_two_forms) {
    expect({"u64 == -22", "       ^~~",
            "-22 does not fit in 'u64' (u64 u64): it holds 0 to 18446744073709551615",
            "a register may hold it as 0xffffffea or as 0xffffffffffffffea"},
           as_system_call());
}

// Without a type, "$retval" and the like are made u64.
BOOST_AUTO_TEST_CASE(a_probes_argument_is_below_0_by_its_type) {
    EventFormat event = test::every_kind();
    event.fields.back().name = "__probe_ret_ip";
    const std::string hint =
        "make the probe with a type for it: u64=...:s32 for an int, u64=...:s64 for a long";
    expect({"u64 < 0", "^~~~~~~",
            "this never holds: 'u64' (u64 u64) holds 0 to 18446744073709551615", hint},
           event);
    expect({"u64 == -22", "       ^~~",
            "-22 does not fit in 'u64' (u64 u64): it holds 0 to 18446744073709551615", hint},
           event);
    BOOST_CHECK_NO_THROW(check("s32 < 0", event));
}

// Where a format prints the states without a table, as a probe's does.
BOOST_AUTO_TEST_CASE(task_states_are_known_by_their_letters) {
    EventFormat event = test::every_kind();
    event.print_format.clear();
    const std::pair<char, int> states[] = {{'R', 0},  {'S', 1},  {'D', 2},  {'T', 4},  {'t', 8},
                                           {'X', 16}, {'Z', 32}, {'P', 64}, {'I', 128}};
    for (const auto& [letter, number] : states)
        expect({cat("prev_state == ", letter), "              ^",
                cat("'prev_state' is a number (long prev_state), \"", letter, "\" is text"),
                cat(letter, " is ", number, ": write prev_state == ", number)},
               event);
    expect({"u64 == D", "       ^", "'u64' is a number (u64 u64), \"D\" is text", ""}, event);
}

BOOST_AUTO_TEST_CASE(an_event_without_fields_offers_those_of_every_event) {
    const EventFormat event = parse_event_format(
        "test",
        "name: bare\nID: 7\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\nprint fmt: \"\"\n");
    expect({"nosuchfield == 1", "^~~~~~~~~~~", "test:bare has no field 'nosuchfield'",
            "it has no fields of its own; there are common_pid, CPU and COMM"},
           event);
    BOOST_CHECK_NO_THROW(check("common_pid == 1 && CPU == 0 && COMM == x", event));
}

BOOST_AUTO_TEST_CASE(a_text_is_as_long_as_the_kernel_takes_it) {
    const auto quoted = [](std::size_t n) { return cat('"', std::string(n, 'x'), '"'); };
    BOOST_CHECK_NO_THROW(check(cat("path == ", quoted(255))));
    expect({cat("path == ", quoted(256)), cat("        ^", std::string(257, '~')),
            "a text has at most 255 bytes; this one has 256", ""},
           test::every_kind());
    BOOST_CHECK_NO_THROW(check(cat("path ~ ", quoted(253))));
    expect({cat("path ~ ", quoted(254)), cat("       ^", std::string(255, '~')),
            "a pattern has at most 253 bytes; this one has 254", ""},
           test::every_kind());
}

// Only generated conditions can have such a text: the language has no escapes either.
BOOST_AUTO_TEST_CASE(a_text_with_both_quotes_is_refused) {
    Expression e = parse_expression({"--if", "path == 'x'"});
    e.root.predicate.value.text = "it's \"x\"";
    BOOST_CHECK_EXCEPTION(
        check_expression(e, test::every_kind()), SourceError, [](const SourceError& error) {
            BOOST_TEST(error.what() ==
                       "--if:1:9: error: a text cannot have both kinds of quotes in it\n"
                       "path == 'x'\n"
                       "        ^~~");
            BOOST_TEST(error.hint() == "compare with ~ and write ? for one kind");
            return true;
        });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
