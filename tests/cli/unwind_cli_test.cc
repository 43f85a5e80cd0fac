#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/cat.h"
#include "base/scan.h"
#include "base/text.h"
#include "cli/adhoc/adhoc_support.h"
#include "kernel/host/kernel_version.h"
#include "support/needs.h"
#include "support/nest.h"
#include "support/run_gpufs.h"
#include "support/temp_folder.h"

namespace ut = boost::unit_test;

namespace gpufs {
namespace {

using test::Ended;
using test::has;
using test::Nest;

// How often each stack was taken, of the functions of chains.cc that are no tail calls.
using Stacks = std::map<std::string, long>;

const std::set<std::string, std::less<>> kFunctions{
    "leaf",     "plain",  "saves",   "large",     "variable",   "aligned",  "both",
    "recurses", "throws", "signals", "on_signal", "faults",     "on_fault", "in_plugin",
    "compare",  "sorts",  "go_on",   "walk_all",  "plugin_step"};

// Frames with their files behind them, separated by `by`, and other functions among them.
std::string own_frames(std::string_view line, char by) {
    std::string own;
    Scan scan(line);
    while (!scan.at_end()) {
        std::string_view frame = scan.take_all([by](char c) { return c != by; });
        scan.take(std::string_view(&by, 1));
        frame = frame.substr(0, frame.find(" ("));
        frame = frame.substr(0, frame.find(".cold"));  // where exceptions are caught
        if (kFunctions.contains(frame)) own += cat(own.empty() ? "" : " ", frame);
    }
    return own;
}

Stacks told_by(const std::string& folded) {
    Stacks stacks;
    for (const std::string_view line : lines_of(folded)) {
        const auto space = line.rfind(' ');
        stacks[own_frames(line.substr(0, space), ';')] +=
            Scan(line.substr(space + 1)).take_number<long>().value_or(0);
    }
    return stacks;
}

constexpr int kChains = 1000;

struct Compared {
    long equal = 0;
    Ended ended;
};

// Lets the program walk chains while gpufs takes their stacks, and compares both. `argv` without
// the numbers; `plugin`: the library's file, or empty.
Compared compare_run(std::vector<std::string> argv, const std::vector<std::string>& options,
                     const std::string& plugin) {
    argv.insert(argv.end(), {"7", cat(kChains)});
    if (!plugin.empty()) argv.push_back(plugin);
    Nest chains(argv);
    std::vector<std::string> args{"stacks", "syscalls:sys_enter_getpriority", "-p",
                                  cat(chains.pid()), "--folded"};
    args.insert(args.end(), options.begin(), options.end());
    Stacks truth;
    Compared compared;
    compared.ended = test::trace(args, [&] {
        chains.tell("");  // it walks all of them then
        for (int i = 0; i < kChains; ++i) ++truth[own_frames(chains.hear(), ' ')];
    });
    const Stacks told = told_by(compared.ended.out);
    for (const auto& [chain, count] : truth)
        if (const auto is = told.find(chain); is != told.end())
            compared.equal += std::min(count, is->second);
    return compared;
}

Compared compare(const std::string& program, const std::vector<std::string>& options,
                 const std::string& plugin = {}) {
    return compare_run({Nest::build_file(program)}, options,
                       plugin.empty() ? plugin : Nest::build_file(plugin));
}

// Those of a COMMAND, which walks without being asked.
Compared compare_command(const std::string& program) {
    Compared compared;
    compared.ended = test::gpufs({"stacks", "syscalls:sys_enter_getpriority", "--unwind", "dwarf",
                                  "--folded", "--", Nest::build_file(program), "7", cat(kChains)});
    std::string folded;
    Stacks truth;
    for (const std::string_view line : lines_of(compared.ended.out)) {
        if (line.find(';') == line.npos)
            ++truth[own_frames(line, ' ')];
        else
            folded += cat(line, '\n');
    }
    const Stacks told = told_by(folded);
    for (const auto& [chain, count] : truth)
        if (const auto is = told.find(chain); is != told.end())
            compared.equal += std::min(count, is->second);
    return compared;
}

// How many stacks the last line says were taken or ended otherwise.
long told_as(const std::string& err, const std::string& what) {
    const auto at = err.find(' ' + what);
    if (at == err.npos) return 0;
    const auto begin = err.find_last_of(" ;", at - 1) + 1;
    return Scan(std::string_view(err).substr(begin)).take_number<long>().value_or(0);
}

// The stacks that are equal, those that are told to have been taken before the tables of what the
// process had just mapped were there, and those that the kernel was too busy to take.
long accounted_for(const Compared& compared) {
    return compared.equal + told_as(compared.ended.err, "user stacks cut short") +
           told_as(compared.ended.err, "user stacks by frame pointers") +
           told_as(compared.ended.err, "hits missed by the kernel");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cli, *ut::precondition(test::can_trace))
BOOST_AUTO_TEST_SUITE(unwinding)

BOOST_AUTO_TEST_CASE(stacks_of_programs_without_frame_pointers_are_whole) {
    for (const char* program : {"chains", "chains-lld", "chains-static"}) {
        const Compared compared = compare(program, {"--unwind", "dwarf"});
        BOOST_TEST(compared.ended.status == 0, compared.ended.err);
        BOOST_TEST(compared.equal >= kChains * 995 / 1000, program << ": " << compared.equal
                                                                   << " are equal\n"
                                                                   << compared.ended.err);
    }
}

BOOST_AUTO_TEST_CASE(along_frame_pointers_they_are_not_and_explain_says_which_way_was_taken) {
    const Compared along = compare("chains", {"--unwind", "fp", "--explain"});
    BOOST_TEST(along.equal < kChains / 2);
    BOOST_TEST(has(along.ended.err, "user stacks: by frame pointers\n"), along.ended.err);
    // Linux 5.17 has bpf_loop, without which the code takes long to load.
    const std::string chosen =
        running_kernel() < KernelVersion{5, 17, 0}
            ? "user stacks: by frame pointers; without bpf_loop (Linux 5.17) unwind tables take "
              "seconds to load: --unwind dwarf\n"
            : "user stacks: by unwind tables (.eh_frame), where a file has none by frame "
              "pointers\n";
    for (const std::vector<std::string>& way :
         {std::vector<std::string>(), std::vector<std::string>{"--unwind", "auto"}}) {
        std::vector<std::string> args{"run", "profile", "--dry-run"};
        args.insert(args.end(), way.begin(), way.end());
        const Ended automatic = test::gpufs(args);
        BOOST_TEST(has(automatic.out + automatic.err, chosen), automatic.out + automatic.err);
    }
    const Ended other = test::gpufs({"run", "profile", "--unwind", "lbr"});
    BOOST_TEST(other.status == 2);
    BOOST_TEST(other.err ==
               "gpufs: --unwind: 'lbr' is no way to take user stacks\nhint: fp, dwarf or auto\n");
}

// From its first on: its tables are made before it starts. What gpufs has no CPU for is told.
BOOST_AUTO_TEST_CASE(stacks_of_a_command_are_whole) {
    constexpr int kTrials = 5;
    for (const char* program : {"chains", "chains-lld", "chains-static"}) {
        bool are_most_whole = false;
        for (int i = 0; i < kTrials && !are_most_whole; ++i) {
            const Compared compared = compare_command(program);
            BOOST_TEST(compared.ended.status == 0, compared.ended.err);
            BOOST_TEST(accounted_for(compared) >= kChains * 995 / 1000,
                       program << ": " << compared.equal << " are equal\n"
                               << compared.ended.err);
            are_most_whole = compared.equal > kChains / 2;
        }
        BOOST_TEST(are_most_whole, program);
    }
}

// The library comes when gpufs is at work: what was not yet known is told.
BOOST_AUTO_TEST_CASE(libraries_that_are_loaded_later_are_followed) {
    const Compared compared = compare("chains", {"--unwind", "dwarf"}, "chains-plugin.so");
    BOOST_TEST(accounted_for(compared) >= kChains * 995 / 1000, compared.equal
                                                                    << " are equal\n"
                                                                    << compared.ended.err);
}

BOOST_AUTO_TEST_CASE(scripts_print_and_count_stacks_taken_so_too) {
    constexpr int kWalks = 100;
    Nest chains({Nest::build_file("chains"), "7", cat(kWalks)});
    test::Child::Setup setup;
    setup.argv = {test::gpufs_binary(),
                  "bt",
                  "--unwind",
                  "dwarf",
                  "-p",
                  cat(chains.pid()),
                  "-e",
                  cat("tracepoint:syscalls:sys_enter_getpriority { printf(\"%s\", ustack); "
                      "@[ustack(1)] = count(); if (++@n == ",
                      kWalks, ") { exit() } }")};
    test::Child child(setup);
    BOOST_TEST_REQUIRE(child.wait_for_error("Attached 1 probe\n", std::chrono::seconds(60)));
    chains.tell("");
    for (int i = 0; i < kWalks; ++i) chains.hear();
    const Ended ended = child.wait();
    BOOST_TEST(ended.status == 0, ended.err);
    // Where the main thread and the others begin, which has no name in arm64's C library.
    const auto is_begin = [](std::string_view line) {
        return line.starts_with("_start+") || line.starts_with("clone3+") || line.starts_with("0x");
    };
    int whole = 0;
    std::string_view last;
    for (const std::string_view line : lines_of(ended.out)) {
        whole += trim(line).empty() && is_begin(last);
        last = trim(line);
    }
    BOOST_TEST(whole >= kWalks * 99 / 100, ended.out);
    BOOST_TEST(has(ended.out, "getpriority+"), ended.out);
}

BOOST_AUTO_TEST_CASE(programs_without_tables_are_walked_along_frame_pointers_to_their_end) {
    Nest tableless({Nest::build_file("tableless")});
    const Ended ended = test::trace({"stacks", "syscalls:sys_enter_getpriority", "-p",
                                     cat(tableless.pid()), "--folded", "--unwind", "dwarf"},
                                    [&] {
                                        tableless.tell("");
                                        tableless.hear();
                                    });
    BOOST_TEST(ended.status == 0, ended.err);
    BOOST_TEST(has(ended.out,
                   ";_start (tableless);outer (tableless);middle (tableless);inner "
                   "(tableless);"),
               ended.out);
    BOOST_TEST(has(ended.err, "0 lost\n"), ended.err);
}

BOOST_AUTO_TEST_CASE(programs_in_a_mount_namespace_are_walked_by_the_files_that_they_see) {
    const test::TempFolder root;
    BOOST_TEST_REQUIRE(
        root.run("cp -L $B/chains $D/program && ldd $B/chains | grep -o '/[^ ]*' | "
                 "while read -r file; do cp -L --parents $file $D || exit; done"));
    const Compared compared = compare_run(
        {"unshare", "--mount", "chroot", root.file(""), "/program"}, {"--unwind", "dwarf"}, {});
    BOOST_TEST(compared.ended.status == 0, compared.ended.err);
    BOOST_TEST(compared.equal > 0, compared.ended.err);
    // It may become the program only when gpufs is at work.
    BOOST_TEST(accounted_for(compared) >= kChains * 995 / 1000, compared.equal
                                                                    << " are equal\n"
                                                                    << compared.ended.err);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace gpufs
