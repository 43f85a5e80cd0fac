#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "support/needs.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

namespace ut = boost::unit_test;

// Names that others chose, and that would control a terminal.
namespace gpufs {
namespace {

using test::Ended;
using test::has;

// As long as "sleep", which it replaces.
const std::string kEvil = "\x1b[mE\a";
const std::string kShown = "\\x1b[mE\\x07";

// A recording in which a task, and whatever else is called "sleep", has that name.
std::string evil_recording() {
    std::string bytes = read_file("tests/data/trace_dat/sched-6.18.dat");
    const std::string plain = "sleep";
    for (auto at = bytes.find(plain); at != bytes.npos; at = bytes.find(plain, at + 1))
        bytes.replace(at, plain.size(), kEvil);
    return bytes;
}

bool is_clean(const std::string& text) {
    for (const char c : text)
        if ((static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == 0x7f)
            return false;
    return true;
}

std::vector<std::string> script(const std::string& statement, const std::string& recording) {
    return {"run", "-e", cat("tracepoint:sched:sched_switch { ", statement, " }"), "-i", recording};
}

// A shell with a name of that kind, which sleeps again and again.
const std::vector<std::string> kEvilCommand = {
    "sh", "-c",
    "printf '\\033[31mE\\n\\007' > /proc/$$/comm; for i in 1 2 3 4 5; do sleep 0.01; done"};

std::vector<std::string> with_evil_command(std::vector<std::string> args) {
    args.emplace_back("--");
    args.insert(args.end(), kEvilCommand.begin(), kEvilCommand.end());
    return args;
}

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(control_characters, *ut::label("pure"))

BOOST_AUTO_TEST_CASE(the_name_of_a_command_is_escaped, *ut::precondition(test::can_trace)) {
    const std::filesystem::path folder = test::TempFile().path() + ".folder";
    std::filesystem::create_directory(folder);
    const std::string command = folder / "a\n\x1b[mb";
    std::filesystem::copy("/bin/false", command);
    const Ended ended = test::gpufs({"count", "sched:sched_switch", "--", command});
    std::filesystem::remove_all(folder);
    BOOST_TEST(is_clean(ended.err));
    BOOST_TEST(has(ended.err, "/a\\n\\x1b[mb ended with exit status 1\n"), ended.err);
}

BOOST_AUTO_TEST_CASE(reports_escape_names_of_tasks) {
    const test::TempFile file(evil_recording());
    const std::vector<std::vector<std::string>> commands = {
        {"report", "-i", file.path()},
        {"report", "-i", file.path(), "--csv"},
        {"report", "-i", file.path(), "--stat"},
        {"run", "wakeups", "-i", file.path()},
        {"count", "sched:sched_switch", "by", "prev_comm", "-i", file.path()},
        script("printf(\"%s\\n\", args.prev_comm)", file.path()),
        script("print((1, args.prev_comm))", file.path()),
        script("@[args.prev_comm] = args.prev_comm", file.path())};
    for (std::vector<std::string> command : commands) {
        const Ended escaped = test::gpufs(command);
        BOOST_TEST(escaped.status == 0, escaped.err);
        BOOST_TEST(is_clean(escaped.out), escaped.out);
        BOOST_TEST(has(escaped.out, kShown), escaped.out);
        command.emplace_back("--raw");
        const Ended raw = test::gpufs(command);
        BOOST_TEST(has(raw.out, kEvil), command[0]);
        BOOST_TEST(!has(raw.out, kShown), command[0]);
    }
    const Ended json = test::gpufs({"report", "-i", file.path(), "--json"});
    BOOST_TEST(is_clean(json.out));
    BOOST_TEST(has(json.out, "\"comm\":\"\\u001b[mE\\u0007\""), json.out);
}

BOOST_AUTO_TEST_CASE(stalls_escape_names_of_tasks, *ut::precondition(test::can_trace)) {
    const std::vector<std::string> args = {"stall", "--state", "S", "--over", "1ms"};
    const Ended escaped = test::gpufs(with_evil_command(args));
    BOOST_TEST(is_clean(escaped.out), escaped.out);
    BOOST_TEST(has(escaped.out, "  \\x1b[31mE\\n\\x07-"), escaped.out);
    std::vector<std::string> raw = args;
    raw.emplace_back("--raw");
    BOOST_TEST(has(test::gpufs(with_evil_command(raw)).out, "  \x1b[31mE\n\a-"));
}

BOOST_AUTO_TEST_CASE(show_escapes_names_of_tasks, *ut::precondition(test::can_trace)) {
    const test::TempSession session;
    const auto in_session = [&](std::vector<std::string> args) {
        args.insert(args.end(), {"--session", session.name()});
        return test::gpufs(args);
    };
    BOOST_TEST(in_session({"filter", "next_comm ~ \"\x1b*E*\a\""}).status == 0);
    test::Child({kEvilCommand, {}, false, false, {}}).wait();
    for (const std::vector<std::string>& args :
         {std::vector<std::string>{"show"}, {"show", "--last", "1"}, {"show", "--consume"}}) {
        const Ended escaped = in_session(args);
        BOOST_TEST(is_clean(escaped.out), escaped.out);
        BOOST_TEST(has(escaped.out, "next_comm=\\x1b[31mE\\n\\x07 "), escaped.out);
        for (const std::string_view line : lines_of(escaped.out))
            BOOST_TEST((line.starts_with('#') || line.find(": sched_switch: ") != line.npos), line);
    }
    test::Child({kEvilCommand, {}, false, false, {}}).wait();
    BOOST_TEST(has(in_session({"show", "--raw"}).out, "next_comm=\x1b[31mE\n\a "));
    BOOST_TEST(has(in_session({"status"}).out, "\\x1b*E*\\x07"));
    BOOST_TEST(has(in_session({"status", "--raw"}).out, "\x1b*E*\a"));
    in_session({"reset"});
}

BOOST_AUTO_TEST_CASE(messages_escape_what_the_user_gave) {
    const Ended ended = test::gpufs({"report", "-i", "/no/\x1b[31msuch"});
    BOOST_TEST(ended.err == "gpufs: cannot open '/no/\\x1b[31msuch': No such file or directory\n");
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
