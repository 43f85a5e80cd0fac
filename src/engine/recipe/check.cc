#include "engine/recipe/check.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/diagnostics.h"
#include "base/error.h"
#include "base/glob.h"
#include "base/sorted.h"
#include "base/suggest.h"
#include "base/text.h"
#include "engine/recipe/probes.h"
#include "engine/session/triggers.h"
#include "engine/trace/kernel_events.h"
#include "lang/recipe/probe.h"

namespace gpufs {
namespace {

using Pick = RecipeEvent::Pick;

class Checker {
public:
    Checker(const Tracefs& top, const Recipe& recipe, bool looks_at_files)
        : top_(top),
          events_(kernel_events(top)),
          recipe_(recipe),
          session_(Session::named(top, "")),
          probes_(top, recipe, looks_at_files) {
        for (const std::string& event : events_.names())
            if (known_.insert(event).second) order_.push_back(event);
    }

    void check() {
        for (const RecipeEvent& event : recipe_.events) check(event);
        for (const auto& line : recipe_.settings)
            for (const RecipeSetting& setting : line) check(setting);
        for (const RecipeLimit& limit : recipe_.limits) check(limit.pairs);
        for (const RecipeShow& show : recipe_.shows) check(show.pairs);
    }

    const std::vector<std::string>& lacks() const { return lacks_; }
    bool has_mistakes() const { return mistakes_ > 0; }
    const Diagnostics& diagnostics() const { return diagnostics_; }
    RecipeOnKernel take() { return std::move(result_); }

private:
    // What one word of an `event` line means on this kernel.
    struct Found {
        std::vector<std::string> events;
        std::string lack, hint;  // when it means nothing
    };

    void mistake(const SourceError& e) {
        ++mistakes_;
        diagnostics_.error(recipe_.source, e);
    }
    void lack(Span at, const std::string& what, std::string_view message, std::string_view hint) {
        if (std::ranges::count(lacks_, what) == 0) lacks_.push_back(what);
        diagnostics_.error(recipe_.source, at, message, hint);
    }
    // Adds what is thrown to the mistakes; false then.
    bool tried(const std::function<void()>& work) {
        try {
            work();
            return true;
        } catch (const SourceError& e) {
            mistake(e);
            return false;
        }
    }

    Found find(const RecipeWord& word) {
        if (const RecipeProbe* probe = recipe_.find_probe(word.text)) {
            ProbeFinder::Answer answer = probes_.find(*probe);
            if (!answer.probe) return {{}, answer.lack, answer.hint};
            if (std::ranges::find(result_.probes, answer.probe->name,
                                  &RecipeOnKernel::Probe::name) == result_.probes.end())
                result_.probes.push_back(*answer.probe);
            return {{word.text}, {}, {}};
        }
        if (is_glob(word.text)) {
            Found found;
            for (const std::string& event : order_)
                if (glob_match(word.text, event)) found.events.push_back(event);
            if (found.events.empty()) found.lack = cat("event ", word.text);
            return found;
        }
        if (known_.contains(word.text)) return {{word.text}, {}, {}};
        try {
            events_.require(word.text);
        } catch (const UsageError& e) {
            return {{}, cat("event ", word.text), e.hint()};
        }
        return {{word.text}, {}, {}};
    }

    void check(const RecipeEvent& event) {
        std::vector<std::string> names, present, absent;
        std::string hint;
        for (const RecipeWord& word : event.names) {
            Found found;
            if (!tried([&] { found = find(word); })) return;
            if (found.events.empty()) {
                absent.push_back(word.text);
                hint = found.hint;
                if (event.pick == Pick::all)
                    lack(word.span, found.lack, cat("this kernel has no ", found.lack), found.hint);
            }
            if (!found.events.empty()) present.push_back(word.text);
            std::ranges::move(found.events, std::back_inserter(names));
            if (event.pick == Pick::first && !names.empty()) break;
        }
        const bool needs_one = event.pick == Pick::first || event.pick == Pick::any;
        if (names.empty() && needs_one) {
            const Span span{event.names.front().span.begin, event.names.back().span.end};
            if (absent.size() > 1) hint.clear();
            lack(span, one_of(absent), "this kernel has none of these", hint);
        } else if (event.pick == Pick::first && !absent.empty()) {
            result_.notes.push_back(
                cat(names[0], " instead of ", join(absent, ", "), ", not in this kernel"));
        } else if (event.pick == Pick::any && !absent.empty()) {
            result_.notes.push_back(cat("of ", event.names.size(), " alternatives this kernel has ",
                                        join(present, ", ")));
        }
        for (const std::string& name : names) add(event, name);
        for (const RecipeTrigger& trigger : event.triggers) check_action(trigger);
    }

