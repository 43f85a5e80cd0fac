#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/units.h"
#include "lang/recipe/recipe.h"
#include "lang/recipe/value.h"

namespace gpufs {
namespace {

std::string in_words(const RecipeParameter& p) {
    return cat(p.name.text, p.help.empty() ? "" : ": ", p.help);
}

UsageError no_such_parameter(const Recipe& recipe, const std::string& name) {
    std::vector<std::string> names;
    for (const RecipeParameter& p : recipe.parameters) names.push_back(p.name.text);
    std::string hint = did_you_mean(name, names);
    if (hint.empty() && !names.empty()) hint = cat("it has: ", join(names, " "));
    if (hint.empty()) hint = "it has none";
    return UsageError(cat("recipe '", recipe.name.text, "' has no parameter '", name, "'"), hint);
}

class Filler {
public:
    Filler(const Recipe& recipe, const RecipeArguments& arguments)
        : from_(recipe), arguments_(arguments) {
        for (const auto& [name, text] : arguments) {
            const RecipeParameter* parameter = recipe.find_parameter(name);
            if (!parameter) throw no_such_parameter(recipe, name);
            values_[name] = parse_value(*parameter, text);
        }
        for (const RecipeParameter& p : recipe.parameters) {
            if (values_.contains(p.name.text)) continue;
            if (p.preset) values_[p.name.text] = parse_value(p, *p.preset);
            if (p.is_required())
                throw UsageError(
                    cat("recipe '", recipe.name.text, "' needs ", in_words(p)),
                    p.type == RecipeParameter::Type::pid
                        ? cat("gpufs recipe run ", recipe.name.text, " -p PID, or -- COMMAND")
                        : cat("gpufs recipe run ", recipe.name.text, " ", p.name.text, "=…"));
        }
    }

    Recipe fill() {
        Recipe to = from_;
        fill_probes(to);
        fill_events(to);
        to.settings.clear();
        for (std::vector<RecipeSetting> line : from_.settings) {
            const bool is_whole = std::ranges::all_of(
                line, [&](RecipeSetting& setting) { return fill(setting.value); });
            if (is_whole) to.settings.push_back(std::move(line));
        }
        if (to.end_after && given(*to.end_after))
            to.duration_ns = parse_duration("end after", to.end_after->text).count();
        to.limits.clear();
        for (RecipeLimit limit : from_.limits) {
            if (!given(limit.over)) continue;
            limit.over_ns = parse_duration("end over", limit.over.text).count();
            to.limits.push_back(std::move(limit));
        }
        to.shows.clear();
        for (RecipeShow show : from_.shows) {
            if (!fill(show.count)) continue;
            if (!show.count.text.empty())
                show.most = parse_positive(
                    show.what == RecipeShow::What::last ? "show last" : "show longest",
                    show.count.text);
            to.shows.push_back(std::move(show));
        }
        if (to.events.empty())
            throw UsageError(
                cat("with these arguments, recipe '", from_.name.text, "' records no event"));
        return to;
    }

private:
    void fill_probes(Recipe& to) {
        to.probes.clear();
        for (const RecipeProbe& unfilled : from_.probes) {
            RecipeProbe probe = unfilled;
            bool is_whole = fill(probe.place);
            for (RecipeWord& field : probe.fields) is_whole = fill(field) && is_whole;
            if (!is_whole) {
                require_none_given(unfilled);
                absent_probes_.insert(probe.name.text);
                continue;
            }
            // Each becomes one word of the line that defines the probe.
            require_one_word(probe.place);
            for (const RecipeWord& field : probe.fields) require_one_word(field);
            to.probes.push_back(std::move(probe));
        }
    }

    // Refuses a probe of which only some parameters were given: it would be removed, and the user
    // would wait for its events.
    void require_none_given(const RecipeProbe& probe) const {
        std::vector<std::string> given, missing;
        const auto look_at = [&](const RecipeWord& word) {
            for (const RecipeParameter& p : from_.parameters) {
                if (!mentions(word, p.name.text)) continue;
                if (arguments_.contains(p.name.text)) given.push_back(p.name.text);
                if (!values_.contains(p.name.text)) missing.push_back(p.name.text);
            }
        };
        look_at(probe.place);
        for (const RecipeWord& field : probe.fields) look_at(field);
        if (given.empty()) return;
        throw UsageError(cat(join(given, " and "), given.size() == 1 ? " makes" : " make",
                             " no probe without ", join(missing, " and ")),
                         in_words(*from_.find_parameter(missing.front())));
    }

    static bool mentions(const RecipeWord& word, std::string_view name) {
        for (Span at = find_reference(word.text, 0); at.begin != word.text.size();
             at = find_reference(word.text, at.end))
            if (std::string_view(word.text).substr(at.begin + 1, at.end - at.begin - 1) == name)
                return true;
        return false;
    }

    void require_one_word(const RecipeWord& word) const {
        if (word.text.find_first_of(" \t;") != std::string::npos)
            throw UsageError(cat("a probe cannot be made of '", word.text, "'"),
                             "no space and no semicolon may stand in it");
    }

