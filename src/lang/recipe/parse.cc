#include <algorithm>
#include <iterator>
#include <span>

#include "base/diagnostics.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/units.h"
#include "lang/recipe/lines.h"
#include "lang/recipe/names.h"
#include "lang/recipe/recipe.h"
#include "lang/recipe/value.h"

namespace gpufs {
namespace {

using Type = RecipeParameter::Type;

struct TypeWord {
    std::string_view word;
    Type type;
};
constexpr TypeWord kParameterTypes[] = {{"integer", Type::integer}, {"time", Type::time},
                                        {"size", Type::size},       {"text", Type::text},
                                        {"file", Type::file},       {"pid", Type::pid}};
constexpr std::string_view kTimeUnits[] = {"ns", "us", "ms", "s"};

struct KindWord {
    std::string_view word;
    RecipeProbe::Kind kind;
};
constexpr KindWord kKinds[] = {{"kprobe", RecipeProbe::Kind::kprobe},
                               {"kretprobe", RecipeProbe::Kind::kretprobe},
                               {"uprobe", RecipeProbe::Kind::uprobe},
                               {"uretprobe", RecipeProbe::Kind::uretprobe}};

struct PickWord {
    std::string_view word;
    RecipeEvent::Pick pick;
};
constexpr PickWord kPicks[] = {{"first", RecipeEvent::Pick::first},
                               {"any", RecipeEvent::Pick::any},
                               {"optional", RecipeEvent::Pick::optional}};

constexpr std::string_view kEndUsage =
    "end stopped, end after TIME, or end over TIME EVENT to EVENT by FIELD…";
constexpr std::string_view kShowUsage =
    "show all, show last N, show longest N EVENT to EVENT by FIELD…, or show status";

template <class Table>
std::vector<std::string> words_of(const Table& table) {
    std::vector<std::string> words;
    for (const auto& row : table) words.emplace_back(row.word);
    return words;
}

// "did you mean 'x'?", or all words if none is similar.
std::string choose(std::string_view word, const std::vector<std::string>& words,
                   std::string_view what) {
    std::string hint = did_you_mean(word, words);
    return hint.empty() ? cat(what, join(words, " ")) : hint;
}

// Parses line by line. check_names() checks names across lines.
class RecipeParser {
public:
    RecipeParser(SourceText source, Diagnostics& mistakes) : mistakes_(mistakes) {
        recipe_.source = std::move(source);
        masked_ = mask_recipe(recipe_.source.text);
    }

    Recipe parse() {
        for (std::size_t begin = 0; begin < masked_.size();) {
            const std::size_t end = std::min(masked_.find('\n', begin), masked_.size());
            try {
                parse_line({begin, end});
            } catch (const SourceError& e) {
                mistakes_.error(recipe_.source, e);
            }
            begin = end + 1;
        }
        return std::move(recipe_);
    }

private:
    struct Directive {
        std::string_view word, usage;
        void (RecipeParser::*parse)(RecipeLine&);
    };
    static std::span<const Directive> directives() {
        static constexpr Directive kDirectives[] = {
            {"recipe", "recipe NAME \"QUESTION\"", &RecipeParser::recipe},
            {"cost", "cost \"TEXT\"", &RecipeParser::cost},
            {"needs", "needs \"TEXT\"", &RecipeParser::needs},
            {"param", "param NAME [= DEFAULT] TYPE [UNIT] [optional] [\"HELP\"]",
             &RecipeParser::parameter},
            {"probe", "probe NAME KIND PLACE [FIELD=FETCH…]", &RecipeParser::probe},
            {"event", "event [first|any|optional] EVENT[, EVENT…] [if CONDITION]",
             &RecipeParser::event},
            {"trigger", "trigger ACTION [EVENT] [count N] [if CONDITION]", &RecipeParser::trigger},
            {"set", "set NAME=VALUE…", &RecipeParser::set},
            {"end", kEndUsage, &RecipeParser::end},
            {"show", kShowUsage, &RecipeParser::show},
        };
        return kDirectives;
    }

    void parse_line(Span span) {
        RecipeLine line(recipe_.source, masked_, span);
        const RecipeWord& word = line.directive();
        if (word.text.empty()) return;
        const auto it = std::ranges::find(directives(), word.text, &Directive::word);
        if (it == directives().end())
            line.fail(word.span, cat("'", word.text, "' is no directive"),
                      choose(word.text, words_of(directives()), "a line begins with one of: "));
        line.set_usage(it->usage);
        (this->*it->parse)(line);
        line.end();
    }

    void recipe(RecipeLine& line) {
        if (!recipe_.name.text.empty())
            line.fail(line.directive().span, "there is a 'recipe' line already");
        recipe_.name = line.name("a recipe's name", true);
        recipe_.question = line.quoted("the question").text;
    }

