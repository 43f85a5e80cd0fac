#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/shared/command.h"
#include "lang/expr/expr.h"

namespace gpufs {

struct SessionChoice;

// One command's options. Each is declared here once, with its name and its help, so that the same
// option means the same everywhere; a command says which of them it takes. An option's text becomes
// a value when it is parsed: what is wrong with it is found before anything is opened.
//
//   Options options("filter [-e EVENT…] EXPR", "…");
//   options.events(e).session(s).dry_run(dry);
//   if (!options.parse(ctx, args, words)) return kOk;   // --help was asked for and printed
class Options {
public:
    // `usage` is the line behind "usage: gpufs", `about` a paragraph below it.
    Options(std::string usage, std::string about);
    ~Options();

    using Time = std::chrono::nanoseconds;

    // Options that mean the same in every command.
    Options& events(std::vector<std::string>& events);
    Options& condition(std::optional<Expression>& expression);
    Options& session(SessionChoice& choice);
    Options& duration(std::optional<Time>& time);
    Options& interval(std::optional<Time>& time);
    Options& input(std::optional<std::string>& file);
    Options& dry_run(bool& on);
    Options& json(bool& on);
    Options& strict(bool& on);

    // What a PID stands for (a task, its process, its children) is the command's to say in `help`.
    Options& pids(std::vector<int>& pids, const std::string& help);
    // --session where it goes with another option.
    Options& session_name(std::optional<std::string>& name, const std::string& help);

    // A command's own. `name` is "name" or "name,n" for --name and -n.
    Options& flag(const std::string& name, bool& on, const std::string& help);
    // A text that has its meaning only on a machine: a path, a name, a pattern.
    Options& value(const std::string& name, std::optional<std::string>& text,
                   const std::string& argument, const std::string& help);
    Options& time(const std::string& name, std::optional<Time>& time, const std::string& help);
    // In bytes.
    Options& size(const std::string& name, std::optional<std::uint64_t>& bytes,
                  const std::string& help);
    // 1 or more.
    Options& count(const std::string& name, std::optional<unsigned long>& count,
                   const std::string& help);
    Options& expression(const std::string& name, std::optional<Expression>& expression,
                        const std::string& help);
    // What `parse` makes of the text, which is not empty. It throws UsageError, which gets the
    // option's name in front where it does not begin with it.
    using Parse = std::function<void(const std::string& text)>;
    Options& parsed(const std::string& name, const std::string& argument, const std::string& help,
                    Parse parse);
    // One that may be repeated: `parse` gets each of them.
    Options& list(const std::string& name, const std::string& argument, const std::string& help,
                  Parse parse);

    // Fills the bound variables, and `words` with what is no option. Throws UsageError. False when
    // --help was among them: the help is printed then.
    bool parse(Context& ctx, Args args, std::vector<std::string>& words);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// Throws UsageError when a command was given more words than it knows what to do with.
void check_words(const std::vector<std::string>& words, std::size_t most, std::string hint = {});

}  // namespace gpufs
