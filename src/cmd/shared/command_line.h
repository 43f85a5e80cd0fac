#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/shared/command.h"

namespace gpufs {

struct SessionChoice;

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
    Options& session(SessionChoice& choice);
    Options& duration(std::optional<std::string>& time);
    Options& interval(std::optional<std::string>& time);
    Options& input(std::optional<std::string>& file);
    Options& dry_run(bool& on);
    Options& json(bool& on);
    Options& strict(bool& on);

    // What a PID stands for (a task, its process, its children) is the command's to say in `help`.
    Options& pids(std::vector<int>& pids, const std::string& help);
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

// Throws UsageError when a command was given more words than it knows what to do with.
void check_words(const std::vector<std::string>& words, std::size_t most, std::string hint = {});

// A process id. Throws UsageError.
int parse_pid(const std::string& text);

// A count such as --count's: a positive decimal number. Throws UsageError.
unsigned long parse_count(const std::string& option, const std::string& text);

}  // namespace gpufs