    void cost(RecipeLine& line) { add_text(line, recipe_.cost); }
    void needs(RecipeLine& line) { add_text(line, recipe_.needs); }
    // A directive with a text may be repeated to continue the text.
    void add_text(RecipeLine& line, std::string& to) {
        if (!to.empty()) to += ' ';
        to += line.quoted("a text").text;
    }

    void parameter(RecipeLine& line) {
        RecipeParameter p;
        p.name = line.name("a parameter's name");
        if (recipe_.find_parameter(p.name.text))
            line.fail(p.name.span, cat("there is a parameter '", p.name.text, "' already"));
        RecipeWord preset;
        const bool has_preset = line.take('=');
        if (has_preset)
            preset = line.is_at_quote() ? line.quoted("a default") : line.word("a default");
        const RecipeWord type = line.word("a type");
        const auto it = std::ranges::find(kParameterTypes, type.text, &TypeWord::word);
        if (it == std::end(kParameterTypes))
            line.fail(type.span, cat("'", type.text, "' is no type"),
                      choose(type.text, words_of(kParameterTypes), "types: "));
        p.type = it->type;
        if (p.type == Type::time)
            for (const std::string_view unit : kTimeUnits)
                if (line.take(unit)) p.unit = unit;
        p.is_optional = line.take("optional");
        if (p.is_optional && has_preset)
            line.fail(p.name.span,
                      cat("'", p.name.text, "' has a default, so it is never left out"),
                      "drop '= DEFAULT' or 'optional'");
        if (line.is_at_quote()) p.help = line.quoted("a help text").text;
        if (has_preset) {
            p.preset = preset.text;
            as_mistake_at(preset.span, [&] { parse_value(p, preset.text); });
        }
        if (p.type == Type::pid && recipe_.pid_parameter())
            line.fail(p.name.span,
                      "a recipe has one parameter of type pid, and this is the second");
        recipe_.parameters.push_back(std::move(p));
    }

    void probe(RecipeLine& line) {
        RecipeProbe p;
        p.name = line.name("a probe's name");
        if (recipe_.find_probe(p.name.text))
            line.fail(p.name.span, cat("there is a probe '", p.name.text, "' already"));
        const RecipeWord kind = line.word("the kind of probe");
        const auto it = std::ranges::find(kKinds, kind.text, &KindWord::word);
        if (it == std::end(kKinds))
            line.fail(kind.span, cat("'", kind.text, "' is no kind of probe"),
                      choose(kind.text, words_of(kKinds), "kinds: "));
        p.kind = it->kind;
        p.place = line.word("a place to probe");
        if (p.is_user() && p.place.text.find_first_of("$:") == std::string::npos)
            line.fail(p.place.span, cat("'", p.place.text, "' is no place in a program"),
                      "write FILE:FUNCTION or FILE:OFFSET");
        while (!line.at_end()) p.fields.push_back(line.word("a field"));
        recipe_.probes.push_back(std::move(p));
    }

    void event(RecipeLine& line) {
        RecipeEvent e;
        for (const PickWord& pick : kPicks)
            if (e.pick == RecipeEvent::Pick::all && line.take(pick.word)) e.pick = pick.pick;
        e.names = line.list("an event");
        if (line.take("if")) e.condition = condition(line);
        recipe_.events.push_back(std::move(e));
    }

    void trigger(RecipeLine& line) {
        if (recipe_.events.empty())
            line.fail(line.directive().span, "there is no event above for this trigger",
                      "a trigger belongs to the 'event' line before it");
        RecipeTrigger t;
        const RecipeWord action = line.word("an action");
        t.action_span = action.span;
        t.trigger.action = action.text;
        // What a recipe finds is records: nothing would show a histogram.
        if (!t.trigger.is_known() || t.trigger.is_hist()) {
            std::vector<std::string> actions(std::begin(kTriggerActions),
                                             std::end(kTriggerActions));
            std::erase(actions, "hist");
            line.fail(action.span, cat("'", action.text, "' is no action of a trigger"),
                      choose(action.text, actions, "actions: "));
        }
        if (action.text.ends_with("_event")) {
            const RecipeWord target = line.word("the event to switch");
            t.trigger.argument = target.text;
            t.argument_span = target.span;
        }
        if (line.take("count")) {
            t.count = line.word("a count");
            check_count(*t.count);
        }
        if (line.take("if")) t.condition = condition(line);
        for (const RecipeTrigger& other : recipe_.events.back().triggers)
            if (other.trigger.kind() == t.trigger.kind())
                line.fail(action.span,
                          cat("an event has one trigger '", t.trigger.kind(),
                              "', and this is the second"),
                          other.trigger.action == t.trigger.action
                              ? "join two conditions with ||"
                              : "the kernel lets an event have one of the two");
        recipe_.events.back().triggers.push_back(std::move(t));
    }

