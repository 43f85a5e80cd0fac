#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <set>

#include "base/cat.h"
#include "base/fd.h"
#include "base/text.h"
#include "kernel/host/gpus.h"
#include "support/json.h"
#include "support/needs.h"
#include "support/on_terminal.h"
#include "support/run_gpufs.h"
#include "support/temp_file.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::Json;
using test::OnTerminal;
using test::parse_json_lines;

constexpr const char* kGpuRecording = "tests/data/trace_dat/gpu-6.12.dat";

constexpr const char* kEnter = "\x1b[?1049h";
constexpr const char* kLeave = "\x1b[?1049l";

// The last whole screen that was drawn: from one home to the next.
std::vector<std::string> last_screen(const std::string& seen) {
    const std::string home = "\x1b[H", end = "\x1b[J";
    const auto last = seen.rfind(end);
    const auto begin = seen.rfind(home, last);
    std::vector<std::string> lines;
    for (std::string line :
         split(seen.substr(begin + home.size(), last - begin - home.size()), '\n')) {
        for (const std::string_view code : {"\x1b[K", "\x1b[7m", "\x1b[0m", "\r"})
            for (auto at = line.find(code); at != line.npos; at = line.find(code))
                line.erase(at, code.size());
        lines.push_back(line);
    }
    return lines;
}

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(watch_command)

