#include "cmd/shared/command_line.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/shared/getopt_words.h"
#include "cmd/shared/session_choice.h"
#include "view/columns.h"

namespace gpufs {

namespace {

// "duration" of "duration,d".
std::string long_name(const std::string& name) {
    return name.substr(0, name.find(','));
}

int parse_pid(const std::string& text) {
    const unsigned long pid = parse_positive("--pid", text);
    if (pid > static_cast<unsigned long>(std::numeric_limits<int>::max()))
        throw UsageError(cat("--pid: no process has the number ", text));
    return static_cast<int>(pid);
}

// 0 is the idle task.
int parse_recorded_task(const std::string& text) {
    const auto number = whole_number<unsigned long>(text);
    if (!number) throw UsageError(cat("--pid takes a number from 0 on, not '", text, "'"));
    return *number == 0 ? 0 : parse_pid(text);
}

std::string parse_session_name(const std::string& text) {
    if (!Session::is_name(text))
        throw UsageError(cat("'", text, "' cannot name a session"),
                         "letters, digits and '_', with a letter first");
    return text;
}

// Calls `parse` for each comma-separated part.
Options::Parse for_each_piece(Options::Parse parse) {
    return [parse = std::move(parse)](const std::string& text) {
        const std::vector<std::string> pieces = split(text, ',');
        if (pieces.empty())
            throw UsageError(cat("there is nothing between the commas of '", text, "'"));
        for (const std::string& piece : pieces) parse(piece);
    };
}

}  // namespace

struct Options::State {
    // An option, and what reads it: a switch, or the function that parses its text.
    struct Declared {
        std::string name{};
        char letter = 0;                 // 0: it has none
        std::string argument{}, help{};  // a switch has no argument
        bool* is_on = nullptr;
        bool is_list = false;
        Parse parse{};
        std::vector<std::string> texts{};  // as the command line gives them

        bool is_given_by(std::string_view word) const {
            return word == "--" + name || (letter != 0 && word == std::string{'-', letter});
        }
        void read() const {
            for (const std::string& text : texts) {
                if (is_on) continue;
                if (text.empty()) throw UsageError(cat("--", name, ": ", argument, " is empty"));
                parse_named(text);
            }
        }
        // Adds the option's name to the message unless `parse` did.
        void parse_named(const std::string& text) const {
            const std::string option = "--" + name;
            try {
                parse(text);
            } catch (const UsageError& e) {
                if (std::string_view(e.what()).starts_with(option)) throw;
                throw UsageError(cat(option, ": ", e.what()), e.hint(), e.evidence());
            }
        }
    };

    std::string usage, about;
    std::vector<Declared> options;
    bool is_raw = false;
    Controls* controls = nullptr;  // of --raw
    std::optional<std::string> output;

    // `name` is "duration,d" or "duration".
    void declare(const std::string& name, Declared option) {
        option.name = long_name(name);
        option.letter = option.name.size() < name.size() ? name.back() : '\0';
        options.push_back(std::move(option));
    }

    // Sorts the words by getopt_long(3): texts to their options, the others to `words`.
    void sort(Args args, std::vector<std::string>& words);

    std::string help() const {
        std::string text = cat("usage: gpufs ", usage, "\n\n", about, "\n\n");
        std::size_t width = 0;
        for (const Declared& option : options)
            width = std::max(width, columns_of(left_column(option)));
        for (const Declared& option : options) {
            const std::string left = left_column(option);
            text +=
                cat("  ", left, std::string(width - columns_of(left) + 2, ' '), option.help, "\n");
        }
        return text;
    }
    // "-e, --event EVENT", "    --all".
    static std::string left_column(const Declared& option) {
        return cat(option.letter != 0 ? cat('-', option.letter, ", ") : "    ", "--", option.name,
                   option.argument.empty() ? "" : " ", option.argument);
    }

private:
    // The code of an option's long form: this and its place in `options`.
    static constexpr int kLong = 256;

