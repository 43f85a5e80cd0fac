#define BOOST_TEST_DYN_LINK
#include <fnmatch.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>

#include "base/cat.h"
#include "base/embedded.h"
#include "base/error.h"
#include "base/file.h"
#include "base/glob.h"
#include "base/source.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/undo.h"
#include "base/units.h"

namespace gpufs {
namespace {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(base)

BOOST_AUTO_TEST_CASE(the_chosen_word_is_in_brackets_or_all) {
    BOOST_TEST(chosen_word("local global [mono] boot\n") == "mono");
    BOOST_TEST(chosen_word("[none] integrity") == "none");
    BOOST_TEST(chosen_word(" mono\n") == "mono");
    BOOST_TEST(chosen_word("") == "");
}

BOOST_AUTO_TEST_CASE(texts_characters_and_numbers_are_put_together) {
    const std::string text(40, 'x');
    const std::string_view view = text;
    constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    BOOST_TEST(cat("a", 'b', text, view.substr(38), "") == "ab" + text + "xx");
    BOOST_TEST(cat(kLeast, ' ', kMost, ' ', 0, ' ', -1, ' ', std::uint8_t{200}, ' ', short{-10}) ==
               "-9223372036854775808 18446744073709551615 0 -1 200 -10");
}

BOOST_AUTO_TEST_CASE(what_is_compiled_in_is_what_the_files_have) {
    BOOST_TEST(!embedded_monitors().empty());
    for (const EmbeddedFile& file : embedded_monitors())
        BOOST_TEST((file.text() == read_file(cat("bpf_asm/", file.name))), file.name);
    for (const EmbeddedFile& file : embedded_recipes())
        BOOST_TEST((file.text() == read_file(cat("triggers/", file.name))), file.name);
}

BOOST_AUTO_TEST_CASE(a_mistake_is_shown_under_the_line_it_is_in) {
    const SourceText source{"watch.bpf", "r0 = 0\n\tw6 = @seqn\nexit\n"};
    BOOST_TEST(point_at(source, {13, 18}, "no field 'seqn'") ==
               "watch.bpf:2:7: error: no field 'seqn'\n"
               "\tw6 = @seqn\n"
               "\t     ^~~~~");
}

BOOST_AUTO_TEST_CASE(a_mistake_at_the_end_of_the_text_has_a_caret_behind_it) {
    const SourceText source{"filter", "pid =="};
    BOOST_TEST(point_at(source, {6, 6}, "a value is missing") ==
               "filter:1:7: error: a value is missing\n"
               "pid ==\n"
               "      ^");
}

BOOST_AUTO_TEST_CASE(an_underline_stops_at_the_end_of_its_line) {
    const SourceText source{"f", "abc\ndef"};
    BOOST_TEST(point_at(source, {1, 7}, "m") == "f:1:2: error: m\nabc\n ^~");
}

BOOST_AUTO_TEST_CASE(of_a_long_line_the_part_around_the_caret_is_shown) {
    const std::string dots(500'000, '.');
    const SourceText source{"long", cat("first\n", dots, "wrong", dots, '\n')};
    const std::size_t at = 6 + dots.size();
    BOOST_TEST(point_at(source, {at, at + 5}, "m") ==
               cat("long:2:500001: error: m\n...", std::string(60, '.'), "wrong",
                   std::string(95, '.'), "...\n", std::string(63, ' '), "^~~~~"));
    BOOST_TEST(point_at(source, {6, at}, "m") ==
               cat("long:2:1: error: m\n", std::string(160, '.'), "...\n^", std::string(159, '~')));
    BOOST_TEST(point_at(source, {source.text.size() - 1, source.text.size()}, "m") ==
               cat("long:2:1000006: error: m\n...", std::string(60, '.'), '\n',
                   std::string(63, ' '), '^'));
}

BOOST_AUTO_TEST_CASE(a_caret_stands_below_its_place_among_bytes_that_are_no_text) {
    const SourceText begins{"f", cat('\x83', std::string(500, 'x'))};
    BOOST_TEST(point_at(begins, {0, 1}, "m") ==
               cat("f:1:1: error: m\n\\x83", std::string(159, 'x'), "...\n^~~~"));
    const SourceText all{"f", std::string(30'000, '\x83')};
    const std::string shown = point_at(all, {500, 501}, "m");
    BOOST_TEST(shown.size() < 2000u);
    BOOST_TEST(shown.ends_with(cat('\n', std::string(3 + 4 * 57, ' '), "^~~~")));
}

BOOST_AUTO_TEST_CASE(a_long_line_is_not_cut_within_a_character) {
    std::string text;
    while (text.size() < 999) text += "\u20ac";  // of 3 bytes
    const SourceText source{"long", text};
    const std::string shown = point_at(source, {500, 501}, "m");
    BOOST_TEST(shown.starts_with("long:1:501: error: m\n...\u20ac"));
    BOOST_TEST(shown.find("\u20ac...\n") != shown.npos);
}

BOOST_AUTO_TEST_CASE(slips_of_the_pen_are_recognised_and_other_words_are_not) {
    const std::vector<std::string> names = {"prev_state", "prev_pid", "next_pid", "pid"};
    BOOST_TEST(did_you_mean("prv_state", names) == "did you mean 'prev_state'?");
    BOOST_TEST(did_you_mean("prev_sttae", names) == "did you mean 'prev_state'?");
    BOOST_TEST(did_you_mean("pdi", names) == "did you mean 'pid'?");
    BOOST_TEST(did_you_mean("next", names) == "did you mean 'next_pid'?");
    BOOST_TEST(did_you_mean("prev", names) == "");  // two begin with it
    BOOST_TEST(did_you_mean("ne", names) == "");
    BOOST_TEST(did_you_mean("banana", names) == "");
    BOOST_TEST(did_you_mean("x", {}) == "");
    const std::vector<std::string> events = {"sched_process_fork", "sched:sched_process_fork",
                                             "sched_process_exit", "fork_exit"};
    BOOST_TEST(did_you_mean("process_fork", events) == "did you mean 'sched_process_fork'?");
    BOOST_TEST(did_you_mean("exit", events) == "");  // two end in it
}

BOOST_AUTO_TEST_CASE(distances_count_insertions_deletions_changes_and_swaps) {
    BOOST_TEST(edit_distance("", "abc") == 3u);
    BOOST_TEST(edit_distance("abc", "abc") == 0u);
    BOOST_TEST(edit_distance("abc", "abd") == 1u);
    BOOST_TEST(edit_distance("abcd", "abdc") == 1u);
    BOOST_TEST(edit_distance("kitten", "sitting") == 3u);
}

BOOST_AUTO_TEST_CASE(shell_words_are_quoted_where_a_shell_would_take_them_apart) {
    BOOST_TEST(shell_quote("sched:sched_switch") == "sched:sched_switch");
    BOOST_TEST(shell_quote("prev_state == 2") == "'prev_state == 2'");
    BOOST_TEST(shell_quote("it's") == "'it'\\''s'");
    BOOST_TEST(shell_quote("!stacktrace") == "'!stacktrace'");
    BOOST_TEST(shell_quote("") == "''");
}

BOOST_AUTO_TEST_CASE(undo_runs_newest_first_and_past_a_failure) {
    std::vector<std::string> failures, done;
    {
        Undo undo(failures);
        undo.push("one", [&] { done.push_back("one"); });
        undo.push("two", [] { throw Error("no"); });
        undo.push("three", [&] { done.push_back("three"); });
    }
    BOOST_TEST(join(done, " ") == "three one");
    BOOST_TEST(join(failures, "|") == "could not undo two: no");
}

BOOST_AUTO_TEST_CASE(what_is_kept_is_not_undone) {
    std::vector<std::string> failures;
    bool undone = false;
    {
        Undo undo(failures);
        undo.push("it", [&] { undone = true; });
        undo.keep();
    }
    BOOST_TEST(!undone);
}

BOOST_AUTO_TEST_CASE(sizes_carry_units) {
    BOOST_TEST(parse_size("buffer", "64M") == 64u << 20);
    BOOST_TEST(parse_size("buffer", "4k") == 4096u);
    BOOST_TEST(parse_size("buffer", "4KB") == 4096u);
    BOOST_TEST(parse_size("buffer", "1000") == 1000u);
    BOOST_TEST(size_to_text(1410 * 1024) == "1410k");
    BOOST_TEST(size_to_text(4u << 20) == "4M");
    BOOST_TEST(size_to_text(0) == "0");
    BOOST_TEST(duration_to_text(std::chrono::milliseconds(1500)) == "1500ms");
    BOOST_TEST(duration_to_text(std::chrono::seconds(90)) == "90s");
    BOOST_TEST(duration_to_text(std::chrono::minutes(120)) == "2h");
    BOOST_TEST(duration_to_text(std::chrono::nanoseconds(1'000'001)) == "1000001ns");
    BOOST_TEST(duration_to_text(std::chrono::nanoseconds(0)) == "0s");
    for (const char* bad : {"", "M", "4x", "-1", "1.5M", "99999999999999999999", "20000000000G"})
        BOOST_CHECK_THROW(parse_size("buffer", bad), UsageError);
}

BOOST_AUTO_TEST_CASE(a_page_is_as_large_as_the_machine_s) {
    BOOST_TEST(unit_size("pages") == static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
    BOOST_TEST(unit_size("bytes") == 1u);
    BOOST_TEST(unit_size("ms") == 1'000'000u);
}

BOOST_AUTO_TEST_CASE(times_carry_units) {
    BOOST_TEST((parse_duration("--over", "1ms") == 1ms));
    BOOST_TEST((parse_duration("--over", "1.5s") == 1500ms));
    BOOST_TEST((parse_duration("--over", "200us") == 200us));
    BOOST_TEST((parse_duration("--over", "2") == 2s));
    BOOST_TEST((parse_duration("--over", "10m") == 10min));
    // Which no double is exactly.
    BOOST_TEST((parse_duration("--over", "1.005s") == 1005ms));
    BOOST_TEST((parse_duration("--over", "1.001us") == 1001ns));
    BOOST_TEST((parse_duration("--from", "1764196301.123456789") == 1'764'196'301'123'456'789ns));
    BOOST_TEST(
        (parse_duration("--over", "9223372036.854775807s") == std::chrono::nanoseconds::max()));
    BOOST_TEST((parse_duration("--over", ".5ms") == 500us));
    BOOST_TEST((parse_duration("--over", "2.s") == 2s));
    BOOST_TEST((parse_duration("--over", "0.00000000000000000000001h") == 0ns));
    BOOST_TEST((parse_duration("--over", "0.9999999999999999999999h") == 1h));
    BOOST_TEST((parse_duration("--over", "0.6ns") == 1ns));
    for (const char* bad : {"", ".", "ms", "-1s", "1 s", "1y", "nan", "inf", "1e30s", "1.2.3s",
                            "9223372036.854775808s", "99999999999999999999", "0x10s"})
        BOOST_CHECK_THROW(parse_duration("--over", bad), UsageError);
}

BOOST_AUTO_TEST_CASE(cpu_lists_become_the_kernels_masks_and_come_back) {
    const std::vector<unsigned> cpus = parse_cpu_list("cpus", "0-3,7,64");
    BOOST_TEST(cpu_list_to_text(cpus) == "0-3,7,64");
    BOOST_TEST(cpu_mask(cpus) == "1,00000000,0000008f");
    BOOST_TEST((parse_cpu_mask("1,00000000,0000008f\n") == cpus));
    BOOST_TEST(cpu_mask(parse_cpu_list("cpus", "1,0")) == "3");
    for (const char* bad : {"", "a", "3-1", "1-", "99999999"})
        BOOST_CHECK_THROW(parse_cpu_list("cpus", bad), UsageError);
}

BOOST_AUTO_TEST_CASE(globs_match_whole_names) {
    BOOST_TEST(glob_match("sched_*", "sched_switch"));
    BOOST_TEST(!glob_match("sched", "sched_switch"));
    BOOST_TEST(is_glob("a*"));
    BOOST_TEST(!is_glob("a:b"));
}

// fnmatch(3) says what is right.
BOOST_AUTO_TEST_CASE(globs_match_as_in_a_shell) {
    std::mt19937 random(1);
    const auto text_of = [&](std::string_view characters, std::size_t most) {
        std::string text;
        for (std::size_t size = random() % (most + 1); text.size() < size;)
            text += characters[random() % characters.size()];
        return text;
    };
    std::size_t matches = 0;
    for (int i = 0; i < 200'000; ++i) {
        const std::string pattern = text_of("aab*?[]!^-\\c", 8), name = text_of("aab]-[!c", 6);
        const bool is_match = ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
        matches += is_match;
        if (glob_match(pattern, name) != is_match)
            BOOST_TEST(glob_match(pattern, name) == is_match, pattern << " of " << name);
    }
    BOOST_TEST(matches > 5'000u);
    // Not in exponential time.
    BOOST_TEST(!glob_match("*a*a*a*a*a*a*a*a*a*a*a*b", std::string(10'000, 'a')));
}

BOOST_AUTO_TEST_CASE(braces_stand_for_each_of_their_words) {
    using Names = std::vector<std::string>;
    BOOST_TEST(
        expand_braces("a{b,,c}d{e,f}") == (Names{"abde", "abdf", "ade", "adf", "acde", "acdf"}),
        boost::test_tools::per_element());
    for (const char* plain : {"a", "", "a}b{c", "a{b"})
        BOOST_TEST(expand_braces(plain) == Names{plain}, boost::test_tools::per_element());
    BOOST_TEST(expand_braces("{}") == Names{""}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
