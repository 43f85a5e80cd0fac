#include "lang/recipe/recipe.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "base/embedded.h"
#include "base/file.h"
#include "base/text.h"
#include "lang/event/event_format.h"
#include "lang/recipe/probe.h"

namespace gpufs {
namespace {

Recipe parse(std::string text) {
    return parse_recipe({"x.trig", std::move(text)});
}

// With what every recipe needs in front.
Recipe parse_body(const std::string& text) {
    return parse("recipe x \"q\"\n" + text);
}

// What UsageError says when the work is done, with its hint.
template <class Work>
std::string complaint(Work&& work) {
    try {
        work();
    } catch (const UsageError& e) {
        return e.hint().empty() ? std::string(e.what()) : cat(e.what(), "\nhint: ", e.hint());
    }
    return "nothing is wrong";
}

EventFormat sched_switch() {
    return parse_event_format(
        "sched", read_file("tests/data/formats/6.18/events/sched/sched_switch/format"));
}

// The condition of the first event, as the kernel would read it; "" when there is none.
std::string condition_of(const Recipe& recipe) {
    const RecipeEvent& event = recipe.events.at(0);
    return event.condition ? to_filter(*event.condition, sched_switch()) : std::string();
}

BOOST_AUTO_TEST_SUITE(recipe)

BOOST_AUTO_TEST_CASE(every_line_of_a_recipe_is_in_its_value) {
    const Recipe r = parse(
        "# what it is about\n"
        "recipe slow-reads \"Who reads slowly?\"\n"
        "cost \"a record\"   # a comment\n"
        "cost \"a # read\"\n"
        "needs \"uprobes\"\n"
        "\n"
        "param over = 2ms time us \"longer than this\"\n"
        "param who pid optional\n"
        "probe read uretprobe $program:read_it bytes=$retval:s64 name=+0(%di):string\n"
        "param program = \"/bin/x y\" file\n"
        "event sched:sched_switch,   # two of them\n"
        "      sched:sched_wakeup if prev_pid == $who &&\n"
        "          prev_prio > 1\n"
        "    trigger stacktrace count 3\n"
        "    trigger enable_event sched:sched_waking if prev_prio > $over\n"
        "event optional read\n"
        "set buffer=1M clock=mono\n"
        "end stopped\n"
        "end after 1.5s\n"
        "show last 5\n"
        "show status\n");
    BOOST_TEST(r.name.text == "slow-reads");
    BOOST_TEST(r.question == "Who reads slowly?");
    BOOST_TEST(r.cost == "a record a # read");
    BOOST_TEST(r.needs == "uprobes");
    BOOST_TEST(r.parameters.size() == 3u);
    BOOST_TEST(r.parameters[0].unit == "us");
    BOOST_TEST(*r.parameters[0].preset == "2ms");
    BOOST_TEST(r.parameters[0].help == "longer than this");
    BOOST_TEST(r.parameters[1].is_optional);
    BOOST_TEST(r.pid_parameter() == &r.parameters[1]);
    BOOST_TEST(*r.parameters[2].preset == "/bin/x y");
    BOOST_TEST(r.probes.at(0).is_user());
    BOOST_TEST(r.probes[0].is_return());
    BOOST_TEST(r.probes[0].place.text == "$program:read_it");
    BOOST_TEST(r.probes[0].fields.at(1).text == "name=+0(%di):string");
    BOOST_TEST(r.events.size() == 2u);
    BOOST_TEST(r.events[0].names.at(1).text == "sched:sched_wakeup");
    BOOST_TEST(fields_of(*r.events[0].condition).size() == 2u);
    BOOST_TEST(r.events[0].triggers.at(0).count->text == "3");
    BOOST_TEST(r.events[0].triggers[1].trigger.argument == "sched:sched_waking");
    BOOST_TEST((r.events[1].pick == RecipeEvent::Pick::optional));
    BOOST_TEST(r.settings.at(0).at(1).value.text == "mono");
    BOOST_TEST(r.ends_when_stopped);
    BOOST_TEST(r.end_after->text == "1.5s");
    BOOST_TEST(r.shows.size() == 2u);
}

// Each "=== file" of the data, a newline, its text, and "=== mistakes" with all that is said.
BOOST_AUTO_TEST_CASE(mistakes_are_told_with_line_caret_and_hint) {
    const std::string data = read_file("tests/data/recipes/mistakes.txt");
    constexpr std::string_view kFile = "=== file\n", kMistakes = "=== mistakes\n";
    std::size_t cases = 0;
    for (std::size_t at = 0; at < data.size(); ++cases) {
        const std::size_t text = at + kFile.size(), middle = data.find(kMistakes, text);
        const std::size_t said = middle + kMistakes.size();
        const std::size_t end = std::min(data.find(kFile, said), data.size());
        const std::string recipe = data.substr(text, middle - text);
        BOOST_TEST(complaint([&] { parse(recipe); }) + '\n' == data.substr(said, end - said));
        at = end;
    }
    BOOST_TEST(cases > 60u);
}

BOOST_AUTO_TEST_CASE(a_mistake_in_a_continued_condition_is_shown_in_its_own_line) {
    BOOST_TEST(complaint([] {
                   parse_body(
                       "event a:b if x == 1 &&  # a comment\n"
                       "\n"
                       "             y = 2\n");
               }) ==
               "x.trig:4:16: error: '=' is no operator here\n"
               "             y = 2\n"
               "               ^\n"
               "hint: write == to compare");
}

BOOST_AUTO_TEST_CASE(text_that_is_cut_or_garbled_is_taken_or_refused_with_its_place) {
    const auto check = [](const std::string& text) {
        const std::string said = complaint([&] { parse(text); });
        BOOST_TEST((said == "nothing is wrong" || said.starts_with("x.trig:")), said);
    };
    for (const EmbeddedFile& file : embedded_recipes()) {
        const std::string whole(file.text());
        for (std::size_t n = 0; n < whole.size(); n += 7) {
            std::string text(whole.substr(0, n));
            check(text);
            text = whole;
            text.erase(n, 5);
            check(text);
            text.insert(n, 1, "\0\"',$#&\xff\n"[n % 9]);
            check(text);
        }
    }
}

BOOST_AUTO_TEST_CASE(shipped_recipes_parse_and_have_their_files_name) {
    BOOST_TEST(embedded_recipes().size() == 7u);
    for (const EmbeddedFile& file : embedded_recipes()) {
        const Recipe r = parse_recipe({std::string(file.name), std::string(file.text())});
        BOOST_TEST(file.name == r.name.text + ".trig");
        BOOST_TEST(!r.question.empty());
        BOOST_TEST(!r.cost.empty());
        BOOST_TEST(!r.needs.empty());
        for (const RecipeParameter& p : r.parameters) BOOST_TEST(!p.help.empty());
        BOOST_TEST(fill_in(r, stand_in_arguments(r)).events.size() > 0u);
    }
}

// --- fill_in ------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(parameters_become_values_of_their_unit) {
    const Recipe r = parse_body(
        "param a = 2 integer\n"
        "param b = 3ms time us\n"
        "param c = 4k size\n"
        "param d text\n"
        "event sched:sched_switch if prev_pid == $a && prev_prio < $b && next_prio > $c &&\n"
        "      prev_comm ~ $d\n");
    BOOST_TEST(condition_of(fill_in(r, {{"d", "a*"}})) ==
               "prev_pid == 2 && prev_prio < 3000 && next_prio > 4096 && prev_comm ~ \"a*\"");
    BOOST_TEST(condition_of(fill_in(r, {{"a", "-1"}, {"b", "1s"}, {"c", "0"}, {"d", "x"}})) ==
               "prev_pid == -1 && prev_prio < 1000000 && next_prio > 0 && prev_comm ~ \"x\"");
}

BOOST_AUTO_TEST_CASE(a_comparison_with_what_was_not_given_is_left_out) {
    const Recipe r = parse_body(
        "param a integer optional\n"
        "param b integer optional\n"
        "event sched:sched_switch if prev_pid == $a && !(prev_prio == $b) && (next_pid == $a ||\n"
        "      next_pid == $b)\n");
    BOOST_TEST(condition_of(fill_in(r, {})) == "");
    BOOST_TEST(condition_of(fill_in(r, {{"a", "1"}})) == "prev_pid == 1 && next_pid == 1");
    BOOST_TEST(condition_of(fill_in(r, {{"b", "2"}})) == "!(prev_prio == 2) && next_pid == 2");
    BOOST_TEST(condition_of(fill_in(r, {{"a", "1"}, {"b", "2"}})).starts_with("prev_pid == 1 && "));
}

BOOST_AUTO_TEST_CASE(what_else_mentions_it_is_left_out_whole) {
    const Recipe r = parse_body(
        "param a integer optional\n"
        "param f file optional\n"
        "probe p uprobe $f:0x10 x=%di\n"
        "event sched:sched_switch\n"
        "    trigger stacktrace count $a\n"
        "    trigger traceoff if prev_pid == $a || prev_prio == 1\n"
        "    trigger snapshot\n"
        "event p\n"
        "set pids=$a children=on\n"
        "set buffer=1M\n"
        "show last $a\n"
        "show all\n");
    const Recipe without = fill_in(r, {});
    BOOST_TEST(without.probes.size() == 0u);
    BOOST_TEST(without.events.size() == 1u);
    BOOST_TEST(without.events[0].triggers.size() == 1u);
    BOOST_TEST(without.events[0].triggers[0].trigger.action == "snapshot");
    BOOST_TEST(without.settings.size() == 1u);
    BOOST_TEST(without.shows.size() == 1u);
    const Recipe with = fill_in(r, {{"a", "7"}, {"f", "/bin/true"}});
    BOOST_TEST(with.probes.at(0).place.text == "/bin/true:0x10");
    BOOST_TEST(with.events.size() == 2u);
    BOOST_TEST(*with.events[0].triggers.at(0).trigger.count == 7u);
    BOOST_TEST(with.settings.at(0).at(0).value.text == "7");
    BOOST_TEST(with.shows.at(0).most == 7u);
}

BOOST_AUTO_TEST_CASE(a_process_is_all_of_its_threads) {
    const Recipe r = parse_body(
        "param who pid\n"
        "event sched:sched_switch if prev_pid == $who && next_pid != $who\n"
        "set pids=$who\n");
    const Recipe one = fill_in(r, {{"who", "11"}}), two = fill_in(r, {{"who", "11,12"}});
    BOOST_TEST(condition_of(one) == "prev_pid == 11 && next_pid != 11");
    BOOST_TEST(condition_of(two) ==
               "(prev_pid == 11 || prev_pid == 12) && next_pid != 11 && next_pid != 12");
    BOOST_TEST(two.settings.at(0).at(0).value.text == "11,12");
}

BOOST_AUTO_TEST_CASE(the_kernels_own_dollar_words_stay) {
    const Recipe r = parse_body(
        "param value = %di text\n"
        "probe p kretprobe f a=$retval:s32 b=$stack2 c=$comm d=$arg1 e=$value:u64\n"
        "event p\n");
    const Recipe filled = fill_in(r, {});
    const std::vector<RecipeWord>& fields = filled.probes.at(0).fields;
    BOOST_TEST(fields.at(0).text == "a=$retval:s32");
    BOOST_TEST(fields.at(1).text == "b=$stack2");
    BOOST_TEST(fields.at(2).text == "c=$comm");
    BOOST_TEST(fields.at(3).text == "d=$arg1");
    BOOST_TEST(fields.at(4).text == "e=%di:u64");
}

BOOST_AUTO_TEST_CASE(how_long_and_how_many_may_be_parameters) {
    const Recipe r = parse_body(
        "param t = 2s time\n"
        "param n = 5 integer\n"
        "event a:b\n"
        "end after $t\n"
        "show last $n\n");
    BOOST_TEST(*fill_in(r, {}).duration_ns == 2'000'000'000);
    const Recipe filled = fill_in(r, {{"t", "150ms"}, {"n", "9"}});
    BOOST_TEST(*filled.duration_ns == 150'000'000);
    BOOST_TEST(filled.shows.at(0).most == 9u);
}

BOOST_AUTO_TEST_CASE(a_limit_is_a_time_between_two_events) {
    const Recipe r = parse_body(
        "param over time optional\n"
        "event a:b, a:c\n"
        "end over $over a:b to a:c by f, CPU\n"
        "end over 3s a:c to a:b by g\n");
    const Recipe without = fill_in(r, {});
    BOOST_TEST(without.limits.size() == 1u);
    BOOST_TEST(without.limits.at(0).over_ns == 3'000'000'000);
    const Recipe with = fill_in(r, {{"over", "2ms"}});
    BOOST_TEST(with.limits.size() == 2u);
    BOOST_TEST(with.limits.at(0).over_ns == 2'000'000);
    BOOST_TEST(with.limits[0].pairs.begin.text == "a:b");
    BOOST_TEST(with.limits[0].pairs.end.text == "a:c");
    BOOST_TEST(with.limits[0].pairs.keys.at(1).text == "CPU");
}

BOOST_AUTO_TEST_CASE(wrong_arguments_are_told) {
    const Recipe r = parse_body(
        "param over time \"the longest that is right\"\n"
        "param who pid optional\n"
        "param n = 1 integer\n"
        "param program = /bin/x file\n"
        "probe p uprobe $program:f\n"
        "event a:b if x > $over && y == $who\n"
        "event p\n"
        "show last $n\n");
    const auto with = [&](const RecipeArguments& arguments) {
        return complaint([&] { fill_in(r, arguments); });
    };
    BOOST_TEST(with({}) ==
               "recipe 'x' needs over: the longest that is right\n"
               "hint: gpufs recipe run x over=…");
    BOOST_TEST(with({{"ovr", "1ms"}}) ==
               "recipe 'x' has no parameter 'ovr'\n"
               "hint: did you mean 'over'?");
    BOOST_TEST(with({{"zzzzzz", "1ms"}}) ==
               "recipe 'x' has no parameter 'zzzzzz'\n"
               "hint: it has: over who n program");
    BOOST_TEST(with({{"over", "long"}}) ==
               "over takes a time, not 'long'\n"
               "hint: such as 500us, 1ms, 30s or 10m; a bare number is seconds");
    BOOST_TEST(with({{"over", "1s"}, {"who", "me"}}) ==
               "who takes the number of a process, not 'me'");
    BOOST_TEST(with({{"over", "1s"}, {"n", "0"}}) == "show last takes a positive number, not '0'");
    BOOST_TEST(with({{"over", "1s"}, {"program", "/bin/a b"}}) ==
               "a probe cannot be made of '/bin/a b:f'\n"
               "hint: no space and no semicolon may stand in it");
    const Recipe needs_pid = parse_body("param who pid\nevent a:b if y == $who\n");
    BOOST_TEST(complaint([&] { fill_in(needs_pid, {}); }) ==
               "recipe 'x' needs who\n"
               "hint: gpufs recipe run x -p PID, or -- COMMAND");
    const Recipe probed = parse_body(
        "param f file optional \"the program\"\n"
        "param at text optional \"where in it\"\n"
        "param v text optional \"what there\"\n"
        "probe p uprobe $f:$at value=$v\n"
        "event a:b\n"
        "event p\n");
    BOOST_TEST(complaint([&] {
                   fill_in(probed, {{"f", "/bin/true"}});
               }) ==
               "f makes no probe without at and v\n"
               "hint: at: where in it");
    BOOST_TEST(fill_in(probed, {}).events.size() == 1u);
    const Recipe nothing = parse_body("param f file optional\nprobe p uprobe $f:f\nevent p\n");
    BOOST_TEST(complaint([&] { fill_in(nothing, {}); }) ==
               "with these arguments, recipe 'x' records no event");
}

// --- probes -------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_probes_fields_have_the_kernels_types) {
    const Recipe r = parse_body(
        "probe p kretprobe f a=%di b=%si:s16 c=+8(%dx):u8 d=+0(%di):string e=@jiffies:x32 "
        "f=$comm g=%ax:b4@4/32 h=%di:u8[4]\n"
        "event p\n");
    const EventFormat format = format_of(r.probes[0], r.source);
    BOOST_TEST(format.find("a")->size == 8u);
    BOOST_TEST(format.find("b")->size == 2u);
    BOOST_TEST(format.find("b")->is_signed);
    BOOST_TEST(format.find("c")->size == 1u);
    BOOST_TEST(format.find("d")->holds_text());
    BOOST_TEST(format.find("e")->size == 4u);
    BOOST_TEST(format.find("f")->holds_text());
    BOOST_TEST(format.find("g")->size == 4u);
    BOOST_TEST(format.find("h")->is_array);
    BOOST_TEST(format.find("__probe_ret_ip"));
    BOOST_TEST(format.find("common_pid")->is_common);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
