#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <set>

#include "base/cat.h"
#include "base/text.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/run_gpufs.h"
#include "support/skip.h"
#include "support/temp_folder.h"
#include "support/trace_instance.h"

// tests/programs/probed.cc, whose arguments are known, under probes of a session of each test's
// own.
namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::TempSession;

Ended probe_in(const TempSession& session, std::vector<std::string> args) {
    args.push_back("--session");
    args.push_back(session.name());
    return test::gpufs(args);
}

std::string probed() {
    return std::filesystem::canonical(test::Nest::build_file("probed"));
}

// The lines of dynamic_events that are this session's.
std::string defined_in(const TempSession& session) {
    std::string lines;
    const std::string all = test::top().read("dynamic_events");
    for (const std::string_view line : lines_of(all))
        if (has(std::string(line), cat(":gpufs_", session.name(), "/"))) lines += cat(line, "\n");
    return lines;
}

// Lets the program call work() with each of these.
void run_probed(const std::string& program, const std::string& numbers) {
    const Ended ended = test::shell(cat("printf -- '", numbers, "' | ", program));
    BOOST_TEST(ended.status == 0, ended.err);
}

// What the session recorded, without what stands in front of the events' names.
std::vector<std::string> shown_by(const TempSession& session) {
    const Ended ended = probe_in(session, {"show"});
    std::vector<std::string> records;
    for (const std::string_view line : lines_of(ended.out)) {
        const auto stamp = line.find(": ");
        if (!line.starts_with('#') && stamp != line.npos)
            records.emplace_back(line.substr(stamp + 2));
    }
    return records;
}

// "work: (0x55ec7fa4b14d) n=1" is "work: n=1", because addresses are random.
std::vector<std::string> without_addresses(std::vector<std::string> records) {
    for (std::string& record : records) {
        const auto open = record.find('('), close = record.find(") ");
        if (open != record.npos && close != record.npos) record.erase(open, close + 2 - open);
    }
    return records;
}

// Operands of the static probe of__forms that only programs can read.
#if defined __aarch64__
constexpr const char *kFloat = "8f@d0'", *kIndexed = "8@[x";
#else
constexpr const char *kFloat = "8f@%xmm0'", *kIndexed = "8@(";
#endif
const std::string kFirst = test::argument_register(0), kSecond = test::argument_register(1),
                  kThird = test::argument_register(2);

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(probes, *ut::precondition(test::has_file{"uprobe_events"}))

BOOST_AUTO_TEST_CASE(a_function_is_an_event_with_its_arguments) {
    for (const char* name : {"probed", "probed-fixed"}) {
        const TempSession session;
        const std::string program = std::filesystem::canonical(test::Nest::build_file(name));
        const Ended added = probe_in(
            session, {"probe", "add",
                      cat(program, ":work n=", kFirst, ":s32 text=+0(", kSecond, "):string id=+0(",
                          kThird, "):s64 name=+0(+8(", kThird, ")):string")});
        BOOST_TEST(added.status == 0, added.err);
        BOOST_TEST(added.out == "");
        const std::string event = cat("gpufs_", session.name(), ":work");
        BOOST_TEST(has(added.err, event + ": " + program + ":0x"), added.err);
        const Ended filtered =
            probe_in(session, {"filter", "-e", event, "n >= 4 && text == \"text\""});
        BOOST_TEST(filtered.status == 0, filtered.err);
        run_probed(program, "3\\n4\\n5\\n");
        const std::vector<std::string> expected = {
            "work: n=4 text=\"text\" id=1004 name=\"request\"",
            "work: n=5 text=\"text\" id=1005 name=\"request\""};
        BOOST_TEST(without_addresses(shown_by(session)) == expected,
                   boost::test_tools::per_element());
        const Ended listed = probe_in(session, {"probe", "list"});
        BOOST_TEST(has(listed.out, cat(event, "     3  ", program, ":work  n=", kFirst, ":s32 ")),
                   listed.out);
    }
}

