#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "base/cat.h"
#include "support/needs.h"
#include "support/run_gpufs.h"

namespace ut = boost::unit_test;

// The command line of gpufs bt, and what it says of mistakes.
namespace gpufs {
namespace {

using test::Ended;

// All that it writes to stderr, of a command line that is refused.
std::string refusal(std::vector<std::string> words) {
    words.insert(words.begin(), "bt");
    const Ended ended = test::gpufs(words);
    BOOST_TEST_CONTEXT(words.back()) {
        BOOST_TEST(ended.status == 2);
        BOOST_TEST(ended.out == "");
    }
    return ended.err;
}

// What a script prints, its maps included.
std::string output(std::vector<std::string> words) {
    words.insert(words.begin(), {"bt", "-q"});
    const Ended ended = test::gpufs(words);
    BOOST_TEST(ended.status == 0, ended.err);
    return ended.out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(scripts_options)

BOOST_AUTO_TEST_CASE(mistakes_have_the_form_of_bpftrace) {
    BOOST_TEST(refusal({"-e", "begin {\n\tprint(nosuch);\n}"}) ==
               "stdin:2:8-14: ERROR: Unknown identifier: 'nosuch'\n"
               "    print(nosuch);\n"
               "          ~~~~~~\n");
    BOOST_TEST(refusal({"-e", "tracepoint:sched:nosuch { exit() }"}) ==
               "stdin:1:1-24: ERROR: No matches for tracepoint sched:nosuch.\n"
               "tracepoint:sched:nosuch { exit() }\n"
               "~~~~~~~~~~~~~~~~~~~~~~~\n"
               "HINT: 'gpufs list' has the events of this kernel\n");
    BOOST_TEST(refusal({"-e", "tracepoint:sched:sched_swtch { exit() }"}) ==
               "stdin:1:1-29: ERROR: No matches for tracepoint sched:sched_swtch.\n"
               "tracepoint:sched:sched_swtch { exit() }\n"
               "~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
               "HINT: did you mean 'sched:sched_switch'?\n");
    BOOST_TEST(refusal({"-e", "rawtracepoint:sched_swtch { exit() }"}) ==
               "stdin:1:1-26: ERROR: No matches for rawtracepoint sched_swtch.\n"
               "rawtracepoint:sched_swtch { exit() }\n"
               "~~~~~~~~~~~~~~~~~~~~~~~~~\n"
               "HINT: did you mean 'sched_switch'?\n");
    BOOST_TEST(refusal({"-e", "begin { unroll (101) { @++ } unroll (0) { @++ } }"}) ==
               "stdin:1:17-20: ERROR: unroll maximum value is 100\n"
               "begin { unroll (101) { @++ } unroll (0) { @++ } }\n"
               "                ~~~\n"
               "stdin:1:38-39: ERROR: unroll minimum value is 1\n"
               "begin { unroll (101) { @++ } unroll (0) { @++ } }\n"
               "                                     ~\n");
    BOOST_TEST(refusal({"-e", "begin { @g = 2; if (has_key(@g, 2)) { print(len(@g)) } }"}) ==
               "stdin:1:29-31: ERROR: call to has_key() expects a map with explicit keys "
               "(non-scalar map)\n"
               "begin { @g = 2; if (has_key(@g, 2)) { print(len(@g)) } }\n"
               "                            ~~\n"
               "stdin:1:49-51: ERROR: call to len() expects a map with explicit keys "
               "(non-scalar map)\n"
               "begin { @g = 2; if (has_key(@g, 2)) { print(len(@g)) } }\n"
               "                                                ~~\n");
}

BOOST_AUTO_TEST_CASE(gpufs_run_tells_the_same_mistakes_in_its_own_form) {
    const Ended ended = test::gpufs({"run", "-e", "begin { print(nosuch) }"});
    BOOST_TEST(ended.err ==
               "gpufs: -e:1:15: error: Unknown identifier: 'nosuch'\n"
               "begin { print(nosuch) }\n"
               "              ^~~~~~\n");
}

BOOST_AUTO_TEST_CASE(words_of_the_command_line_are_checked) {
    BOOST_TEST(refusal({"-p", "a1111", "x.bt"}) ==
               "ERROR: Failed to parse pid: invalid integer: a1111\n");
    BOOST_TEST(refusal({"-p", "111a1", "x.bt"}) ==
               "ERROR: Failed to parse pid: invalid trailing bytes: 111a1\n");
    BOOST_TEST(refusal({"-p", "5000000", "x.bt"}) ==
               "ERROR: Pid out of range: 5000000\n"
               "HINT: a process has a number from 1 to 4194304\n");
    BOOST_TEST(refusal({"-f", "jsonx", "x.bt"}) ==
               "ERROR: Invalid output format \"jsonx\"\nHINT: Valid formats: 'text', 'json'\n");
    BOOST_TEST(refusal({"-B", "all", "x.bt"}) ==
               "ERROR: -B takes one of line, full, none, not 'all'\n");
    const std::string unknown = refusal({"-e", "begin { }", "--aa=20"});
    BOOST_TEST(test::has(unknown,
                         "ERROR: unknown option '--aa=20', or it lacks its value\n\n"
                         "USAGE:\n    gpufs bt [options] FILE"),
               unknown);
    BOOST_TEST(refusal({"--json", "x.bt"})
                   .starts_with("ERROR: unknown option '--json', '-f json' prints JSON\n\n"));
    const Ended absent = test::gpufs({"bt", "/nonexistent.bt"});
    BOOST_TEST(absent.status == 1);
    BOOST_TEST(absent.err ==
               "ERROR: failed to open file '/nonexistent.bt': No such file or directory\n");
}

BOOST_AUTO_TEST_CASE(options_stand_before_and_behind_the_script) {
    const std::string path = cat("/tmp/gpufs-bt-options.", ::getpid());
    const Ended ended = test::gpufs({"bt", "-e", "begin { printf(\"%s %s\\n\", str($1), str($2)) }",
                                     "one", "-q", "--output", path, "two"});
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    ::unlink(path.c_str());
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(ended.out == "");
    BOOST_TEST(text == "one two\n\n\n");
}

BOOST_AUTO_TEST_CASE(what_is_behind_the_dashes_belongs_to_the_script) {
    const std::string script =
        "begin { print(($1, getopt(\"aa\", 10), getopt(\"cc\", \"hello\"), getopt(\"dd\"), $2)) }";
    BOOST_TEST(output({"-e", script, "one", "--", "--aa=20", "--dd=False", "two"}) ==
               "(one, 20, hello, false, two)\n\n\n");
    BOOST_TEST(output({"-e", script, "one", "--", "two", "--dd", "--cc=bye"}) ==
               "(one, 10, bye, true, two)\n\n\n");
    BOOST_TEST(refusal({"-e", script, "1", "2", "--", "--aa=False"}) ==
               "ERROR: program command line option --aa invalid integer (value: False)\n");
    BOOST_TEST(refusal({"-e", script, "1", "2", "--", "--dd=maybe"}) ==
               "ERROR: program command line option --dd invalid boolean (value: maybe)\n");
    BOOST_TEST(refusal({"-e", "begin { print(getopt(\"aa\", 10)) }", "--", "--bb", "--zz=1"}) ==
               "ERROR: unexpected program command line options: --bb, --zz\n"
               "HINT: expected program options: --aa\n");
    BOOST_TEST(refusal({"-e", "begin { print((getopt(\"aa\", 10, \"how many\"), getopt(\"bb\"))) }",
                        "--", "--help"}) ==
               "ERROR: unexpected program command line options: --help\n"
               "HINT: expected program options:\n"
               "  --aa: how many\n"
               "  --bb\n");
}

BOOST_AUTO_TEST_CASE(only_probes_that_match_the_filter_run) {
    BOOST_TEST(
        output({"--probe-filter", "ms:(20|30)", "-e",
                "BEGIN { printf(\"begin\\n\") } interval:ms:10 { printf(\"bad\\n\") } "
                "interval:ms:20 { printf(\"hit\\n\"); exit() } END { printf(\"end\\n\") }"}) ==
        "begin\nhit\nend\n\n\n");
    BOOST_TEST(refusal({"--probe-filter", "(", "-e", "begin { }"})
                   .starts_with("ERROR: --probe-filter: '(' is no regular expression\nHINT: "));
}

BOOST_AUTO_TEST_CASE(the_environment_wins_over_the_config_block) {
    const auto shown = [](const std::string& variable, const std::string& script) {
        const Ended ended = test::shell(cat(variable, " $GPUFS bt -q -e '", script, "'"));
        return ended.status == 0 ? ended.out : ended.err;
    };
    BOOST_TEST(shown("BPFTRACE_MAX_STRLEN=8",
                     "config = { max_strlen = 16 } begin { "
                     "print(str(\"0123456789\")) }") ==
               shown("", "config = { max_strlen = 8 } begin { print(str(\"0123456789\")) }"));
    BOOST_TEST(shown("BPFTRACE_PRINT_MAPS_ON_EXIT=0", "begin { @ = 1 }") == "\n\n");
    BOOST_TEST(shown("BPFTRACE_MAX_CAT_BYTES=1", "begin { cat(\"/proc/self/comm\") }") ==
               shown("BPFTRACE_CAT_BYTES_MAX=1", "begin { cat(\"/proc/self/comm\") }"));
    BOOST_TEST(shown("BPFTRACE_MAX_PROBES=many", "begin { }") ==
               "ERROR: BPFTRACE_MAX_PROBES: max_probes is a number from 1 to 4294967295\n");
}

BOOST_AUTO_TEST_CASE(the_config_block_is_checked) {
    BOOST_TEST(refusal({"-e", "config = { bad_config=raw } begin {}"}) ==
               "stdin:1:12-26: ERROR: bad_config: not a known configuration option\n"
               "config = { bad_config=raw } begin {}\n"
               "           ~~~~~~~~~~~~~~\n");
    BOOST_TEST(refusal({"-e", "config = { license=\"Potato\" } begin {}"}) ==
               "stdin:1:12-28: ERROR: Invalid value for license. Found: Potato. Valid values: "
               "Dual MIT/GPL, Dual BSD/GPL, Dual MPL/GPL, GPL and additional rights, GPL v2, GPL\n"
               "config = { license=\"Potato\" } begin {}\n"
               "           ~~~~~~~~~~~~~~~~\n");
}

BOOST_AUTO_TEST_CASE(missing_probes_are_refused_told_or_left_out) {
    const std::string probes =
        "tracepoint:syscalls:sys_enter_read,tracepoint:nosuch:nosuch,interval:ms:10 { exit() }";
    const Ended warned =
        test::gpufs({"bt", "-q", "-e", cat("config = { missing_probes=warn } ", probes)});
    BOOST_TEST(warned.status == 0);
    BOOST_TEST(warned.err.starts_with(
                   "stdin:1:69-93: WARNING: No matches for tracepoint nosuch:nosuch. Skipping.\n"),
               warned.err);
    const Ended ignored =
        test::gpufs({"bt", "-q", "-e", cat("config = { missing_probes=ignore } ", probes)});
    BOOST_TEST(ignored.status == 0);
    BOOST_TEST(ignored.err == "");
}

BOOST_AUTO_TEST_CASE(warnings_tell_what_has_no_effect) {
    const std::string script = "let @a = hash(1); begin { @b++; exit(); @b++ }";
    const Ended warned = test::gpufs({"bt", "-q", "-e", script});
    BOOST_TEST(warned.out == "\n\n@b: 1\n");
    BOOST_TEST(warned.err == cat("stdin:1:41-45: WARNING: Unreachable statement\n", script, '\n',
                                 std::string(40, ' '), "~~~~\n",
                                 "stdin:1:1-17: WARNING: Unused map: @a\n", script,
                                 "\n~~~~~~~~~~~~~~~~\n"));
    const Ended silent = test::gpufs({"bt", "-q", "--no-warnings", "-e",
                                      "begin { warnf(\"no\"); errorf(\"yes\"); exit(); @b++ }"});
    BOOST_TEST(silent.err == "stdin:1:22-35: ERROR: yes\n");
}

BOOST_AUTO_TEST_CASE(a_message_in_a_macro_names_the_uses_that_led_there) {
    const std::string script =
        "macro bad() { errorf(\"no\") }\nmacro worse() { bad(); warnf(\"x\") }\n"
        "begin { worse(); errorf(\"end\") }";
    const Ended told = test::gpufs({"bt", "-q", "-e", script});
    BOOST_TEST(told.err ==
               "stdin:1:15-27: ERROR: no\n"
               "stdin:2:17-22: ERROR: expanded from\n"
               "macro worse() { bad(); warnf(\"x\") }\n"
               "                ~~~~~\n"
               "stdin:3:9-16: ERROR: expanded from\n"
               "begin { worse(); errorf(\"end\") }\n"
               "        ~~~~~~~\n"
               "stdin:2:24-34: WARNING: x\n"
               "stdin:3:9-16: WARNING: expanded from\n"
               "begin { worse(); errorf(\"end\") }\n"
               "        ~~~~~~~\n"
               "stdin:3:18-31: ERROR: end\n");
}

BOOST_AUTO_TEST_CASE(info_has_a_line_for_each_thing_that_was_tried) {
    const std::string info = test::gpufs({"bt", "--info"}).out;
    for (const char* line :
         {"System\n  OS: Linux ", "  probe_read_kernel: yes\n", "  Loop support: yes\n",
          "  perf_event_array: yes\n", "  tracepoint: yes\n", "  kprobe_session: "})
        BOOST_TEST(test::has(info, line), line);
}

BOOST_AUTO_TEST_CASE(the_number_of_probes_is_said_before_and_after_they_are_attached) {
    const std::vector<std::string> words{"bt", "-e", "begin { exit() } end { }"};
    BOOST_TEST(test::gpufs(words).err == "Attaching 2 probes...\nAttached 2 probes\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