    void fill_events(Recipe& to) {
        to.events.clear();
        for (RecipeEvent event : from_.events) {
            std::erase_if(event.names, [&](const RecipeWord& name) {
                return absent_probes_.contains(name.text);
            });
            if (event.names.empty()) continue;
            fill_condition(event.condition);
            std::erase_if(event.triggers, [&](RecipeTrigger& trigger) { return !fill(trigger); });
            to.events.push_back(std::move(event));
        }
    }

    // False when the trigger must be removed. A condition with a comparison removed would fire the
    // trigger more often than intended, so the whole trigger goes.
    bool fill(RecipeTrigger& trigger) {
        if (absent_probes_.contains(trigger.trigger.argument)) return false;
        if (trigger.condition && mentions_absent(trigger.condition->root)) return false;
        fill_condition(trigger.condition);
        if (!trigger.count) return true;
        if (!fill(*trigger.count)) return false;
        trigger.trigger.count = parse_positive("count", trigger.count->text);
        return true;
    }

    // Substitutes values in a word; false when it refers to a parameter without a value.
    bool fill(RecipeWord& word) const {
        std::string text;
        std::size_t done = 0;
        for (Span at = find_reference(word.text, 0); at.begin != word.text.size();
             at = find_reference(word.text, at.end)) {
            const std::string name = word.text.substr(at.begin + 1, at.end - at.begin - 1);
            if (!from_.find_parameter(name)) continue;  // a name of the kernel, such as $retval
            const auto value = values_.find(name);
            if (value == values_.end()) return false;
            text += word.text.substr(done, at.begin - done) + value->second.word;
            done = at.end;
        }
        word.text = text + word.text.substr(done);
        return true;
    }

    // Substitutes a time as the user wrote it, with its unit. False without a value.
    bool given(RecipeWord& word) const {
        if (!word.text.starts_with('$')) return true;
        const auto value = values_.find(word.text.substr(1));
        if (value == values_.end()) return false;
        word.text = value->second.given;
        return true;
    }

    static std::optional<std::string> parameter_of(const ExprNode& node) {
        const Literal& value = node.predicate.value;
        const bool is_reference = node.kind == ExprNode::Kind::predicate &&
                                  value.kind == Literal::Kind::text && !value.is_quoted &&
                                  value.text.starts_with('$');
        return is_reference ? std::optional(value.text.substr(1)) : std::nullopt;
    }

    bool mentions_absent(const ExprNode& node) const {
        if (const auto name = parameter_of(node)) return !values_.contains(*name);
        return std::ranges::any_of(node.terms,
                                   [&](const ExprNode& term) { return mentions_absent(term); });
    }

    void fill_condition(std::optional<Expression>& condition) const {
        if (!condition) return;
        if (auto root = filled(condition->root))
            condition->root = std::move(*root);
        else
            condition.reset();
    }

    // Absent when all of the node was removed.
    std::optional<ExprNode> filled(const ExprNode& node) const {
        if (node.kind == ExprNode::Kind::predicate) return filled_predicate(node);
        ExprNode to;
        to.kind = node.kind;
        for (const ExprNode& term : node.terms)
            if (auto whole = filled(term)) to.terms.push_back(std::move(*whole));
        if (to.terms.empty()) return std::nullopt;
        const bool is_chain = node.kind != ExprNode::Kind::negation;
        if (is_chain && to.terms.size() == 1) return ExprNode(to.terms[0]);
        return to;
    }

    std::optional<ExprNode> filled_predicate(const ExprNode& node) const {
        const auto name = parameter_of(node);
        if (!name) return node;
        const auto value = values_.find(*name);
        if (value == values_.end()) return std::nullopt;
        ExprNode chain;
        // == becomes "is one of these", != "is none of these".
        chain.kind =
            node.predicate.op == CompareOp::ne ? ExprNode::Kind::all_of : ExprNode::Kind::any_of;
        for (const Literal& literal : value->second.literals) {
            chain.terms.push_back(node);
            chain.terms.back().predicate.value = literal;
            chain.terms.back().predicate.value.span = node.predicate.value.span;
        }
        return chain.terms.size() == 1 ? ExprNode(chain.terms[0]) : chain;
    }

    const Recipe& from_;
    const RecipeArguments& arguments_;
    std::map<std::string, RecipeValue, std::less<>> values_;
    std::set<std::string, std::less<>> absent_probes_;
};

}  // namespace

Recipe fill_in(const Recipe& recipe, const RecipeArguments& arguments) {
    return Filler(recipe, arguments).fill();
}

RecipeArguments stand_in_arguments(const Recipe& recipe) {
    using Type = RecipeParameter::Type;
    RecipeArguments arguments;
    for (const RecipeParameter& p : recipe.parameters) {
        if (!p.is_required()) continue;
        const bool is_word = p.type == Type::text;
        arguments[p.name.text] = is_word                ? "x"
                                 : p.type == Type::file ? "/x"
                                 : p.type == Type::time ? "1s"
                                                        : "1";
    }
    return arguments;
}

}  // namespace gpufs