BOOST_AUTO_TEST_CASE(a_probe_stands_at_an_instruction_and_at_a_return) {
    const TempSession session;
    BOOST_TEST(
        probe_in(session, {"probe", "add", cat("p:later ", probed(), ":work+4 sp=%sp")}).status ==
        0);
    BOOST_TEST(probe_in(session, {"probe", "add", cat("r:done ", probed(), ":work v=$retval:s32")})
                   .status == 0);
    BOOST_TEST(
        probe_in(session, {"probe", "add", cat(probed(), ":worker_a%return $retval:s32")}).status ==
        0);
    BOOST_TEST(probe_in(session, {"filter", "-e", cat("gpufs_", session.name()), "--all"}).status ==
               0);
    run_probed(probed(), "21\\n");
    const auto records = shown_by(session);
    BOOST_TEST_REQUIRE(records.size() == 3u);
    BOOST_TEST(has(records[0], "worker_a__return: "), records[0]);
    BOOST_TEST(has(records[0], " arg1=22"), records[0]);
    BOOST_TEST(has(records[1], "later: "), records[1]);
    BOOST_TEST(has(records[2], "done: "), records[2]);
    BOOST_TEST(has(records[2], " v=42"), records[2]);
    const Ended listed = probe_in(session, {"probe", "list"});
    BOOST_TEST(has(listed.out, cat(probed(), ":work+0x4 ")), listed.out);
    BOOST_TEST(has(listed.out, cat("return of ", probed(), ":work ")), listed.out);
}

BOOST_AUTO_TEST_CASE(a_pattern_makes_an_event_of_each_function) {
    const TempSession session;
    const Ended added =
        probe_in(session, {"probe", "add", cat(probed(), ":worker_? n=", kFirst, ":s32")});
    BOOST_TEST(added.status == 0, added.err);
    BOOST_TEST(has(added.err, ":worker_a: "));
    BOOST_TEST(has(added.err, ":worker_b: "));
    probe_in(session, {"filter", "-e", "worker_*", "n == 8"});
    run_probed(probed(), "7\\n8\\n");
    BOOST_TEST(without_addresses(shown_by(session)) ==
                   (std::vector<std::string>{"worker_a: n=8", "worker_b: n=8"}),
               boost::test_tools::per_element());
    const Ended removed = probe_in(session, {"probe", "remove", "worker_*"});
    BOOST_TEST(removed.status == 0, removed.err);
    BOOST_TEST(defined_in(session) == "");
}

BOOST_AUTO_TEST_CASE(programs_count_by_the_arguments_of_a_probe) {
    const TempSession session;
    const std::string group = cat("gpufs_", session.name());
    probe_in(session,
             {"probe", "add",
              cat(probed(), ":work n=", kFirst, ":s32 id=+0(", kThird, "):s64 id32=+0(", kThird,
                  "):u32 deep=+0(+8(", kThird, ")):u8 seven=\\7:u8 odd=", kFirst, ":b1@0/32")});
    probe_in(session, {"probe", "add", cat("r:done ", probed(), ":work v=$retval:s32")});
    const std::string work = cat("printf -- '3\\n-4\\n-4\\n' | ", probed(), " >/dev/null");
    const auto asked = [&](std::vector<std::string> question) {
        question.insert(question.end(), {"--", "/bin/sh", "-c", work});
        const Ended ended = test::gpufs(question);
        BOOST_TEST(ended.status == 0, ended.err);
        BOOST_TEST(has(ended.err, "0 lost"), ended.err);
        std::vector<std::string> rows;
        for (const std::string_view line : lines_of(ended.out))
            rows.push_back(join(split(line, ' '), " "));
        return rows;
    };
    using Rows = std::vector<std::string>;
    BOOST_TEST(asked({"count", group + ":work"}) == (Rows{group + ":work: 3"}),
               boost::test_tools::per_element());
    BOOST_TEST(asked({"count", group + ":work", "by", "n,id,id32,seven"}) ==
                   (Rows{group + ":work by n,id,id32,seven", "N ID ID32 SEVEN COUNT",
                         "-4 996 996 7 2", "3 1003 1003 7 1"}),
               boost::test_tools::per_element());
    BOOST_TEST(asked({"count", group + ":work", "--if", "n < 0 && id == 996"}) ==
                   (Rows{group + ":work: 2"}),
               boost::test_tools::per_element());
    BOOST_TEST(asked({"stats", group + ":done", "v"}) ==
                   (Rows{group + ":done v: count 3, sum -10, avg -3.3, min -8, max 6"}),
               boost::test_tools::per_element());
    const auto stacks = asked({"stacks", group + ":work"});
    BOOST_TEST(std::ranges::count(stacks, "work (probed)") == 1);
    const Ended unread = test::gpufs({"count", group + ":work", "by", "odd", "--duration", "1ms"});
    BOOST_TEST(unread.status == 2);
    BOOST_TEST(has(unread.err, "has no field 'odd'"), unread.err);
}

