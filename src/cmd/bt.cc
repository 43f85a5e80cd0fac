#include <getopt.h>

#include <algorithm>
#include <optional>

#include "base/cat.h"
#include "base/error.h"
#include "base/scan.h"
#include "cmd/shared/command.h"
#include "cmd/shared/run_program.h"
#include "cmd/shared/script_run.h"
#include "engine/bt/listing.h"
#include "engine/monitor/kernel_facts.h"

namespace gpufs {
namespace {

constexpr const char* kHelp =
    "USAGE: gpufs bt [options] FILE [ARG…]\n"
    "       gpufs bt [options] -e PROGRAM [ARG…]\n\n"
    "Runs a script in the bpftrace language, with bpftrace's own command line and output; also\n"
    "as 'bpftrace', where gpufs is called by that name. 'gpufs run' takes scripts, too, with the\n"
    "options of gpufs.\n\n"
    "  -e PROGRAM        the script itself; FILE '-' is standard input\n"
    "  -l [PATTERN]      list probes: 'tracepoint:sched:*', 'kprobe:vfs_*', 'uprobe:FILE:*'; with\n"
    "                    -v also their arguments\n"
    "  -p PID            only what this process does\n"
    "  -c CMD            run CMD (words, no shell), and end with it\n"
    "  -f FORMAT         text or json\n"
    "  -o FILE           write the output to FILE\n"
    "  -B MODE           buffering of the output: line, full, none\n"
    "  -q                do not say what is attached\n"
    "  -v                show the verifier's whole log of what it refuses\n"
    "  -d ast            show what the script's text is understood as, and end\n"
    "  --dry-run         load the programs and say where each would run; attach nothing\n"
    "  --unsafe          let the script use functions that change the machine\n"
    "  --no-warnings     no warnings about the script\n"
    "  -V, --version     the version\n"
    "  -h, --help        this text\n";

enum LongOption { kUnsafe = 256, kNoWarnings, kDryRun };
const option kLongOptions[] = {
    {"help", no_argument, nullptr, 'h'},        {"version", no_argument, nullptr, 'V'},
    {"unsafe", no_argument, nullptr, kUnsafe},  {"no-warnings", no_argument, nullptr, kNoWarnings},
    {"dry-run", no_argument, nullptr, kDryRun}, {nullptr, 0, nullptr, 0},
};

// What the command line says.
struct BtChoices {
    ScriptChoices script;
    RunChoices run;
    std::optional<std::string> program, output;
    std::optional<std::string> pattern;  // of what is listed
    bool lists = false, is_help = false, is_version = false, is_quiet = false;
};

std::vector<std::string> split_at_blanks(const std::string& text) {
    std::vector<std::string> words;
    std::size_t at = 0;
    while ((at = text.find_first_not_of(" \t", at)) != std::string::npos) {
        const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

int parse_pid(const std::string& text) {
    Scan scan(text);
    const auto number = scan.take_number<int>();
    if (!number || !scan.rest().empty() || *number <= 0)
        throw UsageError(cat("-p takes a process id, not '", text, '\''));
    return *number;
}

void take_option(BtChoices& choices, int letter, const std::string& value, const char* word) {
    switch (letter) {
        case 'e':
            choices.program = value;
            return;
        case 'p':
            choices.script.pids.push_back(parse_pid(value));
            return;
        case 'c':
            choices.run.command = split_at_blanks(value);
            if (choices.run.command.empty()) throw UsageError("-c takes a command");
            return;
        case 'f':
            if (value != "text" && value != "json")
                throw UsageError(cat("Invalid output format \"", value, '"'),
                                 "valid formats are 'text' and 'json'");
            choices.run.json = value == "json";
            return;
        case 'o':
            choices.output = value;
            return;
        case 'B':
            if (value != "line" && value != "full" && value != "none")
                throw UsageError(
                    cat("USAGE: -B must be either 'line', 'full', or 'none', not '", value, '\''));
            return;
        case 'q':
            choices.is_quiet = true;
            return;
        case 'v':
            choices.run.verbose = true;
            return;
        case 'd':
            choices.script.stage = value;
            if (value != "ast") throw UsageError(cat("-d shows a stage: ast, not '", value, '\''));
            return;
        case 'l':
            choices.lists = true;
            return;
        case 'V':
            choices.is_version = true;
            return;
        case 'h':
            choices.is_help = true;
            return;
        case kUnsafe:
            choices.script.is_unsafe = true;
            return;
        case kNoWarnings:
            choices.script.has_warnings = false;
            return;
        case kDryRun:
            choices.run.dry_run = true;
            return;
        default:
            throw UsageError(cat("unknown option '", word, "', or it lacks its value"),
                             "'gpufs bt --help' lists them");
    }
}

// Up to the first word that is no option: what follows is the script's.
BtChoices parse_line(Args args) {
    std::vector<std::string> copies{"bt"};
    copies.insert(copies.end(), args.begin(), args.end());
    std::vector<char*> argv;
    for (std::string& one : copies) argv.push_back(one.data());
    argv.push_back(nullptr);
    BtChoices choices;
    ::optind = 0;
    ::opterr = 0;
    const int count = static_cast<int>(copies.size());
    for (int letter; (letter = ::getopt_long(count, argv.data(), "+e:p:c:f:o:B:d:lqvVh",
                                             kLongOptions, nullptr)) != -1;)
        take_option(choices, letter, ::optarg ? ::optarg : "",
                    argv[static_cast<std::size_t>(std::max(::optind - 1, 1))]);
    std::vector<std::string> words(copies.begin() + ::optind, copies.end());
    if (choices.lists) {
        if (words.size() > 1) throw UsageError("-l takes one pattern");
        choices.pattern = words.empty() ? "" : words[0];
    } else if (choices.program) {
        choices.script.source = {"stdin", *choices.program};
        choices.script.arguments = std::move(words);
    } else if (!words.empty()) {
        choices.script.source = read_script(words[0]);
        choices.script.arguments.assign(words.begin() + 1, words.end());
    } else if (!choices.is_help && !choices.is_version) {
        throw UsageError("there is no script to run", "-e PROGRAM, or a FILE");
    }
    return choices;
}

int list(Context& ctx, const BtChoices& choices) {
    KernelFacts facts;
    bt::ListingRequest request;
    request.pattern = *choices.pattern;
    request.has_arguments = choices.run.verbose;
    if (!choices.script.pids.empty()) request.pid = choices.script.pids.front();
    for (const std::string& line : bt::list_probes(facts, request)) ctx.out.line(line);
    return kOk;
}

}  // namespace

int cmd_bt(Context& ctx, Args args) {
    BtChoices choices = parse_line(args);
    if (choices.is_help) {
        ctx.out.write(kHelp);
        return kOk;
    }
    if (choices.is_version) {
        ctx.out.line(cat("bpftrace v0.26 (its language, by gpufs ", version(), ')'));
        return kOk;
    }
    if (choices.lists) return list(ctx, choices);
    if (choices.output) ctx.out.write_to(*choices.output);
    choices.script.says_attached = !choices.is_quiet;
    // As bpftrace has it, a script looks at the whole machine, and its end by a signal is a
    // success.
    const int status = run_script(ctx, choices.script, std::move(choices.run));
    return status < 0 ? kOk : status;
}

}  // namespace gpufs
