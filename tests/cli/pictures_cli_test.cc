#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/adhoc/adhoc_support.h"
#include "support/needs.h"
#include "support/on_terminal.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"
#include "support/workloads.h"
#include "view/columns.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::in_thread;
using test::TempFolder;

constexpr const char* kStacks = "tests/data/trace_dat/stack-6.18.dat";
constexpr const char* kSwitches = "tests/data/trace_dat/mono-6.18.dat";

// What each frame weighs, by the names from the outermost frame to it: "make;main;read".
using Frames = std::map<std::string, std::uint64_t>;

std::string plain(std::string text) {
    const std::pair<const char*, const char*> kEntities[] = {
        {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}};
    for (const auto& [entity, character] : kEntities)
        for (auto at = text.find(entity); at != text.npos; at = text.find(entity, at + 1))
            text.replace(at, std::string_view(entity).size(), character);
    return text;
}

// The whole has no name. Checks that no box leaves its caller's, nor overlaps another's.
Frames frames_in(const std::string& svg) {
    const std::regex box(
        "<g class=\"frame [^\"]*\" data-x=\"(\\d+)\" data-w=\"(\\d+)\" data-d=\"(\\d+)\">"
        "<title>([^<]*) \\([^(]*\\)</title>");
    struct Open {
        std::string path;
        std::uint64_t free, end;  // what its callees may still have
    };
    std::vector<Open> open;
    Frames frames;
    for (std::sregex_iterator at(svg.begin(), svg.end(), box), last; at != last; ++at) {
        const std::uint64_t x = std::stoull((*at)[1]), w = std::stoull((*at)[2]);
        const std::size_t depth = std::stoull((*at)[3]);
        BOOST_TEST_REQUIRE(depth <= open.size());
        open.resize(depth);
        std::string name = plain((*at)[4]);
        std::ranges::replace(name, ';', ':');
        std::string path = depth < 2 ? name : cat(open.back().path, ';', name);
        if (depth != 0) {
            BOOST_TEST(x >= open.back().free, path);
            BOOST_TEST(x + w <= open.back().end, path);
            open.back().free = x + w;
            frames[path] += w;
        }
        open.push_back({path, x, x + w});
    }
    return frames;
}

// The same of folded lines.
Frames frames_of_lines(const std::string& folded, bool reversed = false) {
    Frames frames;
    for (const std::string_view line : lines_of(folded)) {
        const auto space = line.rfind(' ');
        const std::uint64_t weight = std::stoull(std::string(line.substr(space + 1)));
        std::vector<std::string> names = split(line.substr(0, space), ';');
        if (reversed) std::ranges::reverse(names);
        std::string path;
        for (const std::string& name : names)
            frames[path += cat(path.empty() ? "" : ";", name)] += weight;
    }
    return frames;
}

void check_same(const Frames& drawn, const Frames& folded) {
    BOOST_TEST(!folded.empty());
    for (const auto& [path, weight] : folded) {
        const auto found = drawn.find(path);
        BOOST_TEST((found != drawn.end()), path);
        if (found != drawn.end()) BOOST_TEST(found->second == weight, path);
    }
    BOOST_TEST(drawn.size() == folded.size());
}

// The numbers that a pattern finds.
std::uint64_t sum_of(const std::string& svg, const std::string& pattern) {
    const std::regex number(pattern);
    std::uint64_t sum = 0;
    for (std::sregex_iterator at(svg.begin(), svg.end(), number), end; at != end; ++at)
        sum += std::stoull((*at)[1]);
    return sum;
}
std::uint64_t cells_in(const std::string& svg) {
    return sum_of(svg, "class=\"cell c\\d\" data-r=\"\\d+\" data-n=\"(\\d+)\"");
}

// Another's opinion of whether it is XML.
void check_xml(const std::string& path) {
    const Ended ended = test::shell(cat("xmllint --noout ", path, " 2>&1"));
    BOOST_TEST(ended.status == 0, ended.out);
}

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(pictures, *ut::label("pure") * ut::precondition(test::can_trace))

