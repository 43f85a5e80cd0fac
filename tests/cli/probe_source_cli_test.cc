#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <span>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/printed_variables.h"
#include "support/run_gpufs.h"
#include "support/skip.h"
#include "support/trace_instance.h"

// tests/programs/variables.c, compiled in several ways: what a probe records of a variable by its
// name is what the program itself prints at that line.
namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::line_with;
using test::named_values;
using test::printed_at;
using test::Records;
using test::TempSession;
using test::variant;

constexpr const char* kVariants[] = {
    "gcc-O0-pie",    "gcc-O1-pie",    "gcc-O2-pie",      "gcc-O3-pie",      "gcc-Os-pie",
    "gcc-O2-dwarf4", "gcc-O2-packed", "gcc-O2-split",    "gcc-O2-split4",   "gcc-O2-package",
    "gcc-O2-apart",  "gcc-O2-lto",    "gcc-O2-static",   "clang-O0-pie",    "clang-O1-pie",
    "clang-O2-pie",  "clang-Os-pie",  "clang-O3-static", "clang-O2-dwarf4", "clang-O2-split"};

Ended ask(const TempSession& session, std::vector<std::string> args) {
    args.push_back("--session");
    args.push_back(session.name());
    return test::gpufs(args);
}

// What a variable of that line is called by a path, and in the output.
struct Named {
    const char* name;  // in the output
    const char* path;
    const char* type = "";
};
constexpr Named kOfWork[] = {{"n", "n"},
                             {"text", "text"},
                             {"len", "req->len"},
                             {"name", "req->name"},
                             {"id", "req->parts[2].id"},
                             {"label", "req->parts[1].label"},
                             {"next_len", "req->next->len"},
                             {"low", "req->low"},
                             {"mid", "req->mid"},
                             {"wide", "req->wide"},
                             {"state", "req->state"},
                             {"whole", "req->whole"},
                             {"bytes", "req->bytes", ":x8[4]"},
                             {"cell", "req->table[1][2]"}};
constexpr Named kOfLater[] = {
    {"sum", "sum"},         {"small", "small"},       {"negative", "negative"},
    {"is_odd", "is_odd"},   {"local_id", "local.id"}, {"total", "shared_total"},
    {"flags", "own_flags"}, {"own", "own_text"},      {"part", "shared_parts[1].id"}};

// What the session recorded of an event, record by record.
Records recorded(const TempSession& session) {
    Records records;
    const Ended shown = ask(session, {"show"});
    for (const std::string_view line : lines_of(shown.out))
        if (!line.starts_with('#')) records.push_back(named_values(line));
    return records;
}