    // "event a:b", "one of a:b, a:c", "one of 11 events and functions, such as a:b and a:c".
    static std::string one_of(const std::vector<std::string>& names) {
        constexpr std::size_t kMost = 3;
        if (names.size() == 1) return cat("event ", names[0]);
        if (names.size() <= kMost) return cat("one of ", join(names, ", "));
        return cat("one of ", names.size(), " events and functions, such as ", names[0], " and ",
                   names[1]);
    }

    void add(const RecipeEvent& event, const std::string& name) {
        tried([&] {
            if (!taken_.insert(name).second)
                throw SourceError(recipe_.source, event.names.front().span,
                                  cat(name, " stands on an 'event' line already"),
                                  "one line has all that is set on an event");
            const EventFormat format = format_of_event(name);
            RecipeOnKernel::Event made;
            made.name = name;
            if (event.condition) made.filter = filter(*event.condition, format);
            for (const RecipeTrigger& trigger : event.triggers) {
                made.triggers.push_back(trigger.trigger);
                made.triggers.back().condition = condition(event, trigger, format);
            }
            sort_stably(made.triggers, {},
                        [](const Trigger& trigger) { return firing_order(trigger.action); });
            result_.events.push_back(std::move(made));
        });
    }

    // A trigger fires for what is recorded; its own condition narrows that.
    std::string condition(const RecipeEvent& event, const RecipeTrigger& trigger,
                          const EventFormat& format) const {
        if (!event.condition || !trigger.condition) {
            if (event.condition) return filter(*event.condition, format);
            return trigger.condition ? filter(*trigger.condition, format) : std::string();
        }
        check_expression(*trigger.condition, format);
        Expression both = *event.condition;
        both.root = ExprNode();
        both.root.kind = ExprNode::Kind::all_of;
        both.root.terms = {event.condition->root, trigger.condition->root};
        return filter(both, format);
    }

    // to_filter, with its complaint about the length put where the condition is.
    std::string filter(const Expression& condition, const EventFormat& format) const {
        check_expression(condition, format);
        try {
            return to_filter(condition, format);
        } catch (const SourceError& e) {
            const ExprNode* first = &condition.root;
            while (first->kind != ExprNode::Kind::predicate) first = &first->terms.front();
            throw SourceError(recipe_.source, first->predicate.field_span, e.message(), e.hint());
        }
    }

    void check_action(const RecipeTrigger& trigger) {
        const std::string& action = trigger.trigger.action;
        if (checked_actions_.insert(action).second) {
            try {
                require_trigger_action(session_, action);
            } catch (const UnsupportedError& e) {
                lack(trigger.action_span, cat("the ", action, " trigger"), e.what(), e.hint());
            }
        }
        const std::string& target = trigger.trigger.argument;
        if (target.empty()) return;
        tried([&] {
            const Found found = find({target, trigger.argument_span});
            if (found.events.empty())
                lack(trigger.argument_span, found.lack, cat("this kernel has no ", found.lack),
                     found.hint);
        });
    }

    void check(const RecipeSetting& setting) {
        Setting made{setting.name.text, setting.value.text};
        try {
            plan_settings(session_, {made});
            result_.settings.push_back(std::move(made));
        } catch (const UsageError& e) {
            mistake(SourceError(recipe_.source, {setting.name.span.begin, setting.value.span.end},
                                e.what(), e.hint()));
        }
    }