BOOST_AUTO_TEST_CASE(a_flame_graph_has_the_counts_of_the_folded_stacks) {
    constexpr int kCalls = 5000;
    const TempFolder folder;
    const std::string svg = (folder / "a.svg").string();
    // What XML would take for its own, and what it cannot hold.
    const char* const name = "<&\"]]>\x01\xff";
    const Ended ran = test::trace(
        {"stacks", "syscalls:sys_enter_getppid", "by", "comm", "--if", "comm ~ \"<*\"", "--folded",
         "--strict", "--flame", svg},
        [&] { const std::jthread ours = in_thread(name, [] { test::call_getppid(kCalls); }); });
    BOOST_TEST(ran.status == 0, ran.err);
    const Frames drawn = frames_in(read_file(svg));
    BOOST_TEST(drawn.at("<&\"]]>\\x01\\xff") == static_cast<std::uint64_t>(kCalls));
    check_same(drawn, frames_of_lines(ran.out));
}

BOOST_AUTO_TEST_CASE(the_graph_of_a_monitor_weighs_times_in_their_unit) {
    const TempFolder folder;
    const std::string svg = (folder / "a.svg").string();
    const Ended ran = test::gpufs(
        {"run", "off-cpu", "--folded", "--flame", svg, "--", "sh", "-c", "sleep 0.05; sleep 0.05"});
    BOOST_TEST(ran.status == 0, ran.err);
    const std::string text = read_file(svg);
    check_same(frames_in(text), frames_of_lines(ran.out));
    BOOST_TEST(std::regex_search(text, std::regex("<title>sleep \\([0-9.]+ m?s, ")), text);
}

