#include "engine/trace/events.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/glob.h"
#include "base/suggest.h"
#include "base/text.h"
#include "lang/event/printed_label.h"

namespace gpufs {
namespace {

std::string_view system_of(std::string_view full_name) {
    return full_name.substr(0, full_name.find(':'));
}

std::string_view name_of(std::string_view full_name) {
    return full_name.substr(full_name.find(':') + 1);
}

// Which event prints a field of another name under this one.
std::string hint_at_label(Events& events, const std::string& label) {
    for (const std::string& name : events.names()) {
        const EventFormat* event = events.find_format(name);
        const std::string field = event ? field_printed_as(*event, label) : std::string();
        if (!field.empty()) return cat(name, " prints its field '", field, "' as ", label, "=");
    }
    return {};
}

// Every word a user could have meant, for suggestions.
std::vector<std::string> all_words(const std::vector<std::string>& events) {
    std::set<std::string> words;
    for (const std::string& event : events) {
        words.insert(event);
        words.emplace(name_of(event));
        words.emplace(system_of(event));
    }
    return {words.begin(), words.end()};
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

const PrintFormat& TraceEvent::print() const {
    if (!print_) print_ = std::make_unique<const PrintFormat>(format);
    return *print_;
}

std::string Events::described() const {
    return source_ ? source_->described() : "no source of events";
}

const std::vector<std::string>& Events::names() {
    if (!names_) names_ = source_ ? source_->names() : std::vector<std::string>();
    return *names_;
}

std::vector<std::string> Events::names(std::string_view pattern) {
    std::vector<std::string> found;
    for (const std::string& name : names())
        if (glob_match(pattern, name)) found.push_back(name);
    return found;
}

std::optional<std::string> Events::format_text(std::string_view full_name) {
    return source_ ? source_->format_text(full_name) : std::nullopt;
}

const TraceEvent* Events::add(std::string_view full_name, std::string_view text) {
    std::unique_ptr<const TraceEvent> event;
    try {
        event = std::make_unique<const TraceEvent>(parse_event_format(system_of(full_name), text));
    } catch (const Error&) {
        // No event then; require() throws the reason.
    }
    if (event && event->format.id >= 0 && event->format.id < kMostIds) {
        const auto index = static_cast<std::size_t>(event->format.id);
        if (index >= by_id_.size()) by_id_.resize(index + 1);
        // Of several events with one id, in a damaged recording, the first one stays.
        if (!by_id_[index].event) by_id_[index] = {true, event.get()};
    }
    return by_name_.emplace(full_name, std::move(event)).first->second.get();
}

const TraceEvent* Events::find(std::string_view full_name) {
    if (const auto known = by_name_.find(full_name); known != by_name_.end())
        return known->second.get();
    if (full_name.find(':') == full_name.npos) return nullptr;
    const auto text = format_text(full_name);
    return text ? add(full_name, *text) : by_name_.emplace(full_name, nullptr).first->second.get();
}

const TraceEvent* Events::find(int id) {
    if (id < 0 || id >= kMostIds) return nullptr;
    const auto index = static_cast<std::size_t>(id);
    if (index >= by_id_.size()) by_id_.resize(index + 1);
    if (by_id_[index].is_known) return by_id_[index].event;
    if (const auto name = source_ ? source_->find_name(id) : std::nullopt) find(*name);
    // An event removed and made anew may have another id by now than its file had a moment ago.
    by_id_[index].is_known = true;
    return by_id_[index].event;
}

const EventFormat* Events::find_format(std::string_view full_name) {
    const TraceEvent* event = find(full_name);
    return event ? &event->format : nullptr;
}

const EventFormat& Events::require(std::string_view full_name) {
    if (const TraceEvent* event = find(full_name)) return event->format;
    if (const auto text = format_text(full_name)) parse_event_format(system_of(full_name), *text);
    throw no_such_event(full_name);
}

std::string Events::hint(std::string_view word) {
    if (!words_) words_ = all_words(names());
    std::string near = did_you_mean(word, *words_);
    return !near.empty() || !source_ ? near : source_->advice(word);
}

UsageError Events::no_such_event(std::string_view word) {
    return UsageError(cat(described(), " has no event '", word, "'"), hint(word));
}

std::vector<std::string> Events::match(const std::vector<std::string>& words) {
    std::vector<std::string> matches;
    std::set<std::string_view> seen;
    for (const std::string& written : words) {
        const std::string_view word = without_tracepoint(written);
        // 'signal' is a system, 'sched_switch' an event; where a word is both, the event is meant.
        const bool names_one = word.find(':') == word.npos && !is_glob(word) &&
                               std::ranges::any_of(names(), [&](const std::string& event) {
                                   return name_of(event) == word;
                               });
        bool found = false;
        for (const std::string& event : names()) {
            if (names_one ? name_of(event) != word : !means_event(word, event)) continue;
            found = true;
            if (seen.insert(event).second) matches.push_back(event);
        }
        if (!found) throw no_such_event(word);
    }
    return matches;
}

std::vector<EventFormat> Events::match(const std::vector<std::string>& words,
                                       const Expression& expression) {
    std::vector<EventFormat> events;
    for (const std::string& name : match(words)) {
        events.push_back(require(name));
        check_expression(expression, events.back());
    }
    return events;
}

std::vector<EventFormat> Events::with_fields_of(const Expression& expression) {
    const std::vector<std::string> fields = fields_of(expression);
    std::vector<EventFormat> found;
    std::set<std::string_view> seen;
    std::optional<SourceError> complaint;
    for (const std::string& event : names()) {
        if (!seen.insert(event).second) continue;
        const auto text = format_text(event);
        if (!text || !std::ranges::all_of(fields, [&](const std::string& field) {
                return declares_field(*text, field);
            }))
            continue;
        EventFormat format = parse_event_format(system_of(event), *text);
        try {
            check_expression(expression, format);
            found.push_back(std::move(format));
        } catch (const SourceError& e) {
            if (!complaint) complaint.emplace(e);
        }
    }
    if (found.empty() && complaint) throw *complaint;
    if (found.empty()) throw_no_fields(expression, fields);
    return found;
}

EventFormat Events::only_with_fields_of(const Expression& expression) {
    constexpr std::size_t kShown = 12;
    std::vector<EventFormat> events = with_fields_of(expression);
    if (events.size() == 1) return std::move(events.front());
    std::vector<std::string> names;
    for (const EventFormat& event : events)
        if (names.size() < kShown) names.push_back(event.full_name());
    std::string list = join(names, ", ");
    if (events.size() > kShown) list += cat(", … ", events.size() - kShown, " more");
    throw UsageError(cat(events.size(), " events have ", join(fields_of(expression), ", ")),
                     cat("choose with -e, several or all of: ", list));
}

// Only on the way to an error is every field name of the kernel worth collecting.
void Events::throw_no_fields(const Expression& expression, const std::vector<std::string>& fields) {
    std::set<std::string> known, missing(fields.begin(), fields.end());
    for (const std::string& event : names()) {
        const auto text = format_text(event);
        if (!text) continue;
        collect_fields(*text, known);
        std::erase_if(missing, [&](const auto& field) { return declares_field(*text, field); });
    }
    const std::string& culprit = missing.empty() ? fields.back() : *missing.begin();
    const Span at = find_field(expression.root, culprit).value_or(Span{});
    if (missing.empty())
        throw SourceError(expression.source, at,
                          cat("no event of ", described(), " has all of ", join(fields, ", ")),
                          "name the events with -e, and filter each by its own fields");
    std::string near = hint_at_label(*this, culprit);
    if (near.empty())
        near = did_you_mean(culprit, std::vector<std::string>(known.begin(), known.end()));
    if (near.empty() && source_) near = source_->field_advice();
    throw SourceError(expression.source, at,
                      cat("no event of ", described(), " has a field '", culprit, "'"), near);
}

std::string_view without_tracepoint(std::string_view word) {
    constexpr std::string_view kKind = "tracepoint:";
    if (word.starts_with(kKind)) word.remove_prefix(kKind.size());
    return word;
}

bool means_event(std::string_view word, std::string_view full_name) {
    if (word.find(':') != word.npos) return glob_match(word, full_name);
    return glob_match(word, name_of(full_name)) || glob_match(word, system_of(full_name));
}

}  // namespace gpufs