    void check(const RecipePairs& pairs) {
        for (const RecipeWord& key : pairs.keys)
            tried([&] {
                check_key(pairs.begin.text, key);
                check_key(pairs.end.text, key);
            });
    }

    // A key of pairs: CPU, or a field that holds a number.
    void check_key(const std::string& event, const RecipeWord& key) {
        if (key.text == "CPU" || !taken_.contains(event)) return;
        const EventFormat format = format_of_event(event);
        const Field* field = format.find(key.text);
        if (!field)
            throw SourceError(recipe_.source, key.span,
                              cat(event, " has no field '", key.text, "'"),
                              did_you_mean(key.text, format.field_names()));
        if (field->is_array || field->is_string)
            throw SourceError(recipe_.source, key.span,
                              cat("'", key.text, "' of ", event, " is no number"),
                              "pairs are found by numbers that both have, or by CPU");
    }

    EventFormat format_of_event(const std::string& name) {
        const RecipeProbe* probe = recipe_.find_probe(name);
        return probe ? format_of(*probe, recipe_.source) : events_.require(name);
    }

    const Tracefs& top_;
    Events events_;
    const Recipe& recipe_;
    Session session_;
    ProbeFinder probes_;
    std::set<std::string> known_, taken_, checked_actions_;
    std::vector<std::string> order_;
    Diagnostics diagnostics_;
    std::size_t mistakes_ = 0;
    std::vector<std::string> lacks_;
    RecipeOnKernel result_;
};

}  // namespace

std::string event_in(const Session& session, const std::string& name) {
    return name.find(':') == name.npos ? cat(session.probe_group(), ':', name) : name;
}

RecipeOnKernel check_recipe(const Tracefs& top, const Recipe& recipe) {
    Checker checker(top, recipe, true);
    checker.check();
    if (checker.has_mistakes()) throw UsageError(checker.diagnostics().to_text());
    if (!checker.diagnostics().empty())
        throw UnsupportedError(
            checker.diagnostics().to_text(),
            recipe.needs.empty() ? "" : cat("'", recipe.name.text, "' needs: ", recipe.needs));
    return checker.take();
}

std::vector<std::string> missing_for(const Tracefs& top, const Recipe& recipe) {
    Checker checker(top, recipe, false);
    checker.check();
    if (checker.has_mistakes()) throw UsageError(checker.diagnostics().to_text());
    return checker.lacks();
}

SessionPlan plan_recipe(const RecipeOnKernel& recipe, const Session& session) {
    SessionPlan plan;
    if (recipe.settings.empty())
        plan_session(plan, session);
    else
        plan.changes.then(plan_settings(session, recipe.settings).changes);
    for (const RecipeOnKernel::Probe& probe : recipe.probes) {
        const std::string name = cat(session.probe_group(), '/', probe.name);
        // One undo removes all places of an event, and the first is undone last.
        for (const std::string& one : probe.definitions)
            plan.changes.append(session.top(), probe.file, cat(probe.letter, ':', name, ' ', one),
                                &one == &probe.definitions.front()
                                    ? cat("-:", name)
                                    : cat("-:", name, ' ', one.substr(0, one.find(' '))));
    }
    const Tracefs& at = session.tracefs();
    // What is enabled first is recorded first: triggers come when there is something to keep.
    for (const RecipeOnKernel::Event& event : recipe.events) {
        const std::string directory = event_directory(event_in(session, event.name));
        if (!event.filter.empty())
            plan.changes.replace(at, directory + "/filter", event.filter, "0");
        plan.changes.replace(at, directory + "/enable", "1", "0");
    }
    for (const RecipeOnKernel::Event& event : recipe.events) {
        const std::string name = event_in(session, event.name);
        for (Trigger trigger : event.triggers) {
            if (!trigger.argument.empty()) trigger.argument = event_in(session, trigger.argument);
            plan.changes.append(at, event_directory(name) + "/trigger", trigger.to_text(),
                                trigger.removal());
        }
    }
    plan.notes = recipe.notes;
    return plan;
}

}  // namespace gpufs