    // The option of a code, letters' too; options.size() for another one.
    std::size_t place_of(int code) const;
    [[noreturn]] void fail(int wrong, std::string_view word) const;
};

std::size_t Options::State::place_of(int code) const {
    if (code >= kLong) return static_cast<std::size_t>(code - kLong);
    const auto found = std::ranges::find(options, static_cast<char>(code), &Declared::letter);
    return static_cast<std::size_t>(found - options.begin());
}

// `wrong`: the code of an option that lacks its text, or of a switch that has one; else a letter
// that is no option, or 0 for a name that is none.
void Options::State::fail(int wrong, std::string_view word) const {
    const std::string usage_hint = cat("usage: gpufs ", usage);
    const std::string given = wrong != 0 && wrong < kLong
                                  ? std::string{'-', static_cast<char>(wrong)}
                                  : std::string(word.substr(0, word.find('=')));
    if (const std::size_t place = place_of(wrong); wrong != 0 && place < options.size()) {
        const Declared& known = options[place];
        throw UsageError(known.is_on ? cat("option '", given, "' takes no value")
                                     : cat("option '", given, "' needs ", known.argument),
                         usage_hint);
    }
    std::vector<std::string> names;
    for (const Declared& option : options) names.push_back("--" + option.name);
    const std::string near = did_you_mean(given, names);
    throw UsageError(cat("unknown option '", given, "'"), near.empty() ? usage_hint : near);
}

void Options::State::sort(Args args, std::vector<std::string>& words) {
    std::string letters;
    std::vector<::option> names;
    for (const Declared& option : options) {
        const int takes = option.is_on ? no_argument : required_argument;
        names.push_back(
            {option.name.c_str(), takes, nullptr, kLong + static_cast<int>(names.size())});
        if (option.letter != 0) letters += option.letter;
        if (option.letter != 0 && !option.is_on) letters += ':';
    }
    names.push_back({});
    GetoptWords line(args);
    while (const auto found = line.next(letters, names.data())) {
        if (found->code == GetoptWords::kWord) {
            words.emplace_back(found->text);
            continue;
        }
        if (found->code == '?' || found->code == ':') fail(found->about, found->word);
        Declared& option = options[place_of(found->code)];
        // getopt_long() takes abbreviations, whose meaning would change when an option is added.
        const std::string_view name = found->word.substr(2);
        if (found->code >= kLong && name.substr(0, name.find('=')) != option.name)
            fail(0, found->word);
        const std::string_view text = found->text ? found->text : "";
        const auto is_option = [&](const Declared& other) { return other.is_given_by(text); };
        if (found->is_text_next && std::ranges::any_of(options, is_option))
            fail(found->code, found->word);
        if (!option.is_list && !option.texts.empty())
            throw UsageError(cat("option '--", option.name, "' is given twice"),
                             cat("usage: gpufs ", usage));
        option.texts.emplace_back(text);
        if (option.is_on) *option.is_on = true;
    }
    for (std::string& word : line.rest()) words.push_back(std::move(word));
}

Options::Options(std::string usage, std::string about) : state_(std::make_unique<State>()) {
    state_->usage = std::move(usage);
    state_->about = std::move(about);
}

Options::~Options() = default;

Options& Options::flag(const std::string& name, bool& on, const std::string& help) {
    state_->declare(name, {.help = help, .is_on = &on});
    return *this;
}

Options& Options::parsed(const std::string& name, const std::string& argument,
                         const std::string& help, Parse parse) {
    state_->declare(name, {.argument = argument, .help = help, .parse = std::move(parse)});
    return *this;
}

Options& Options::list(const std::string& name, const std::string& argument,
                       const std::string& help, Parse parse) {
    state_->declare(
        name, {.argument = argument, .help = help, .is_list = true, .parse = std::move(parse)});
    return *this;
}

Options& Options::value(const std::string& name, std::optional<std::string>& text,
                        const std::string& argument, const std::string& help) {
    return parsed(name, argument, help, [&text](const std::string& given) { text = given; });
}

Options& Options::time(const std::string& name, std::optional<Time>& time,
                       const std::string& help) {
    return parsed(name, "T", help,
                  [&time, option = "--" + long_name(name)](const std::string& text) {
                      time = parse_duration(option, text);
                  });
}

Options& Options::size(const std::string& name, std::optional<std::uint64_t>& bytes,
                       const std::string& help) {
    return parsed(name, "SIZE", help,
                  [&bytes, option = "--" + long_name(name)](const std::string& text) {
                      bytes = parse_size(option, text);
                  });
}

Options& Options::count(const std::string& name, std::optional<unsigned long>& count,
                        const std::string& help) {
    return parsed(name, "N", help,
                  [&count, option = "--" + long_name(name)](const std::string& text) {
                      count = parse_positive(option, text);
                  });
}

Options& Options::expression(const std::string& name, std::optional<Expression>& expression,
                             const std::string& help) {
    return parsed(name, "EXPR", help,
                  [&expression, option = "--" + long_name(name)](const std::string& text) {
                      expression = parse_expression({option, text});
                  });
}

Options& Options::events(std::vector<std::string>& events) {
    return list("event,e", "EVENT",
                "event, system or shell pattern; repeated or separated by commas",
                for_each_piece([&events](const std::string& word) { events.push_back(word); }));
}

Options& Options::condition(std::optional<Expression>& condition) {
    return expression("if", condition, "only where the expression holds, as in 'gpufs filter'");
}

Options& Options::session(SessionChoice& choice) {
    return parsed("session", "NAME", "another session than 'gpufs'",
                  [&choice](const std::string& text) { choice.name = parse_session_name(text); })
        .flag("global", choice.global, "the top-level buffer, which is shared with other tracers");
}

Options& Options::session_name(std::optional<std::string>& name, const std::string& help) {
    return parsed("session", "NAME", help,
                  [&name](const std::string& text) { name = parse_session_name(text); });
}

Options& Options::pids(std::vector<int>& pids, const std::string& help) {
    return list("pid,p", "PID", help, for_each_piece([&pids](const std::string& word) {
                    pids.push_back(parse_pid(word));
                }));
}

Options& Options::recorded_tasks(std::vector<int>& tids, const std::string& help) {
    return list("pid,p", "PID", help, for_each_piece([&tids](const std::string& word) {
                    tids.push_back(parse_recorded_task(word));
                }));
}

Options& Options::duration(std::optional<Time>& time, Time at_least) {
    return parsed("duration,d", "T", "end after this time (30s, 5m)",
                  [&time, at_least](const std::string& text) {
                      time = parse_duration("--duration", text);
                      if (time < at_least)
                          throw UsageError("--duration 0 would end before anything is seen",
                                           "without --duration it goes on until Ctrl-C");
                  });
}

Options& Options::interval(std::optional<Time>& time) {
    return parsed("interval", "T", "show and clear the counts every T (1s, 500ms; 5 is 5s)",
                  [&time](const std::string& text) {
                      time = parse_duration("--interval", text);
                      if (time < std::chrono::milliseconds(1))
                          throw UsageError("--interval is 1ms or more", "a bare number is seconds");
                  });
}

Options& Options::input(std::optional<std::string>& file) {
    return value(
        "input,i", file, "FILE",
        "read a recording (trace.dat, perf.data, tracefs' text; - is stdin) instead of this "
        "machine");
}

Options& Options::output() {
    return value("output,o", state_->output, "FILE", "write to this file instead of stdout");
}

Options& Options::all(bool& on) {
    return flag("all", on, "the whole machine, not only the COMMAND and what it starts");
}

Options& Options::dry_run(bool& on) {
    return flag("dry-run", on, "print the writes as shell commands, and change nothing");
}

Options& Options::json(bool& on) {
    return flag("json", on, "one JSON object a line");
}

Options& Options::strict(bool& on) {
    return flag("strict", on, "exit status 4 when something is lost");
}

Options& Options::raw(Controls& controls) {
    state_->controls = &controls;
    return flag("raw", state_->is_raw, "control characters in names and texts as they are");
}

bool Options::parse(Context& ctx, Args args, std::vector<std::string>& words) {
    bool help = false;
    flag("help,h", help, "show this help");
    state_->sort(args, words);
    if (help) {
        ctx.out.write(state_->help());
        return false;
    }
    for (const State::Declared& option : state_->options) option.read();
    if (state_->is_raw) *state_->controls = Controls::raw;
    if (state_->output && *state_->output != "-") ctx.out.write_to(*state_->output);
    return true;
}

const char* first_given(std::initializer_list<GivenOption> options) {
    const auto* const given = std::ranges::find(options, true, &GivenOption::is_given);
    return given == options.end() ? nullptr : given->name;
}

void check_exclusive(std::initializer_list<GivenOption> options) {
    const char* first = nullptr;
    for (const auto& [name, is_given] : options) {
        if (is_given && first) throw UsageError(cat(first, " and ", name, " exclude each other"));
        if (is_given) first = name;
    }
}

void check_words(const std::vector<std::string>& words, std::size_t most, std::string_view hint) {
    if (words.size() > most)
        throw UsageError(cat("'", words[most], "' is one word too many"), hint);
}

}  // namespace gpufs
