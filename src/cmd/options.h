#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/command.h"
#include "gpufs/engine/session.h"

namespace gpufs {

class Changes;

// One command's options. Each is declared here once, with its name and its help, so that the same
// option means the same everywhere; a command says which of them it takes.
//
//   Options options("filter [-e EVENT…] EXPR", "…");
//   options.events(e).session(s).dry_run(dry);
//   if (!options.parse(ctx, args, words)) return kOk;   // --help was asked for and printed
class Options {
public:
    // `usage` is the line behind "usage: gpufs", `about` a paragraph below it.
    Options(std::string usage, std::string about);
    ~Options();

    // Options that mean the same in every command.
    Options& events(std::vector<std::string>& events);
    Options& condition(std::string& expression);
    Options& session(struct SessionChoice& choice);
    Options& pids(std::vector<int>& pids);
    Options& comm(std::optional<std::string>& glob);
    Options& over(std::optional<std::string>& time);
    Options& duration(std::optional<std::string>& time);
    Options& interval(std::optional<std::string>& time);
    Options& input(std::optional<std::string>& file);
    Options& dry_run(bool& on);
    Options& json(bool& on);
    Options& verbose(bool& on);

    // A command's own.
    Options& flag(const std::string& name, bool& on, const std::string& help);
    Options& value(const std::string& name, std::optional<std::string>& text,
                   const std::string& argument, const std::string& help);
    // One that may be repeated, and whose text is taken as it is.
    Options& list(const std::string& name, std::vector<std::string>& texts,
                  const std::string& argument, const std::string& help);

    // Fills the bound variables, and `words` with what is no option. Throws UsageError. False when
    // --help was among them: the help is printed then.
    bool parse(Context& ctx, Args args, std::vector<std::string>& words);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// --session NAME or --global, as given.
struct SessionChoice {
    std::string name;
    bool global = false;
};
// Finds tracefs, clears up after dead owners, and returns the session; it need not exist yet.
Session open_session(const SessionChoice& choice);
// The same, for commands that need one to be there. Throws Error with the way to make it.
Session require_session(const SessionChoice& choice);

// Throws UsageError when a command was given more words than it knows what to do with.
void check_words(const std::vector<std::string>& words, std::size_t most, std::string hint = {});

// A count such as --count's: a positive decimal number. Throws UsageError.
unsigned long parse_count(const std::string& option, const std::string& text);

// Applies the changes, or prints them as shell lines on `out` when it is a dry run.
void apply_or_print(Context& ctx, const Changes& changes, bool dry_run);

}  // namespace gpufs
