#include "engine/trace/event_search.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"

namespace gpufs {
namespace {

std::string_view system_of(std::string_view full_name) {
    return full_name.substr(0, full_name.find(':'));
}

std::string_view name_of(std::string_view full_name) {
    return full_name.substr(full_name.find(':') + 1);
}

// Every name a user could have meant, for suggestions.
std::vector<std::string> all_names(const std::vector<std::string>& events) {
    std::set<std::string> names;
    for (const std::string& event : events) {
        names.insert(event);
        names.emplace(name_of(event));
        names.emplace(system_of(event));
    }
    return {names.begin(), names.end()};
}

UsageError no_such_event(const std::string& word, const KnownEvents& known) {
    std::string hint = did_you_mean(word, all_names(known.names()));
    if (hint.empty()) hint = known.listing;
    return UsageError(cat(known.owner, " has no event '", word, "'"), hint);
}

// The fields that a format text declares, without the common ones.
void collect_fields(std::string_view format, std::set<std::string>& names) {
    for (std::string_view line : lines_of(format)) {
        if (!line.starts_with("\tfield:")) continue;
        line = line.substr(0, line.find(';'));
        line = line.substr(0, line.find('[', line.rfind(' ')));
        const auto start = line.find_last_of(" *");
        if (start == line.npos || line.substr(start + 1).starts_with("common_")) continue;
        names.emplace(line.substr(start + 1));
    }
}

// Where in the expression the field is named first.
std::optional<Span> find_field(const ExprNode& node, std::string_view field) {
    if (node.kind == ExprNode::Kind::predicate) {
        if (node.predicate.field == field) return node.predicate.field_span;
        return std::nullopt;
    }
    for (const ExprNode& term : node.terms)
        if (const auto span = find_field(term, field)) return span;
    return std::nullopt;
}

}  // namespace

KnownEvents::KnownEvents(const Tracefs& top)
    : names([top] { return top.events(); }),
      format_text([top](const std::string& full_name) {
          return top.read_if_readable(event_directory(full_name) + "/format");
      }),
      owner("this kernel"),
      listing("'gpufs list' shows the events of this kernel") {}

KnownEvents::KnownEvents(const EventCatalog& recording)
    : names([&recording] { return recording.offered(); }),
      format_text(
          [&recording](const std::string& full_name) { return recording.offered_text(full_name); }),
      owner("the recording"),
      listing("'gpufs report --stat' shows its events") {}

EventFormat load_event_format(const KnownEvents& known, const std::string& full_name) {
    const auto text = known.format_text(full_name);
    if (!text) throw no_such_event(full_name, known);
    return parse_event_format(system_of(full_name), *text);
}

bool means_event(std::string_view word, std::string_view full_name) {
    if (word.find(':') != word.npos) return glob_match(word, full_name);
    return glob_match(word, name_of(full_name)) || glob_match(word, system_of(full_name));
}

std::vector<std::string> match_events(const KnownEvents& known,
                                      const std::vector<std::string>& words) {
    const std::vector<std::string> events = known.names();
    std::vector<std::string> matches;
    std::set<std::string> seen;
    for (const std::string& word : words) {
        // 'signal' is a system, 'sched_switch' an event; where a word is both, the event is meant.
        const bool names_one = word.find(':') == word.npos && !is_glob(word) &&
                               std::ranges::any_of(events, [&](const std::string& event) {
                                   return name_of(event) == word;
                               });
        bool found = false;
        for (const std::string& event : events) {
            if (names_one ? name_of(event) != word : !means_event(word, event)) continue;
            found = true;
            if (seen.insert(event).second) matches.push_back(event);
        }
        if (!found) throw no_such_event(word, known);
    }
    return matches;
}

std::vector<EventFormat> match_events(const KnownEvents& known,
                                      const std::vector<std::string>& words,
                                      const Expression& expression) {
    std::vector<EventFormat> events;
    for (const std::string& name : match_events(known, words)) {
        events.push_back(load_event_format(known, name));
        check_expression(expression, events.back());
    }
    return events;
}

std::vector<EventFormat> events_for(const KnownEvents& known, const Expression& expression) {
    const std::vector<std::string> fields = fields_of(expression);
    std::vector<EventFormat> found;
    std::set<std::string> known_fields, seen;
    std::set<std::string> missing(fields.begin(), fields.end());
    std::optional<SourceError> complaint;
    for (const std::string& event : known.names()) {
        if (!seen.insert(event).second) continue;
        const auto text = known.format_text(event);
        if (!text) continue;
        bool has_all = true;
        for (const std::string& field : fields) {
            if (declares_field(*text, field))
                missing.erase(field);
            else
                has_all = false;
        }
        if (!has_all) continue;
        EventFormat format = parse_event_format(system_of(event), *text);
        try {
            check_expression(expression, format);
            found.push_back(std::move(format));
        } catch (const SourceError& e) {
            if (!complaint) complaint.emplace(e);
        }
    }
    if (!found.empty()) return found;
    if (complaint) throw *complaint;
    const std::string& culprit = missing.empty() ? fields.back() : *missing.begin();
    const Span at = find_field(expression.root, culprit).value_or(Span{});
    if (missing.empty())
        throw SourceError(expression.source, at,
                          cat("no event of ", known.owner, " has all of ", join(fields, ", ")),
                          "name the events with -e, and filter each by its own fields");
    // Only now, on the way to an error, is every field name of the kernel worth collecting.
    for (const std::string& event : seen)
        if (const auto text = known.format_text(event)) collect_fields(*text, known_fields);
    const std::vector<std::string> names(known_fields.begin(), known_fields.end());
    std::string hint = did_you_mean(culprit, names);
    if (hint.empty()) hint = "'gpufs list -v EVENT' shows the fields of an event";
    throw SourceError(expression.source, at,
                      cat("no event of ", known.owner, " has a field '", culprit, "'"), hint);
}

}  // namespace gpufs
