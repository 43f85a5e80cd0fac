#include <unistd.h>

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>

#include "base/cat.h"
#include "base/file.h"
#include "base/text.h"
#include "lang/program/registers.h"
#include "support/needs.h"
#include "support/run_gpufs.h"

// Every example of the manual and of README.md is tried as far as it can be without changing the
// machine: with --dry-run, for an instant, or for its messages.
namespace gpufs {
namespace {

namespace fs = std::filesystem;
namespace ut = boost::unit_test;
using test::Ended;
using test::has;

// A line that a page tells to type, behind "# " or "$ ", and what it says comes of it.
struct Example {
    std::string page, line;
    std::vector<std::string> said;
};

std::string without_troff(std::string line) {
    for (const auto& [escape, plain] :
         {std::pair("\\&", ""), std::pair("\\-", "-"), std::pair("\\(aq", "'"),
          std::pair("\\(ti", "~"), std::pair("\\(ha", "^"), std::pair("\\e", "\\")})
        for (std::size_t at = 0; (at = line.find(escape, at)) != line.npos;)
            line.replace(at, std::string_view(escape).size(), plain);
    return line == ".PP" ? "" : line;
}

// The lines of each example block.
std::vector<std::vector<std::string>> blocks_of(const std::string& page) {
    std::vector<std::vector<std::string>> blocks;
    bool is_inside = false;
    const std::string text = read_file(page);
    for (const std::string_view line : lines_of(text)) {
        const bool is_plain = !page.starts_with("man/");
        const bool was_inside = is_inside;
        if (is_plain)
            is_inside = line.starts_with("    ");
        else if (line == ".EX" || line == ".EE")
            is_inside = line == ".EX";
        if (is_inside && (is_plain || was_inside)) {
            if (blocks.empty() || (is_plain && !was_inside)) blocks.emplace_back();
            blocks.back().push_back(is_plain ? std::string(line.substr(4))
                                             : without_troff(std::string(line)));
        } else if (is_inside) {
            blocks.emplace_back();
        }
    }
    return blocks;
}

std::vector<std::string> pages() {
    std::vector<std::string> all = {"README.md"};
    for (const auto& entry : fs::directory_iterator("man")) all.push_back(entry.path());
    std::ranges::sort(all);
    return all;
}

bool is_prompt(const std::string& line) {
    static const std::regex kPrompt("[#$] ([A-Z_]+=[^ ]* )*(gpufs|cat|printf|echo) .*");
    return (line.starts_with("# ") || line.starts_with("$ ")) && std::regex_match(line, kPrompt);
}

std::vector<Example> examples_of(const std::string& page) {
    std::vector<Example> found;
    for (const auto& block : blocks_of(page)) {
        bool is_open = false;
        for (const std::string& line : block) {
            if (is_prompt(line)) {
                found.push_back({page, line.substr(2), {}});
                is_open = true;
            } else if (is_open) {
                found.back().said.push_back(line);
            }
        }
    }
    return found;
}

// What examples find where they are typed: the repository's folders, a recording, a recipe.
class Place {
public:
    Place() : path_(cat("/tmp/gpufs-test-", ::getpid(), ".examples")) {
        fs::create_directories(path_);
        fs::create_symlink(fs::absolute(test::gpufs_binary()), path_ + "/gpufs");
        fs::create_symlink(fs::absolute("bpf_asm"), path_ + "/bpf_asm");
        fs::create_symlink(fs::absolute("tests"), path_ + "/tests");
        fs::create_symlink(fs::absolute("tests/data/formats"), path_ + "/formats");
        fs::create_symlink(fs::absolute("tests/data/asm/object.o"), path_ + "/watch.o");
        for (const char* recording : {"trace.dat", "stall.dat"})
            fs::copy_file("tests/data/trace_dat/gpu-6.12.dat", cat(path_, "/", recording));
        for (const char* stacks : {"old.folded", "new.folded"}) write(stacks, {"main;copy 1"});
    }
    ~Place() { fs::remove_all(path_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    void write(const std::string& file, const std::vector<std::string>& lines) const {
        std::ofstream(cat(path_, "/", file)) << join(lines, "\n") << '\n';
    }
    // Makes the mistake that "gpufs: ./FILE:LINE:COLUMN: error: ..." shows in the line below it.
    void make_mistake(const std::vector<std::string>& said) const {
        static const std::regex kPlace("gpufs: ./([^:]+):([0-9]+):.*");
        std::smatch match;
        if (said.size() < 2 || !std::regex_match(said[0], match, kPlace)) return;
        const std::string text = read_file(cat(path_, "/", match[1].str()));
        std::vector<std::string> lines;
        for (const std::string_view line : lines_of(text)) lines.emplace_back(line);
        lines.at(std::stoul(match[2]) - 1) = said[1];
        write(match[1], lines);
    }
    Ended run(const std::string& line) const {
        test::Child::Setup setup;
        setup.argv = {"/bin/sh", "-c", cat("cd ", path_, " && PATH=", path_, ":$PATH; ", line)};
        return test::Child(setup).wait();
    }

private:
    std::string path_;
};

std::string command_of(const std::string& line) {
    static const std::regex kCommand("(^|[ |])gpufs ([a-z]+)");
    std::smatch match;
    return std::regex_search(line, match, kCommand) ? match[2].str() : "";
}

// Up to its pipe, its file, or the COMMAND behind --.
std::string gpufs_part(const std::string& line) {
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote != 0)
            quote = c == quote ? 0 : quote;
        else if (c == '\'' || c == '"')
            quote = c;
        else if (c == '|' || c == '>' || line.compare(i, 4, " -- ") == 0)
            return line.substr(0, i);
    }
    return line;
}

// The same command, so that it changes nothing and ends soon.
std::string harmless(const std::string& line, const std::string& help) {
    std::string part = gpufs_part(line);
    for (const auto& [what, instead] :
         {std::pair(std::string(" (--duration [^ ]+|--dry-run|--follow|--top)"), std::string()),
          std::pair(std::string("(-p |pids=)([0-9]+|\\$\\(.*\\))"), cat("$01", ::getpid()))})
        part = std::regex_replace(part, std::regex(what), instead);
    const bool asks = has(part, " list") || has(part, " --list") || has(part, "gpufs show");
    if (!asks && has(help, "--dry-run")) return part + " --dry-run";
    return !asks && has(help, "--duration") ? part + " --duration 10ms" : part;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

// It is right, but for what this kernel, machine or moment lacks.
bool lacks_something(const Ended& ended) {
    if (ended.status == 3) return true;
    if (has(ended.err, "did you mean")) return false;
    const std::string said = first_line(ended.err);
    return has(said, "this kernel") || has(said, "there is no session") ||
           has(said, "there is no file") || has(said, "no event is filtered") ||
           has(said, "has no field") || has(said, "events to be recorded has a field") ||
           has(said, "there is no GPU");
}

// Tries what is on the pages, and says how many lines it ran.
template <class IsWanted>
std::size_t try_examples(IsWanted&& is_wanted) {
    const Place place;
    std::map<std::string, std::string> helps;
    std::size_t ran = 0;
    for (const auto& block : blocks_of("man/gpufs-recipe.5"))
        if (block[0].starts_with("# slow-reads.trig ")) place.write("slow-reads.trig", block);
    for (const std::string& page : pages())
        for (const Example& example : examples_of(page))
            BOOST_TEST_CONTEXT(page << ": " << example.line) {
                if (example.line.starts_with("cat ")) {
                    place.write(example.line.substr(4), example.said);
                    continue;
                }
                const std::string command = command_of(example.line);
                if (command.empty() || command == "asm" || command == "disasm") continue;
                if (has(example.line, "--stale")) continue;  // tells what others left
                const bool names_register = has(example.line, "%di");
                if (names_register && !register_offset("di")) continue;  // the pages are x86-64's
                if (!is_wanted(example.line)) continue;
                place.make_mistake(example.said);
                std::string& help = helps[command];
                if (help.empty()) help = place.run(cat("gpufs ", command, " --help")).out;
                const Ended ended = place.run(harmless(example.line, help));
                ++ran;
                if (lacks_something(ended)) continue;
                const std::string said = example.said.empty() ? "" : example.said[0];
                if (said.starts_with("gpufs: cannot write ")) continue;  // the kernel refuses it
                // What the page's kernel lacks, this one has.
                if (said.starts_with("gpufs: this kernel has no ") && ended.status == 0) continue;
                if (said.starts_with("gpufs: "))
                    BOOST_TEST(first_line(ended.err) == said);
                else
                    BOOST_TEST(ended.status == 0, ended.err);
            }
    return ran;
}

BOOST_AUTO_TEST_SUITE(cli)
BOOST_AUTO_TEST_SUITE(examples_of_the_manual)

BOOST_AUTO_TEST_CASE(commands_are_understood_and_mistakes_have_these_messages,
                     *ut::label("pure") * ut::precondition(test::can_trace)) {
    BOOST_TEST(try_examples([](const std::string&) { return true; }) > 100u);
}

// What this machine's kernel may lack, a guest's has.
BOOST_AUTO_TEST_CASE(commands_about_functions_histograms_and_gpus_are_understood,
                     *ut::precondition(test::can_trace)) {
    static const std::regex kWants(
        "kprobe|kretprobe|fentry|hist key|snapshot|do_|drm|fence|gpu|nvidia");
    BOOST_TEST(try_examples([](const std::string& line) {
                   return std::regex_search(line.substr(line.find(' ')), kWants);
               }) > 10u);
}

BOOST_AUTO_TEST_CASE(assembling_prints_what_the_manual_shows, *ut::label("pure")) {
    const Place place;
    std::size_t ran = 0;
    for (const char* page : {"man/gpufs-asm.1", "man/gpufs-disasm.1"})
        for (const Example& example : examples_of(page)) {
            if (has(example.line, "watch.o")) continue;  // compiled from C that is not shown
            const Ended ended = place.run(example.line);
            BOOST_TEST(ended.status == 0, ended.err);
            BOOST_TEST(ended.out == join(example.said, "\n") + '\n', example.line);
            ++ran;
        }
    BOOST_TEST(ran == 4u);
}

// On this kernel, as far as it has the events.
BOOST_AUTO_TEST_CASE(programs_load, *ut::precondition(test::can_trace)) {
    const Place place;
    std::size_t loaded = 0;
    for (const std::string& page : pages())
        for (const auto& block : blocks_of(page)) {
            const bool has_program = std::ranges::any_of(
                block, [](const std::string& line) { return line.starts_with(".prog "); });
            if (!has_program || block[0].starts_with("$ cat ")) continue;
            place.write("example.bpf", block);
            const Ended ended = place.run("gpufs run ./example.bpf --dry-run");
            BOOST_TEST((ended.status == 0 || lacks_something(ended)),
                       cat(page, ": ", join(block, "\n"), '\n', ended.err));
            loaded += ended.status == 0;
        }
    BOOST_TEST(loaded >= 4u);
}

BOOST_AUTO_TEST_SUITE_END()
BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace gpufs
