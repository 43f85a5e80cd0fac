#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/printable.h"
#include "cmd/shared/command.h"
#include "lang/expr/expr.h"

namespace gpufs {

struct SessionChoice;

// A command's options. Each common option is declared here once, with its name and its help, so
// that it means the same everywhere; a command selects those that it takes. Texts are converted to
// values during parsing, so mistakes are found before anything is opened.
//
//   Options options("filter [-e EVENT…] EXPR", "…");
//   options.events(e).session(s).dry_run(dry);
//   if (!options.parse(ctx, args, words)) return kOk;   // --help was printed
class Options {
public:
    // `usage`: the line after "usage: gpufs"; `about`: the paragraph below it.
    Options(std::string usage, std::string about);
    ~Options();

    using Time = std::chrono::nanoseconds;

    // Options with the same meaning in every command.
    Options& events(std::vector<std::string>& events);
    Options& condition(std::optional<Expression>& condition);
    Options& session(SessionChoice& choice);
    // `at_least`: a shorter one is refused.
    Options& duration(std::optional<Time>& time, Time at_least = Time(1));
    Options& interval(std::optional<Time>& time);
    Options& input(std::optional<std::string>& file);
    Options& output();
    Options& all(bool& on);
    Options& dry_run(bool& on);
    Options& json(bool& on);
    Options& strict(bool& on);
    Options& raw(Controls& controls);

    // `help` says what a PID selects in this command (a task, its process, its children).
    Options& pids(std::vector<int>& pids, const std::string& help);
    // The same for records: 0 is the idle tasks.
    Options& recorded_tasks(std::vector<int>& tids, const std::string& help);
    // --session as a complement of another option.
    Options& session_name(std::optional<std::string>& name, const std::string& help);

    // A command's own options. `name` is "name" or "name,n" for --name and -n.
    Options& flag(const std::string& name, bool& on, const std::string& help);
    // A text that only the machine can interpret: a path, a name, a pattern.
    Options& value(const std::string& name, std::optional<std::string>& text,
                   const std::string& argument, const std::string& help);
    Options& time(const std::string& name, std::optional<Time>& time, const std::string& help);
    // In bytes.
    Options& size(const std::string& name, std::optional<std::uint64_t>& bytes,
                  const std::string& help);
    // At least 1.
    Options& count(const std::string& name, std::optional<unsigned long>& count,
                   const std::string& help);
    Options& expression(const std::string& name, std::optional<Expression>& expression,
                        const std::string& help);
    // Calls `parse` with the text, which is not empty. `parse` throws UsageError; the option's name
    // is prepended to the message unless it begins with it.
    using Parse = std::function<void(const std::string& text)>;
    Options& parsed(const std::string& name, const std::string& argument, const std::string& help,
                    Parse parse);
    // The same for an option that may be repeated: calls `parse` for each text.
    Options& list(const std::string& name, const std::string& argument, const std::string& help,
                  Parse parse);

    // Sets the bound variables, and `words` to the arguments that are not options. Throws
    // UsageError. Lets ctx.out write to the file of output(). Returns false after printing the help
    // for --help.
    bool parse(Context& ctx, Args args, std::vector<std::string>& words);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// An option, for messages, and whether the user gave it.
struct GivenOption {
    const char* name;
    bool is_given;
};
// The name of the first that was given; null if none was.
const char* first_given(std::initializer_list<GivenOption> options);
// Throws UsageError with the names of two that were given: "--raw and --hex exclude each other".
void check_exclusive(std::initializer_list<GivenOption> options);

// Throws UsageError if there are more than `most` words.
void check_words(const std::vector<std::string>& words, std::size_t most,
                 std::string_view hint = {});

}  // namespace gpufs
