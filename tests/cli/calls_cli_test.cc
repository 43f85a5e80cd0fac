#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/cat.h"
#include "base/text.h"
#include "support/needs.h"
#include "support/temp_file.h"
#include "support/told.h"

namespace ut = boost::unit_test;

// What the monitor `calls` says of calls whose arguments and results are known.
namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::Json;
using test::Told;

std::vector<std::string> text_calls(const std::string& times) {
    return {test::work_binary(), "texts", times};
}

std::vector<std::string> run_calls(std::vector<std::string> words,
                                   const std::vector<std::string>& command) {
    words.insert(words.begin(), {"run", "calls"});
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

// The calls of that name, in the order of their ends.
std::vector<Json> calls_of(const Told& told, const std::string& name) {
    std::vector<Json> found;
    for (const Json& record : told.records("called", {{"comm", "gpufs-work"}}))
        if (record["call"]["name"].text == name) found.push_back(record);
    return found;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(calls)

BOOST_AUTO_TEST_CASE(calls_are_lines_with_arguments_and_results) {
    const Ended ran = test::gpufs(run_calls({}, text_calls("1")));
    BOOST_TEST(ran.status == 0, ran.err);
    const std::string longest(255, 'x');
    for (const std::string& line :
         {std::string(R"(  openat(AT_FDCWD, "/no/\"such\"\tfile\\", 0, 0) = -1 ENOENT)"),
          cat("  openat(-1, \"", longest, "\", 0x41, 0640) = -1 EBADF"),
          cat("  openat(-1, \"", longest, "\"..., 0, 0) = -1 EBADF"),
          std::string("  openat(-1, 0x10, 0, 0) = -1 EFAULT"),
          std::string(R"(  renameat(AT_FDCWD, "/no/from", AT_FDCWD, "/no/to") = -1 ENOENT)"),
          std::string(R"("a\x00b\n", 4) = 4)"), std::string(R"("a\x00b\n", 100) = 4)"),
          std::string(", -5, 0) = -1 ESPIPE"), std::string("  exit_group(0) = ?")})
        BOOST_TEST(has(ran.out, line + '\n'), cat(line, '\n', ran.out));
    BOOST_TEST(has(ran.err, " records, 0 lost\n"), ran.err);
}

BOOST_AUTO_TEST_CASE(the_name_of_a_started_program_is_told_though_it_was_not_in_memory) {
    const Ended ran = test::gpufs(run_calls({"call=execve"}, {test::work_binary(), "execs", "3"}));
    BOOST_TEST(ran.status == 0, ran.err);
    std::size_t named = 0;
    for (const std::string_view line : lines_of(ran.out))
        named += line.find("  execve(\"/bin/true\", ") != line.npos;
    BOOST_TEST(named == 3u, ran.out);
}

BOOST_AUTO_TEST_CASE(calls_of_other_threads_are_told_with_their_ids) {
    const Told told({"calls", "call=openat,getppid"}, text_calls("50"));
    BOOST_TEST(told.lost() == 0);
    std::size_t of_threads = 0;
    for (const Json& record : calls_of(told, "openat")) {
        const bool is_thread = record["call"]["arguments"].items.at(1).text == "/no/thread";
        BOOST_TEST((record["tid"].number() != record["pid"].number()) == is_thread);
        of_threads += is_thread ? 1 : 0;
    }
    BOOST_TEST(of_threads == 50u);
    const auto parents = calls_of(told, "getppid");
    BOOST_TEST_REQUIRE(parents.size() == 50u);
    BOOST_TEST(parents[0]["call"]["arguments"].items.empty());
    BOOST_TEST(parents[0]["call"]["result"].number() > 0);
    BOOST_TEST(parents[0]["took"].number() > 0);
}

BOOST_AUTO_TEST_CASE(only_calls_that_are_asked_for_are_told) {
    const Told named({"calls", "call=rename*,lseek"}, text_calls("3"));
    BOOST_TEST(calls_of(named, "lseek").size() == 3u);
    BOOST_TEST(calls_of(named, "renameat").size() == 3u);
    BOOST_TEST(named.records("called", {{"comm", "gpufs-work"}}).size() == 6u);
    const Told failed({"calls", "call=openat,write", "failed=1"}, text_calls("3"));
    BOOST_TEST(calls_of(failed, "write").empty());
    for (const Json& record : calls_of(failed, "openat"))
        BOOST_TEST(record["call"]["result"].number() < 0);
    const Told slow({"calls", "over=100ms"}, {"sleep", "0.2"});
    const auto slept = slow.records("called", {{"comm", "sleep"}});
    BOOST_TEST_REQUIRE(slept.size() == 1u);
    BOOST_TEST(slept[0]["call"]["name"].text == "clock_nanosleep");
    BOOST_TEST(slept[0]["took"].number() >= 200'000'000);
}

BOOST_AUTO_TEST_CASE(a_name_that_no_call_has_is_refused, *ut::label("pure")) {
    const Ended ran = test::gpufs({"run", "calls", "call=close,opnat", "--", "true"});
    BOOST_TEST(ran.status == 2);
    BOOST_TEST(ran.err == "gpufs: no system call is named 'opnat'\nhint: did you mean 'openat'?\n");
}

// The number means another call there: 20 is writev to 64-bit programs.
BOOST_AUTO_TEST_CASE(calls_of_32_bit_programs_are_numbers) {
#if defined __x86_64__
    const Told told({"calls"}, {test::work_binary(), "compat", "1"});
    const auto calls = calls_of(told, "32-bit call 20");
    BOOST_TEST_REQUIRE(calls.size() == 1u);
    const Json& arguments = calls[0]["call"]["arguments"];
    for (std::size_t i = 0; i < 5; ++i)
        BOOST_TEST(arguments.items.at(i).number() == static_cast<long long>(i) + 1);
    BOOST_TEST(calls[0]["call"]["result"].number() == calls[0]["pid"].number());
    const Told counted({"syscalls"}, {test::work_binary(), "compat", "1"});
    BOOST_TEST(counted.sum("calls", {{"call", "32-bit call 20"}}, "count") == 1);
    BOOST_TEST(counted.rows("calls", {{"call", "writev"}}).empty());
#endif
}

BOOST_AUTO_TEST_CASE(a_recording_has_calls_without_texts) {
    const test::TempFile file("");
    const Ended recorded =
        test::gpufs({"record", "-o", file.path(), "-e", "raw_syscalls,syscalls:sys_enter_openat",
                     "--", test::work_binary(), "texts", "2"});
    BOOST_TEST_REQUIRE(recorded.status == 0, recorded.err);
    const Ended ran = test::gpufs({"run", "calls", "-i", file.path()});
    BOOST_TEST(ran.status == 0, ran.err);
    std::size_t opened = 0;
    for (const std::string_view line : lines_of(ran.out)) {
        const auto at = line.find("openat(-1, 0x");
        opened += at != line.npos && line.ends_with(", 0x41, 0640) = -1 EBADF") ? 1 : 0;
    }
    BOOST_TEST(opened == 2u, ran.out);
    // Of calls whose events were not recorded nobody knows what arguments are.
    BOOST_TEST(has(ran.out, "  lseek(0x"), ran.out);
    BOOST_TEST(has(ran.out, ", 0xfffffffffffffffb, 0, "), ran.out);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