BOOST_AUTO_TEST_CASE(programs_find_all_places_of_a_static_probe_and_its_texts) {
    const TempSession session;
    const std::string event = cat("gpufs_", session.name(), ":listened");
    probe_in(session,
             {"probe", "add", cat("usdt:", probed(), ":listened n=arg0 text=arg1:string")});
    const Ended ended = test::gpufs({"count", event, "by", "n", "--", "/bin/sh", "-c",
                                     cat("printf '3\\n10\\n' | ", probed(), " >/dev/null")});
    BOOST_TEST(ended.status == 0, ended.err);
    std::set<std::string> rows;
    for (const std::string_view line : lines_of(ended.out))
        rows.insert(join(split(line, ' '), " "));
    const std::set<std::string> expected = {event + " by n", "N COUNT", "3 1",
                                            "4 1",           "10 1",    "11 1"};
    BOOST_TEST(rows == expected, boost::test_tools::per_element());
    // Both places of a hit read the page; a program reads no page that is not there yet.
    const Ended texts = test::gpufs({"count", event, "by", "text", "--", "/bin/sh", "-c",
                                     cat("printf '3\\n10\\n11\\n' | ", probed(), " >/dev/null")});
    BOOST_TEST(texts.status == 0, texts.err);
    BOOST_TEST(has(texts.out, "text "), texts.out);
}

BOOST_AUTO_TEST_CASE(a_static_probe_is_hit_at_all_its_places_while_it_has_a_listener) {
    const TempSession session;
    const Ended added = probe_in(
        session,
        {"probe", "add", cat("usdt:", probed(), ":probed:listened n=arg0 text=arg1:string")});
    BOOST_TEST(added.status == 0, added.err);
    BOOST_TEST(lines_of(defined_in(session)).size() == 2u);
    probe_in(session, {"filter", "-e", "listened", "--all"});
    run_probed(probed(), "3\\n10\\n");
    const std::vector<std::string> expected = {
        "listened: n=3 text=\"text\"", "listened: n=4 text=\"text\"",
        "listened: n=10 text=\"text\"", "listened: n=11 text=\"text\""};
    BOOST_TEST(without_addresses(shown_by(session)) == expected, boost::test_tools::per_element());
    const Ended listed = probe_in(session, {"probe", "list"});
    BOOST_TEST(has(listed.out, " and 1 more"), listed.out);
    BOOST_TEST(probe_in(session, {"reset"}).status == 0);
    BOOST_TEST(defined_in(session) == "");
}

