#include "lang/recipe/names.h"

#include <algorithm>
#include <set>

#include "base/glob.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "lang/recipe/probe.h"
#include "lang/recipe/value.h"

namespace gpufs {
namespace {

using Type = RecipeParameter::Type;

// True for the kernel's own fetch arguments: $retval, $stack, $stack2, $arg1, $comm.
bool is_kernels(std::string_view name) {
    if (name == "retval" || name == "comm") return true;
    for (const std::string_view start : {"stack", "arg"}) {
        if (!name.starts_with(start)) continue;
        const auto digits = name.substr(start.size());
        if (std::ranges::all_of(digits, is_digit)) return start == "stack" || !digits.empty();
    }
    return false;
}

class Checker {
public:
    Checker(const Recipe& recipe, Diagnostics& mistakes) : recipe_(recipe), mistakes_(mistakes) {}

    void check() {
        if (recipe_.name.text.empty())
            complain({0, 0}, "the file has no 'recipe' line",
                     "it begins with: recipe NAME \"QUESTION\"");
        if (recipe_.events.empty())
            complain({0, 0}, "the recipe records no event", "write: event SYSTEM:EVENT");
        for (const RecipeProbe& probe : recipe_.probes) check(probe);
        for (const RecipeEvent& event : recipe_.events) check(event);
        for (const auto& line : recipe_.settings)
            for (const RecipeSetting& setting : line) use(setting.value);
        if (recipe_.end_after) use(*recipe_.end_after, Type::time);
        for (const RecipeLimit& limit : recipe_.limits) {
            use(limit.over, Type::time);
            check(limit.pairs);
        }
        for (const RecipeShow& show : recipe_.shows) check(show);
        // A misspelled use also leaves the right name unused; report only the former.
        if (mistakes_.empty()) check_all_are_used();
    }

private:
    void complain(Span at, std::string_view message, std::string_view hint = {}) {
        mistakes_.error(recipe_.source, at, message, hint);
    }

    void check(const RecipeProbe& probe) {
        for (const std::string_view keyword : {"first", "any", "optional", "if"})
            if (probe.name.text == keyword)
                complain(probe.name.span, cat("a probe cannot be called '", keyword, "'"),
                         "the word means something on an 'event' line");
        use(probe.place);
        bool is_whole = true;
        for (const RecipeWord& field : probe.fields) {
            use(field, std::nullopt, true);
            is_whole = is_whole && field.text.find('$') == std::string::npos;
        }
        if (!is_whole) return;  // checked when its parameters are filled in
        try {
            format_of(probe, recipe_.source);
        } catch (const SourceError& e) {
            mistakes_.error(recipe_.source, e);
        }
    }

    void check(const RecipeEvent& event) {
        for (const RecipeWord& name : event.names) {
            use_event(name.text, name.span);
            if (!events_.insert(name.text).second)
                complain(name.span, cat("'", name.text, "' stands on an 'event' line already"),
                         "join two conditions with ||");
            if (is_glob(name.text) && event.pick == RecipeEvent::Pick::first)
                complain(name.span, "'first' takes one of several names, and a pattern has many");
        }
        if (event.condition) use(event.condition->root);
        for (const RecipeTrigger& trigger : event.triggers) {
            if (!trigger.trigger.argument.empty())
                use_event(trigger.trigger.argument, trigger.argument_span);
            if (is_glob(trigger.trigger.argument))
                complain(trigger.argument_span, cat(trigger.trigger.action, " takes one event"));
            if (trigger.count) use(*trigger.count, Type::integer);
            if (trigger.condition) use(trigger.condition->root);
        }
    }

    void check(const RecipeShow& show) {
        use(show.count, Type::integer);
        check(show.pairs);
    }

    void check(const RecipePairs& pairs) {
        for (const RecipeWord* event : {&pairs.begin, &pairs.end}) {
            const auto records = [&](const std::string& name) {
                return name == event->text || (is_glob(name) && glob_match(name, event->text));
            };
            if (!event->text.empty() && std::ranges::none_of(events_, records))
                complain(event->span, cat("no 'event' line records ", event->text),
                         "both ends of a time must be recorded");
        }
    }

