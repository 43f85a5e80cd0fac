#include "cmd/shared/command_line.h"

#include <boost/program_options.hpp>
#include <limits>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/shared/session_choice.h"
#include "view/columns.h"

namespace gpufs {

namespace po = boost::program_options;

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
    // An option with a text, and the function that parses it.
    struct Reader {
        std::string name, argument;
        bool is_list;
        Parse parse;

        void read(const po::variables_map& map) const {
            const auto found = map.find(name);
            if (found == map.end()) return;
            const auto texts = is_list ? found->second.as<std::vector<std::string>>()
                                       : std::vector{found->second.as<std::string>()};
            for (const std::string& text : texts) {
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
    std::vector<Reader> readers;
    bool is_raw = false;
    Controls* controls = nullptr;  // of --raw
    std::optional<std::string> output;
    po::options_description options{"options"};

    std::string help() const {
        std::string text = cat("usage: gpufs ", usage, "\n\n", about, "\n\n");
        std::size_t width = 0;
        for (const auto& option : options.options())
            width = std::max(width, columns_of(left_column(*option)));
        for (const auto& option : options.options()) {
            const std::string left = left_column(*option);
            text += cat("  ", left, std::string(width - columns_of(left) + 2, ' '),
                        option->description(), "\n");
        }
        return text;
    }
    // "-e, --event EVENT", "    --all".
    static std::string left_column(const po::option_description& option) {
        namespace style = po::command_line_style;
        const std::string name = option.canonical_display_name(style::allow_dash_for_short);
        const bool has_short = name.starts_with('-');
        const std::string argument =
            option.semantic()->max_tokens() ? option.semantic()->name() : std::string();
        return cat(has_short ? name + ", " : "    ", "--", option.long_name(),
                   argument.empty() ? "" : " ", argument);
    }
};

Options::Options(std::string usage, std::string about) : state_(std::make_unique<State>()) {
    state_->usage = std::move(usage);
    state_->about = std::move(about);
}

Options::~Options() = default;

Options& Options::flag(const std::string& name, bool& on, const std::string& help) {
    state_->options.add_options()(name.c_str(), po::bool_switch(&on), help.c_str());
    return *this;
}

Options& Options::parsed(const std::string& name, const std::string& argument,
                         const std::string& help, Parse parse) {
    state_->readers.push_back({long_name(name), argument, false, std::move(parse)});
    state_->options.add_options()(name.c_str(), po::value<std::string>()->value_name(argument),
                                  help.c_str());
    return *this;
}

Options& Options::list(const std::string& name, const std::string& argument,
                       const std::string& help, Parse parse) {
    state_->readers.push_back({long_name(name), argument, true, std::move(parse)});
    state_->options.add_options()(
        name.c_str(), po::value<std::vector<std::string>>()->value_name(argument), help.c_str());
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

Options& Options::duration(std::optional<Time>& time) {
    return this->time("duration,d", time, "end after this time (30s, 5m)");
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
    po::options_description all;
    all.add(state_->options).add_options()("word", po::value(&words));
    po::variables_map map;
    try {
        namespace style = po::command_line_style;
        // Abbreviations would change their meaning when an option is added.
        po::store(po::command_line_parser(std::vector<std::string>(args.begin(), args.end()))
                      .options(all)
                      .positional(po::positional_options_description{}.add("word", -1))
                      .style(style::default_style & ~style::allow_guessing)
                      .run(),
                  map);
        po::notify(map);
    } catch (const po::unknown_option& e) {
        std::vector<std::string> names;
        for (const auto& option : state_->options.options())
            names.push_back("--" + option->long_name());
        std::string hint = did_you_mean(e.get_option_name(), names);
        if (hint.empty()) hint = cat("usage: gpufs ", state_->usage);
        throw UsageError(cat("unknown option '", e.get_option_name(), "'"), hint);
    } catch (const po::error& e) {
        throw UsageError(e.what(), cat("usage: gpufs ", state_->usage));
    }
    if (help) {
        ctx.out.write(state_->help());
        return false;
    }
    for (const State::Reader& reader : state_->readers) reader.read(map);
    if (state_->is_raw) *state_->controls = Controls::raw;
    if (state_->output && *state_->output != "-") ctx.out.write_to(*state_->output);
    return true;
}

void check_words(const std::vector<std::string>& words, std::size_t most, std::string hint) {
    if (words.size() > most)
        throw UsageError(cat("'", words[most], "' is one word too many"), std::move(hint));
}

}  // namespace gpufs