// Probes a line with all of these that can be read there, runs the program and compares; how many
// of them could be read.
std::size_t compare(const std::string& program, const std::string& line_name,
                    std::span<const Named> all) {
    const TempSession session;
    const std::string place = cat("variables.c:", line_with(line_name));
    std::string definition = place;
    std::vector<std::string> names;
    for (const Named& one : all) {
        const std::string word = cat(one.name, "=", one.path, one.type);
        const Ended tried =
            ask(session, {"probe", "add", "-x", program, place + " " + word, "--dry-run"});
        if (tried.status == 0) {
            definition += " " + word;
            names.emplace_back(one.name);
        } else {
            // What a compiler does not keep, a probe cannot read; nothing else is an excuse.
            BOOST_TEST(
                (has(tried.err, "is optimized out at") || has(tried.err, "it has no place") ||
                 has(tried.err, "only what it was when the function began")),
                program + " " + word + "\n" + tried.err);
        }
    }
    const Ended added = ask(session, {"probe", "add", "-x", program, definition});
    BOOST_TEST(added.status == 0, added.err);
    BOOST_TEST(ask(session, {"filter", "-e", cat("gpufs_", session.name()), "--all"}).status == 0);
    const Ended ran = test::shell(program + " 5");
    const Records truth = printed_at(ran.out, line_name), seen = recorded(session);
    BOOST_TEST_REQUIRE(truth.size() == 5u, ran.out);
    BOOST_TEST_REQUIRE(seen.size() == truth.size(), program);
    for (std::size_t i = 0; i < truth.size(); ++i)
        for (const std::string& name : names) {
            if (test::is_ahead(program, name)) continue;
            const auto value = seen[i].find(name);
            BOOST_TEST_REQUIRE((value != seen[i].end()), program + " " + name);
            BOOST_TEST(value->second == truth[i].at(name), program + " " + name);
        }
    return names.size();
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(probe_source, *ut::precondition(test::has_file{"uprobe_events"}))

BOOST_AUTO_TEST_CASE(variables_at_a_line_are_what_the_program_prints_there) {
    for (const std::string name : kVariants) {
        const std::string program = variant(name);
        const bool is_whole = has(name, "-O0-");
        const std::size_t work = compare(program, "work", kOfWork),
                          later = compare(program, "later", kOfLater);
        // Without optimization all are there; with it most are.
        BOOST_TEST(work >= (is_whole ? std::size(kOfWork) : 10u), name);
        BOOST_TEST(later >= (is_whole ? std::size(kOfLater) : 4u), name);
    }
}

// Why was the daemon not scheduled? By the line that says so: its variable stops the buffer, in
// which the last switch before has the stack of what it waited for.
BOOST_AUTO_TEST_CASE(a_late_timer_is_explained_by_the_line_that_notices_it) {
    const TempSession session;
    const std::string program = std::filesystem::canonical(test::Nest::build_file("late-timer"));
    const auto work = [&](std::vector<std::string> args) {
        const Ended ended = ask(session, std::move(args));
        BOOST_TEST(ended.status == 0, ended.err);
    };
    const std::string text = read_file("tests/programs/late_timer.c");
    const auto lines = lines_of(text);
    const auto found = std::ranges::find_if(
        lines, [](std::string_view line) { return line.ends_with("// late"); });
    const std::string place = cat("late_timer.c:", found - lines.begin() + 1);
    work({"probe", "add", "-x", program, cat("p:late ", place, " tv_diff round")});
    work({"filter", "-e", "sched_switch", "prev_comm == \"late-timer\" && prev_state == 2"});
    work({"trigger", "stacktrace", "-e", "sched_switch"});
    work({"filter", "-e", "late", "tv_diff >= 100000000 && round >= 5"});
    work({"trigger", "traceoff", "-e", "late", "--if", "tv_diff >= 100000000 && round >= 5"});
    BOOST_TEST(test::shell(program).status == 0);
    const Ended shown = ask(session, {"show"});
    Records late;
    for (const auto& record : recorded(session))
        if (record.contains("tv_diff")) late.push_back(record);
    // The line was seen once, in round 5; after it nothing was recorded.
    BOOST_TEST_REQUIRE(late.size() == 1u, shown.out);
    BOOST_TEST(late.front().at("round") == "5", shown.out);
    BOOST_TEST(std::stol(late.front().at("tv_diff")) >= 150'000'000);
    BOOST_TEST(has(shown.out, "prev_state=D"), shown.out);
    BOOST_TEST(has(shown.out, "kernel_clone"), shown.out);  // of vfork
}

#if defined __x86_64__
BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_variable_is_shown_at_its_place, *ut::label("pure")) {
    const TempSession session;
    const std::string plain = variant("gcc-O0-pie"), optimized = variant("clang-O2-pie");
    const std::string work = cat("variables.c:", line_with("work"));
    const auto refused = [&](const std::string& program, const std::string& definition,
                             const std::string& message) {
        const Ended ended = ask(session, {"probe", "add", "-x", program, definition});
        BOOST_TEST(ended.status == 2, definition);
        BOOST_TEST(has(ended.err, message), ended.err);
    };
    refused(plain, work + " txet", "there is no variable 'txet' here");
    refused(plain, work + " txet", "hint: did you mean 'text'?");
    refused(plain, work + " req->lne", "struct request has no member 'lne'");
    refused(plain, work + " req.len", "this is a pointer (struct request *)\n");
    refused(plain, work + " req.len", "hint: write ->len");
    refused(plain, work + " local->id", "hint: write .id");
    refused(plain, work + " local", "it is a whole struct part");
    refused(plain, work + " local", "hint: name a member: id, label");
    refused(plain, work + " req->ratio", "it is a floating point number (double)");
    refused(plain, work + " req->parts[3].id", "it has 3 elements: there is no [3]");
    refused(plain, work + " n->len", "this is no pointer: it is of type int");
    refused(plain, work + " n n", "there is an argument 'n' already");
    refused(plain, work + " n:u31", "hint: did you mean 'u32'?");
    refused(plain, "variables.c:1", "line 1 of 'variables.c' has no code");
    refused(plain, "variable.c:50", "hint: did you mean 'variables.c'?");
    refused(plain, "work:1", "'work' is in lines ");
    refused(plain, "work%return n", "when a function returns, its variables are gone");
    refused(plain, work + "%return", "a line has no return");
    refused(optimized, cat("variables.c:", line_with("later"), " small"),
            cat("'small' is optimized out at variables.c:", line_with("later")));
    refused(optimized, cat("variables.c:", line_with("later"), " n"),
            "only what it was when the function began is known: (%si at the function's begin)");
    const std::string later = cat("variables.c:", line_with("later"));
    refused(optimized, later + " n",
            cat("hint: a program reads it: gpufs count -x ", optimized, ' ', later, " by n\n"));
    refused(optimized, cat("variables.c:", line_with("computed"), " *cell"),
            cat("hint: a program reads it: gpufs count -x ", optimized,
                " variables.c:", line_with("computed"), " by '*cell'\n"));
    refused(test::Nest::build_file("variables/gcc-O2-apart.debug") + ".none", "f n",
            "there is no file");
    refused("/bin/true", "x.c:1", "'/bin/true' has no debug information");
}
#endif