BOOST_AUTO_TEST_CASE(a_heat_map_has_each_of_the_values) {
    constexpr int kCalls = 3000;
    const TempFolder folder;
    for (const bool in_intervals : {false, true}) {
        const std::string svg = (folder / "a.svg").string();
        std::vector<std::string> args = {"latency",
                                         "syscalls:sys_enter_getppid",
                                         "syscalls:sys_exit_getppid",
                                         "--unit",
                                         "ns",
                                         "--strict",
                                         "--if",
                                         test::kOurs,
                                         "--heat",
                                         svg};
        if (in_intervals) args.insert(args.end(), {"--interval", "50ms"});
        const Ended ran = test::trace(args, [&] {
            const std::jthread ours = in_thread("gp-ours", [] { test::call_getppid(kCalls); });
        });
        BOOST_TEST(ran.status == 0, ran.err);
        const std::string text = read_file(svg);
        BOOST_TEST(cells_in(text) == static_cast<std::uint64_t>(kCalls), ran.out);
        BOOST_TEST(sum_of(text, "<g class=\"column\"[^>]* data-n=\"(\\d+)\"") ==
                   static_cast<std::uint64_t>(kCalls));
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(recorded_pictures, *ut::label("pure"))

std::vector<std::string> question(std::vector<std::string> more) {
    std::vector<std::string> args = {"stacks", "sched:sched_switch", "by", "comm", "-i", kStacks};
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

std::vector<std::string> latency(std::vector<std::string> more) {
    std::vector<std::string> args = {"latency", "sched:sched_wakeup", "sched:sched_switch",
                                     "--key",   "pid=next_pid",       "-i",
                                     kSwitches};
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

BOOST_AUTO_TEST_CASE(intervals_are_added_up) {
    const TempFolder folder;
    const std::string whole = (folder / "a.svg").string(), parts = (folder / "b.svg").string();
    const Ended once = test::gpufs(question({"--flame", whole}));
    BOOST_TEST(once.status == 0, once.err);
    BOOST_TEST(has(once.out, "sched:sched_switch by comm\n"));  // what it prints stays
    const Ended often = test::gpufs(question({"--flame", parts, "--interval", "1ms"}));
    BOOST_TEST(often.status == 0, often.err);
    BOOST_TEST(read_file(whole) == read_file(parts));
}

BOOST_AUTO_TEST_CASE(reversed_it_begins_with_the_innermost_frames) {
    const TempFolder folder;
    const std::string svg = (folder / "a.svg").string();
    const Ended ran = test::gpufs(question({"--flame", svg, "--reverse", "--icicle", "--folded"}));
    BOOST_TEST(ran.status == 0, ran.err);
    const std::string text = read_file(svg);
    check_same(frames_in(text), frames_of_lines(ran.out, true));
    BOOST_TEST(has(text, "data-way=\"icicle\""));
    BOOST_TEST(has(text, "<title>__schedule (10 samples, 100.00%)</title>"));
}

BOOST_AUTO_TEST_CASE(the_title_is_the_question_or_what_was_asked_for) {
    const TempFolder folder;
    const std::string svg = (folder / "a.svg").string();
    test::gpufs(question({"--flame", svg}));
    BOOST_TEST(has(read_file(svg), "<title>gpufs stacks sched:sched_switch by comm</title>"));
    test::gpufs(question({"--flame", svg, "--title", "who & <where>\"]]>\x01\xff"}));
    BOOST_TEST(has(read_file(svg), "<title>who &amp; &lt;where&gt;&quot;]]&gt;\\x01\\xff</title>"));
    check_xml(svg);
}

BOOST_AUTO_TEST_CASE(the_maps_of_scripts_are_drawn_beside_those_of_monitors) {
    const TempFolder folder;
    const std::string svg = (folder / "a.svg").string();
    const std::string script = (folder / "a.bt").string();
    test::shell(
        cat("echo 'tracepoint:sched:sched_switch { @where[kstack] = count(); }' >", script));
    const Ended ran = test::gpufs({"watch", script, "off-cpu", "-i", kStacks, "--flame", svg});
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(frames_in(read_file(svg)).contains("entry_SYSCALL_64_after_hwframe;do_syscall_64"),
               ran.out);
}

BOOST_AUTO_TEST_CASE(a_heat_map_of_a_recording_has_its_times) {
    const TempFolder folder;
    const std::string svg = (folder / "a.svg").string();
    const Ended ran = test::gpufs(latency({"--heat", svg, "--json"}));
    BOOST_TEST(ran.status == 0, ran.err);
    const std::string text = read_file(svg);
    BOOST_TEST(cells_in(text) == sum_of(ran.out, "\"count\":(\\d+),\"sum\""), text);
    BOOST_TEST(has(text, "<title>gpufs latency sched:sched_wakeup sched:sched_switch</title>"));
    check_xml(svg);
    // What it prints is the same without.
    BOOST_TEST(test::gpufs(latency({"--json"})).out == ran.out);
}

constexpr const char* kJobs = "tests/data/trace_dat/drm-6.17.dat";
const std::vector<std::string> kPlotted = {"watch", "drm", "-i", kJobs, "--plot"};

// The heat maps, from the title of the first on.
std::string plotted_in(std::string text) {
    std::erase(text, '\r');
    return text.substr(std::min(text.size(), text.find("All jobs: submit to run, by time\n")));
}

BOOST_AUTO_TEST_CASE(a_plot_in_a_pipe_is_plain_and_80_columns_wide) {
    const Ended ran = test::gpufs(kPlotted);
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(plotted_in(ran.out) ==
               "All jobs: submit to run, by time\n"
               "32.7 ms |                 .   .   .   .                                        |\n"
               "16.3 ms |               .   .   .   .                                          |\n"
               "8.19 ms |                                                                      |\n"
               "4.09 ms |                                                                      |\n"
               "2.04 ms |                                                               @      |\n"
               "1.02 ms |                                          .      .             .      |\n"
               " 512 us |              .   .                     @.+ @.  +  @@                 |\n"
               " 256 us |                      .   .              + @ +@@  @                   |\n"
               " 128 us |                                                                    . |\n"
               "        |0                   |315.5 ms           |631.0 ms           |946.5 ms\n"
               "  count |              :: ::: ::: ::: :          ********=:***          @    : |\n"
               "from 15.795585; a column is 15.7 ms, with at most 4\n"
               "a cell has 1 to 3, by rank: .:-=+*#@\n"
               "\n"
               "All jobs: run to done, by time\n"
               "65.5 ms |                                                                    . |\n"
               "32.7 ms |                                                                  ..  |\n"
               "16.3 ms |               . ... ... ... ..                                 .    .|\n"
               "8.19 ms |                                                                      |\n"
               "4.09 ms |                                                                      |\n"
               "2.04 ms |                                        @@@@@@@ @@@@@                 |\n"
               "        |0                   |315.5 ms           |631.0 ms           |946.5 ms\n"
               "  count |               - --- --- --- --         @@@@@@@ @@@@@           - ----|\n"
               "from 15.795585; a column is 15.7 ms, with at most 3\n"
               "a cell has 1 to 3, by rank: .:-=+*#@\n"
               "\n"
               "All jobs: submit to done, by time\n"
               "65.5 ms |                                                                    . |\n"
               "32.7 ms |                 ..  ..  ..  ..                                   ..  |\n"
               "16.3 ms |               .   .   .   .                                    .    .|\n"
               "8.19 ms |                                                                      |\n"
               "4.09 ms |                                                                      |\n"
               "2.04 ms |                                        @@@@@@@ @@@@@                 |\n"
               "        |0                   |315.5 ms           |631.0 ms           |946.5 ms\n"
               "  count |               - --- --- --- --         @@@@@@@ @@@@@           - ----|\n"
               "from 15.795585; a column is 15.7 ms, with at most 3\n"
               "a cell has 1 to 3, by rank: .:-=+*#@\n");
    BOOST_TEST(has(ran.out, "MAX  SHAPE\n"), ran.out);
    BOOST_TEST(has(ran.out, "SHAPE is from 128 us to 131.0 ms\n"), ran.out);
    // What is not drawn is the same.
    const std::string plain = test::gpufs({"watch", "drm", "-i", kJobs}).out;
    for (const std::string_view line : lines_of(plain))
        BOOST_TEST(has(ran.out, std::string(line)), line);
}

BOOST_AUTO_TEST_CASE(a_plot_on_a_terminal_has_blocks_and_colours_where_that_has_them) {
    const auto seen = [](const std::vector<std::string>& environment) {
        std::vector<std::string> all = {"NO_COLOR=", "COLORTERM=", "TERM=xterm"};
        all.insert(all.end(), environment.begin(), environment.end());
        return test::OnTerminal(kPlotted, 80, 24, all).wait().second;
    };
    const std::string ascii = seen({"LC_ALL=C", "TERM=xterm-256color"});
    BOOST_TEST(plotted_in(ascii) == plotted_in(test::gpufs(kPlotted).out));
    const std::string blocks = seen({"LC_ALL=C.UTF-8"});
    BOOST_TEST(has(blocks, "|█████████"), blocks);
    BOOST_TEST(has(blocks, "by rank: ░▒▓█"), blocks);
    BOOST_TEST(!has(blocks, "\x1b"), blocks);
    const std::string coloured = seen({"LC_ALL=C.UTF-8", "TERM=xterm-256color"});
    BOOST_TEST(has(coloured, "\x1b[38;5;226m█\x1b[0m"), coloured);
    BOOST_TEST(seen({"LC_ALL=C.UTF-8", "COLORTERM=truecolor"}) == coloured);
    BOOST_TEST(seen({"LC_ALL=C.UTF-8", "TERM=xterm-256color", "NO_COLOR=1"}) == blocks);
    // Without the colours all lines fit.
    const std::regex colour("\x1b\\[[0-9;]*m");
    for (const std::string& text : {ascii, blocks, std::regex_replace(coloured, colour, "")})
        for (const std::string_view line : lines_of(text))
            if (line.find('|') != line.npos) BOOST_TEST(columns_of(trim(line)) <= 80u, line);
    // Eight marks in the legend of each map, not four.
    BOOST_TEST(std::regex_replace(plotted_in(coloured), colour, "").size() ==
               plotted_in(blocks).size() + 3 * 4 * std::string("█").size());
}

BOOST_AUTO_TEST_CASE(a_plot_has_all_intervals) {
    std::vector<std::string> args = kPlotted;
    args.insert(args.end(), {"--interval", "100ms"});
    const std::string text = plotted_in(test::gpufs(args).out);
    BOOST_TEST((has(text, "\n   count |") || has(text, "\n  count |")), text);
}

// By the panel's heading, how many values its cells have.
std::map<std::string, std::uint64_t> panels_in(const std::string& svg) {
    const std::regex heading("class=\"heading\"[^>]*>([^<]*)<");
    std::map<std::string, std::uint64_t> panels;
    for (std::sregex_iterator at(svg.begin(), svg.end(), heading), end; at != end;) {
        const std::string title = (*at)[1];
        const auto from = static_cast<std::size_t>(at->position());
        const auto to = ++at == end ? svg.size() : static_cast<std::size_t>(at->position());
        panels[title] += cells_in(svg.substr(from, to - from));
    }
    return panels;
}

BOOST_AUTO_TEST_CASE(each_step_of_jobs_has_a_map_of_its_own) {
    struct Drawn {
        const char *monitor, *recording, *title;
    };
    const Drawn all[] = {{"drm", "drm-5.10", "All jobs"},
                         {"drm", "drm-6.17", "All jobs"},
                         {"amdgpu", "amdgpu-6.12", "All jobs"},
                         {"i915", "i915-7.3", "All requests"},
                         {"xe", "xe-7.3", "All jobs"}};
    const TempFolder folder;
    const std::string svg = (folder / "a.svg").string();
    const std::regex row("\"step\":\"([^\"]*)\"},\"count\":(\\d+)");
    for (const Drawn& drawn : all) {
        std::vector<std::string> args = {
            "watch",  drawn.monitor, "-i",    cat("tests/data/trace_dat/", drawn.recording, ".dat"),
            "--heat", svg,           "--json"};
        for (const bool in_intervals : {false, true}) {
            const Ended ran = test::gpufs(args);
            BOOST_TEST(ran.status == 0, ran.err);
            std::map<std::string, std::uint64_t> counted;
            for (const std::string_view line : lines_of(ran.out)) {
                if (!has(std::string(line), cat("\"title\":\"", drawn.title, "\""))) continue;
                const std::string text(line);
                for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at)
                    counted[cat(drawn.title, ": ", (*at)[1].str())] += std::stoull((*at)[2]);
            }
            std::map<std::string, std::uint64_t> panels = panels_in(read_file(svg));
            std::erase_if(panels, [&](const auto& panel) {
                return panel.first.compare(0, std::string(drawn.title).size(), drawn.title) != 0;
            });
            BOOST_TEST(counted.size() > 1, drawn.recording);
            BOOST_TEST((panels == counted), cat(drawn.recording, in_intervals ? " by time" : ""));
            args.insert(args.end(), {"--interval", "50ms"});
        }
    }
}

BOOST_AUTO_TEST_CASE(a_graph_and_a_map_of_one_run_are_two_files) {
    const TempFolder folder;
    const std::string flame = (folder / "a.svg").string(), heat = (folder / "b.svg").string();
    const Ended ran = test::gpufs({"watch", "off-cpu", "sched-wait", "-i", kStacks, "--flame",
                                   flame, "--heat", heat, "--title", "both"});
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(has(read_file(flame), "class=\"flame\""));
    BOOST_TEST(has(read_file(heat), "class=\"heat\""));
    for (const std::string& path : {flame, heat}) {
        BOOST_TEST(has(read_file(path), "<title>both</title>"));
        check_xml(path);
    }
}

BOOST_AUTO_TEST_CASE(two_runs_are_compared) {
    const TempFolder folder;
    const std::string before = (folder / "old").string(), now = (folder / "new").string(),
                      svg = (folder / "a.svg").string();
    WholeFile(before).write("main;read 50\nmain;write 50\n");
    WholeFile(now).write("main;read 50\nmain;12;write 150\n");
    const Ended ran = test::gpufs({"diff", before, now, "--flame", svg});
    BOOST_TEST(ran.status == 0, ran.err);
    BOOST_TEST(ran.out ==
               "before 100, now 200\n"
               "BEFORE   SHARE  NOW   SHARE   CHANGE  FRAME\n"
               "    50  50.00%   50  25.00%  -25.00%  read\n"
               "    50  50.00%  150  75.00%  +25.00%  write\n");
    check_xml(svg);
    BOOST_TEST(!has(read_file(svg), ">12 ("));  // a process's id
    BOOST_TEST(has(read_file(svg), cat("<title>from ", before, " to ", now, "</title>")));
    const Ended json = test::gpufs({"diff", before, now, "--json"});
    BOOST_TEST(json.out ==
               "{\"frame\":\"read\",\"before\":50,\"now\":50,\"change\":-25.0000}\n"
               "{\"frame\":\"write\",\"before\":50,\"now\":150,\"change\":25.0000}\n");
    const Ended piped = test::shell(cat("cat ", now, " | $GPUFS diff ", before, " - --top 1"));
    BOOST_TEST(piped.out ==
                   "before 100, now 200\n"
                   "BEFORE   SHARE  NOW   SHARE   CHANGE  FRAME\n"
                   "    50  50.00%   50  25.00%  -25.00%  read\n"
                   "and 1 more\n",
               piped.err);
}

BOOST_AUTO_TEST_CASE(what_gpufs_folds_it_compares) {
    const TempFolder folder;
    const std::string path = (folder / "a.folded").string();
    BOOST_TEST(test::gpufs(question({"--folded", "-o", path})).status == 0);
    const Ended same = test::gpufs({"diff", path, path});
    BOOST_TEST(same.out == "before 10, now 10\nno function's share changed\n", same.err);
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_compared_are_told) {
    const TempFolder folder;
    const std::string path = (folder / "a").string();
    WholeFile(path).write("main;read\n");
    const auto refuses = [](const std::vector<std::string>& args, const std::string& err,
                            int status = 2) {
        const Ended ended = test::gpufs(args);
        BOOST_TEST(ended.status == status, ended.err);
        BOOST_TEST(ended.out == "");
        BOOST_TEST(ended.err == err);
    };
    refuses({"diff", path, path}, cat("gpufs: ", path,
                                      ":1:1: error: the line does not end with a count\n"
                                      "main;read\n"
                                      "^~~~~~~~~\n"
                                      "hint: a line is outer;inner 12, as --folded prints it\n"));
    refuses({"diff", "/nonexistent", path, "--flame", path},
            cat("gpufs: --flame: '", path, "' is what is compared\n"));
    refuses({"diff", "/nonexistent", path, "-o", path},
            cat("gpufs: --output: '", path, "' is what is compared\n"));
    refuses({"diff", path},
            "gpufs: diff needs two files of folded stacks\n"
            "hint: 'gpufs run profile --folded -o FILE' makes one\n");
    refuses({"diff", "-", "-"}, "gpufs: standard input can be read only once: '-'\n");
    refuses({"diff", path, "/nonexistent"},
            cat("gpufs: ", path,
                ":1:1: error: the line does not end with a count\n"
                "main;read\n"
                "^~~~~~~~~\n"
                "hint: a line is outer;inner 12, as --folded prints it\n"));
    refuses({"diff", "/nonexistent", path},
            "gpufs: cannot open '/nonexistent': No such file or directory\n", 1);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_drawn_is_told_before_it_runs) {
    const TempFolder folder;
    const std::string svg = (folder / "a.svg").string();
    const auto refuses = [](const std::vector<std::string>& args, const std::string& err,
                            int status = 2) {
        const Ended ended = test::gpufs(args);
        BOOST_TEST(ended.status == status, ended.err);
        BOOST_TEST(ended.out == "");
        BOOST_TEST(ended.err == err);
    };
    refuses(question({"--flame", "/nonexistent/a.svg"}),
            "gpufs: cannot write '/nonexistent/a.svg': No such file or directory\n", 1);
    refuses({"count", "sched:sched_switch", "-i", kStacks, "--flame", svg},
            "gpufs: --flame draws stacks that maps counted: no map of this has any\n"
            "hint: count by them: 'by kstack' or 'by ustack' behind the other words\n");
    const auto refuses_stdout = [&](std::vector<std::string> args, const char* option) {
        args.insert(args.end(), {option, "-"});
        refuses(args, cat("gpufs: ", option,
                          " writes a file, nothing to standard output\n"
                          "hint: name one; './-' is the one of this name\n"));
    };
    for (const char* option : {"--html", "--perfetto"})
        refuses_stdout({"watch", "off-cpu", "-i", kStacks}, option);
    refuses_stdout(question({}), "--flame");
    refuses_stdout(latency({}), "--heat");
    refuses_stdout({"report", kStacks}, "--html");
    refuses_stdout({"export", kStacks}, "--parquet");
    refuses_stdout({"stall", "-p", "1"}, "--html");
    refuses_stdout({"diff", kStacks, kStacks}, "--flame");
    BOOST_TEST(!file_exists("-"));
    refuses({"run", "sched-wait", "-i", kStacks, "--folded"},
            "gpufs: --folded shows stacks that maps counted: no map of this has any\n"
            "hint: stacks are in a map's key, as kstack(MAP) or ustack(MAP)\n");
    refuses(question({"--reverse"}), "gpufs: --reverse goes with --flame\n");
    refuses(question({"--icicle"}), "gpufs: --icicle goes with --flame\n");
    refuses({"watch", "off-cpu", "sched-wait", "-i", kStacks, "--flame", svg, "--heat", svg},
            "gpufs: --flame and --heat write to one file\n");
    refuses(question({"--title", "x"}), "gpufs: --title goes with a picture\n");
    refuses({"run", "off-cpu", "-i", kStacks, "--heat", svg},
            "gpufs: --heat draws histograms: no map of this has any\n"
            "hint: 'gpufs latency' and 'gpufs hist' have one, and some monitors: run sched-wait\n");
    refuses(latency({"--heat", "/nonexistent/a.svg"}),
            "gpufs: cannot write '/nonexistent/a.svg': No such file or directory\n", 1);
    for (const char* other : {"--json", "--folded"})
        refuses(latency({"--plot", other}),
                cat("gpufs: --plot draws what is read by people: not with ", other, "\n"));
    refuses({"run", "off-cpu", "-i", kStacks, "--plot"},
            "gpufs: --plot draws histograms: no map of this has any\n"
            "hint: 'gpufs latency' and 'gpufs hist' have one, and some monitors: run sched-wait\n");
    refuses({"watch", "drm", "-i", kSwitches, "--plot", "--top"},
            "gpufs: --top shows what happens now: not with --plot\n");
    refuses({"run", "-e", "begin { }", "--flame", svg},
            "gpufs: --flame draws stacks that maps counted: 'gpufs watch' shows those of a "
            "script's maps so\n");
    BOOST_TEST(!file_exists(svg));
}

// Each line "    $ gpufs ... man/NAME.svg ..." is run, with another folder for its picture.
BOOST_AUTO_TEST_CASE(the_commands_of_the_readme_make_its_pictures) {
    const std::regex command("    \\$ gpufs (.* man/([a-z]+\\.svg) .*)");
    const TempFolder folder;
    std::size_t pictures = 0;
    const std::string readme = read_file("README.md");
    for (const std::string_view text : lines_of(readme)) {
        const std::string line(text);
        std::smatch found;
        if (!std::regex_match(line, found, command)) continue;
        ++pictures;
        const std::string name = found[2], there = (folder / name).string();
        const std::string words =
            std::regex_replace(found[1].str(), std::regex("man/" + name), there);
        const Ended ran = test::shell(cat("$GPUFS ", words, " >/dev/null"));
        BOOST_TEST(ran.status == 0, ran.err);
        BOOST_TEST((read_file(there) == read_file("man/" + name)), line);
    }
    BOOST_TEST(pictures == 2u);
}

BOOST_AUTO_TEST_CASE(a_file_is_written_only_by_a_run) {
    const TempFolder folder;
    const std::string svg = (folder / "a.svg").string();
    const Ended dry = test::gpufs(question({"--flame", svg, "--dry-run"}));
    BOOST_TEST(dry.status == 0, dry.err);
    BOOST_TEST(!file_exists(svg));
    const Ended full = test::gpufs(question({"--flame", "/dev/full"}));
    BOOST_TEST(full.status == 1);
    BOOST_TEST(has(full.err, "gpufs: cannot write to '/dev/full': No space left on device\n"),
               full.err);
    BOOST_TEST(list_directory(folder.path().string()).empty());
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
