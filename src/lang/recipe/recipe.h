#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "lang/expr/expr.h"
#include "lang/trigger/trigger.h"

namespace gpufs {

// A recipe (.trig file): filters, triggers and settings that together answer one question.
// gpufs-recipe(5) has the grammar. parse_recipe() makes a Recipe, fill_in() substitutes its
// arguments, and the engine checks it against a kernel and applies it.

// A word of the file. Before fill_in() it may contain references to parameters, $NAME.
struct RecipeWord {
    std::string text;
    Span span;
};

struct RecipeParameter {
    enum class Type {
        integer,
        time,  // becomes a number of `unit`s
        size,  // bytes
        text,
        file,  // an absolute path
        pid,   // a process: becomes the ids of its threads
    };
    RecipeWord name;
    Type type = Type::integer;
    std::string unit = "ns";
    std::optional<std::string> preset;  // the default, as written
    bool is_optional = false;           // has no default, but may be omitted
    std::string help;

    bool is_required() const { return !preset && !is_optional; }
};
std::string_view to_text(RecipeParameter::Type type);

// A dynamic probe. The recipe refers to it by its name alone; the engine chooses the group of its
// event.
struct RecipeProbe {
    enum class Kind { kprobe, kretprobe, uprobe, uretprobe };
    RecipeWord name;
    Kind kind = Kind::kprobe;
    RecipeWord place;                // as of `gpufs probe add`, but for static probes
    std::vector<RecipeWord> fields;  // FIELD=FETCH[:TYPE] in the kernel's syntax

    bool is_user() const { return kind == Kind::uprobe || kind == Kind::uretprobe; }
    bool is_return() const { return kind == Kind::kretprobe || kind == Kind::uretprobe; }
};

struct RecipeTrigger {
    // Its `condition` stays empty; fill_in() sets its `count`. An argument without ':' is a probe's
    // name.
    Trigger trigger;
    std::optional<RecipeWord> count;
    std::optional<Expression> condition;
    Span action_span, argument_span;
};

// An `event` line: events with one condition and the triggers set on them.
struct RecipeEvent {
    // Which of `names` the kernel must have.
    enum class Pick { all, first, any, optional };
    Pick pick = Pick::all;
    std::vector<RecipeWord> names;  // SYSTEM:EVENT, a shell pattern of it, or a probe's name
    std::optional<Expression> condition;
    std::vector<RecipeTrigger> triggers;
};

// A setting, with the names of `gpufs options`.
struct RecipeSetting {
    RecipeWord name, value;
};

// Measures the time from a `begin` event to the next `end` event whose `keys`, fields of both, are
// equal.
struct RecipePairs {
    RecipeWord begin, end;
    std::vector<RecipeWord> keys;
};

// A limit on such times. A longer one stops the buffer and ends the run.
struct RecipeLimit {
    RecipeWord over;
    std::int64_t over_ns = 0;  // the same in ns, set by fill_in()
    RecipePairs pairs;
};

struct RecipeShow {
    enum class What { all, last, longest, status };
    What what = What::all;
    RecipeWord count;        // for last and longest
    unsigned long most = 0;  // `count` as a number, set by fill_in()
    RecipePairs pairs;       // for longest
};

struct Recipe {
    SourceText source;  // all spans and expressions refer to this text
    RecipeWord name;
    std::string question, cost, needs;
    std::vector<RecipeParameter> parameters;
    std::vector<RecipeProbe> probes;
    std::vector<RecipeEvent> events;
    std::vector<std::vector<RecipeSetting>> settings;  // a vector per line
    bool ends_when_stopped = false;
    std::optional<RecipeWord> end_after;
    std::optional<std::int64_t> duration_ns;  // the same in ns, set by fill_in()
    std::vector<RecipeLimit> limits;          // each ends the run
    std::vector<RecipeShow> shows;

    const RecipeParameter* find_parameter(std::string_view parameter) const;
    const RecipeProbe* find_probe(std::string_view probe) const;
    // The parameter of type pid, which -p or COMMAND sets. Null when there is none.
    const RecipeParameter* pid_parameter() const;
};

// Throws UsageError listing all errors in the text, each with its line, a caret and a hint.
Recipe parse_recipe(SourceText source);

// The user's arguments as text, by parameter name.
using RecipeArguments = std::map<std::string, std::string, std::less<>>;

// Replaces each reference to a parameter by its argument or default. What refers to an optional
// parameter without a value is removed: in an event's condition the comparison, elsewhere the whole
// trigger or line; a removed probe also removes the events that use it. A pid in a condition
// becomes one comparison per thread. Throws UsageError for an unknown, a missing, and an ill-typed
// argument.
Recipe fill_in(const Recipe& recipe, const RecipeArguments& arguments);

// Well-formed dummy arguments for the required parameters, to check a recipe against a kernel
// without user input.
RecipeArguments stand_in_arguments(const Recipe& recipe);

}  // namespace gpufs
