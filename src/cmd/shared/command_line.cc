#include "cmd/shared/command_line.h"

#include <boost/program_options.hpp>
#include <charconv>
#include <limits>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cmd/shared/session_choice.h"

namespace gpufs {

namespace po = boost::program_options;

struct Options::State {
    std::string usage, about;
    std::vector<std::vector<std::string>*> lists;  // filled with comma-separated pieces
    std::vector<std::pair<std::string, std::optional<std::string>*>> texts;
    std::vector<int>* pids = nullptr;
    std::vector<std::string> pid_words;
    po::options_description options{"options"};

    std::string help() const {
        std::string text = cat("usage: gpufs ", usage, "\n\n", about, "\n\n");
        std::size_t width = 0;
        for (const auto& option : options.options())
            width = std::max(width, left_column(*option).size());
        for (const auto& option : options.options()) {
            const std::string left = left_column(*option);
            text += cat("  ", left, std::string(width - left.size() + 2, ' '),
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

Options& Options::value(const std::string& name, std::optional<std::string>& text,
                        const std::string& argument, const std::string& help) {
    state_->texts.emplace_back(name.substr(0, name.find(',')), &text);
    state_->options.add_options()(name.c_str(), po::value<std::string>()->value_name(argument),
                                  help.c_str());
    return *this;
}

Options& Options::list(const std::string& name, std::vector<std::string>& texts,
                       const std::string& argument, const std::string& help) {
    state_->options.add_options()(name.c_str(), po::value(&texts)->value_name(argument),
                                  help.c_str());
    return *this;
}

Options& Options::events(std::vector<std::string>& events) {
    state_->lists.push_back(&events);
    state_->options.add_options()(
        "event,e", po::value(&events)->value_name("EVENT"),
        "event, system or shell pattern; repeated or separated by commas");
    return *this;
}

Options& Options::condition(std::string& expression) {
    state_->options.add_options()("if", po::value(&expression)->value_name("EXPR"),
                                  "only where the expression holds, as in 'gpufs filter'");
    return *this;
}

Options& Options::session(SessionChoice& choice) {
    state_->options.add_options()("session", po::value(&choice.name)->value_name("NAME"),
                                  "another session than 'gpufs'")(
        "global", po::bool_switch(&choice.global),
        "the top-level buffer, which is shared with other tracers");
    return *this;
}

Options& Options::pids(std::vector<int>& pids, const std::string& help) {
    state_->pids = &pids;
    state_->lists.push_back(&state_->pid_words);
    state_->options.add_options()("pid,p", po::value(&state_->pid_words)->value_name("PID"),
                                  help.c_str());
    return *this;
}

Options& Options::duration(std::optional<std::string>& time) {
    return value("duration", time, "T", "end after this time (30s, 5m)");
}

Options& Options::interval(std::optional<std::string>& time) {
    return value("interval", time, "T", "show and clear the counts every T (1s, 500ms; 5 is 5s)");
}

Options& Options::input(std::optional<std::string>& file) {
    return value("input,i", file, "FILE", "read a recording (trace.dat) instead of this machine");
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

bool Options::parse(Context& ctx, Args args, std::vector<std::string>& words) {
    bool help = false;
    flag("help,h", help, "show this help");
    po::options_description all;
    all.add(state_->options).add_options()("word", po::value(&words));
    try {
        po::variables_map map;
        namespace style = po::command_line_style;
        // Abbreviated options would change their meaning when one is added.
        po::store(po::command_line_parser(std::vector<std::string>(args.begin(), args.end()))
                      .options(all)
                      .positional(po::positional_options_description{}.add("word", -1))
                      .style(style::default_style & ~style::allow_guessing)
                      .run(),
                  map);
        po::notify(map);
        for (const auto& [name, text] : state_->texts)
            if (map.count(name)) *text = map[name].as<std::string>();
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
    for (std::vector<std::string>* list : state_->lists) {
        std::vector<std::string> pieces;
        for (const std::string& word : *list)
            for (std::string& piece : split(word, ',')) pieces.push_back(std::move(piece));
        *list = std::move(pieces);
    }
    for (const std::string& word : state_->pid_words) state_->pids->push_back(parse_pid(word));
    return true;
}

int parse_pid(const std::string& text) {
    const unsigned long pid = parse_count("pid", text);
    if (pid > static_cast<unsigned long>(std::numeric_limits<int>::max()))
        throw UsageError(cat("--pid: no process has the number ", text));
    return static_cast<int>(pid);
}

void check_words(const std::vector<std::string>& words, std::size_t most, std::string hint) {
    if (words.size() > most)
        throw UsageError(cat("'", words[most], "' is one word too many"), std::move(hint));
}

unsigned long parse_count(const std::string& option, const std::string& text) {
    unsigned long n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size() || n == 0)
        throw UsageError(cat("--", option, " takes a positive number, not '", text, "'"));
    return n;
}

}  // namespace gpufs