    // `name` is SYSTEM:EVENT or a probe's name.
    void use_event(const std::string& name, Span at) {
        if (name.find(':') != std::string::npos) return;
        probes_.insert(name);
        if (recipe_.find_probe(name)) return;
        std::vector<std::string> names;
        for (const RecipeProbe& probe : recipe_.probes) names.push_back(probe.name.text);
        std::string hint = did_you_mean(name, names);
        complain(at, cat("there is no probe '", name, "'"),
                 hint.empty() ? "an event is named SYSTEM:EVENT" : hint);
    }

    void use(const RecipeWord& word, std::optional<Type> type = {}, bool is_fetch = false) {
        for (Span at = find_reference(word.text, 0); at.begin != word.text.size();
             at = find_reference(word.text, at.end)) {
            const std::string name = word.text.substr(at.begin + 1, at.end - at.begin - 1);
            if (is_fetch && is_kernels(name) && !recipe_.find_parameter(name)) continue;
            const Span span{word.span.begin + at.begin, word.span.begin + at.end};
            const RecipeParameter* parameter = require_parameter(name, span);
            if (parameter && type && parameter->type != *type)
                complain(span,
                         cat("'", name, "' is of type ", to_text(parameter->type), "; here is ",
                             *type == Type::integer ? "an integer" : "a time", " wanted"));
        }
    }

    // Marks the parameters used as values of comparisons.
    void use(const ExprNode& node) {
        for (const ExprNode& term : node.terms) use(term);
        if (node.kind != ExprNode::Kind::predicate) return;
        const Predicate& p = node.predicate;
        const std::string& text = p.value.text;
        if (p.value.kind != Literal::Kind::text || p.value.is_quoted || !text.starts_with('$'))
            return;
        const Span at = find_reference(text, 0);
        if (at.begin != 0 || at.end != text.size()) {
            complain(p.value.span, cat("'", text, "' is no parameter"),
                     "a parameter's value stands alone: FIELD OPERATOR $NAME");
            return;
        }
        const RecipeParameter* parameter = require_parameter(text.substr(1), p.value.span);
        const bool is_equality = p.op == CompareOp::eq || p.op == CompareOp::ne;
        if (parameter && parameter->type == Type::pid && !is_equality)
            complain(p.op_span,
                     cat("a process is compared with == or !=, not with ", to_text(p.op)),
                     cat("'", parameter->name.text, "' stands for all of its threads"));
    }

    const RecipeParameter* require_parameter(const std::string& name, Span at) {
        used_.insert(name);
        const RecipeParameter* parameter = recipe_.find_parameter(name);
        if (parameter) return parameter;
        std::vector<std::string> names;
        for (const RecipeParameter& p : recipe_.parameters) names.push_back(p.name.text);
        complain(at, cat("there is no parameter '", name, "'"), did_you_mean(name, names));
        return nullptr;
    }

    void check_all_are_used() {
        for (const RecipeParameter& parameter : recipe_.parameters)
            if (!used_.contains(parameter.name.text))
                complain(parameter.name.span,
                         cat("nothing uses the parameter '", parameter.name.text, "'"),
                         cat("write $", parameter.name.text, " where its value goes"));
        for (const RecipeProbe& probe : recipe_.probes)
            if (!probes_.contains(probe.name.text))
                complain(probe.name.span, cat("nothing uses the probe '", probe.name.text, "'"),
                         cat("write: event ", probe.name.text));
    }

    const Recipe& recipe_;
    Diagnostics& mistakes_;
    std::set<std::string> used_, probes_, events_;
};

}  // namespace

void check_names(const Recipe& recipe, Diagnostics& mistakes) {
    Checker(recipe, mistakes).check();
}

}  // namespace gpufs