// The same of the line that it begins in.
BOOST_AUTO_TEST_CASE(a_function_is_probed_where_its_parameters_are_there) {
    const std::string line = cat("variables.c:", line_with("begin"));
    for (const char* name : {"gcc-O0-pie", "clang-O0-pie", "gcc-O2-pie", "clang-O2-pie"})
        for (const std::string& place : {std::string("work"), line}) {
            const TempSession session;
            const std::string program = variant(name);
            const Ended added =
                ask(session, {"probe", "add", "-x", program, cat(place, " n text req->len")});
            BOOST_TEST(added.status == 0, added.err);
            const bool is_moved = has(
                added.err, place == line ? "behind the prologue of 'work'" : "behind its prologue");
            BOOST_TEST(is_moved == has(name, "-O0-"), added.err);
            const std::string event = place == line ? cat("work_", line_with("begin")) : "work";
            ask(session, {"filter", "-e", event, "--all"});
            const Ended ran = test::shell(program + " 4");
            const Records truth = printed_at(ran.out, "work"), seen = recorded(session);
            BOOST_TEST_REQUIRE(seen.size() == truth.size(), name);
            for (std::size_t i = 0; i < truth.size(); ++i)
                for (const char* field : {"n", "text", "len"})
                    BOOST_TEST(seen[i].at(field) == truth[i].at(field), name);
        }
}

BOOST_AUTO_TEST_CASE(only_where_variables_are_read_a_place_is_behind_the_prologue) {
    const std::string program = variant("gcc-O0-pie");
    const auto told = [&](const std::string& definition) {
        const TempSession session;
        const Ended ended = ask(session, {"probe", "add", "-x", program, definition});
        BOOST_TEST(ended.status == 0, ended.err);
        return ended.err;
    };
    const std::string line = cat("variables.c:", line_with("begin"));
    BOOST_TEST(!has(told(line), "prologue"));
    BOOST_TEST(!has(told(line + " number=%di"), "prologue"));
    // A place by its number stays.
    BOOST_TEST(has(told("work+1 n"),
                   "the parameters of 'work' are in memory behind its prologue "
                   "only, from +0x"));
    const Ended vars = test::gpufs({"probe", "vars", "-x", program, line});
    BOOST_TEST(!has(vars.out, "%sp"), vars.out);
}

BOOST_AUTO_TEST_CASE(what_callers_put_on_the_stack_is_read_where_the_function_begins,
                     *ut::label("pure")) {
    for (const bool is_optimized : {true, false}) {
        const std::string program =
            test::Nest::build_file(is_optimized ? "parameters-O2" : "parameters-O0");
        const Ended vars = test::gpufs({"probe", "vars", "-x", program, "given"});
        BOOST_TEST(has(vars.out, "large"), vars.err);
        BOOST_TEST(has(vars.err, "behind its prologue") != is_optimized, vars.err);
    }
}