BOOST_AUTO_TEST_CASE(the_list_says_yes_to_the_monitors_that_run) {
    const Ended list = test::gpufs({"watch", "--list", "--json"});
    BOOST_TEST(list.status == 0);
    std::vector<std::string> names;
    for (const Json& told : parse_json_lines(list.out)) {
        if (!told.members.contains("monitor")) continue;
        names.push_back(told["monitor"].text);
        const Ended run = test::gpufs({"run", names.back(), "--dry-run"});
        BOOST_TEST((run.status == 0) == (told["answer"].text == "yes"));
        if (run.status != 0) BOOST_TEST(has(run.err, told["detail"].text));
    }
    BOOST_TEST(names == (std::vector<std::string>{"amdgpu", "cuda", "drm", "fence", "hip", "i915",
                                                  "npu", "nvidia", "vblank", "vulkan", "xe", "ze"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(without_a_name_all_that_fits_the_machine_runs) {
    const Ended ran = test::gpufs({"watch", "--duration", "10ms"});
    const std::vector<Gpu> gpus = find_gpus();
    if (std::ranges::all_of(gpus, [](const Gpu& gpu) { return gpu.driver.empty(); })) {
        BOOST_TEST(ran.status == 3);
        BOOST_TEST(has(ran.err, "gpufs: no GPU with a driver was found\n"));
    } else {
        BOOST_TEST(ran.status == 0);
        for (const Gpu& gpu : gpus) BOOST_TEST(has(ran.err, cat(gpu.name, ": ")));
        // A busy kernel misses hits, and counts them.
        BOOST_TEST((has(ran.err, " 0 lost") || has(ran.err, " missed by the kernel")), ran.err);
    }
}

BOOST_AUTO_TEST_CASE(several_monitors_take_parameters_by_their_names, *ut::label("pure")) {
    const Ended ran = test::gpufs({"watch", "fence", "sched-wait", "fence.min_us=1ms",
                                   "sched-wait.min_us=1s", "--duration", "10ms", "--json"});
    BOOST_TEST(ran.status == 0);
    std::size_t summaries = 0, waits = 0;
    for (const Json& told : parse_json_lines(ran.out)) {
        summaries += told.members.contains("summary");
        if (told.members.contains("map")) waits += told["map"].text.starts_with("sched-wait.");
    }
    BOOST_TEST(summaries == 1u);
    BOOST_TEST(waits > 0u);
    const Ended wrong = test::gpufs({"watch", "fence", "sched-wait", "min_us=1ms"});
    BOOST_TEST(wrong.status == 2);
    BOOST_TEST(has(wrong.err, "this program has no parameter 'min_us'"));
    BOOST_TEST(test::gpufs({"watch", "fence", "fence"}).err ==
               "gpufs: 'fence' is asked for twice\n");
}

BOOST_AUTO_TEST_CASE(what_the_kernel_refuses_is_told_and_the_others_run) {
    const std::string text =
        " \"reads at 0\"\n"
        ".prog p tracepoint sched:sched_switch\n"
        "  r1 = 0\n"
        "  r0 = *(u64 *)(r1 + 0)\n"
        "  exit\n";
    const test::TempFile refused(".monitor one" + text, ".bpf");
    const test::TempFile refused_too(".monitor two" + text, ".bpf");
    const auto told_of = [](const std::string& name, const test::TempFile& file) {
        return cat("without ", name, ": ", file.path(),
                   ":4:3: error: the kernel's verifier refused this\n"
                   "  r0 = *(u64 *)(r1 + 0)\n"
                   "  ^~~~~~~~~~~~~~~~~~~~~\n");
    };
    const Ended ran =
        test::gpufs({"watch", refused.path(), "sched-wait", refused_too.path(), "fence",
                     "sched-wait.min_us=1s", "--duration", "10ms", "--json"});
    BOOST_TEST(ran.status == 1);
    BOOST_TEST(has(ran.err, told_of("one", refused)));
    BOOST_TEST(has(ran.err, told_of("two", refused_too)));
    BOOST_TEST(has(ran.err, "hint: -v shows the verifier's whole log\n"));
    std::set<std::string> monitors;
    for (const Json& told : parse_json_lines(ran.out))
        if (told.members.contains("map"))
            monitors.insert(told["map"].text.substr(0, told["map"].text.find('.')));
    BOOST_TEST(monitors.contains("sched-wait"));
    BOOST_TEST(!monitors.contains("one"));

    const Ended none = test::gpufs({"watch", refused.path(), refused_too.path()});
    BOOST_TEST(none.status == 1);
    BOOST_TEST(none.err.starts_with("gpufs: "));
    BOOST_TEST(!has(none.err, "without "));
}

BOOST_AUTO_TEST_CASE(a_recording_is_watched_by_what_it_has, *ut::label("pure")) {
    const Ended ran = test::gpufs_as_nobody({"watch", "-i", kGpuRecording, "--json"});
    BOOST_TEST(ran.status == 0);
    BOOST_TEST(has(ran.err, "without vblank: "));
    // Its driver is another one.
    BOOST_TEST(!has(ran.err, "without amdgpu: "));
    BOOST_TEST(test::gpufs({"watch", "-i", kGpuRecording, "--top"}).status == 2);
    // Fences are events of all drivers, and no reason to look for one driver's.
    const Ended fences = test::gpufs({"watch", "-i", "tests/data/trace_dat/why-6.12.dat"});
    BOOST_TEST(fences.status == 0, fences.err);
    for (const char* driver : {"amdgpu", "i915"}) BOOST_TEST(!has(fences.err, driver), fences.err);
}

BOOST_AUTO_TEST_CASE(the_screen_is_filled_obeys_keys_and_is_given_back, *ut::label("pure")) {
    for (const auto& [columns, rows] :
         {std::pair<unsigned short, unsigned short>{80, 24}, {200, 50}}) {
        OnTerminal gpufs({"watch", "sched-wait", "fence", "--top", "--interval", "200ms"}, columns,
                         rows);
        std::string seen = gpufs.wait_for("COMM ");
        gpufs.press("p");
        seen = gpufs.wait_for("paused");
        gpufs.press("s");
        seen = gpufs.wait_for("sort: count");
        gpufs.press("m");
        seen = gpufs.wait_for("\x1b[J");
        const std::vector<std::string> lines = last_screen(seen);
        BOOST_TEST(lines.size() == rows);
        for (const std::string& line : lines) BOOST_TEST(line.size() <= columns);
        BOOST_TEST(lines.front().starts_with("gpufs  sched-wait   every 200ms"));
        BOOST_TEST(lines.back().starts_with("q quit"));
        gpufs.press("q");
        const auto [status, rest] = gpufs.wait();
        BOOST_TEST(status == 0);
        BOOST_TEST(has(rest, kLeave));
        BOOST_TEST(has(rest, " lost"));
    }
}

// A histogram is a row of percentiles; keys select the scripts, too.
BOOST_AUTO_TEST_CASE(the_screen_has_the_maps_of_scripts) {
    const test::TempFile script("interval:ms:10 { @ticks[\"a key\"] = count(); @size = hist(100) }",
                                ".bt");
    OnTerminal gpufs({"watch", "fence", script.path(), "--top", "--interval", "200ms"}, 120, 40);
    // The first interval may end between the two, and a screen comes in pieces.
    std::string seen;
    const auto has_both = [&] {
        return has(seen, "KEY    COUNT") && has(seen, "[64, 128)  [64, 128)");
    };
    for (int i = 0; i < 20 && !has_both(); ++i) seen += gpufs.wait_for("\x1b[J");
    BOOST_TEST(has_both(), seen);
    gpufs.press("q");
    BOOST_TEST(gpufs.wait().first == 0);
}

BOOST_AUTO_TEST_CASE(rows_of_the_screen_have_their_trend) {
    const test::TempFile script("interval:ms:10 { @ticks[\"a key\"] = max(5); }", ".bt");
    for (const auto& [locale, mark] : {std::pair{"LC_ALL=C", "@@"}, {"LC_ALL=C.UTF-8", "██"}}) {
        OnTerminal gpufs({"watch", "fence", script.path(), "--top", "--interval", "200ms"}, 80, 24,
                         {locale});
        gpufs.wait_for("TREND");
        std::string seen = gpufs.wait_for("\x1b[J");
        for (int i = 0; i < 20 && !has(seen, mark); ++i) seen = gpufs.wait_for("\x1b[J");
        BOOST_TEST(has(seen, mark), seen);
        gpufs.press("q");
        BOOST_TEST(gpufs.wait().first == 0);
    }
}

// Stacks are below the row that has the trend; of a histogram it is how many values came.
BOOST_AUTO_TEST_CASE(rows_of_stacks_and_maps_of_scripts_have_their_trend) {
    struct Case {
        const char *text, *head, *trend;  // the most is always "@"
    };
    const Case cases[] = {
        {"tracepoint:sched:sched_switch { @from[\"all\", kstack] = count(); }", "KEY  COUNT", "@"},
        {"interval:ms:10 { @size[1] = hist(100); }", "COUNT  P50", "@"},
        {"interval:ms:10 { @last[1] = 7; }", "VALUE         TREND", "@@"}};
    for (const Case& one : cases) {
        const test::TempFile script(one.text, ".bt");
        OnTerminal gpufs({"watch", "fence", script.path(), "--top", "--interval", "200ms"}, 120, 40,
                         {"LC_ALL=C"});
        std::string seen = gpufs.wait_for("TREND");
        BOOST_TEST(has(seen, one.head), seen);
        // Its name begins with the other "@".
        const auto is_there = [&] {
            return has(seen.substr(std::min(seen.find("TREND"), seen.size())), one.trend);
        };
        for (int i = 0; i < 20 && !is_there(); ++i) seen = gpufs.wait_for("\x1b[J");
        BOOST_TEST(is_there(), seen);
        gpufs.press("q");
        BOOST_TEST(gpufs.wait().first == 0);
    }
}

// "04:12:07.118204 to 04:12:08.004711" is printed with the last, incomplete interval.
BOOST_AUTO_TEST_CASE(what_is_left_after_the_screen_begins_with_its_last_interval) {
    OnTerminal gpufs({"watch", "sched-wait", "--top", "--interval", "100ms"}, 80, 24);
    const std::string screen = gpufs.wait_for("COMM ");
    const std::string title(trim(last_screen(screen + "\x1b[J").front()));
    const std::string first = title.substr(title.rfind(' ') + 1);
    BOOST_TEST_REQUIRE(has(first, ":"));
    gpufs.press("q");
    const std::string rest = gpufs.wait().second;
    const std::size_t to = rest.rfind(" to ");
    BOOST_TEST_REQUIRE((to != rest.npos && to >= first.size()));
    // Both are times of one day, unless it ends here.
    const std::string from = rest.substr(to - first.size(), first.size());
    BOOST_TEST((from >= first || first >= "23:59"), from << " is before " << first);
}

BOOST_AUTO_TEST_CASE(the_screen_is_given_back_after_ctrl_c, *ut::label("pure")) {
    for (const char* key : {"\x03", "\x1c"}) {  // and Ctrl-backslash
        OnTerminal gpufs({"watch", "fence", "--top"}, 80, 24);
        gpufs.wait_for(kEnter);
        gpufs.wait_for("q quit");
        gpufs.press(key);
        BOOST_TEST(has(gpufs.wait().second, kLeave));
    }
}

BOOST_AUTO_TEST_CASE(a_terminal_without_a_size_gets_plain_intervals, *ut::label("pure")) {
    OnTerminal gpufs({"watch", "sched-wait", "--top", "--interval", "50ms", "--duration", "200ms"},
                     0, 0);
    const auto [status, seen] = gpufs.wait();
    BOOST_TEST(status == 0);
    BOOST_TEST(has(seen, "Run queue latency"));
    BOOST_TEST(!has(seen, kEnter));
}

BOOST_AUTO_TEST_CASE(top_in_json_is_intervals, *ut::label("pure")) {
    const Ended ran = test::gpufs(
        {"watch", "fence", "--top", "--json", "--interval", "50ms", "--duration", "200ms"});
    BOOST_TEST(ran.status == 0);
    BOOST_TEST(has(ran.out, R"({"interval":)"));
}

BOOST_AUTO_TEST_CASE(a_pipe_gets_plain_intervals, *ut::label("pure")) {
    const Ended ran =
        test::gpufs({"watch", "sched-wait", "--top", "--interval", "100ms", "--duration", "350ms"});
    BOOST_TEST(ran.status == 0);
    BOOST_TEST(!has(ran.out, "\x1b"));
    // A report each interval, and what came behind the last.
    std::size_t reports = 0;
    for (const std::string_view line : lines_of(ran.out)) reports += line == "Run queue latency";
    BOOST_TEST(reports >= 3u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