BOOST_AUTO_TEST_CASE(the_arguments_of_a_static_probe_are_those_of_its_note) {
    const TempSession session;
    for (const char* name : {"passed", "of-sizes", "of__forms"}) {
        const Ended added = probe_in(session, {"probe", "add", cat("usdt:", probed(), ":", name)});
        BOOST_TEST(added.status == 0, added.err);
        if (std::string(name) == "of__forms") {
            BOOST_TEST(has(added.err, cat("arg1 is left out: tracefs cannot read '", kFloat)),
                       added.err);
            BOOST_TEST(has(added.err, cat("arg2 is left out: tracefs cannot read '", kIndexed)),
                       added.err);
        }
    }
    probe_in(session, {"filter", "-e", cat("gpufs_", session.name()), "--all"});
    run_probed(probed(), "-5\\n");
    const std::vector<std::string> expected = {
        "passed: arg0=-5 arg1=7 arg2=-5", "of__sizes: arg0=-5",
        "of__sizes_2: arg0=18446744073709551611", "of__forms: arg0=7"};
    BOOST_TEST(without_addresses(shown_by(session)) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_static_probes_of_a_file_are_listed) {
    const Ended listed = test::gpufs({"probe", "usdt", probed()});
    BOOST_TEST(listed.status == 0, listed.err);
    std::vector<std::string> words;
    for (const std::string_view line : lines_of(listed.out))
        words.push_back(join(split(line, ' '), " "));
    const std::string file = cat("usdt:", probed(), ":probed:");
    const std::vector<std::string> expected = {
        "PROBE PLACES ARGUMENTS", file + "listened 2 arg0:s32 arg1:u64",
        file + "passed 1 arg0:s32 arg1:s32 arg2:s32",
        file +
            "dozen 1 arg0:u8 arg1:u8 arg2:u8 arg3:u8 arg4:u8 arg5:u8 arg6:u8 arg7:u8 arg8:u8 "
            "arg9:u8 arg10:u8 arg11:s32",
        file + "of__sizes 2 arg0:s32"};
    words.pop_back();  // what the compiler chose is in it
    BOOST_TEST(words == expected, boost::test_tools::per_element());
    BOOST_TEST(test::gpufs({"list", "--usdt", probed()}).out == listed.out);
    BOOST_TEST(has(test::gpufs({"list", "--usdt"}).err, "--usdt needs a FILE, or a process"));
    BOOST_TEST(has(test::gpufs({"list", "-p", "1"}).err, "-p goes with --usdt"));
    const Ended json = test::gpufs({"probe", "usdt", probed(), "--json"});
    BOOST_TEST(json.status == 0, json.err);
    BOOST_TEST(lines_of(json.out).size() == 5u);
    BOOST_TEST(has(json.out, R"("name":"listened","places":2,"semaphore":true)"), json.out);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_said_before_anything_is_set) {
    const TempSession session;
    const std::string file = probed();
    const auto refused = [&](const std::string& definition, const std::string& message) {
        const Ended ended = probe_in(session, {"probe", "add", definition});
        BOOST_TEST(ended.status == 2, definition);
        BOOST_TEST(has(ended.err, message), ended.err);
    };
    refused(file + ":wrok", cat("'", file, "' has no function 'wrok'"));
    refused(file + ":wrok", "hint: did you mean 'work'?");
#if defined __x86_64__
    refused(file + ":work a=%edi", "hint: the kernel calls the whole register %di");
#endif
    refused(file + ":work+0x10000", "0x10000 is behind its end");
    refused(file + ":0x7fffffff", "0x7fffffff is in no code of '");
    refused(file + "/x:f", cat("there is no file '", file, "/x'"));
    refused("usdt:" + file + ":probed:listend", "hint: did you mean 'listened'?");
    refused("usdt:" + file + ":listened a=arg2",
            "'probed:listened' has 2 arguments: there is no arg2");
    refused("usdt:" + file + ":of__forms a=arg2", "tracefs cannot read arg2");
    refused("usdt:" + file + ":listened a=arg1:u31", "hint: did you mean 'u32'?");
    refused("r usdt:" + file + ":listened", "a static probe has no return");
    refused("p:one " + file + ":worker_?", "2 functions match: each is an event of its own");
    refused("no_such_module:f", "there is no module 'no_such_module'");
    BOOST_TEST(!test::top().has(cat("instances/gpufs-", session.name())));
    BOOST_TEST(defined_in(session) == "");
}

BOOST_AUTO_TEST_CASE(a_function_has_its_readable_name) {
    const TempSession session;
    const std::string file = probed();
    const Ended refused = probe_in(session, {"probe", "add", cat(file, ":shop::twice")});
    BOOST_TEST(refused.status == 2);
    BOOST_TEST(refused.err ==
               cat("gpufs: probe:1:1: error: '", file, "' has 2 functions 'shop::twice'\n", file,
                   ":shop::twice\n^", std::string(file.size() + 11, '~'),
                   "\nhint: choose one: 'shop::twice(int)', 'shop::twice(long, char const*)'\n"));
    for (const std::string& place :
         {cat(":shop::Till::add n=", kSecond, ":s32"), cat(":shop::twice(int) m=", kFirst, ":s32"),
          cat(":shop::twice(long, char const*) m=", kFirst, ":s64"),
          cat(":shop::sold m=", kFirst, ":s32")}) {
        const Ended added = probe_in(session, {"probe", "add", cat(file, place)});
        BOOST_TEST_REQUIRE(added.status == 0, added.err);
    }
    for (const char* event :
         {"shop__Till__add", "shop__twice_int_", "shop__twice_long__char_const__", "shop__sold"})
        probe_in(session,
                 {"filter", "-e", cat("gpufs_", session.name(), ":", event), "common_pid > 0"});
    run_probed(file, "21\\n");
    const std::vector<std::string> expected = {"shop__Till__add: n=21", "shop__twice_int_: m=21",
                                               "shop__twice_long__char_const__: m=21",
                                               "shop__sold: m=21"};
    BOOST_TEST(without_addresses(shown_by(session)) == expected, boost::test_tools::per_element());
    // A program knows it, too.
    const Ended counted =
        test::shell(cat("$GPUFS count 'uprobe:", file,
                        ":shop::twice(long, char const*)' by arg0 --json -- sh -c "
                        "\"printf '5\\n5\\n' | ",
                        file, " >/dev/null\""));
    BOOST_TEST(has(counted.out, R"("arg0":5)"), cat(counted.out, counted.err));
    BOOST_TEST(has(counted.out, R"("count":2)"), counted.out);
}

// Without optimization these are in memory behind the prologue only.
BOOST_AUTO_TEST_CASE(the_parameters_of_a_function_with_a_readable_name_are_its_variables) {
    const std::string file = probed(), name = "shop::twice(long, char const*)";
    const std::string work = cat("printf '5\\n6\\n' | ", file, " >/dev/null");
    const TempSession session;
    const Ended added = probe_in(session, {"probe", "add", cat(file, ":", name, " n")});
    BOOST_TEST(has(added.err, cat("'", name, "' is probed behind its prologue, at +0x")),
               added.err);
    probe_in(session, {"filter", "-e", "shop__twice_long__char_const__", "--all"});
    run_probed(file, "21\\n");
    const std::vector<std::string> expected = {"shop__twice_long__char_const__: n=21"};
    BOOST_TEST(without_addresses(shown_by(session)) == expected, boost::test_tools::per_element());
    for (std::vector<std::string> args : std::vector<std::vector<std::string>>{
             {"stats", "-x", file, name, "n"}, {"stats", cat("uprobe:", file, ":", name), "n"}}) {
        args.insert(args.end(), {"--", "sh", "-c", work});
        const Ended told = test::gpufs(args);
        BOOST_TEST(has(told.out, "count 2, sum 11, "), cat(told.out, told.err));
    }
    const Ended vague = test::gpufs({"count", "-x", file, "shop::twice", "by", "n"});
    BOOST_TEST(has(vague.err, "(shop::twice(int)), 0x"), vague.err);
}

BOOST_AUTO_TEST_CASE(functions_of_one_name_are_told_apart_by_their_parameters) {
    const Ended told =
        test::gpufs({"count", "-x", probed(), "_ZN4shop5twice*", "by", "func", "--json", "--", "sh",
                     "-c", cat("echo 5 | ", probed(), " >/dev/null")});
    BOOST_TEST(has(told.out, "{\"func\":\"shop::twice(int)\"}"), told.out + told.err);
    BOOST_TEST(has(told.out, "{\"func\":\"shop::twice(long, char const*)\"}"), told.out);
}

// Of an event of tracefs the kernel reads a line; a program's place is no text.
BOOST_AUTO_TEST_CASE(a_path_with_other_signs_is_refused_by_tracefs_only) {
    const test::TempFolder folder;
    for (const std::string name : {"a b", "a#b", "a\"b", "a,b"}) {
        const std::string file = (folder / name).string();
        std::filesystem::copy_file(probed(), file);
        const TempSession session;
        const Ended added = probe_in(session, {"probe", "add", "-x", file, "p:one work n"});
        const std::string sign = name == "a b" ? "blanks" : "a '#'";
        const bool is_refused = name == "a b" || name == "a#b";
        BOOST_TEST(added.status == (is_refused ? 2 : 0), added.err);
        BOOST_TEST(has(added.err, cat("the kernel takes no path with ", sign, ": '", file, "'")) ==
                       is_refused,
                   added.err);
        for (std::vector<std::string> args : std::vector<std::vector<std::string>>{
                 {"count", "-x", file, "work", "by", "n"},
                 {"count", cat("uprobe:\"", file, "\":work"), "by", "n"}}) {
            args.insert(args.end(),
                        {"--json", "--", "sh", "-c", "echo 5 | \"$0\" >/dev/null", file});
            const Ended counted = test::gpufs(args);
            BOOST_TEST(has(counted.out, R"("n":5)"), counted.out + counted.err);
        }
    }
}

#if defined __x86_64__ && defined __GLIBC__
BOOST_AUTO_TEST_CASE(a_function_of_a_library_has_its_version) {
    const TempSession session;
    const Ended refused = probe_in(session, {"probe", "add", "libc:realpath"});
    BOOST_TEST(refused.status == 2);
    BOOST_TEST(has(refused.err, "' has 2 functions 'realpath'\n"), refused.err);
    BOOST_TEST(has(refused.err, ":realpath@GLIBC_2.2.5"), refused.err);
    BOOST_TEST(has(refused.err, ":realpath@@GLIBC_2.3"), refused.err);
    const Ended added =
        probe_in(session, {"probe", "add", "libc:realpath@@GLIBC_2.3 path=+0(%di):string"});
    BOOST_TEST_REQUIRE(added.status == 0, added.err);
    const Ended counted = test::gpufs({"count", "uprobe:libc:realpath@GLIBC_2.2.5", "--", "true"});
    BOOST_TEST(counted.status == 0, counted.err);
    BOOST_TEST(has(probe_in(session, {"probe", "add", "libc:realpath@@GLIBC_2.2.5"}).err,
                   "has no function 'realpath@@GLIBC_2.2.5'\n"));
    // All versions of a pattern's functions are events, and named for them.
    const TempSession all;
    const Ended pattern = probe_in(all, {"probe", "add", "libc:realpat?"});
    BOOST_TEST(has(pattern.err, ":realpath_GLIBC_2_2_5: "), pattern.err);
    BOOST_TEST(has(pattern.err, ":realpath__GLIBC_2_3: "), pattern.err);
    const Ended wrong = probe_in(session, {"probe", "add", "libc:realpath@GLIBC_1"});
    for (const char* known : {"\nhint: it has realpath@", "realpath@@GLIBC_2.3"})
        BOOST_TEST(has(wrong.err, known), wrong.err);
}
#endif

BOOST_AUTO_TEST_CASE(the_kernels_complaint_is_shown_under_the_users_words) {
    const TempSession session;
    const std::string place = probed() + ":work";
    // More steps than the kernel has room for.
    constexpr int kSteps = 20;
    std::string deep = "b=";
    for (int i = 0; i < kSteps; ++i) deep += "+0(";
    deep += kFirst + std::string(kSteps, ')');
    const Ended ended = probe_in(session, {"probe", "add", cat(place, " a=", kFirst, ' ', deep)});
    BOOST_TEST(ended.status == 2);
    // Below the argument, or (Linux 7) the step in it that is one too many.
    const std::string words = cat(place, " a=", kFirst, ' ', deep);
    const auto caret = ended.err.find("\n", ended.err.find(cat(words, "\n"))) + 1;
    const std::size_t column = ended.err.find('^', caret) - caret;
    BOOST_TEST(column >= words.find("b=+") + 2, ended.err);
    BOOST_TEST(column < words.size(), ended.err);
    BOOST_TEST(has(ended.err, cat("probe:1:", column + 1, ": error: the kernel refuses this: ")),
               ended.err);
    BOOST_TEST(words.compare(column, 3, "+0(") == 0, ended.err);
    BOOST_TEST(!test::top().has(cat("instances/gpufs-", session.name())));
    BOOST_TEST(defined_in(session) == "");
}

BOOST_AUTO_TEST_CASE(a_second_probe_of_a_name_is_refused_and_the_first_stays) {
    const TempSession session;
    BOOST_TEST(probe_in(session, {"probe", "add", probed() + ":work"}).status == 0);
    const std::string before = defined_in(session);
    const Ended ended = probe_in(session, {"probe", "add", probed() + ":work n=" + kFirst});
    BOOST_TEST(ended.status == 2);
    BOOST_TEST(has(ended.err, cat("session '", session.name(), "' has a probe 'work' already")),
               ended.err);
    BOOST_TEST(defined_in(session) == before);
}

BOOST_AUTO_TEST_CASE(functions_of_the_kernel_are_events,
                     *ut::precondition(test::has_file{"kprobe_events"})) {
    const TempSession session;
    const std::string event = cat("gpufs_", session.name(), ":slept");
    for (const std::string& definition : {cat("p:slept do_nanosleep mode=", kSecond, ":u32"),
                                          std::string("do_nanosleep%return ret=$retval:s64")}) {
        const Ended added = probe_in(session, {"probe", "add", definition});
        BOOST_TEST(added.status == 0, added.err);
    }
    BOOST_TEST(
        probe_in(session, {"filter", "-e", cat("gpufs_", session.name()), "comm == \"sleep\""})
            .status == 0);
    test::shell("sleep 0.01");
    const auto records = shown_by(session);
    BOOST_TEST_REQUIRE(records.size() >= 2u);
    BOOST_TEST(has(records[0], "slept: (do_nanosleep+0x"), records[0]);
    BOOST_TEST(has(records[0], " mode=1"), records[0]);
    BOOST_TEST(has(records[1], "do_nanosleep__return: "), records[1]);
    BOOST_TEST(has(records[1], " ret=0"), records[1]);
    const Ended counted = test::gpufs({"count", event, "by", "mode", "--", "sleep", "0.01"});
    BOOST_TEST(has(counted.out, "   1      1\n"), counted.out);

    const Ended all = probe_in(session, {"probe", "add", "p:vfs_re*"});
    BOOST_TEST(has(all.err, ":vfs_read: vfs_read, "), all.err);
    BOOST_TEST(has(all.err, ":vfs_readlink: vfs_readlink, "), all.err);
    const Ended unknown = probe_in(session, {"probe", "add", "p:do_nanoslep"});
    BOOST_TEST(unknown.status == 2);
    BOOST_TEST(has(unknown.err, "hint: did you mean 'do_nanosleep'?"), unknown.err);
    const Ended inside = probe_in(session, {"probe", "add", "p:do_nanosleep+1"});
    BOOST_TEST(inside.status == 2);
    BOOST_TEST(has(inside.err, "error: the kernel refuses this: "), inside.err);
    BOOST_TEST(probe_in(session, {"reset"}).status == 0);
    BOOST_TEST(defined_in(session) == "");
}

// By "ustring" and by "+u": of a text in the program's memory, which BPF programs read, too.
BOOST_AUTO_TEST_CASE(texts_of_a_program_are_read_at_functions_of_the_kernel,
                     *ut::precondition(test::has_file{"kprobe_events"})) {
    const TempSession session;
    const Ended added = probe_in(
        session,
        {"probe", "add", "p:opened do_sys_openat2 path=+0($arg2):ustring same=+u0($arg2):string"});
    BOOST_TEST(added.status == 0, added.err);
    const std::string path = "/no/such/file/of/gpufs";
    const Ended counted = test::gpufs({"count", cat("gpufs_", session.name(), ":opened"), "by",
                                       "path,same", "--if", cat("path == \"", path, '"'), "--",
                                       "sh", "-c", cat("cat ", path, " || true")});
    BOOST_TEST(has(counted.out, cat(path, "  ", path, "      1\n")), counted.out + counted.err);
}

BOOST_AUTO_TEST_CASE(removing_a_probe_removes_what_is_set_on_it) {
    const TempSession session;
    probe_in(session, {"probe", "add", cat(probed(), ":work n=", kFirst, ":s32")});
    probe_in(session, {"filter", "-e", "work", "n == 1"});
    probe_in(session, {"trigger", "traceoff", "-e", "work", "--if", "n == 1"});
    probe_in(session, {"trigger", "enable_event", cat("gpufs_", session.name(), ":work"), "-e",
                       "sched:sched_process_exit", "--if", "prio == 12345"});
    const Ended unknown = probe_in(session, {"probe", "remove", "wrok"});
    BOOST_TEST(unknown.status == 2);
    BOOST_TEST(has(unknown.err, "hint: did you mean 'work'?"), unknown.err);
    const Ended removed = probe_in(session, {"probe", "remove", "work"});
    BOOST_TEST(removed.status == 0, removed.err);
    BOOST_TEST(defined_in(session) == "");
    BOOST_TEST(has(probe_in(session, {"probe", "list"}).err, "no probe is set in session"));
    BOOST_TEST(test::gpufs({"probe", "list", "--session", "nosuch"}).err ==
               "gpufs: there is no session 'nosuch', so no probe is set\n");
}

BOOST_AUTO_TEST_CASE(a_dry_run_prints_the_writes_and_makes_none) {
    const TempSession session;
    const Ended ended =
        probe_in(session, {"probe", "add", cat(probed(), ":work n=", kFirst, ":s32"), "--dry-run"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.out, cat("echo 'p:gpufs_", session.name(), "/work ", probed(), ":0x")),
               ended.out);
    BOOST_TEST(defined_in(session) == "");
}

BOOST_AUTO_TEST_CASE(probes_of_a_session_that_is_gone_are_removed) {
    const TempSession session;
    BOOST_TEST(probe_in(session, {"probe", "add", probed() + ":work"}).status == 0);
    std::filesystem::remove(session.directory());  // as somebody's rmdir does
    const std::string what = cat("probes in group gpufs_", session.name(), "\n");
    const Ended told = test::gpufs({"reset", "--stale", "--dry-run"});
    BOOST_TEST(told.status == 0, told.err);
    BOOST_TEST(has(told.out, "would remove " + what), told.out);
    BOOST_TEST(defined_in(session) != "");
    const Ended ended = test::gpufs({"reset", "--stale"});
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.err, "removed " + what), ended.err);
    BOOST_TEST(defined_in(session) == "");
}

BOOST_AUTO_TEST_CASE(without_kprobes_the_kernels_functions_are_told_off,
                     *ut::precondition(test::can_trace)) {
    if (test::top().has("kprobe_events")) return test::skip("needs a kernel without kprobe events");
    const TempSession session;
    const Ended ended = probe_in(session, {"probe", "add", cat("p:do_nanosleep t=", kFirst)});
    BOOST_TEST(ended.status == 3);
    BOOST_TEST(ended.err ==
               "gpufs: this kernel has no kprobe events\n"
               "hint: a kernel with CONFIG_KPROBE_EVENTS=y\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
