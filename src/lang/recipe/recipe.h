#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "lang/expr/expr.h"
#include "lang/recipe/trigger.h"

namespace gpufs {

// A recipe: filters, triggers and settings that answer one question, as a .trig file says them. The
// grammar is in gpufs-recipe(5). A recipe is made by parse_recipe, given its arguments by fill_in,
// and then checked against a kernel and applied by the engine.

// A word of the file. Until fill_in it may have $NAME of a parameter in it.
struct RecipeWord {
    std::string text;
    Span span;
};

struct RecipeParameter {
    enum class Type {
        integer,
        time,  // stands for its number of `unit`s
        size,  // bytes
        text,
        file,  // an absolute path
        pid,   // a process: the numbers of its threads
    };
    RecipeWord name;
    Type type = Type::integer;
    std::string unit = "ns";
    std::optional<std::string> preset;  // the default, as written
    bool is_optional = false;           // no default, and may be left out
    std::string help;

    bool is_required() const { return !preset && !is_optional; }
};
std::string_view to_text(RecipeParameter::Type type);

// A dynamic probe. What uses it calls it by its bare name; its event's group is the owner's.
struct RecipeProbe {
    enum class Kind { kprobe, kretprobe, uprobe, uretprobe };
    RecipeWord name;
    Kind kind = Kind::kprobe;
    RecipeWord place;                // [MODULE:]FUNCTION, or FILE:FUNCTION or FILE:OFFSET
    std::vector<RecipeWord> fields;  // FIELD=FETCH in the kernel's words

    bool is_user() const { return kind == Kind::uprobe || kind == Kind::uretprobe; }
    bool is_return() const { return kind == Kind::kretprobe || kind == Kind::uretprobe; }
};

struct RecipeTrigger {
    // Its condition stays empty. Its count is read by fill_in; an argument without ':' is a probe.
    Trigger trigger;
    std::optional<RecipeWord> count;
    std::optional<Expression> condition;
    Span action_span, argument_span;
};

// Events under one condition, with what happens when they occur.
struct RecipeEvent {
    // Which of the names a kernel must have.
    enum class Pick { all, first, any, optional };
    Pick pick = Pick::all;
    std::vector<RecipeWord> names;  // SYSTEM:EVENT, a shell pattern of it, or a probe's name
    std::optional<Expression> condition;
    std::vector<RecipeTrigger> triggers;
};

// In the words of `gpufs options`.
struct RecipeSetting {
    RecipeWord name, value;
};

// The time from one event to the next of another where the keys, fields of both, are equal.
struct RecipePairs {
    RecipeWord begin, end;
    std::vector<RecipeWord> keys;
};

// How long such a time may be, before the buffer is stopped.
struct RecipeLimit {
    RecipeWord over;
    std::int64_t over_ns = 0;  // the same, read by fill_in
    RecipePairs pairs;
};

struct RecipeShow {
    enum class What { all, last, longest, status };
    What what = What::all;
    RecipeWord count;        // of last and longest
    unsigned long most = 0;  // the same, read by fill_in
    RecipePairs pairs;       // of longest
};

struct Recipe {
    SourceText source;  // all spans and expressions are about this text
    RecipeWord name;
    std::string question, cost, needs;
    std::vector<RecipeParameter> parameters;
    std::vector<RecipeProbe> probes;
    std::vector<RecipeEvent> events;
    std::vector<std::vector<RecipeSetting>> settings;  // by line
    bool ends_when_stopped = false;
    std::optional<RecipeWord> end_after;
    std::optional<std::int64_t> duration_ns;  // the same, read by fill_in
    std::vector<RecipeLimit> limits;          // each ends the run
    std::vector<RecipeShow> shows;

    const RecipeParameter* find_parameter(std::string_view parameter) const;
    const RecipeProbe* find_probe(std::string_view probe) const;
    // The one of type pid, which -p and a COMMAND give. Null when there is none.
    const RecipeParameter* pid_parameter() const;
};

// Throws UsageError with every mistake in the text: its line, a caret, a hint.
Recipe parse_recipe(SourceText source);

// What a user gave for the parameters, as text.
using RecipeArguments = std::map<std::string, std::string, std::less<>>;

// The recipe with a value in every place of a parameter: the argument, else the default. Where an
// optional parameter has neither, what mentions it is left out: of an event's condition the
// comparison, else the whole trigger or line, and with a probe the events that use it. A pid in a
// condition becomes one comparison for each of its threads. Throws UsageError for an argument
// nobody asked for, one that is missing, and one that is not of its type.
Recipe fill_in(const Recipe& recipe, const RecipeArguments& arguments);

// Arguments that are right in form for the required parameters: to ask about a kernel without
// asking a user.
RecipeArguments stand_in_arguments(const Recipe& recipe);

}  // namespace gpufs
