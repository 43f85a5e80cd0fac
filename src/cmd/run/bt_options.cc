#include "cmd/run/bt_options.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/cat.h"
#include "base/error.h"
#include "base/scan.h"
#include "cmd/shared/getopt_words.h"
#include "cmd/shared/source_input.h"
#include "kernel/host/debug_folders.h"

namespace gpufs {
namespace {

constexpr const char* kHelp =
    "USAGE:\n"
    "    gpufs bt [options] FILE [ARG…] [-- --NAME=VALUE…]\n"
    "    gpufs bt [options] -e PROGRAM [ARG…] [-- --NAME=VALUE…]\n"
    "    gpufs bt [options] -l [PATTERN|FILE]\n\n"
    "Runs a script in the bpftrace language, with bpftrace's own command line and output; also\n"
    "as 'bpftrace', where gpufs is called by that name. 'gpufs run' takes scripts, too, with the\n"
    "options of gpufs.\n\n"
    "OPTIONS:\n"
    "  -e PROGRAM        the script itself; FILE '-' is standard input\n"
    "  -l, --list        list probes: 'tracepoint:sched:*', 'kprobe:vfs_*', 'uprobe:FILE:*',\n"
    "                    or those of a script; with -v also their arguments\n"
    "  -p, --pid PID     only what this process does\n"
    "  -c, --cmd CMD     run CMD (words, no shell), and end with it\n"
    "  -f FORMAT         text or json\n"
    "  -o, --output FILE write the output to FILE\n"
    "  -B MODE           buffering of the output: line, full, none\n"
    "  -k, --warnings    warn where an element is read or deleted that is not in its map, and\n"
    "                    where memory cannot be read\n"
    "  -q, --quiet       do not say what is attached\n"
    "  -v, --verbose     show the verifier's whole log of what it refuses\n"
    "  -d, --debug PASS  show what a pass of the compiler makes of the script, and end: ast (its\n"
    "                    text as a tree), types, ir (before registers are assigned), asm\n"
    "  -I DIR            look here, too, for files that the script includes or imports\n"
    "  --include FILE    as #include does in front of the script\n"
    "  --probe-filter RE only the probes whose names match this regular expression\n"
    "  --debuginfo DIR[:DIR]\n"
    "                    look here, too, for separate debug files\n"
    "  --dry-run         load the programs and say where each would run; attach nothing\n"
    "  --unwind fp|dwarf|auto\n"
    "                    how user stacks are taken: by frame pointers, by unwind tables, by these\n"
    "                    where this kernel can\n"
    "  --raw             control characters in names and texts as they are\n"
    "  --unsafe          let the script use functions that change the machine\n"
    "  --no-warnings     no warnings about the script, none from it\n"
    "  --info            what this kernel can do for scripts\n"
    "  -V, --version     the version\n"
    "  -h, --help        this text\n";

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

// The most that pid_max can be set to.
constexpr std::int64_t kMostPid = 4 << 20;

int parse_bt_pid(const std::string& text) {
    const char* const language = std::getenv("BPFTRACE_LANGUAGE");
    const bool is_old = language && std::string_view(language) == "0.17";
    Scan scan(text);
    const auto number = scan.take_number<std::int64_t>();
    if (!number || !scan.rest().empty())
        throw UsageError(is_old ? cat("pid '", text, "' is not a valid decimal number")
                                : cat("Failed to parse pid: invalid ",
                                      number ? "trailing bytes" : "integer", ": ", text));
    if (*number < 1 || *number > kMostPid)
        throw UsageError(is_old ? cat("pid '", text, "' out of valid pid range [1,", kMostPid, ']')
                                : cat("Pid out of range: ", text),
                         is_old ? "" : cat("a process has a number from 1 to ", kMostPid));
    return static_cast<int>(*number);
}

std::string checked(const char* option, const std::string& value,
                    std::initializer_list<std::string_view> known) {
    if (std::ranges::find(known, value) != known.end()) return value;
    std::string all;
    for (const std::string_view one : known) all += cat(all.empty() ? "" : ", ", one);
    throw UsageError(cat(option, " takes one of ", all, ", not '", value, '\''));
}

void take_command(BtChoices& choices, const std::string& words) {
    choices.run.command = split_at_blanks(words);
    if (choices.run.command.empty()) throw UsageError("-c takes a command");
}

// Of several options all folders are looked in.
void take_debug_folders(BtChoices&, const std::string& folders) {
    if (folders.empty()) throw UsageError("--debuginfo takes folders");
    const char* const given = std::getenv(kDebugFoldersVariable);
    ::setenv(kDebugFoldersVariable, (given ? cat(given, ':', folders) : folders).c_str(), 1);
}

void take_format(BtChoices& choices, const std::string& name) {
    if (name != "text" && name != "json")
        throw UsageError(cat("Invalid output format \"", name, '"'),
                         "Valid formats: 'text', 'json'");
    choices.run.json = name == "json";
}

// An option by its letter, its name, or both, and what becomes of its value.
struct BtOption {
    char letter;       // 0: none
    const char* name;  // null: none
    bool has_value;
    void (*take)(BtChoices& choices, const std::string& value);
};
constexpr BtOption kOptions[] = {
    // Of several the last one is run.
    {'e', nullptr, true, [](BtChoices& in, const std::string& value) { in.program = value; }},
    {'p', "pid", true,
     [](BtChoices& in, const std::string& value) {
         in.script.pids.push_back(parse_bt_pid(value));
     }},
    {'c', "cmd", true, take_command},
    {'f', nullptr, true, take_format},
    {'o', "output", true, [](BtChoices& in, const std::string& value) { in.output = value; }},
    {'B', nullptr, true,
     [](BtChoices&, const std::string& value) {
         checked("-B", value, {"line", "full", "none"});
     }},
    {'k', "warnings", false,
     [](BtChoices& in, const std::string&) { in.script.tells_failures = true; }},
    {'q', "quiet", false, [](BtChoices& in, const std::string&) { in.is_quiet = true; }},
    {'v', "verbose", false, [](BtChoices& in, const std::string&) { in.run.verbose = true; }},
    {'d', "debug", true,
     [](BtChoices& in, const std::string& value) {
         in.script.stage = checked("-d", value, {"ast", "types", "ir", "asm"});
     }},
    {'l', "list", false, [](BtChoices& in, const std::string&) { in.pattern = ""; }},
    {'I', nullptr, true,
     [](BtChoices& in, const std::string& value) { in.script.include_folders.push_back(value); }},
    {0, "include", true,
     [](BtChoices& in, const std::string& value) { in.script.includes.push_back(value); }},
    {0, "probe-filter", true,
     [](BtChoices& in, const std::string& value) { in.script.probe_filter = value; }},
    {0, "debuginfo", true, take_debug_folders},
    // The kernel counts the listeners of a probe's semaphore in each process that has the file.
    {0, "usdt-file-activation", false, [](BtChoices&, const std::string&) {}},
    {0, "dry-run", false, [](BtChoices& in, const std::string&) { in.run.dry_run = true; }},
    {0, "unwind", true,
     [](BtChoices& in, const std::string& value) { in.run.unwind = parse_unwind(value); }},
    {0, "raw", false, [](BtChoices& in, const std::string&) { in.run.controls = Controls::raw; }},
    {0, "unsafe", false, [](BtChoices& in, const std::string&) { in.script.is_unsafe = true; }},
    {0, "no-warnings", false,
     [](BtChoices& in, const std::string&) { in.script.has_warnings = false; }},
    {0, "info", false, [](BtChoices& in, const std::string&) { in.is_info = true; }},
    {'V', "version", false, [](BtChoices& in, const std::string&) { in.is_version = true; }},
    {'h', "help", false, [](BtChoices& in, const std::string&) { in.is_help = true; }},
};

// What getopt_long(3) tells an option by: its letter, or behind all letters its place in the table.
int code_of(const BtOption& option) {
    return option.letter ? option.letter : 256 + static_cast<int>(&option - kOptions);
}

// getopt_long(3)'s two tables of them.
struct GetoptTables {
    std::string letters;
    std::vector<option> names;
};
GetoptTables getopt_tables() {
    GetoptTables made;
    for (const BtOption& one : kOptions) {
        if (one.letter) made.letters += cat(one.letter, one.has_value ? ":" : "");
        if (one.name)
            made.names.push_back(
                {one.name, one.has_value ? required_argument : no_argument, nullptr, code_of(one)});
    }
    made.names.push_back({});
    return made;
}

// The script, and the words that are its arguments.
void take_words(BtChoices& choices, std::vector<std::string> words) {
    if (choices.pattern) {
        if (words.size() > 1) throw UsageError("-l takes one pattern");
        if (!words.empty()) choices.pattern = words[0];
        if (choices.program)
            choices.script.source = {std::string(kStandardInput), *choices.program};
    } else if (choices.program) {
        choices.script.source = {std::string(kStandardInput), *choices.program};
        choices.script.arguments = std::move(words);
    } else if (!words.empty()) {
        choices.script.source = read_script(words[0]);
        choices.script.arguments.assign(words.begin() + 1, words.end());
    } else if (!choices.is_help && !choices.is_version && !choices.is_info) {
        throw UsageError(cat("there is no script to run\n\n", bt_help()));
    }
}

}  // namespace

std::string bt_help() {
    return kHelp;
}

BtChoices parse_bt_line(Args args) {
    GetoptWords line(args);
    BtChoices choices;
    std::vector<std::string> words;
    const GetoptTables known = getopt_tables();
    while (const auto found = line.next(known.letters, known.names.data())) {
        const std::string text = found->text ? found->text : "";
        const auto option = std::ranges::find(kOptions, found->code, code_of);
        if (found->code == GetoptWords::kWord)
            words.push_back(text);
        else if (option != std::end(kOptions))
            option->take(choices, text);
        else
            throw UsageError(
                cat("unknown option '", found->word, "', ",
                    found->word == "--json" ? "'-f json' prints JSON" : "or it lacks its value",
                    "\n\n", bt_help()));
    }
    for (std::string& word : line.rest()) words.push_back(std::move(word));
    take_words(choices, std::move(words));
    return choices;
}

}  // namespace gpufs
