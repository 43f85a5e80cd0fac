#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <map>
#include <ostream>

#include "base/cat.h"
#include "base/text.h"
#include "support/run_gpufs.h"

namespace data = boost::unit_test::data;

namespace gpufs {
namespace {

using test::Ended;

// One that may trace nothing, and read no file of root: where the machine is asked first, the
// answer is another.
Ended run_as_nobody(const std::vector<std::string>& args) {
    return ::geteuid() == 0 ? test::gpufs_as_nobody(args) : test::gpufs(args);
}

// A command's options that take a value, with what the help calls that: {"--pid", "PID"}.
std::map<std::string, std::string> options_with_values(const std::string& command) {
    std::map<std::string, std::string> options;
    const std::string help = test::gpufs({command, "--help"}).out;
    for (const std::string_view line : lines_of(help)) {
        const auto dashes = line.find("--");
        if (!line.starts_with("  ") || dashes > 6) continue;
        const std::vector<std::string> words = split(line.substr(dashes), ' ');
        const auto behind = dashes + words.at(0).size() + 1;
        if (behind < line.size() && line[behind] != ' ') options.emplace(words[0], words.at(1));
    }
    return options;
}

// What is no value, by what the help calls it. An empty text is none of any.
const std::map<std::string, std::vector<std::string>> kNoValues = {
    {"ACTION", {"traceofff", "snapshot", "stacktrace if prev_state =="}},
    {"CMD", {" "}},
    {"COLUMN", {"bogus"}},
    {"DIR", {}},
    {"DIR[:DIR]", {}},
    {"EVENT", {","}},
    {"EXPR", {"prev_state ==", "("}},
    {"FIELD[=FIELD]", {"=", "a=b=c"}},
    {"FILE", {}},
    {"GLOB", {}},
    {"KEY,…", {","}},
    {"LIST", {"3-1", "x"}},
    {"LOW:HIGH:STEP", {"0:4096", "9:1:1", "0:1:0"}},
    {"N", {"0", "x", "1x", "99999999999999999999"}},
    {"NAME", {}},
    {"OUT", {}},
    {"PASS", {"bogus"}},
    {"PID", {"0", "x", ",", "99999999999"}},
    {"PROGRAM", {}},
    {"RE", {}},
    {"SIZE", {"x", "4X", "99999999999G"}},
    {"STATES", {"Q"}},
    {"T", {"bogus", "1x", "1e300h"}},
    {"TEXT", {}},
    {"UNIT", {"h"}},
    {"stack", {"kernel"}},
    {"fp|dwarf|auto", {"orc"}},
};

// "  doctor    say what this kernel can do": the lines of `gpufs --help`.
std::vector<std::string> all_commands() {
    std::vector<std::string> names;
    const std::string help = test::gpufs({"--help"}).out;
    for (const std::string_view line : lines_of(help))
        if (line.starts_with("  ")) names.push_back(split(line, ' ').at(0));
    return names;
}

void check_options_of(const std::string& command) {
    const auto options = options_with_values(command);
    for (const auto& [option, argument] : options) {
        const auto known = kNoValues.find(argument);
        BOOST_TEST_REQUIRE((known != kNoValues.end()),
                           cat("say above what is no ", argument, ", for ", option));
        std::vector<std::string> texts = known->second;
        texts.emplace_back();
        // The idle tasks, of which recordings tell.
        if (command == "report" && argument == "PID") std::erase(texts, "0");
        for (const std::string& text : texts) {
            std::vector<std::string> args = {command, option, text};
            if (options.contains("--input") && option != "--input")
                args.insert(args.end(), {"-i", "/nonexistent"});
            const Ended ended = run_as_nobody(args);
            BOOST_TEST_CONTEXT(join(args, " ")) {
                BOOST_TEST(ended.status == 2, ended.err);
                BOOST_TEST(ended.out == "");
                // bt says it in bpftrace's words.
                BOOST_TEST(ended.err.starts_with(command == "bt" ? "ERROR: " : "gpufs: " + option),
                           ended.err);
            }
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(options, *boost::unit_test::label("pure"))

BOOST_AUTO_TEST_CASE(what_is_no_value_of_an_option_is_refused_before_anything_else) {
    const std::vector<std::string> commands = all_commands();
    BOOST_TEST(commands.size() > 20u);
    for (const std::string& command : commands) check_options_of(command);
}

// The lines above are read from the help: this many are in it.
BOOST_AUTO_TEST_CASE(the_help_says_which_options_take_a_value) {
    const std::map<std::string, std::string> of_show = {
        {"--duration", "T"}, {"--event", "EVENT"}, {"--if", "EXPR"},
        {"--last", "N"},     {"--output", "FILE"}, {"--session", "NAME"}};
    BOOST_TEST((options_with_values("show") == of_show));
}

struct Refusal {
    std::vector<std::string> args;
    std::string err;
};
std::ostream& operator<<(std::ostream& out, const Refusal& refusal) {
    return out << join(refusal.args, " ");
}
const std::string kTimes = "hint: such as 500us, 1ms, 30s or 10m; a bare number is seconds\n";
const std::string kUsage =
    "hint: usage: gpufs count EVENT… [by KEY,…] [--if EXPR] [--duration T] [-- COMMAND]\n";
const Refusal kRefusals[] = {
    {{"run", "drm", "-i", "/nonexistent", "--dry-run", "--duration", "bogus"},
     "gpufs: --duration takes a time, not 'bogus'\n" + kTimes},
    {{"count", "sched:sched_switch", "-d", "0"},
     "gpufs: --duration 0 would end before anything is seen\n"
     "hint: without --duration it goes on until Ctrl-C\n"},
    {{"run", "drm", "--dry-run", "--interval", "bogus"},
     "gpufs: --interval takes a time, not 'bogus'\n" + kTimes},
    {{"watch", "--top", "--interval", "1ns"},
     "gpufs: --interval is 1ms or more\nhint: a bare number is seconds\n"},
    {{"run", "drm", "-i", "/nonexistent", "--if", "name =="},
     "gpufs: --if:1:6: error: a value is missing after '=='\n"
     "name ==\n"
     "     ^~\n"},
    {{"stall", "--session", "a b"},
     "gpufs: --session: 'a b' cannot name a session\n"
     "hint: letters, digits and '_', with a letter first\n"},
    {{"record", "--output", ""}, "gpufs: --output: FILE is empty\n"},
    {{"record", "--trigger", "traceon:5:x"},
     "gpufs: --trigger: 'traceon' takes nothing behind a colon\n"},
    {{"report", "--from", "yesterday"},
     "gpufs: --from takes a time, not 'yesterday'\n"
     "hint: as the lines show it: 220.5; or with a unit: 220500ms\n"},
    {{"count", "-p", "1,x"}, "gpufs: --pid takes a positive number, not 'x'\n"},
    {{"report", "-p", "-1"}, "gpufs: --pid takes a number from 0 on, not '-1'\n"},
    {{"count", "--if"}, "gpufs: option '--if' needs EXPR\n" + kUsage},
    {{"count", "x", "--if", "--json"}, "gpufs: option '--if' needs EXPR\n" + kUsage},
    {{"count", "-d"}, "gpufs: option '-d' needs T\n" + kUsage},
    {{"count", "--json=1", "x"}, "gpufs: option '--json' takes no value\n" + kUsage},
    {{"count", "--dur", "1s", "x"},
     "gpufs: unknown option '--dur'\nhint: did you mean '--duration'?\n"},
    {{"count", "--jsom"}, "gpufs: unknown option '--jsom'\nhint: did you mean '--json'?\n"},
    {{"count", "x", "-zd"}, "gpufs: unknown option '-z'\n" + kUsage},
    {{"count", "-1"}, "gpufs: unknown option '-1'\n" + kUsage},
    {{"count", "-d", "1s", "--duration=2s"},
     "gpufs: option '--duration' is given twice\n" + kUsage},
    {{"count", "--json", "--json"}, "gpufs: option '--json' is given twice\n" + kUsage},
};
BOOST_DATA_TEST_CASE(the_message_names_the_option_and_says_what_it_takes, data::make(kRefusals),
                     refusal) {
    const Ended ended = run_as_nobody(refusal.args);
    BOOST_TEST(ended.err == refusal.err);
    BOOST_TEST(ended.status == 2);
}

// As getopt_long(3) has them, but for abbreviations.
BOOST_AUTO_TEST_CASE(options_stand_anywhere_in_every_form) {
    const std::string file = "tests/data/trace_dat/drm-6.17.dat";
    const std::string whole = test::gpufs({"report", file, "-e", "drm_sched*", "--json"}).out;
    BOOST_TEST(whole.starts_with("{"), whole);
    const std::vector<std::vector<std::string>> forms = {
        {"report", "--json", "-edrm_sched*", file},
        {"report", "--event", "drm_sched*", file, "--json"},
        {"report", "--event=drm_sched*", "--json", "--", file}};
    for (const std::vector<std::string>& form : forms) BOOST_TEST(test::gpufs(form).out == whole);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