    void set(RecipeLine& line) {
        std::vector<RecipeSetting> settings;
        do {
            const RecipeWord word = line.word("a setting");
            const auto equals = word.text.find('=');
            if (equals == std::string::npos || equals == 0 || equals + 1 == word.text.size())
                line.fail(word.span, cat("'", word.text, "' is not NAME=VALUE"),
                          "such as buffer=4M; 'gpufs options' shows the names");
            const std::size_t middle = word.span.begin + equals;
            settings.push_back({{word.text.substr(0, equals), {word.span.begin, middle}},
                                {word.text.substr(equals + 1), {middle + 1, word.span.end}}});
        } while (!line.at_end());
        recipe_.settings.push_back(std::move(settings));
    }

    void end(RecipeLine& line) {
        const RecipeWord word = line.word("what ends the run");
        if (word.text == "stopped") {
            recipe_.ends_when_stopped = true;
        } else if (word.text == "after") {
            if (recipe_.end_after) line.fail(word.span, "there is an 'end after' line already");
            recipe_.end_after = line.word("a time");
            check_time(*recipe_.end_after, "end after");
        } else if (word.text == "over") {
            RecipeLimit limit;
            limit.over = line.word("a time");
            check_time(limit.over, "end over");
            limit.pairs = pairs(line);
            recipe_.limits.push_back(std::move(limit));
        } else {
            line.fail(word.span, cat("'", word.text, "' is no end"), cat("write: ", kEndUsage));
        }
    }

    void show(RecipeLine& line) {
        RecipeShow show;
        const RecipeWord word = line.word("what to show");
        if (word.text == "last") {
            show.what = RecipeShow::What::last;
            show.count = line.word("a count");
            check_count(show.count);
        } else if (word.text == "longest") {
            longest(line, show);
        } else if (word.text == "status") {
            show.what = RecipeShow::What::status;
        } else if (word.text != "all") {
            line.fail(word.span, cat("'", word.text, "' cannot be shown"),
                      cat("write: ", kShowUsage));
        }
        recipe_.shows.push_back(std::move(show));
    }

    void longest(RecipeLine& line, RecipeShow& show) {
        show.what = RecipeShow::What::longest;
        show.count = line.word("a count");
        check_count(show.count);
        show.pairs = pairs(line);
    }

    static RecipePairs pairs(RecipeLine& line) {
        RecipePairs pairs;
        pairs.begin = line.word("the event that begins");
        line.keyword("to");
        pairs.end = line.word("the event that ends");
        line.keyword("by");
        pairs.keys = line.list("a field that both have");
        return pairs;
    }

    // Parses the condition behind `if`. Its spans are offsets in the file.
    Expression condition(RecipeLine& line) {
        const Span span = line.rest("a condition");
        std::string blank = masked_;
        for (std::size_t i = 0; i < blank.size(); ++i)
            if ((i < span.begin || i >= span.end) && blank[i] != '\n') blank[i] = ' ';
        try {
            Expression expression = parse_expression({recipe_.source.name, std::move(blank)});
            expression.source = recipe_.source;
            return expression;
        } catch (const SourceError& e) {
            throw SourceError(recipe_.source, e.at(), e.message(), e.hint());
        }
    }

    static bool has_reference(const RecipeWord& word) {
        return find_reference(word.text, 0).begin != word.text.size();
    }
    void check_count(const RecipeWord& word) {
        if (!has_reference(word))
            as_mistake_at(word.span, [&] { parse_positive("a count", word.text); });
    }
    void check_time(const RecipeWord& word, const std::string& what) {
        if (!has_reference(word))
            as_mistake_at(word.span, [&] { parse_duration(what, word.text); });
    }
    // Runs `check`, and turns its UsageError into a SourceError at `at`.
    template <class Check>
    void as_mistake_at(Span at, Check&& check) {
        try {
            check();
        } catch (const UsageError& e) {
            throw SourceError(recipe_.source, at, e.what(), e.hint());
        }
    }

    Diagnostics& mistakes_;
    Recipe recipe_;
    std::string masked_;
};

}  // namespace

std::string_view to_text(RecipeParameter::Type type) {
    return std::ranges::find(kParameterTypes, type, &TypeWord::type)->word;
}

const RecipeParameter* Recipe::find_parameter(std::string_view parameter) const {
    for (const RecipeParameter& p : parameters)
        if (p.name.text == parameter) return &p;
    return nullptr;
}

const RecipeProbe* Recipe::find_probe(std::string_view probe) const {
    for (const RecipeProbe& p : probes)
        if (p.name.text == probe) return &p;
    return nullptr;
}

const RecipeParameter* Recipe::pid_parameter() const {
    for (const RecipeParameter& p : parameters)
        if (p.type == RecipeParameter::Type::pid) return &p;
    return nullptr;
}

Recipe parse_recipe(SourceText source) {
    Diagnostics mistakes;
    Recipe recipe = RecipeParser(std::move(source), mistakes).parse();
    // A line that could not be parsed may declare names that others use: check names only if all
    // lines were parsed.
    if (mistakes.empty()) check_names(recipe, mistakes);
    mistakes.throw_if_any();
    return recipe;
}

}  // namespace gpufs