BOOST_AUTO_TEST_CASE(an_inlined_function_is_probed_in_its_copies) {
    const TempSession session;
    const std::string program = variant("gcc-O2-pie");
    const Ended added = ask(session, {"probe", "add", "-x", program, "twice value"});
    BOOST_TEST(added.status == 0, added.err);
    BOOST_TEST(has(added.err, "'twice' is inlined at 1 place, probed, too"), added.err);
    ask(session, {"filter", "-e", "twice", "--all"});
    const Ended ran = test::shell(program + " 3");
    const Records truth = printed_at(ran.out, "later"), seen = recorded(session);
    BOOST_TEST_REQUIRE(seen.size() == truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i)
        BOOST_TEST(seen[i].at("value") == truth[i].at("sum"));
}

// A function that is inlined has no code of its own at its calls, nor, perhaps, at all.
BOOST_AUTO_TEST_CASE(what_counts_nothing_because_it_is_inlined_is_told) {
    const std::string program = variant("gcc-O2-pie");
    const auto hint = [](const std::string& name, const std::string& line) {
        return cat("'", name, "' is inlined at 1 place, which a probe at its line sees: ", line);
    };
    const Ended none = test::gpufs({"count", "-x", program, "twice", "--", program});
    BOOST_TEST(none.status == 2);
    const std::string of_twice = cat("variables.c:", line_with("twice"));
    BOOST_TEST(has(none.err, cat("hint: ", hint("twice", of_twice))), none.err);
    const Ended seen = test::gpufs({"count", "-x", program, of_twice, "--", program, "3"});
    BOOST_TEST(has(seen.out, cat("uprobe:", program, ':', of_twice, ": 3\n")), seen.out);
    const std::string of_folded = hint("folded", cat("variables.c:", line_with("folds")));
    for (const char* command : {"count", "stacks", "latency"}) {
        const Ended zero = test::gpufs({command, "-x", program, "folded", "--", program, "3"});
        BOOST_TEST(zero.status == 0, zero.err);
        BOOST_TEST(has(zero.err, of_folded), cat(command, ": ", zero.err));
    }
    const Ended some = test::gpufs({"count", "-x", program, "folded,work", "--", program, "3"});
    BOOST_TEST(!has(some.err, "inlined"), some.err);
}

#if defined __x86_64__
BOOST_AUTO_TEST_CASE(variables_and_lines_are_listed_without_root, *ut::label("pure")) {
    const std::string program = variant("gcc-O0-pie");
    const Ended vars = test::gpufs({"probe", "vars", "-x", program, "gone"});
    BOOST_TEST(vars.status == 0, vars.err);
    std::vector<std::string> rows;
    for (const std::string_view line : lines_of(vars.out))
        rows.push_back(join(split(line, ' '), " "));
    BOOST_TEST_REQUIRE(rows.size() == 5u, vars.out);
    BOOST_TEST(rows[1] == "NAME TYPE SCOPE WHERE READ AS");
    BOOST_TEST(rows[2].starts_with("a long int parameter [%bp-"), rows[2]);
    BOOST_TEST(has(rows[2], "(%bp):s64"), rows[2]);
    BOOST_TEST(rows[4].starts_with("unused const long int local "), rows[4]);
    const Ended json = test::gpufs({"probe", "vars", "-x", program, "gone", "--globals", "--json"});
    BOOST_TEST(has(json.out, R"("name":"own_flags","type":"unsigned char","scope":"global")"),
               json.out);
    const Ended lines = test::gpufs({"probe", "lines", "-x", program, "gone"});
    const std::string last = cat(line_with("gone"), " *     return a + unused;  // gone\n");
    BOOST_TEST(has(lines.out, last), lines.out);
    BOOST_TEST(lines_of(lines.out).size() == 6u, lines.out);
    BOOST_TEST(test::gpufs({"probe", "lines", "-x", program, "gone", "--json"}).status == 0);
}
#endif

BOOST_AUTO_TEST_CASE(each_way_of_an_argument_is_explained, *ut::label("pure")) {
    const TempSession session;
    const Ended told = ask(session, {"probe", "add", "-x", variant("gcc-O0-pie"),
                                     cat("variables.c:", line_with("work"), " req->next->len"),
                                     "--explain", "--dry-run"});
    BOOST_TEST(told.status == 0, told.err);
    BOOST_TEST(has(told.out, "AT"), told.out);
    BOOST_TEST(has(told.out, ")):s64"), told.out);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
